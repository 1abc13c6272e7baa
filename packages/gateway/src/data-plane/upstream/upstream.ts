import type { HashKey, RetryPlan, UpstreamPlan } from '@sluice/config'
import { type ErrorCode, type Exchange, headerValue, type PoolState } from '@sluice/core'
import { type Balancer, HashRing, LeastPending, RoundRobin } from './balancer.js'
import { RetryBudget } from './retry-budget.js'
import type { Target } from './target.js'

const NONE_TRIED: readonly Target[] = []

/** A named group of targets with its balancing, limits and retry budget; shared by all routes that use it. */
export class Upstream {
  readonly name: string
  readonly targets: readonly Target[]
  readonly budget: RetryBudget
  /** Its `attempts` count those because no connection came about, and those because of `on`; 0: none of any kind. */
  readonly retry: RetryPlan
  /** Statuses of answers that may be asked for again; null: none. */
  readonly retryOn: readonly number[] | null
  /** Longest wait for a connection, ms. */
  readonly pendingTimeoutMs: number
  /** Bytes of a response that are read ahead of a slow client. */
  readonly responseBuffer: number
  retries = 0
  /** Requests refused because every target was full. */
  shed = 0
  /** Requests refused because no target was available. */
  unavailable = 0
  /** Those with a weight: a target without one keeps what it has, and gets nothing more. */
  readonly #serving: readonly Target[]
  readonly #primaries: readonly Target[]
  readonly #failovers: readonly Target[]
  readonly #balancer: Balancer
  readonly #hashOn: HashKey | null
  readonly #triesAny: boolean
  /** Between two health checks, ms; null: there are none. */
  readonly #checkMs: number | null

  constructor(plan: UpstreamPlan, targets: readonly Target[]) {
    this.name = plan.name
    this.targets = targets
    this.budget = new RetryBudget(plan.retry.budget)
    this.retry = plan.retry
    this.retryOn = plan.retry.attempts === 0 || plan.retry.on.length === 0 ? null : plan.retry.on
    this.#triesAny = plan.whenAllDown === 'try-any'
    this.#checkMs = plan.health?.intervalMs ?? null
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
      if (tried.length > 0) return null
      return only.isAvailable ? only : this.#chooseUnavailable(tried)
    }
    const key = this.#hashOn === null ? null : hashKey(x, this.#hashOn)
    return (
      this.#balancer.pick(this.#primaries, tried, key) ??
      this.#balancer.pick(this.#failovers, tried, null) ??
      this.#chooseUnavailable(tried)
    )
  }

  /** Whether `choose` would find one more. */
  hasOther(tried: readonly Target[]): boolean {
    if (this.#serving.some((target) => target.isAvailable && !tried.includes(target))) return true
    return this.#chooseUnavailable(tried) !== null
  }

  /** No target may be sent anything, whether it has room or not. */
  get isDown(): boolean {
    return (
      !this.#serving.some(({ isAvailable }) => isAvailable) && this.#chooseUnavailable(NONE_TRIED) === null
    )
  }

  /** What a request is refused with while `isDown`, and after how many seconds that may have changed. */
  get downReason(): { readonly code: ErrorCode; readonly retryAfterS: number } {
    const states = this.#serving.map(({ state }) => state)
    const isOpen = states.some(({ condition }) => condition === 'open' || condition === 'half-open')
    const waitMs = Math.min(...states.map(({ changesMono }) => changesMono)) - performance.now()
    const ms = Number.isFinite(waitMs) ? waitMs : (this.#checkMs ?? 0)
    return {
      code: isOpen ? 'GW_UPSTREAM_CIRCUIT_OPEN' : 'GW_UPSTREAM_UNAVAILABLE',
      retryAfterS: Math.max(1, Math.ceil(ms / 1000)),
    }
  }

  /** With `whenAllDown: try-any`, while no target is available: the least busy of those that may be tried all the same. */
  #chooseUnavailable(tried: readonly Target[]): Target | null {
    if (!this.#triesAny || this.#serving.some(({ isAvailable }) => isAvailable)) return null
    const left = this.#serving.filter((target) => target.state.isTryable && !tried.includes(target))
    return left.length === 0 ? null : left.reduce((a, b) => (b.active < a.active ? b : a))
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
    for (const { state } of this.targets) state.close()
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
