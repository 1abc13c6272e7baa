import type { PolicyUse, RoutePlan } from '@sluice/config'
import {
  clientNetwork,
  counterName,
  counterPrefix,
  isAddressKey,
  type Limit,
  type LimitKind,
  namedCounterKey,
  quotaLimit,
  rateLimits,
  readCounterName,
  type StateScope,
  type StateStore,
} from '@sluice/core'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { OperatorStores } from './operator-stores.js'

/** Count for one key under one limit of a policy. */
export interface LimitCount {
  readonly policy: string
  /** Limit as configured: `100/s`, `10000/month` */
  readonly limit: string
  /** Route or API with its own counter, or empty for one counter in total. */
  readonly place: string
  /** Counter key, or empty for requests without a key. */
  readonly key: string
  /** Count including what workers have reserved but not used yet. */
  readonly used: number
  readonly remaining: number
  /** Time at which the limit is fully available again or the period ends; ISO 8601. */
  readonly resetAt: string
}

/** Filter for counts. */
export interface CountSelection {
  readonly kind: LimitKind
  /** Policy id, or null for all policies of the kind. */
  readonly policy: string | null
  /** Counter key, or null for all keys. */
  readonly key: string | null
}

/** New used count of a quota for one key. */
export interface QuotaRequest {
  readonly policy: string
  readonly key: string
  readonly used: number
  readonly actor: string
}

/** Maximum number of counts in one answer. */
export const MAX_COUNTS = 1000

/**
 * Rounding step in milliseconds. The store has its own clock; without rounding, a month sometimes ended at
 * 20:59:59.999Z.
 */
const CLOCK_STEP_MS = 100

interface Counting {
  readonly id: string
  readonly prefix: string
  readonly limits: readonly Limit[]
  readonly scope: StateScope
  /** Places known from the plan: one empty string, or routes or APIs. */
  readonly places: readonly string[]
  /** True if keys are client addresses. */
  readonly isByAddress: boolean
}

/** Reads, resets and sets the counts of `rate-limit` and `quota`, for operators. */
export class LimitCounters {
  readonly #stores: OperatorStores
  readonly #log: OperationLog

  constructor(stores: OperatorStores, log: OperationLog) {
    this.#stores = stores
    this.#log = log
  }

  /** Returns the selected counts, or null if there is no such policy. @throws StateUnavailable */
  async get(selection: CountSelection): Promise<LimitCount[] | null> {
    const policies = this.#policies(selection)
    if (policies === null) return null
    return this.#stores.use(selection.kind === 'quota', async (storeOf) => {
      const counts: LimitCount[] = []
      for (const policy of policies) {
        const store = storeOf(policy.scope)
        for (const name of await counterNames(policy, selection.key, store)) {
          if (counts.length >= MAX_COUNTS) return counts
          const count = await readCount(policy, name, store)
          if (count !== null) counts.push(count)
        }
      }
      return counts
    })
  }

  /**
   * Resets the selected counts and returns their number, or null if there is no such policy.
   * @throws StateUnavailable
   */
  async reset(selection: CountSelection, actor: string): Promise<number | null> {
    const policies = this.#policies(selection)
    if (policies === null) return null
    const count = await this.#stores.use(selection.kind === 'quota', async (storeOf) => {
      let reset = 0
      for (const policy of policies) {
        const store = storeOf(policy.scope)
        if (selection.key === null) reset += await store.deleteAll(policy.prefix)
        else {
          for (const name of await counterNames(policy, selection.key, store))
            if (await store.delete(name)) reset++
        }
      }
      return reset
    })
    this.#log.info('limit.reset', { ...selection, reset: count, actor })
    return count
  }

  /** Sets the used count of a quota. Returns null if there is no such policy. @throws StateUnavailable */
  async set({ policy, key, used, actor }: QuotaRequest): Promise<LimitCount[] | null> {
    const selection = { kind: 'quota', policy, key } as const
    const policies = this.#policies(selection)
    if (policies === null) return null
    await this.#stores.use(selection.kind === 'quota', async (storeOf) => {
      for (const one of policies) {
        const store = storeOf(one.scope)
        for (const name of await counterNames(one, key, store)) {
          await store.delete(name)
          await store.take(name, one.limits[0]!.rule(Date.now()), used)
        }
      }
    })
    this.#log.info('quota.set', { policy, key, used, actor })
    return this.get(selection)
  }

  #policies({ kind, policy }: CountSelection): Counting[] | null {
    const found = new Map<string, Counting>()
    for (const route of this.#stores.plan()?.routes ?? []) {
      for (const use of route.policies) {
        if (use.use !== kind || (policy !== null && use.id !== policy)) continue
        const known = found.get(use.id)
        const one = countingOf(kind, use, route)
        found.set(
          use.id,
          known === undefined ? one : { ...known, places: [...new Set([...known.places, ...one.places])] },
        )
      }
    }
    return found.size === 0 && policy !== null ? null : [...found.values()]
  }
}

function countingOf(kind: LimitKind, use: PolicyUse, route: RoutePlan): Counting {
  const config = use.with as never
  const {
    scope = 'cluster',
    counterScope = 'policy',
    key = 'client.ip',
  } = use.with as {
    scope?: Counting['scope']
    counterScope?: string
    key?: string | readonly string[]
  }
  const limits = kind === 'quota' ? [quotaLimit(config)] : rateLimits(config)
  const apart = counterScope === 'api' ? (route.api?.name ?? route.id) : route.id
  return {
    id: use.id,
    prefix: counterPrefix(kind, use.id),
    limits,
    scope,
    places: [counterScope === 'policy' ? '' : apart],
    isByAddress: isAddressKey([key].flat().join()),
  }
}

/** Returns the possible counter names for one key, or all existing names without a key. */
async function counterNames(policy: Counting, key: string | null, store: StateStore): Promise<string[]> {
  const { prefix, limits, places, isByAddress } = policy
  if (key === null) return (await store.list(prefix, MAX_COUNTS)).sort()
  const counted = namedCounterKey(isByAddress ? clientNetwork(key) : key)
  return limits.flatMap((_, limit) =>
    places.map((place) => counterName(prefix, { limit, place, key: counted })),
  )
}

async function readCount(policy: Counting, name: string, store: StateStore): Promise<LimitCount | null> {
  const parts = readCounterName(name, policy.prefix)
  const limit = parts === null ? undefined : policy.limits[parts.limit]
  if (parts === null || limit === undefined) return null
  const now = Date.now()
  const rule = limit.rule(now)
  const { remaining, resetMs } = await store.take(name, rule, 0)
  const most = rule.algorithm === 'gcra' ? rule.burst : rule.limit
  const { place, key } = parts
  const resetAt = new Date(Math.round((now + resetMs) / CLOCK_STEP_MS) * CLOCK_STEP_MS).toISOString()
  return { policy: policy.id, limit: limit.text, place, key, used: most - remaining, remaining, resetAt }
}
