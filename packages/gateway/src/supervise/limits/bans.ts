import {
  BAN_CHANGES_MS,
  BANS_LIFTED,
  banName,
  clientNetwork,
  namedCounterKey,
  type StateScope,
  type StateStore,
} from '@sluice/core'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { OperatorStores } from './operator-stores.js'

/** A client banned by a `client-ban` policy. */
export interface Ban {
  readonly policy: string
  /** Value of the policy's `key` for the banned client. */
  readonly key: string
  /** End of the ban, ISO 8601. */
  readonly until: string
}

/** Maximum number of bans in one answer. */
export const MAX_BANS_SHOWN = 1000

/** Lists and lifts the bans of `client-ban` policies, for operators. */
export class Bans {
  readonly #stores: OperatorStores
  readonly #log: OperationLog

  constructor(stores: OperatorStores, log: OperationLog) {
    this.#stores = stores
    this.#log = log
  }

  /**
   * Returns the bans of one policy, or of all policies. Null if there is no such policy.
   * @throws StateUnavailable
   */
  async list(policy: string | null): Promise<Ban[] | null> {
    const policies = this.#policies(policy)
    if (policies === null) return null
    return this.#stores.use(false, async (storeOf) => {
      const bans: Ban[] = []
      for (const [id, scope] of policies)
        bans.push(...(await bansOf(id, storeOf(scope), MAX_BANS_SHOWN - bans.length)))
      return bans
    })
  }

  /**
   * Ends bans early and returns their number, or null if there is no such policy. A client banned again
   * starts with the shortest ban.
   * @param key banned key, or null for all keys of the policy.
   * @throws StateUnavailable
   */
  async lift(policy: string, key: string | null, actor: string): Promise<number | null> {
    const scope = this.#policies(policy)?.get(policy)
    if (scope === undefined) return null
    const lifted = await this.#stores.use(false, (storeOf) => liftIn(storeOf(scope), policy, key))
    this.#log.info('ban.lifted', { policy, key, lifted, actor })
    return lifted
  }

  /** Returns the state scope by policy id, or null if there is no policy with the id. */
  #policies(policy: string | null): Map<string, StateScope> | null {
    const found = new Map<string, StateScope>()
    for (const route of this.#stores.plan()?.routes ?? []) {
      for (const { use, id, with: config } of route.policies) {
        if (use !== 'client-ban' || (policy !== null && id !== policy)) continue
        found.set(id, (config as { readonly scope?: StateScope }).scope ?? 'cluster')
      }
    }
    return found.size === 0 && policy !== null ? null : found
  }
}

async function bansOf(policy: string, store: StateStore, most: number): Promise<Ban[]> {
  const prefix = banName(policy, 'ban')
  const names = most > 0 ? (await store.list(prefix, most)).sort() : []
  const values = await Promise.all(names.map((name) => store.get(name)))
  return names.flatMap((name, i) => {
    const value = values[i]
    // The ban has expired meanwhile.
    if (value == null) return []
    const until = new Date(Number(Buffer.from(value).toString('latin1'))).toISOString()
    return [{ policy, key: name.slice(prefix.length), until }]
  })
}

async function liftIn(store: StateStore, policy: string, key: string | null): Promise<number> {
  let lifted: number
  if (key === null) {
    lifted = await store.deleteAll(banName(policy, 'ban'))
    for (const entry of ['bans', 'count'] as const) await store.deleteAll(banName(policy, entry))
  } else {
    // IPv6 addresses are banned by their /64 network.
    const known = namedCounterKey(clientNetwork(key))
    lifted = Number(await store.delete(banName(policy, 'ban', known)))
    for (const entry of ['bans', 'count'] as const) await store.delete(banName(policy, entry, known))
  }
  if (lifted > 0) await store.add(banName(policy, 'changes'), BANS_LIFTED, BAN_CHANGES_MS)
  return lifted
}
