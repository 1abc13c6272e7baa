import { performServerHandshake, type ServerOptions } from 'node:http2'
import type { Socket } from 'node:net'
import type { ListenerSettings } from '../../listener.js'
import type { Peer } from '../connection-host.js'
import type { ProtocolHandler } from '../protocol-handler.js'
import { Http2Connection, type Http2Context } from './connection.js'
import { RequestFields } from './request-fields.js'
import { StreamQueue } from './stream-queue.js'

/** How often connections are looked at. */
const INSPECT_MS = 1000
/** Bytes that wait for the clients of a listener and worker, and of cookies that are put together; beyond them, those that hold the most are ended. */
const MAX_HELD_BYTES = 64 * 1024 * 1024
/** Step in milliseconds for ranking stalled connections. Equal ranks are compared by buffered bytes. */
const STALLED_STEP_MS = 2000
/** They are counted at least once within so many. */
const COUNT_EVERY_BYTES = MAX_HELD_BYTES / 4

/** Beyond the time that the slowest pace takes. */
const LINGER_MS = 30_000

/** Room of a stream in the memory of its connection: what may wait for its client, and fields. Without it new ones are reset. */
const STREAM_MEGABYTES = 0.2

/** Of an upload that nobody reads. */
const STREAM_WINDOW = 128 * 1024
const CONNECTION_WINDOW = 1024 * 1024

/** What a listener needs to serve HTTP/2. */
export type Http2Options = Omit<
  Http2Context,
  'fields' | 'queue' | 'isClosing' | 'lingerMs' | 'onBytesHeld' | 'onConnectionClose'
> & { readonly lingerMs?: number }

/** The HTTP/2 connections of one listener. */
export class Http2Sessions implements Http2Context, ProtocolHandler {
  readonly scheme
  readonly gate
  readonly ids
  readonly clock
  readonly onFault
  readonly onTurnedAway
  readonly lingerMs
  readonly fields = new RequestFields()
  readonly queue = new StreamQueue()
  /** Applies to connections and requests that come from now on. */
  settings: ListenerSettings
  /** What still comes in has its first request answered. */
  isClosing = false
  readonly #connections = new Set<Http2Connection>()
  #timer: NodeJS.Timeout | null = null
  #newBytes = 0

  constructor(options: Http2Options) {
    const { scheme, settings, gate, ids, clock, onFault, onTurnedAway } = options
    this.scheme = scheme
    this.settings = settings
    this.gate = gate
    this.ids = ids
    this.clock = clock
    this.onFault = onFault
    this.onTurnedAway = onTurnedAway
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
    // The session takes what is put back in the next tick, and then whatever comes.
    process.nextTick(resume, socket)
  }

  /**
   * Connections end with their next request, which GOAWAY names as the last: one that is sent alone cannot cross it.
   * nghttp2 would take no more requests behind a GOAWAY that refuses none (RFC 9113, 6.8), and Node.js cannot ask it to.
   */
  announceEnd(): void {
    this.isClosing = true
  }

  /** Announces the end to all clients; requests under way are finished. */
  close(): void {
    this.isClosing = true
    for (const connection of this.#connections) connection.close()
  }

  /** Cuts every connection. */
  terminate(): void {
    for (const connection of this.#connections) connection.terminate()
  }

  onBytesHeld(bytes: number): void {
    this.#newBytes += bytes
    if (this.#newBytes > COUNT_EVERY_BYTES) this.#boundHeld()
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
    this.#boundHeld()
  }

  /**
   * Ends connections where all hold too much, until half of the room is free: first those that have taken nothing for the
   * longest time, then those that hold the most.
   */
  #boundHeld(): void {
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
 * nghttp2 resets what is far above the limits of the listener, so that what is a little above them can be answered 431;
 * it ends connections with frames that are malformed, refused or empty time and again.
 */
function sessionOptions({ http2, headers, headerBytes }: ListenerSettings): ServerOptions {
  const streams = http2?.streams ?? 100
  return {
    // Each pair of a cookie may come in a field of its own.
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
