import type { Exchange } from '@sluice/core'
import type { Target } from '../upstream/target.js'
import type { Failure } from '../upstream/transport.js'
import type { Upstream } from '../upstream/upstream.js'
import type { RequestBody } from './request-body.js'

/** What matters of a failed attempt for making another. */
export interface FailedAttempt {
  readonly failure: Failure
  readonly target: Target
  /** There was a connection and the request was being written to it. */
  readonly hasStarted: boolean
  readonly body: RequestBody | null
}

const NONE_TRIED: readonly Target[] = []

/** The way of one exchange from target to target of its upstream, until one answers. */
export class TargetSearch {
  readonly #upstream: Upstream
  readonly #x: Exchange
  /** Targets that were left, and those that had no room. */
  #tried: readonly Target[] = NONE_TRIED
  /** Targets left because no connection to them came about. */
  #moves = 0
  /** The target that the exchange is at now. */
  target: Target | null = null
  /** The next attempt needs a connection that nothing was sent on before. */
  isFresh = false
  /** The target's connection waits for the client, which has taken a share of them for that. */
  #hasShare = false

  constructor(upstream: Upstream, x: Exchange) {
    this.#upstream = upstream
    this.#x = x
  }

  /** Goes to the next target with a free connection or a free slot in its queue; null when there is none. */
  take(): Target | null {
    for (;;) {
      const target = this.#upstream.choose(this.#x, this.#tried)
      if (target === null) return null
      if (target.active < target.capacity && !target.transport.isSlow) {
        target.active++
        this.target = target
        return target
      }
      this.#tried = [...this.#tried, target]
    }
  }

  /** Leaves the target where the exchange is; null when it is at none. */
  release(): Target | null {
    this.releaseShare()
    const { target } = this
    this.target = null
    if (target !== null) target.active--
    return target
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
   * Gets ready for another attempt where the target cannot have acted on the request, or acting twice does no harm.
   * False: the failure stands.
   */
  goOn(attempt: FailedAttempt): boolean {
    const { failure, target, hasStarted, body } = attempt
    if (failure.code === 'GW_BAD_REQUEST' || this.#upstream.maxRetries === 0) return false
    const isMove = !hasStarted && failure.phase === 'connect'
    if (isMove) {
      if (body !== null && !body.canRestart) return false
      if (this.#moves >= this.#upstream.maxRetries) return false
      const tried = [...this.#tried, target]
      if (!this.#upstream.hasOther(tried)) return false
      this.#moves++
      this.#tried = tried
    } else {
      // A kept connection that the target closed just then; a new one shows whether it did (RFC 9112 section 9.3.1).
      const isSafe = isIdempotent(this.#x.method) && (body?.isReplayable ?? true)
      if (failure.code !== 'GW_UPSTREAM_RESET' || this.isFresh || !isSafe) return false
      this.isFresh = true
    }
    if (!this.#upstream.budget.spend()) return false
    this.#upstream.retries++
    if (isMove) this.#x.attempts.failovers++
    else this.#x.attempts.retries++
    return true
  }
}

/** RFC 9110 section 9.2.2. */
function isIdempotent(method: string): boolean {
  return (
    method === 'GET' || method === 'HEAD' || method === 'PUT' || method === 'DELETE' || method === 'OPTIONS'
  )
}
