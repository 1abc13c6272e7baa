import { type Exchange, headerValue, type RetryDecision, retryAfterMs, statusOf } from '@sluice/core'
import type { UpgradeObserver } from '../upstream/http1/upgrade-attempt.js'
import { WatchedAttempt } from '../upstream/state/watched-attempt.js'
import type { Target } from '../upstream/target.js'
import type { Attempt, Failure, UpstreamRequest } from '../upstream/transport/transport.js'
import type { Upstream } from '../upstream/upstream.js'
import type { RequestBody } from './request-body.js'

/** The parts of an attempt that matter for another one. */
export interface PastAttempt {
  readonly target: Target
  readonly body: RequestBody | null
}

/** An attempt without a response. */
export interface FailedAttempt extends PastAttempt {
  readonly failure: Failure
  /** True if a connection existed and the request was being written to it. */
  readonly hasStarted: boolean
  /** Milliseconds left until the limit for the whole exchange. */
  readonly leftMs: number
}

/** An attempt whose response, or the refusal in its place, has a status that may be retried. */
export interface AnsweredAttempt extends PastAttempt {
  readonly status: number
  /** Fields of the response. Retry-After limits how soon the target may be called again. */
  readonly fields: readonly string[]
  readonly leftMs: number
}

const NONE_TRIED: readonly Target[] = []
const NO_FIELDS: readonly string[] = []

/** Choice of targets for one exchange, with its retries. */
export class TargetSearch {
  readonly #upstream: Upstream
  readonly #x: Exchange
  #isRenewed = false
  /** Targets that failed or had no room. */
  #tried: readonly Target[] = NONE_TRIED
  /** Number of further attempts, after connection failures or rejected responses. */
  #further = 0
  /** Current target. */
  target: Target | null = null
  /** True if the next attempt needs a new connection. */
  isFresh = false
  /** Delay before the next attempt, in milliseconds. */
  backoffMs = 0
  /** True if the exchange uses part of the client's connection quota at the target. */
  #hasReservation = false
  /** Reporter for the outcome of the current attempt; null if it is not watched. */
  #watch: WatchedAttempt | null = null

  constructor(upstream: Upstream, x: Exchange) {
    this.#upstream = upstream
    this.#x = x
  }

  /**
   * Selects the next target with a free connection or a free slot in its queue. Returns null if there is none.
   * @param isSending true if the client is still sending the body; `noteSent` follows.
   */
  take(isSending: boolean): Target | null {
    for (;;) {
      const target = this.#upstream.choose(this.#x, this.#tried)
      if (target === null) return null
      if (target.active < target.capacity && !target.transport.isSlow) {
        target.active++
        this.target = target
        if (target.state.isWatched) {
          this.#watch = new WatchedAttempt(target.state)
          if (!isSending) this.#watch.wait()
        }
        return target
      }
      this.#tried = [...this.#tried, target]
    }
  }

  /**
   * Sends an upgrade request. Upgrades always use a new connection, so a stale one cannot be the cause of a failure.
   */
  dispatchUpgrade(target: Target, request: UpstreamRequest, observer: UpgradeObserver): Attempt {
    this.isFresh = true
    return target.upgrades.dispatch(request, observer)
  }

  /** Releases the current target and returns it. Returns null without a target. */
  release(): Target | null {
    this.releaseConnection()
    const { target } = this
    this.target = null
    if (target !== null) {
      target.active--
      target.traffic.requestBytes += this.#x.requestBytes
    }
    if (this.#watch !== null) {
      this.#watch.end()
      this.#watch = null
    }
    return target
  }

  /** Records that the whole request has been sent. */
  noteSent(): void {
    if (this.#watch !== null) this.#watch.wait()
  }

  /** Records that the target has responded. @param ms time since the request was sent. */
  noteAnswer(status: number, ms: number): void {
    const { target } = this
    if (target !== null) {
      target.traffic.record(status, ms)
      if (target.suspectsStale) target.suspectsStale = false
    }
    if (this.#watch !== null) this.#watch.answer(status)
  }

  /** Records a failed attempt, before or during its response. Failures caused by the gateway do not count. */
  noteFailure({ code, phase }: Failure): void {
    if (this.target !== null) this.target.traffic.countError(code)
    // The next attempt shows if the target refuses all streams.
    if (phase === 'unprocessed' && !this.isFresh) return
    // A reused connection may close at any time. Only a new connection shows if the target has failed.
    const isKept = code === 'GW_UPSTREAM_RESET' && this.#x.attempts.isReused
    if (isKept && this.target !== null) this.target.suspectsStale = true
    if (this.#watch === null || code === 'GW_OVERLOADED' || code === 'GW_BAD_REQUEST') return
    if (!isKept || this.#watch.isAnswered) this.#watch.lose()
  }

  /** Records that the target exceeded a timeout. */
  noteLate(): void {
    if (this.target !== null) this.target.traffic.countError('GW_UPSTREAM_TIMEOUT')
    if (this.#watch !== null) this.#watch.lose()
  }

  /**
   * Reserves a target connection that will wait for the client. Returns false if the quota is used up, for this client
   * address or for all.
   */
  reserveConnection(): boolean {
    const { target } = this
    if (this.#hasReservation || target === null) return true
    this.#hasReservation = target.quota.reserve(this.#x.clientIp, target.active)
    return this.#hasReservation
  }

  /** Returns the reservation. */
  releaseConnection(): void {
    if (!this.#hasReservation) return
    this.#hasReservation = false
    this.target!.quota.release(this.#x.clientIp)
  }

  /**
   * Prepares another attempt if the target cannot have processed the request, or if repeating it is safe. Returns
   * `moved`, `resent`, or `repeated` (after `backoffMs`). Any other result means that the failure stands.
   */
  retryAfterFailure(attempt: FailedAttempt): RetryDecision {
    const { failure, target, hasStarted, body, leftMs } = attempt
    if (failure.code === 'GW_BAD_REQUEST' || this.#upstream.retry.attempts === 0) return 'not-covered'
    const answered = { target, body, status: statusOf(failure.code), fields: NO_FIELDS, leftMs }
    const isReset = failure.code === 'GW_UPSTREAM_RESET'
    // A connection may be reset while it is opened, for example in the TLS handshake.
    if (!hasStarted && (failure.phase === 'connect' || isReset)) {
      const decision = this.#move(target, body)
      if (decision !== 'no-target' || failure.code === 'GW_OVERLOADED') return decision
      if (this.#covers(answered.status)) return this.retryAfterResponse(answered)
      if (!isReset) return decision
    }
    if (isReset && !this.isFresh) return this.#resend(body, failure.phase === 'unprocessed')
    return this.retryAfterResponse(answered)
  }

  /** Prepares a retry after a response. Returns `repeated` (after `backoffMs`), or the reason against it. */
  retryAfterResponse({ target, body, status, fields, leftMs }: AnsweredAttempt): RetryDecision {
    const { retry } = this.#upstream
    if (!this.#covers(status)) return 'not-covered'
    if (!this.#isRepeatable()) return 'not-idempotent'
    if (body !== null && !body.isReplayable) return 'body-sent'
    if (this.#further >= retry.attempts) return 'attempts-used'
    const waitMs = retryAfterMs(headerValue(fields, 'retry-after') ?? undefined, Date.now())
    if (waitMs > retry.maxBackoffMs) return 'retry-after'
    const mostMs = Math.min(retry.backoffMs * 2 ** this.#further, retry.maxBackoffMs)
    this.backoffMs = Math.max(waitMs, Math.random() * mostMs)
    if (this.backoffMs >= leftMs) return 'out-of-time'
    if (this.#upstream.isDown) return 'no-target'
    if (!this.#spend()) return 'budget-spent'
    const tried = [...this.#tried, target]
    this.#tried = this.#upstream.hasOther(tried) ? tried : NONE_TRIED
    this.#further++
    this.#x.attempts.retries++
    return 'repeated'
  }

  /** Returns true if a rejected request can be sent again with other credentials. The target has not processed it. */
  canRenew(body: RequestBody | null): boolean {
    return !this.#isRenewed && body?.isReplayable !== false
  }

  /** Prepares that attempt, which is immediate and allowed once. It does not count against the retry budget. */
  renew(): Target {
    this.#isRenewed = true
    this.backoffMs = 0
    this.#x.attempts.retries++
    return this.target!
  }

  #covers(status: number): boolean {
    return this.#upstream.retryOn?.includes(status) === true
  }

  #move(target: Target, body: RequestBody | null): RetryDecision {
    if (body !== null && !body.canRestart) return 'body-sent'
    if (this.#further >= this.#upstream.retry.attempts) return 'attempts-used'
    const tried = [...this.#tried, target]
    if (!this.#upstream.hasOther(tried)) return 'no-target'
    if (!this.#spend()) return 'budget-spent'
    this.#further++
    this.#tried = tried
    this.#x.attempts.failovers++
    return 'moved'
  }

  /**
   * Handles a reused connection that the target closed just then: a new one will show if it did (RFC 9112 section
   * 9.3.1). Also handles a stream that it has refused (RFC 9113 section 8.7).
   */
  #resend(body: RequestBody | null, isUnprocessed: boolean): RetryDecision {
    if (!isUnprocessed && !this.#isRepeatable()) return 'not-idempotent'
    if (body !== null && !body.isReplayable) return 'body-sent'
    this.isFresh = true
    if (!this.#spend()) return 'budget-spent'
    this.#x.attempts.retries++
    return 'resent'
  }

  #spend(): boolean {
    if (!this.#upstream.budget.spend()) return false
    this.#upstream.retries++
    return true
  }

  /**
   * Returns true if repeating the request is safe: by its method (RFC 9110 section 9.2.2), or by its Idempotency-Key.
   */
  #isRepeatable(): boolean {
    const { method, headers } = this.#x
    if (
      method === 'GET' ||
      method === 'HEAD' ||
      method === 'PUT' ||
      method === 'DELETE' ||
      method === 'OPTIONS'
    )
      return true
    return (headerValue(headers, 'idempotency-key') ?? '') !== ''
  }
}
