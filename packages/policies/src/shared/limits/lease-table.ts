import { counterName, type Limit } from '@sluice/core'
import { Lease, VERDICT, type Verdict } from './lease.js'
import type { LimitStore } from './limit-store.js'

/** Keys of a policy that a worker remembers: some 30 MB. */
const MAX_KEYS = 50_000
/** Keys that are looked at for being idle in one go. */
const SWEPT = 2000
/** How often. */
export const SWEEP_MS = 100
/** Questions that a request asks one after the other, while others take what it was granted. */
const MAX_ROUNDS = 5

/** The leases of one key, one for each limit of the policy. */
export class KeyLeases {
  readonly leases: readonly Lease[]

  constructor(leases: readonly Lease[]) {
    this.leases = leases
  }

  /** Takes the cost from all limits when all allow it, and from none otherwise. */
  take(cost: number, nowMono: number): Verdict {
    let verdict: Verdict = VERDICT.allowed
    for (const lease of this.leases) {
      lease.want(cost, nowMono)
      verdict = worse(verdict, lease.verdict(cost, nowMono))
    }
    if (verdict === VERDICT.allowed) for (const lease of this.leases) lease.use(cost, nowMono)
    // The limit that refuses for longest asks for more; what the others have would lie idle.
    else if (verdict === VERDICT.refused) this.refusing(cost, nowMono)?.fetch(nowMono)
    return verdict
  }

  /** Asks the store where a lease does not know, until it is known. */
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

  /** The limit that has the least left. */
  get tightest(): Lease {
    let tightest = this.leases[0]!
    for (const lease of this.leases) if (leftOf(lease) < leftOf(tightest)) tightest = lease
    return tightest
  }

  /** The limit that refuses for longest; undefined: none does. */
  refusing(cost: number, nowMono: number): Lease | undefined {
    let longest: Lease | undefined
    for (const lease of this.leases) {
      if (lease.verdict(cost, nowMono) !== VERDICT.refused) continue
      if (longest === undefined || lease.retryMono > longest.retryMono) longest = lease
    }
    return longest
  }
}

/** Tokens that a request of this worker may still count on, as far as it knows. */
export function leftOf(lease: Lease): number {
  return Math.max(0, Math.floor(lease.tokens) + lease.remaining)
}

/** A limit that refuses decides, whatever the others do not know; one that is not known must be asked. */
function worse(a: Verdict, b: Verdict): Verdict {
  return RANK[a] >= RANK[b] ? a : b
}

const RANK: Readonly<Record<Verdict, number>> = {
  [VERDICT.allowed]: 0,
  [VERDICT.unavailable]: 1,
  [VERDICT.unknown]: 2,
  [VERDICT.refused]: 3,
}

/** The keys of a policy that requests have come for of late. Bounded: the key that came first goes, and its leases back. */
export class LeaseTable {
  readonly #limits: readonly Limit[]
  readonly #prefix: string
  readonly #store: LimitStore
  readonly #maxKeys: number
  readonly #byKey = new Map<string, KeyLeases>()
  #sweep: Iterator<[string, KeyLeases]> | null = null

  /** @param prefix of the names of its counters. */
  constructor(limits: readonly Limit[], prefix: string, store: LimitStore, maxKeys = MAX_KEYS) {
    this.#limits = limits
    this.#prefix = prefix
    this.#store = store
    this.#maxKeys = maxKeys
  }

  /** How many keys it remembers. */
  get size(): number {
    return this.#byKey.size
  }

  /** @param place the route or API that is counted apart. @param key as `counterKey` gives it. */
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

  /** Lets some of the keys go that nobody asks for; called every SWEEP_MS. */
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

  /** All leases go back. */
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
