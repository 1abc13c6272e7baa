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

/** A caller whom a `client-ban` has banned. */
export interface Ban {
  /** The policy's id. */
  readonly policy: string
  /** Who: what the policy's `key` reads. */
  readonly key: string
  /** ISO 8601. */
  readonly until: string
}

/** The most bans that one answer shows. */
export const MAX_BANS_SHOWN = 1000

/** The bans of `client-ban`, for operators. */
export class Bans {
  readonly #stores: OperatorStores
  readonly #log: OperationLog

  constructor(stores: OperatorStores, log: OperationLog) {
    this.#stores = stores
    this.#log = log
  }

  /**
   * Of one policy or of all. Null: there is no such policy.
   * @throws StateUnavailable
   */
  async list(policy: string | null): Promise<Ban[] | null> {
    const policies = this.#policies(policy)
    if (policies === null) return null
    return this.#stores.use(false, async (storeOf) => {
      const bans: Ban[] = []
      for (const [id, scope] of policies) {
        bans.push(...(await bansOf(id, storeOf(scope), MAX_BANS_SHOWN - bans.length)))
      }
      return bans
    })
  }

  /**
   * Ends bans early; whoever is banned again begins with the shortest. Null: there is no such policy.
   * @param key null: of all callers.
   * @returns how many.
   * @throws StateUnavailable
   */
  async lift(policy: string, key: string | null, actor: string): Promise<number | null> {
    const scope = this.#policies(policy)?.get(policy)
    if (scope === undefined) return null
    const lifted = await this.#stores.use(false, (storeOf) => liftIn(storeOf(scope), policy, key))
    this.#log.info('ban.lifted', { policy, key, lifted, actor })
    return lifted
  }

  /** Null: there is no policy with the id. */
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
    // It has ended meanwhile.
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
    // An address of IPv6 is banned with its /64.
    const known = namedCounterKey(clientNetwork(key))
    lifted = Number(await store.delete(banName(policy, 'ban', known)))
    for (const entry of ['bans', 'count'] as const) await store.delete(banName(policy, entry, known))
  }
  if (lifted > 0) await store.add(banName(policy, 'changes'), BANS_LIFTED, BAN_CHANGES_MS)
  return lifted
}
