import { counterName, type Limit } from '@sluice/core'
import { Lease, VERDICT, type Verdict } from './lease.js'
import type { LimitStore } from './limit-store.js'

/** Maximum number of keys of a policy that a worker remembers, about 30 MB. */
const MAX_KEYS = 50_000
/** Number of keys that one sweep checks. */
const SWEPT = 2000
/** Interval of the sweeps in milliseconds. */
export const SWEEP_MS = 100
/** Maximum number of store calls for one request if concurrent requests keep taking the granted tokens. */
const MAX_ROUNDS = 5

/** Leases of one key, one for each limit of the policy. */
export class KeyLeases {
  readonly leases: readonly Lease[]

  constructor(leases: readonly Lease[]) {
    this.leases = leases
  }

  /** Takes the cost from all limits if all of them allow it, otherwise from none. */
  take(cost: number, nowMono: number): Verdict {
    let verdict: Verdict = VERDICT.allowed
    for (const lease of this.leases) {
      lease.want(cost, nowMono)
      verdict = worse(verdict, lease.verdict(cost, nowMono))
    }
    if (verdict === VERDICT.allowed) for (const lease of this.leases) lease.use(cost, nowMono)
    // Only the limit that refuses longest fetches more. More tokens of the others would be unused.
    else if (verdict === VERDICT.refused) this.refusing(cost, nowMono)?.fetch(nowMono)
    return verdict
  }

  /** Asks the store about unknown leases until the result is known. */
  async takeWhenKnown(cost: number): Promise<Verdict> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = performance.now()
      const unknown = this.leases.filter((lease) => lease.verdict(cost, now) === VERDICT.unknown)
      if (unknown.length === 1) await unknown[0]!.wait(cost)
      else await Promise.all(unknown.map((lease) => lease.wait(cost)))
      for (const lease of unknown) lease.leave(cost)
      const verdict = this.take(cost, performance.now())
      if (verdict !== VERDICT.unknown) return verdict
    }
    return VERDICT.refused
  }

  /** Limit with the fewest tokens left. */
  get tightest(): Lease {
    let tightest = this.leases[0]!
    for (const lease of this.leases) if (leftOf(lease) < leftOf(tightest)) tightest = lease
    return tightest
  }

  /** Returns the limit that refuses longest, or undefined. */
  refusing(cost: number, nowMono: number): Lease | undefined {
    let longest: Lease | undefined
    for (const lease of this.leases) {
      if (lease.verdict(cost, nowMono) !== VERDICT.refused) continue
      const isLonger =
        longest === undefined || lease.retryMonoFor(cost, nowMono) > longest.retryMonoFor(cost, nowMono)
      if (isLonger) longest = lease
    }
    return longest
  }
}

/** Returns the number of tokens that requests of this worker can still expect. */
export function leftOf(lease: Lease): number {
  return Math.max(0, Math.floor(lease.tokens) + lease.remaining)
}

/** Combines verdicts. A refusal decides; otherwise an unknown limit must be asked. */
function worse(a: Verdict, b: Verdict): Verdict {
  return RANK[a] >= RANK[b] ? a : b
}

const RANK: Readonly<Record<Verdict, number>> = {
  [VERDICT.allowed]: 0,
  [VERDICT.unavailable]: 1,
  [VERDICT.unknown]: 2,
  [VERDICT.refused]: 3,
}

/** Recently used keys of a policy. When the table is full, the oldest key is dropped and its leases are returned. */
export class LeaseTable {
  readonly #limits: readonly Limit[]
  readonly #prefix: string
  readonly #store: LimitStore
  readonly #maxKeys: number
  readonly #byKey = new Map<string, KeyLeases>()
  #sweep: Iterator<[string, KeyLeases]> | null = null

  /** Creates an empty table. @param prefix prefix of the counter names. */
  constructor(limits: readonly Limit[], prefix: string, store: LimitStore, maxKeys = MAX_KEYS) {
    this.#limits = limits
    this.#prefix = prefix
    this.#store = store
    this.#maxKeys = maxKeys
  }

  /** Number of remembered keys. */
  get size(): number {
    return this.#byKey.size
  }

  /**
   * Returns the leases of a key.
   * @param place route or API with its own counters.
   * @param key result of `counterKey`.
   */
  of(place: string, key: string): KeyLeases {
    const id = place === '' ? key : `${place}\n${key}`
    const known = this.#byKey.get(id)
    if (known !== undefined) return known
    if (this.#byKey.size >= this.#maxKeys) this.#dropOldest()
    const leases = this.#limits.map(
      (limit, at) => new Lease(limit, counterName(this.#prefix, { limit: at, place, key }), this.#store),
    )
    const made = new KeyLeases(leases)
    this.#byKey.set(id, made)
    return made
  }

  /** Drops some of the idle keys. Called every SWEEP_MS. */
  sweep(nowMono: number): void {
    this.#sweep ??= this.#byKey.entries()
    for (let i = 0; i < SWEPT; i++) {
      const { done, value } = this.#sweep.next()
      if (done === true) {
        this.#sweep = null
        return
      }
      const [id, { leases }] = value
      for (const lease of leases) lease.payDebt(nowMono)
      if (!leases.every((lease) => lease.isIdle(nowMono))) continue
      if (!leases.some((lease) => lease.isRemembered(nowMono))) this.#drop(id, leases)
      else for (const lease of leases) lease.giveBack(nowMono)
    }
  }

  /** Returns all leases to the store. */
  clear(): void {
    for (const [id, { leases }] of this.#byKey) this.#drop(id, leases)
  }

  #dropOldest(): void {
    for (const [id, { leases }] of this.#byKey) {
      this.#drop(id, leases)
      return
    }
  }

  #drop(id: string, leases: readonly Lease[]): void {
    this.#byKey.delete(id)
    const now = performance.now()
    for (const lease of leases) lease.close(now)
  }
}
