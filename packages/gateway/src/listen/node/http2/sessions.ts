import { performServerHandshake, type ServerOptions } from 'node:http2'
import type { Socket } from 'node:net'
import type { ListenerSettings } from '../../listener.js'
import type { Peer, ProtocolHandler } from '../socket/connection-host.js'
import { Http2Connection, type Http2Context } from './connection.js'
import { RequestFields } from './request-fields.js'
import { StreamQueue } from './stream-queue.js'

/** Interval between inspections of the connections, in milliseconds. */
const INSPECT_MS = 1000
/**
 * Maximum number of bytes held for all clients of a listener and worker, including joined cookies. Beyond it, the
 * connections that hold the most are closed.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024
/** Step in milliseconds for ranking stalled connections. Equal ranks are compared by buffered bytes. */
const STALLED_STEP_MS = 2000
/** Number of newly held bytes after which the total is recounted. */
const COUNT_EVERY_BYTES = MAX_HELD_BYTES / 4

/** Time that a client has in addition to that of the minimum rate, in milliseconds. */
const LINGER_MS = 30_000

/** Session memory per stream in MB, for pending data and fields. nghttp2 resets new streams beyond it. */
const STREAM_MEGABYTES = 0.2

/** Flow-control windows, which bound an upload that is not read. */
const STREAM_WINDOW = 128 * 1024
const CONNECTION_WINDOW = 1024 * 1024

type Http2Options = Omit<
  Http2Context,
  'fields' | 'queue' | 'isClosing' | 'lingerMs' | 'onBytesHeld' | 'onConnectionClose'
> & { readonly lingerMs?: number }

/** The HTTP/2 connections of one listener. */
export class Http2Sessions implements Http2Context, ProtocolHandler {
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

  accept(socket: Socket, peer: Peer, alreadyRead: Buffer): void {
    socket.pause()
    if (alreadyRead.length > 0) socket.unshift(Buffer.from(alreadyRead))
    const session = performServerHandshake(socket, sessionOptions(this.settings))
    session.setLocalWindowSize(CONNECTION_WINDOW)
    const connection = new Http2Connection(session, socket, peer, this)
    this.#connections.add(connection)
    this.#timer ??= setInterval(() => this.#inspect(), INSPECT_MS).unref()
    // The session reads the bytes put back in the next tick, and then the socket.
    process.nextTick(resume, socket)
  }

  /**
   * Announces the end: connections close after their next request, which GOAWAY names as the last. A single pending
   * request therefore cannot be lost. After a GOAWAY with the highest stream id (RFC 9113 section 6.8), nghttp2 would
   * accept no more requests, and Node.js cannot change that.
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
      bytes: connection.heldBytes,
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

/**
 * Returns the options for nghttp2. Its limits are far above those of the listener, so that the listener can answer 431
 * to requests just over its own. nghttp2 closes connections with too many malformed, refused or empty frames.
 */
function sessionOptions({ http2, headers, headerBytes }: ListenerSettings): ServerOptions {
  const streams = http2?.streams ?? 100
  return {
    // A cookie may arrive as one field per pair.
    maxHeaderListPairs: 4 * headers + 256,
    maxSessionMemory: Math.max(10, Math.ceil(streams * STREAM_MEGABYTES)),
    maxSessionInvalidFrames: 200,
    maxSessionRejectedStreams: 100,
    settings: {
      maxConcurrentStreams: streams,
      initialWindowSize: STREAM_WINDOW,
      maxHeaderListSize: Math.max(65_536, 4 * headerBytes),
      enableConnectProtocol: false,
    },
  }
}

function resume(socket: Socket): void {
  socket.resume()
}
