import { type Exchange, headerValue, type RetryDecision, retryAfterMs, statusOf } from '@sluice/core'
import { WatchedAttempt } from '../upstream/state/watched-attempt.js'
import type { Target } from '../upstream/target.js'
import type { Attempt, Failure, UpstreamRequest } from '../upstream/transport.js'
import type { UpgradeObserver } from '../upstream/upgrade-attempt.js'
import type { Upstream } from '../upstream/upstream.js'
import type { RequestBody } from './request-body.js'

/** What matters of an attempt for making another. */
export interface PastAttempt {
  readonly target: Target
  readonly body: RequestBody | null
}

/** An attempt without an answer. */
export interface FailedAttempt extends PastAttempt {
  readonly failure: Failure
  /** There was a connection and the request was being written to it. */
  readonly hasStarted: boolean
  /** Until the bound for the whole exchange, ms. */
  readonly leftMs: number
}

/** An attempt whose answer, or what the client would get in its place, has a status that may be repeated. */
export interface AnsweredAttempt extends PastAttempt {
  readonly status: number
  /** Of the answer; Retry-After among them says how long the target wants to be left alone. */
  readonly fields: readonly string[]
  readonly leftMs: number
}

const NONE_TRIED: readonly Target[] = []
const NO_FIELDS: readonly string[] = []

/** The way of one exchange from target to target of its upstream, until one answers. */
export class TargetSearch {
  readonly #upstream: Upstream
  readonly #x: Exchange
  #isRenewed = false
  /** Targets that were left, and those that had no room. */
  #tried: readonly Target[] = NONE_TRIED
  /** Attempts made because no connection came about, or because of an answer. */
  #further = 0
  /** The target that the exchange is at now. */
  target: Target | null = null
  /** The next attempt needs a connection that nothing was sent on before. */
  isFresh = false
  /** How long the attempt that is to be repeated waits, ms. */
  backoffMs = 0
  /** The target's connection waits for the client, which has taken a share of them for that. */
  #hasShare = false
  /** Hears the outcome of the attempt under way; null: nobody asks. */
  #watch: WatchedAttempt | null = null

  constructor(upstream: Upstream, x: Exchange) {
    this.#upstream = upstream
    this.#x = x
  }

  /**
   * Goes to the next target with a free connection or a free slot in its queue; null when there is none.
   * @param isSending the client still sends the body: `noteSent` follows.
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

  /** Asks the target to switch protocols, over a connection of its own: there is no kept one that may have died. */
  askToUpgrade(target: Target, request: UpstreamRequest, observer: UpgradeObserver): Attempt {
    this.isFresh = true
    return target.upgrades.dispatch(request, observer)
  }

  /** Leaves the target where the exchange is; null when it is at none. */
  release(): Target | null {
    this.releaseShare()
    const { target } = this
    this.target = null
    if (target !== null) target.active--
    if (this.#watch !== null) {
      this.#watch.end()
      this.#watch = null
    }
    return target
  }

  /** All of the request is on its way. */
  noteSent(): void {
    if (this.#watch !== null) this.#watch.wait()
  }

  /** The target has answered. */
  noteAnswer(status: number): void {
    const { target } = this
    if (target?.doubtsKept === true) target.doubtsKept = false
    if (this.#watch !== null) this.#watch.answer(status)
  }

  /** The attempt has failed before its answer, or within it. What the gateway itself is to blame for does not count. */
  noteFailure({ code, phase }: Failure): void {
    // The next attempt shows whether it refuses all.
    if (phase === 'unprocessed' && !this.isFresh) return
    // A kept connection may close at any time; whether the target fails shows on a new one.
    const isKept = code === 'GW_UPSTREAM_RESET' && this.#x.attempts.isReused
    if (isKept && this.target !== null) this.target.doubtsKept = true
    if (this.#watch === null || code === 'GW_OVERLOADED' || code === 'GW_BAD_REQUEST') return
    if (!isKept || this.#watch.isAnswered) this.#watch.lose()
  }

  /** The target has kept the exchange waiting for too long. */
  noteLate(): void {
    if (this.#watch !== null) this.#watch.lose()
  }

  /** The target is to wait for the client. False: not for one more, of this address or at all. */
  takeShare(): boolean {
    const { target } = this
    if (this.#hasShare || target === null) return true
    this.#hasShare = target.shares.take(this.#x.clientIp, target.active)
    return this.#hasShare
  }

  /** It does not wait any more. */
  releaseShare(): void {
    if (!this.#hasShare) return
    this.#hasShare = false
    this.target!.shares.release(this.#x.clientIp)
  }

  /**
   * Gets ready for another attempt where the target cannot have acted on the request, or acting twice does no harm:
   * `moved`, `resent`, or `repeated` after `backoffMs`. Anything else: the failure stands.
   */
  goOn(attempt: FailedAttempt): RetryDecision {
    const { failure, target, hasStarted, body, leftMs } = attempt
    if (failure.code === 'GW_BAD_REQUEST' || this.#upstream.retry.attempts === 0) return 'not-covered'
    const answered = { target, body, status: statusOf(failure.code), fields: NO_FIELDS, leftMs }
    const isReset = failure.code === 'GW_UPSTREAM_RESET'
    // A connection may be reset while it is opened, as in the TLS handshake.
    if (!hasStarted && (failure.phase === 'connect' || isReset)) {
      const decision = this.#move(target, body)
      if (decision !== 'no-target' || failure.code === 'GW_OVERLOADED') return decision
      if (this.#covers(answered.status)) return this.repeat(answered)
      if (!isReset) return decision
    }
    if (isReset && !this.isFresh) return this.#resend(body, failure.phase === 'unprocessed')
    return this.repeat(answered)
  }

  /** The same after an answer that may be asked for again: `repeated` after `backoffMs`, or why not. */
  repeat({ target, body, status, fields, leftMs }: AnsweredAttempt): RetryDecision {
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

  /** Whether a refused request can be sent once more with other credentials: the target has done nothing with it. */
  canRenew(body: RequestBody | null): boolean {
    return !this.#isRenewed && body?.isReplayable !== false
  }

  /** Gets ready for that: at once, and not a second time. It is no retry, so none is spent. */
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
   * A kept connection that the target closed just then; a new one shows whether it did (RFC 9112 section 9.3.1). Or a
   * stream that it has refused (RFC 9113 section 8.7).
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

  /** Acting twice does no harm: RFC 9110 section 9.2.2, or the client says by Idempotency-Key that the target sees to that. */
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
