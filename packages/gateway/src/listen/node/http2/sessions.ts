import type { Socket } from 'node:net'
import type { ListenerSettings } from '../../listener.js'
import type { ConnectionHost, Peer, ProtocolHandler } from '../socket/connection-host.js'
import type { SocketReader } from '../socket/server-socket.js'
import { type ConnectionContext, Http2Connection } from './connection.js'
import { RequestFields } from './request-fields.js'
import { StreamQueue } from './stream-queue.js'

/** Interval between inspections of the connections, in milliseconds. */
const INSPECT_MS = 1000
/**
 * Maximum number of bytes held for all clients of a listener and worker, including joined cookies and unread request
 * bodies. Beyond it, the connections that hold the most are closed.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024
/** Step in milliseconds for ranking stalled connections. Equal ranks are compared by buffered bytes. */
const STALLED_STEP_MS = 2000
/** Number of newly held bytes after which the total is recounted. */
const COUNT_EVERY_BYTES = MAX_HELD_BYTES / 4

/** Time that a client has in addition to that of the minimum rate, in milliseconds. */
const LINGER_MS = 30_000

interface Http2Options
  extends Pick<ConnectionHost, 'scheme' | 'settings' | 'handler' | 'ids' | 'clock' | 'onFault'> {
  /** Called when a connection is closed because it exceeds a limit. */
  readonly onRejected: () => void
  readonly lingerMs?: number
}

/** The HTTP/2 connections of one listener. */
export class Http2Sessions implements ProtocolHandler, ConnectionContext {
  readonly scheme
  readonly handler
  readonly ids
  readonly clock
  readonly onFault
  readonly onRejected
  readonly lingerMs
  readonly fields = new RequestFields()
  readonly queue = new StreamQueue()
  /** Settings for new connections and requests. */
  settings: ListenerSettings
  /** True if connections close after their next request. */
  isClosing = false
  readonly #connections = new Set<Http2Connection>()
  #timer: NodeJS.Timeout | null = null
  #newBytes = 0

  constructor(options: Http2Options) {
    const { scheme, settings, handler, ids, clock, onFault, onRejected } = options
    this.scheme = scheme
    this.settings = settings
    this.handler = handler
    this.ids = ids
    this.clock = clock
    this.onFault = onFault
    this.onRejected = onRejected
    this.lingerMs = options.lingerMs ?? LINGER_MS
  }

  get size(): number {
    return this.#connections.size
  }

  accept(socket: Socket, peer: Peer, alreadyRead: Buffer): SocketReader {
    const connection = new Http2Connection(socket, peer, this)
    this.#connections.add(connection)
    this.#timer ??= setInterval(() => this.#inspect(), INSPECT_MS).unref()
    if (alreadyRead.length > 0) connection.onBytes(alreadyRead, alreadyRead.length)
    return connection
  }

  /**
   * Announces the end: connections close after their next request, which GOAWAY names as the last. A single pending
   * request therefore cannot be lost.
   */
  announceEnd(): void {
    this.isClosing = true
  }

  /** Sends GOAWAY to all clients. Requests in progress are completed. */
  close(): void {
    this.isClosing = true
    for (const connection of this.#connections) connection.close()
  }

  /** Destroys every connection. */
  terminate(): void {
    for (const connection of this.#connections) connection.terminate()
  }

  /** Called when more bytes are held for clients: response data, cookies of requests in progress, unread bodies. */
  onBytesHeld(bytes: number): void {
    this.#newBytes += bytes
    if (this.#newBytes > COUNT_EVERY_BYTES) this.#limitHeld()
  }

  onConnectionClose(connection: Http2Connection): void {
    this.#connections.delete(connection)
    if (this.#connections.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #inspect(): void {
    const nowMono = performance.now()
    for (const connection of this.#connections) connection.inspect(nowMono)
    this.#limitHeld()
  }

  /**
   * Closes connections if too many bytes are held, until half of the limit is free. Those without progress for the
   * longest time come first, then those that hold the most.
   */
  #limitHeld(): void {
    this.#newBytes = 0
    const nowMono = performance.now()
    const held = [...this.#connections].map((connection) => ({
      connection,
      bytes: connection.heldBytes + connection.unreadBytes,
      stalledSteps: Math.floor(connection.stalledMs(nowMono) / STALLED_STEP_MS),
    }))
    let left = held.reduce((sum, { bytes }) => sum + bytes, 0)
    if (left <= MAX_HELD_BYTES) return
    for (const { connection, bytes } of held.sort(
      (a, b) => b.stalledSteps - a.stalledSteps || b.bytes - a.bytes,
    )) {
      if (left <= MAX_HELD_BYTES / 2) return
      left -= bytes
      connection.endFlood()
    }
  }
}
