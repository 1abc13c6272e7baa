import type { HashKey, UpstreamPlan } from '@sluice/config'
import { type Exchange, headerValue, type PoolState } from '@sluice/core'
import { type Balancer, HashRing, LeastPending, RoundRobin } from './balancer.js'
import { RetryBudget } from './retry-budget.js'
import type { Target } from './target.js'

/** A named group of targets with its balancing, limits and retry budget; shared by all routes that use it. */
export class Upstream {
  readonly name: string
  readonly targets: readonly Target[]
  readonly budget: RetryBudget
  /**
   * Attempts after the first that a request may make because no connection came about; the one after a kept connection
   * died is not counted. 0: none of either.
   */
  readonly maxRetries: number
  /** Longest wait for a connection, ms. */
  readonly pendingTimeoutMs: number
  /** Bytes of a response that are read ahead of a slow client. */
  readonly responseBuffer: number
  retries = 0
  /** Requests refused because every target was full. */
  shed = 0
  /** Those with a weight: a target without one keeps what it has, and gets nothing more. */
  readonly #serving: readonly Target[]
  readonly #primaries: readonly Target[]
  readonly #failovers: readonly Target[]
  readonly #balancer: Balancer
  readonly #hashOn: HashKey | null

  constructor(plan: UpstreamPlan, targets: readonly Target[]) {
    this.name = plan.name
    this.targets = targets
    this.budget = new RetryBudget(plan.retry.budget)
    this.maxRetries = plan.retry.attempts
    this.pendingTimeoutMs = plan.pendingTimeoutMs
    this.responseBuffer = plan.responseBuffer
    this.#serving = targets.filter((target) => target.weight > 0)
    this.#primaries = this.#serving.filter((target) => !target.isFailover)
    this.#failovers = this.#serving.filter((target) => target.isFailover)
    this.#hashOn = plan.balance === 'hash' ? plan.hashOn : null
    this.#balancer = createBalancer(plan.balance, this.#primaries)
  }

  /** The next target to try; null when all were. */
  choose(x: Exchange, tried: readonly Target[]): Target | null {
    if (this.#serving.length === 1) {
      const only = this.#serving[0]!
      return only.isAvailable && tried.length === 0 ? only : null
    }
    const key = this.#hashOn === null ? null : hashKey(x, this.#hashOn)
    return (
      this.#balancer.pick(this.#primaries, tried, key) ?? this.#balancer.pick(this.#failovers, tried, null)
    )
  }

  /** Whether `choose` would find one more. */
  hasOther(tried: readonly Target[]): boolean {
    return this.#serving.some((target) => target.isAvailable && !tried.includes(target))
  }

  /** The connections of this worker to all of its targets. */
  pool(): PoolState {
    const states = this.targets.map(({ transport }) => transport.pool())
    const sum = (count: (state: PoolState) => number): number =>
      states.reduce((total, state) => total + count(state), 0)
    return {
      busy: sum(({ busy }) => busy),
      free: sum(({ free }) => free),
      pending: sum(({ pending }) => pending),
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.targets.map((target) => target.transport.close()))
  }
}

function createBalancer(kind: UpstreamPlan['balance'], targets: readonly Target[]): Balancer {
  if (kind === 'hash') return new HashRing(targets)
  return kind === 'least-pending' ? new LeastPending() : new RoundRobin()
}

function hashKey(x: Exchange, on: HashKey): string | null {
  if (on.kind === 'ip') return x.clientIp
  if (on.kind === 'header') return headerValue(x.headers, on.name)
  return cookieValue(headerValue(x.headers, 'cookie'), on.name)
}

/** The value of a cookie (RFC 6265 section 4.2.1), or null. */
function cookieValue(field: string | null, name: string): string | null {
  if (field === null) return null
  for (const pair of field.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return null
}
