import type { CanaryAbortPlan, CanaryPlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'
import { hashText, matchesRequest, requestKey } from './request-key.js'

/** Counts and response times of one side. */
interface Tally {
  requests: number
  errors: number
  ms: number
}

/** Both sides over one half of the window. */
interface HalfWindow {
  readonly canary: Tally
  readonly primary: Tally
}

const HASH_RANGE = 2 ** 32

/** Figures of the comparison that aborted a canary. `errors` is the number of failed requests and 5xx responses. */
export interface CanaryFigures {
  readonly canaryRequests: number
  readonly canaryErrors: number
  readonly canaryMeanMs: number
  readonly primaryRequests: number
  readonly primaryErrors: number
  readonly primaryMeanMs: number
}

/** Receiver of events for operators. */
export interface CanaryEvents {
  /** Called when the canary is aborted, with the compared figures. */
  aborted(reason: 'errors' | 'slower', figures: CanaryFigures): void
  /** Called once if all of the first requests have the same key, so that the canary gets all of them or none. */
  singleKey(requests: number): void
}

/** Number of requests after which a single key is reported. */
const SINGLE_KEY_REQUESTS = 1000

/** Selects the requests that go to the canary targets, and aborts a canary that does worse than the primaries. */
export class Canary {
  readonly #plan: CanaryPlan
  readonly #events: CanaryEvents
  readonly #now: () => number
  #halves: [HalfWindow, HalfWindow] = [emptyHalf(), emptyHalf()]
  #halfSince: number
  #abortedUntil = 0
  aborts = 0
  #firstHash = 0
  /** Requests with the first key, until another key is seen. */
  #sameKey = 0

  /** @param now the monotonic clock in milliseconds. */
  constructor(plan: CanaryPlan, events: CanaryEvents, now: () => number = () => performance.now()) {
    this.#plan = plan
    this.#events = events
    this.#now = now
    this.#halfSince = now()
  }

  /** True while the canary gets no requests, until the cooldown is over. */
  get isAborted(): boolean {
    return this.#abortedUntil > 0 && this.#now() < this.#abortedUntil
  }

  /** Returns true if a request asks for the canary. */
  isAskedFor(x: Exchange): boolean {
    return this.#plan.match.some((match) => matchesRequest(x, match)) && !this.isAborted
  }

  /**
   * Returns true if a request's key belongs to the canary. A key always gives the same result, and a higher percentage
   * only adds keys.
   */
  takesKey(x: Exchange): boolean {
    const { percent, key } = this.#plan
    if (percent === 0 || this.isAborted) return false
    const hash = hashText(`canary ${requestKey(x, key) ?? x.clientIp}`)
    if (percent < 1 && this.#sameKey < SINGLE_KEY_REQUESTS) this.#watchKeys(hash)
    return hash < percent * HASH_RANGE
  }

  #watchKeys(hash: number): void {
    if (this.#sameKey === 0) this.#firstHash = hash
    this.#sameKey = hash === this.#firstHash ? this.#sameKey + 1 : Number.POSITIVE_INFINITY
    if (this.#sameKey === SINGLE_KEY_REQUESTS) this.#events.singleKey(SINGLE_KEY_REQUESTS)
  }

  /** Records a response or a failure. @param ms time until the response head or the failure. */
  note(isCanary: boolean, isError: boolean, ms: number): void {
    const { abort } = this.#plan
    if (abort === null || this.isAborted) return
    this.#turnWindow(abort.windowMs / 2)
    const half = this.#halves[0]
    const tally = isCanary ? half.canary : half.primary
    tally.requests++
    tally.ms += ms
    if (isError) tally.errors++
    if (isCanary) this.#compare(abort)
  }

  #turnWindow(halfMs: number): void {
    const now = this.#now()
    const past = Math.floor((now - this.#halfSince) / halfMs)
    if (past === 0) return
    this.#halves = [emptyHalf(), past === 1 ? this.#halves[0] : emptyHalf()]
    this.#halfSince += past * halfMs
  }

  #compare({ errors, slowerMs, minRequests, cooldownMs }: CanaryAbortPlan): void {
    const canary = this.#sum('canary')
    const primary = this.#sum('primary')
    if (canary.requests < minRequests || primary.requests < minRequests) return
    const moreErrors = canary.errors / canary.requests - primary.errors / primary.requests
    const moreMs = canary.ms / canary.requests - primary.ms / primary.requests
    const hasErrors = errors !== null && moreErrors > errors
    if (!hasErrors && !(slowerMs !== null && moreMs > slowerMs)) return
    this.aborts++
    this.#abortedUntil = this.#now() + cooldownMs
    this.#halves = [emptyHalf(), emptyHalf()]
    this.#events.aborted(hasErrors ? 'errors' : 'slower', {
      canaryRequests: canary.requests,
      canaryErrors: canary.errors,
      canaryMeanMs: Math.round(canary.ms / canary.requests),
      primaryRequests: primary.requests,
      primaryErrors: primary.errors,
      primaryMeanMs: Math.round(primary.ms / primary.requests),
    })
  }

  #sum(side: keyof HalfWindow): Tally {
    const [a, b] = [this.#halves[0][side], this.#halves[1][side]]
    return { requests: a.requests + b.requests, errors: a.errors + b.errors, ms: a.ms + b.ms }
  }
}

function emptyHalf(): HalfWindow {
  return { canary: { requests: 0, errors: 0, ms: 0 }, primary: { requests: 0, errors: 0, ms: 0 } }
}
