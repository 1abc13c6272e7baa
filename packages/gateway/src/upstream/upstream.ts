import type { RetryPlan, UpstreamPlan } from '@sluice/config'
import type { ErrorCode, Exchange, PoolState } from '@sluice/core'
import type { Report } from '../telemetry/operation-log.js'
import { Canary, type CanaryEvents } from './canary.js'
import type { Discovery } from './discovery.js'
import { Mirror } from './mirror.js'
import { RetryBudget } from './retry-budget.js'
import type { EjectionPool } from './state/ejection.js'
import type { Target } from './target.js'
import { TargetSelection } from './target-selection.js'
import { TargetTraffic } from './target-traffic.js'

const NONE_TRIED: readonly Target[] = []
/** Maximum number of an upstream's targets with their own counters of responses. Each has 25 series. */
const MAX_SHOWN_TARGETS = 200

/** A named group of targets with its load balancing, limits and retry budget, shared by all routes that use it. */
export class Upstream {
  readonly name: string
  readonly budget: RetryBudget
  /** Retry settings. `attempts` covers both connection failures and the statuses in `on`; 0 disables retries. */
  readonly retry: RetryPlan
  /** Statuses that may be retried, or null if there are none. */
  readonly retryOn: readonly number[] | null
  /** Maximum wait for a connection in milliseconds. */
  readonly pendingTimeoutMs: number
  /** Number of response bytes buffered for a slow client. */
  readonly responseBufferBytes: number
  readonly canary: Canary | null
  /** Mirror that gets copies of requests, or null. */
  readonly mirror: Mirror | null
  /** True if responses and failures must be recorded, for sessions, canary comparison or discovery. */
  readonly watchesAnswers: boolean
  targets: readonly Target[] = []
  retries = 0
  /** Counters of the targets beyond MAX_SHOWN_TARGETS. */
  readonly otherTraffic = new TargetTraffic()
  /** Number of requests refused because every target was full. */
  shed = 0
  /** Number of requests refused because no target was available. */
  unavailable = 0
  /** Targets with a weight, without mirrors. A target without weight finishes its requests and gets no new ones. */
  #serving: readonly Target[]
  /** The only serving target, if there is just one, so that no selection is needed. */
  #soleTarget: Target | null = null
  #selection: TargetSelection
  #discovery: Discovery | null = null
  readonly #plan: UpstreamPlan
  readonly #pool: EjectionPool
  readonly #triesAny: boolean
  /** Interval between health checks in milliseconds, or null if there are none. */
  readonly #checkMs: number | null

  /** @param shared report function and ejection pool shared with the targets. */
  constructor(
    plan: UpstreamPlan,
    targets: readonly Target[],
    { report, pool }: { readonly report: Report; readonly pool: EjectionPool },
  ) {
    this.#pool = pool
    this.#plan = plan
    this.name = plan.name
    this.budget = new RetryBudget(plan.retry.budget)
    this.retry = plan.retry
    this.retryOn = plan.retry.attempts === 0 || plan.retry.on.length === 0 ? null : plan.retry.on
    this.#triesAny = plan.panicMode
    this.#checkMs = plan.health?.intervalMs ?? null
    this.pendingTimeoutMs = plan.pendingTimeoutMs
    this.responseBufferBytes = plan.responseBufferBytes
    this.canary =
      plan.canary === null
        ? null
        : new Canary(plan.canary, canaryEvents(plan.name, plan.canary.key.kind, report))
    this.mirror = plan.mirror === null ? null : new Mirror(plan.mirror, plan.name, report)
    const isCompared = plan.canary !== null && plan.canary.abort !== null
    this.watchesAnswers = plan.sticky !== null || isCompared || plan.resolve !== null
    this.#serving = []
    this.#selection = this.setTargets(targets)
  }

  /** Replaces the targets. Removed ones finish their requests and get no new ones. */
  setTargets(targets: readonly Target[]): TargetSelection {
    this.#limitTraffic(targets)
    this.targets = targets
    this.#serving = targets.filter(({ weight, role }) => weight > 0 && role !== 'mirror')
    this.#soleTarget = this.#serving.length === 1 ? this.#serving[0]! : null
    this.mirror?.setTargets(targets.filter(({ weight, role }) => weight > 0 && role === 'mirror'))
    this.#pool.setTargets(this.#serving.length)
    this.#selection = new TargetSelection(this.#plan, this.#serving, this.canary)
    return this.#selection
  }

  /** Lets new targets beyond the bound share counters. A target keeps its counters, so that they never decrease. */
  #limitTraffic(targets: readonly Target[]): void {
    const known = new Set(this.targets)
    const { otherTraffic } = this
    let shown = targets.filter((target) => known.has(target) && target.traffic !== otherTraffic).length
    for (const target of targets) {
      if (!known.has(target) && ++shown > MAX_SHOWN_TARGETS) target.traffic = otherTraffic
    }
  }

  /** Attaches the discovery that updates the targets. */
  follow(discovery: Discovery): void {
    this.#discovery = discovery
  }

  /** Returns the next target to try, or null if all were tried or none is available. */
  choose(x: Exchange, tried: readonly Target[]): Target | null {
    const only = this.#soleTarget
    if (only === null) return this.#selection.chooseTarget(x, tried) ?? this.#chooseUnavailable(tried)
    if (tried.length > 0) return null
    return only.isAvailable ? only : this.#chooseUnavailable(tried)
  }

  /** Returns true if `choose` would find another target. */
  hasOther(tried: readonly Target[]): boolean {
    if (this.#serving.some((target) => target.isAvailable && !tried.includes(target))) return true
    return this.#chooseUnavailable(tried) !== null
  }

  /** True if no target may get requests, even if it has room. */
  get isDown(): boolean {
    return (
      !this.#serving.some(({ isAvailable }) => isAvailable) && this.#chooseUnavailable(NONE_TRIED) === null
    )
  }

  /** Refusal code while `isDown`, and the seconds until that may have changed. */
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

  /** Returns the least busy target that may be tried although none is available (`panicMode`), or null. */
  #chooseUnavailable(tried: readonly Target[]): Target | null {
    if (!this.#triesAny || this.#serving.some(({ isAvailable }) => isAvailable)) return null
    const left = this.#serving.filter((target) => target.state.isTryable && !tried.includes(target))
    return left.length === 0 ? null : left.reduce((a, b) => (b.active < a.active ? b : a))
  }

  /** Records a response head for sessions and the canary. @param ms time since the attempt began. */
  noteAnswer(x: Exchange, target: Target, ms: number): void {
    this.canary?.note(target.role === 'canary', x.status >= 500, ms)
    this.#selection.sticky?.setCookie(x, target)
  }

  /** Records a failed or late attempt. @param ms time since the attempt began. */
  noteFailure(target: Target, ms: number): void {
    this.#discovery?.refresh()
    this.canary?.note(target.role === 'canary', true, ms)
  }

  /** Sums up this worker's connections to all targets. */
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
    this.#discovery?.stop()
    for (const { state } of this.targets) state.close()
    await Promise.all(this.targets.map((target) => target.transport.close()))
  }
}

function canaryEvents(upstream: string, keyKind: string, report: Report): CanaryEvents {
  const remedy =
    keyKind === 'ip'
      ? 'all clients appear to share one address: add the proxy to trustedProxies of the listener, or use another canary.key'
      : 'use a canary.key that differs between clients'
  return {
    aborted: (reason, figures) => report('canary_aborted', { upstream, reason, ...figures }),
    singleKey: (requests) => report('canary_single_key', { upstream, key: keyKind, requests, remedy }),
  }
}
