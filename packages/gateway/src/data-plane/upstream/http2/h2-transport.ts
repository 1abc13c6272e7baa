import type { PoolState } from '@sluice/core'
import { AttemptQueue } from '../attempt-queue.js'
import { type ConnectorOptions, createConnector } from '../connector.js'
import { FAILURES } from '../failure.js'
import { ReadableUpload } from '../readable-upload.js'
import type { Attempt, AttemptObserver, Transport, Upload, UpstreamRequest } from '../transport.js'
import { H2Attempt, type H2Owner } from './h2-attempt.js'
import { H2Session, type H2SessionOwner } from './h2-session.js'

export interface H2TransportOptions extends ConnectorOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string
  /** Connections at most; each carries up to 100 requests at once. */
  readonly connections: number
  readonly keepAliveMs: number
  readonly pendingTimeoutMs: number
  readonly maxHeaderBytes: number
  readonly maxConnectionAgeMs: number
  /** For a target that does not agree to HTTP/2; null: HTTP/2 is spoken without asking. */
  readonly fallback: Transport | null
}

/**
 * HTTP/2 (RFC 9113) over node:http2: as many requests on one connection as the target allows, then another connection.
 * A target that chooses HTTP/1.1 in the TLS handshake is served by the fallback, and asked again after the time that
 * connections live.
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
      return fallback.dispatch(request, observer, isFresh)
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
    return new ReadableUpload(length, onDrain)
  }

  pool(): PoolState {
    const { busy, free, pending } = this.#options.fallback?.pool() ?? { busy: 0, free: 0, pending: 0 }
    let used = 0
    for (const { streams } of this.#sessions) if (streams > 0) used++
    return {
      busy: busy + used,
      free: free + this.#sessions.size - used,
      pending: pending + this.#queue.size,
    }
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
      // It may fail at once, and ask for the next one.
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
      attempt.delegate(() => fallback.dispatch(request, observer, isFresh))
    }
  }

  /** Null: all connections are full, and there cannot be one more. */
  #roomFor({ isFresh, request }: H2Attempt): H2Session | null {
    const canOpen = this.#sessions.size < this.#options.connections
    if (!isFresh || !canOpen) {
      for (const session of this.#sessions) if (session.hasRoom) return session
    }
    return canOpen ? this.#connect(request.connectMs) : null
  }

  #connect(connectMs: number): H2Session {
    const { fallback, origin, keepAliveMs, maxConnectionAgeMs } = this.#options
    const isPrior = fallback === null
    const connector = createConnector({ ...this.#options, protocols: isPrior ? ['h2'] : ['h2', 'http/1.1'] })
    const session = new H2Session(
      { origin, connector, connectMs, keepAliveMs, maxConnectionAgeMs, isPrior },
      this,
    )
    this.#sessions.add(session)
    return session
  }
}
