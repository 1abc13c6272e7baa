import type { PoolState } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import { WireUpload } from '../http1/wire-upload.js'
import { AttemptQueue } from '../transport/attempt-queue.js'
import { createConnector, type TransportOptions } from '../transport/connector.js'
import { FAILURES } from '../transport/failure.js'
import type { Attempt, AttemptObserver, Transport, Upload, UpstreamRequest } from '../transport/transport.js'
import { H2Attempt, type H2Owner } from './h2-attempt.js'
import { H2Session, type H2SessionOwner } from './h2-session.js'
import { http1Upload } from './http1-upload.js'

/** Options for `H2Transport`. */
export interface H2TransportOptions extends TransportOptions {
  /** Transport for a target that does not negotiate HTTP/2; null to use HTTP/2 without negotiation. */
  readonly fallback: Transport | null
  readonly clock: CachedClock
}

/**
 * HTTP/2 (RFC 9113). Fills one connection with as many requests as the target allows, then opens
 * another. If a target negotiates HTTP/1.1, the fallback serves it, and HTTP/2 is tried again after the maximum age of
 * connections.
 */
export class H2Transport implements Transport, H2Owner, H2SessionOwner {
  readonly #options: H2TransportOptions
  readonly #sessions = new Set<H2Session>()
  readonly #queue: AttemptQueue<H2Attempt>
  #http1Until = 0
  #onEmpty: (() => void) | null = null
  #waits = 0

  constructor(options: H2TransportOptions) {
    this.#options = options
    this.#queue = new AttemptQueue(options.pendingTimeoutMs, (attempt) => attempt.fail(FAILURES.queueTimeout))
  }

  get waits(): number {
    return this.#waits + (this.#options.fallback?.waits ?? 0)
  }

  get isSlow(): boolean {
    return this.#queue.isSlow || this.#options.fallback?.isSlow === true
  }

  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt {
    const { fallback, maxHeaderBytes } = this.#options
    if (fallback !== null && performance.now() < this.#http1Until)
      return fallback.dispatch(asHttp1(request), observer, isFresh)
    const attempt = new H2Attempt(request, observer, { isFresh, owner: this, maxHeaderBytes })
    const session = this.#queue.size > 0 ? null : this.#roomFor(attempt)
    if (session !== null) session.add(attempt)
    else {
      this.#waits++
      this.#queue.add(attempt)
    }
    return attempt
  }

  createUpload(length: number, onDrain: () => void): Upload {
    return new WireUpload(length, onDrain, true)
  }

  pool(): PoolState {
    const { busy, free, pending } = this.#options.fallback?.pool() ?? { busy: 0, free: 0, pending: 0 }
    let used = 0
    for (const { streams } of this.#sessions) if (streams > 0) used++
    return { busy: busy + used, free: free + this.#sessions.size - used, pending: pending + this.#queue.size }
  }

  async close(): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    for (const session of this.#sessions) session.retire()
    await Promise.all([this.#options.fallback?.close(), this.#sessions.size > 0 ? emptied : null])
  }

  onAbandoned(attempt: H2Attempt): void {
    if (attempt.isQueued) {
      this.#queue.delete(attempt)
      return
    }
    for (const session of this.#sessions) if (session.remove(attempt)) return
  }

  onRoom(): void {
    for (let first = this.#queue.first; first !== null; first = this.#queue.first) {
      const session = this.#roomFor(first)
      if (session === null) return
      // Delete it first: it may fail at once, which triggers the next one.
      this.#queue.delete(first)
      session.add(first)
    }
  }

  onClosed(session: H2Session): void {
    this.#sessions.delete(session)
    this.onRoom()
    if (this.#sessions.size === 0) this.#onEmpty?.()
  }

  onHttp1(attempts: readonly H2Attempt[]): void {
    const fallback = this.#options.fallback!
    this.#http1Until = performance.now() + this.#options.maxConnectionAgeMs
    for (const attempt of attempts) {
      const { request, observer, isFresh } = attempt
      attempt.delegate(() => fallback.dispatch(asHttp1(request), observer, isFresh))
    }
  }

  /** Returns a connection with room, or null if all are full and the limit is reached. */
  #roomFor({ isFresh, request }: H2Attempt): H2Session | null {
    const canOpen = this.#sessions.size < this.#options.connections
    if (!isFresh || !canOpen) {
      for (const session of this.#sessions) if (session.hasRoom) return session
    }
    return canOpen ? this.#connect(request.connectMs) : null
  }

  #connect(connectMs: number): H2Session {
    const { fallback } = this.#options
    const hasPriorKnowledge = fallback === null
    const connector = createConnector({
      ...this.#options,
      protocols: hasPriorKnowledge ? ['h2'] : ['h2', 'http/1.1'],
    })
    const session = new H2Session({ ...this.#options, connector, connectMs, hasPriorKnowledge }, this)
    this.#sessions.add(session)
    return session
  }
}

/** Returns the request with an upload that the fallback transport can read. */
function asHttp1(request: UpstreamRequest): UpstreamRequest {
  const { upload } = request
  return upload === null ? request : { ...request, upload: http1Upload(upload as WireUpload) }
}
