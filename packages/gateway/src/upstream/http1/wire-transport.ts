import type { PoolState } from '@sluice/core'
import type { CachedClock } from '../../lib/cached-clock.js'
import { HeadCache } from '../../protocol/http1/head-cache.js'
import { AttemptQueue } from '../transport/attempt-queue.js'
import { FAILURES } from '../transport/failure.js'
import type { Attempt, AttemptObserver, Transport, Upload, UpstreamRequest } from '../transport/transport.js'
import { Connection, type ConnectionOwner } from './connection.js'
import { KeepAliveClock } from './keep-alive-clock.js'
import { formatRequestHead } from './request-head.js'
import type { ConnectionOptions } from './target-socket.js'
import { type AttemptOwner, WireAttempt } from './wire-attempt.js'
import { WireUpload } from './wire-upload.js'
import { WriteBatch } from './write-batch.js'

/** Number of response heads cached per target. */
const HEAD_SLOTS = 8

/** Options for `WireTransport`. */
export interface WireTransportOptions extends Omit<ConnectionOptions, 'headCache'> {
  readonly connections: number
  readonly keepAliveMs: number
  /** Maximum wait for a connection in milliseconds. */
  readonly pendingTimeoutMs: number
  readonly clock: CachedClock
}

/**
 * HTTP/1.1 without TLS over the gateway's own connections. Response timeouts are left to the pipeline's timer wheel.
 *
 *     dispatch ─┬─► idle connection (the last one used) ─► write batch ─► begin
 *               ├─► a new one, up to `connections`
 *               └─► queue (first in, first out) ─► the next connection that becomes free
 */
export class WireTransport implements Transport, ConnectionOwner, AttemptOwner {
  readonly #options: WireTransportOptions & ConnectionOptions
  readonly #clock: KeepAliveClock
  readonly #batch: WriteBatch
  readonly #open = new Set<Connection>()
  /** Idle connections. The most recently used one is last, so that unneeded ones expire. */
  readonly #idle: Connection[] = []
  /** Attempts that wait for a connection. Abandoned ones leave at once. */
  readonly #queue: AttemptQueue<WireAttempt>
  #onEmpty: (() => void) | null = null
  waits = 0

  constructor(options: WireTransportOptions) {
    this.#options = { ...options, headCache: new HeadCache(HEAD_SLOTS) }
    this.#queue = new AttemptQueue(options.pendingTimeoutMs, (attempt) => attempt.fail(FAILURES.queueTimeout))
    this.#batch = new WriteBatch(options.clock)
    this.#clock = new KeepAliveClock(this.#open, options.keepAliveMs, options.maxConnectionAgeMs)
  }

  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt {
    const head = formatRequestHead(request)
    const attempt = new WireAttempt(request, observer, { head: head ?? '', isFresh, owner: this })
    if (head === null) attempt.fail(FAILURES.request)
    // Attempts that need a new connection would wait forever if others kept taking every free one.
    else if (this.#queue.size > 0 || !this.#assign(attempt)) this.#wait(attempt)
    return attempt
  }

  get isSlow(): boolean {
    return this.#queue.isSlow
  }

  createUpload(length: number, onDrain: () => void): Upload {
    return new WireUpload(length, onDrain)
  }

  pool(): PoolState {
    const free = this.#idle.length
    return { busy: this.#open.size - free, free, pending: this.#queue.size }
  }

  async close(): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    for (const connection of this.#open) {
      if (connection.attempt === null) connection.close()
    }
    if (this.#open.size > 0) await emptied
  }

  onFree(connection: Connection): void {
    if (this.#onEmpty !== null || connection.isOld || !this.#clock.keeps(connection)) {
      connection.close()
      return
    }
    this.#idle.push(connection)
    if (this.#queue.size > 0) this.#serveQueue()
  }

  onClosed(connection: Connection): void {
    this.#open.delete(connection)
    remove(this.#idle, connection)
    const { attempt } = connection
    connection.attempt = null
    if (attempt !== null) this.#assignAgain(attempt)
    this.#serveQueue()
    if (this.#open.size === 0) this.#onEmpty?.()
  }

  onAbandoned(attempt: WireAttempt): void {
    this.#queue.delete(attempt)
  }

  /** Reassigns an attempt that was not sent, as if it had never been assigned. */
  #assignAgain(attempt: WireAttempt): void {
    attempt.connection = null
    if (!attempt.isOver && !this.#assign(attempt)) this.#wait(attempt)
  }

  #wait(attempt: WireAttempt): void {
    this.waits++
    this.#queue.add(attempt)
  }

  #serveQueue(): void {
    for (let first = this.#queue.first; first !== null; first = this.#queue.first) {
      if (!this.#assign(first)) return
      this.#queue.delete(first)
    }
  }

  /** Assigns a connection. Returns false if none is available and the limit is reached. */
  #assign(attempt: WireAttempt): boolean {
    const kept = attempt.isFresh ? undefined : this.#idle.pop()
    if (kept !== undefined) {
      this.#give(kept, attempt)
      this.#batch.add(kept)
      return true
    }
    if (!this.#hasRoom(attempt)) return false
    this.#connect(attempt)
    return true
  }

  #hasRoom(attempt: WireAttempt): boolean {
    if (attempt.isFresh && this.#open.size >= this.#options.connections) this.#idle.pop()?.close()
    return this.#open.size < this.#options.connections
  }

  #connect(attempt: WireAttempt): void {
    const connection = new Connection(this.#options, this, attempt.request.connectMs)
    this.#open.add(connection)
    this.#clock.start()
    this.#give(connection, attempt)
  }

  #give(connection: Connection, attempt: WireAttempt): void {
    connection.attempt = attempt
    attempt.connection = connection
  }
}

function remove(list: Connection[], connection: Connection): void {
  const at = list.indexOf(connection)
  if (at >= 0) list.splice(at, 1)
}
