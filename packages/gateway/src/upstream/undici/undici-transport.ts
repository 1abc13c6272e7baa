import type { PoolState } from '@sluice/core'
import type { Client, Dispatcher, Pool } from 'undici'
import { bytesOf } from '../../lib/body-block.js'
import { AttemptQueue } from '../transport/attempt-queue.js'
import { createConnector, type TransportOptions } from '../transport/connector.js'
import { ReadableUpload } from '../transport/readable-upload.js'
import type { Attempt, AttemptObserver, Transport, Upload, UpstreamRequest } from '../transport/transport.js'
import { createAgingClient } from './aging-client.js'
import { loadUndici } from './lazy-undici.js'
import { type SlotOwner, UndiciAttempt } from './undici-attempt.js'

/**
 * HTTP/1.1 over undici pools, without pipelining. Response timeouts are left to the pipeline's timer wheel. A second
 * pool without keep-alive serves the retry after a reused connection turned out to be dead.
 *
 *     dispatch ─► a slot is free ───────────────────► pool ─► connection
 *              └► none: queue (first in, first out) ───┘
 *
 * undici's own queue is not used, because attempts cannot leave it: abandoned ones stay until there is a connection. If
 * a target does not respond, they would accumulate without limit.
 */
export class UndiciTransport implements Transport, SlotOwner {
  readonly #options: TransportOptions
  readonly #pool: Pool
  #fresh: Pool | null = null
  /** Number of attempts that undici is processing. */
  #usedSlots = 0
  /** Attempts that wait for a slot. Abandoned ones leave at once. */
  readonly #queue: AttemptQueue<UndiciAttempt>
  waits = 0

  constructor(options: TransportOptions) {
    this.#options = options
    this.#queue = new AttemptQueue(options.pendingTimeoutMs, (attempt) => attempt.giveUpWaiting())
    this.#pool = createPool(options, 1)
  }

  dispatch(request: UpstreamRequest, observer: AttemptObserver, isFresh: boolean): Attempt {
    const attempt = new UndiciAttempt(request, observer, this)
    if (this.#usedSlots < this.#options.connections) this.#dispatchNow(attempt, request, isFresh)
    else {
      this.waits++
      attempt.queued = { request, isFresh }
      this.#queue.add(attempt)
    }
    return attempt
  }

  leaveQueue(attempt: UndiciAttempt): void {
    this.#queue.delete(attempt)
  }

  onSlotFree(): void {
    this.#usedSlots--
    // Wait a moment: undici is still ending the attempt and would not reuse its connection yet.
    if (this.#queue.size > 0) queueMicrotask(this.#callNext)
  }

  get isSlow(): boolean {
    return this.#queue.isSlow
  }

  createUpload(length: number, onDrain: () => void): Upload {
    return new ReadableUpload(length, onDrain)
  }

  pool(): PoolState {
    return { busy: this.#usedSlots, free: this.#pool.stats.free, pending: this.#queue.size }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#fresh?.close()])
  }

  readonly #callNext = (): void => {
    for (let first = this.#queue.first; first !== null; first = this.#queue.first) {
      if (this.#usedSlots >= this.#options.connections) return
      const { request, isFresh } = first.queued!
      this.#queue.delete(first)
      first.queued = null
      this.#dispatchNow(first, request, isFresh)
    }
  }

  #dispatchNow(attempt: UndiciAttempt, request: UpstreamRequest, isFresh: boolean): void {
    this.#usedSlots++
    const pool = isFresh ? this.#freshPool() : this.#pool
    try {
      pool.dispatch(toOptions(request), attempt)
    } catch (error) {
      attempt.onError(error as Error)
    }
  }

  #freshPool(): Pool {
    this.#fresh ??= createPool(this.#options, 0)
    return this.#fresh
  }
}

function createPool(options: TransportOptions, pipelining: 0 | 1): Pool {
  const connector = createConnector(options)
  const age = { connector, maxMs: options.maxConnectionAgeMs }
  return new (loadUndici().Pool)(options.origin, {
    connections: options.connections,
    pipelining,
    factory: (origin: URL, clientOptions: object) =>
      createAgingClient(origin, clientOptions as Client.Options, age),
    keepAliveTimeout: options.keepAliveMs,
    keepAliveMaxTimeout: options.keepAliveMs,
    keepAliveTimeoutThreshold: 500,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: options.maxHeaderBytes,
  })
}

function toOptions(request: UpstreamRequest): Dispatcher.DispatchOptions {
  const { body, upload } = request
  const headers = request.headers.slice()
  headers.push('host', request.host)
  if (upload !== null && upload.length >= 0) headers.push('content-length', String(upload.length))
  return {
    path: request.path,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: body === null ? (upload as ReadableUpload | null) : bytesOf(body),
    // Without pipelining, no request shares the connection anyway.
    blocking: false,
  }
}
