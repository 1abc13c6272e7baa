import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Exchange, Reply, RequestIds } from '@sluice/core'
import type { CachedClock } from '../../../lib/cached-clock.js'
import type { Gate, ListenerSettings } from '../../listener.js'
import { beginExchange, type Peer } from '../connection-host.js'
import { Http2ClientStream, type StreamOwner } from './client-stream.js'
import { FloodMeter } from './flood-meter.js'
import type { RequestFields } from './request-fields.js'
import type { StreamQueue } from './stream-queue.js'

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants

/** What a client has where any pace will do. */
const LONGEST_LINGER_MS = 600_000
/** A client that takes nothing while more than this waits for it is ended sooner than by `minReadRate`. */
const STALLED_BYTES = 1024 * 1024

/** What all connections of a listener share. */
export interface Http2Context {
  readonly scheme: 'http' | 'https'
  /** As it is now. */
  readonly settings: ListenerSettings
  readonly gate: Gate
  readonly ids: RequestIds
  readonly clock: CachedClock
  /** Hears of an error that should not have come this far. */
  readonly onFault: (error: unknown) => void
  /** Hears of a connection that is ended because it goes beyond a limit. */
  readonly onTurnedAway: () => void
  readonly fields: RequestFields
  readonly queue: StreamQueue
  /** Connections end with the requests that they have. */
  readonly isClosing: boolean
  /** What a client has beyond the time that the slowest pace takes for what was handed over. */
  readonly lingerMs: number
  /** So many more bytes wait for clients, or are cookies of requests under way. */
  onBytesHeld(bytes: number): void
  onConnectionClose(connection: Http2Connection): void
}

/** One HTTP/2 connection: its requests, how long it may be idle or slow, and what a client may cost that sends none. */
export class Http2Connection implements StreamOwner {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  readonly #peer: Peer
  readonly #context: Http2Context
  readonly #streams = new Set<Http2ClientStream>()
  readonly #meter: FloodMeter
  /** Monotonic clock, ms, when the last stream closed. */
  #idleSinceMono = performance.now()
  /** Bytes written at the last look, and when they were last more than before. */
  #writtenBytes = 0
  #progressMono = this.#idleSinceMono

  constructor(session: ServerHttp2Session, socket: Socket, peer: Peer, context: Http2Context) {
    this.#session = session
    this.#socket = socket
    this.#peer = peer
    this.#context = context
    this.#meter = new FloodMeter(socket)
    session.on('stream', (stream, _fields, flags, ...list) => this.#onStream(stream, flags, list))
    session.on('error', () => {})
    session.on('close', () => context.onConnectionClose(this))
    socket.on('end', () => this.#onEnd())
  }

  /** Requests under way are finished. GOAWAY names the last one: those that cross it were not begun, and may be repeated. */
  close(): void {
    this.#session.close()
  }

  /** The client sends nothing more, not even the windows that its responses need. */
  #onEnd(): void {
    if (this.#context.settings.allowHalfClose) this.#session.close()
    else this.#session.destroy()
  }

  terminate(): void {
    this.#session.destroy()
  }

  /** Bytes that wait for the client, and of cookies. */
  get heldBytes(): number {
    let bytes = 0
    for (const stream of this.#streams) bytes += stream.unsentBytes + stream.crumbBytes
    return bytes
  }

  /** Time for which the client has taken nothing of much that waits for it; 0 where little waits. */
  stalledMs(nowMono: number): number {
    return nowMono - this.#progressMono
  }

  /** Looks what has become of it since the last time. */
  inspect(nowMono: number): void {
    const { settings, lingerMs } = this.#context
    if (this.#socket.bytesWritten !== this.#writtenBytes || this.heldBytes < STALLED_BYTES) {
      this.#writtenBytes = this.#socket.bytesWritten
      this.#progressMono = nowMono
    }
    const idleMs = this.#streams.size === 0 ? nowMono - this.#idleSinceMono : 0
    for (const stream of this.#streams) {
      if (stream.handedOverMono !== 0 && nowMono > this.#lingerEnd(stream)) stream.cancel()
    }
    if (this.#meter.isOverdrawn(nowMono) || this.stalledMs(nowMono) > lingerMs) this.endFlood()
    else if (!this.#session.closed) {
      if (idleMs > settings.keepAliveMs) this.#session.close()
      // The session is gone, and its client has not closed the connection.
    } else if (idleMs > settings.keepAliveMs + lingerMs) this.#socket.destroy()
  }

  /** Ends a connection that costs more than it is worth. */
  endFlood(): void {
    if (this.#session.destroyed) return
    this.#context.onTurnedAway()
    this.#session.destroy(new Error('ended as a flood'), NGHTTP2_ENHANCE_YOUR_CALM)
  }

  onStreamClose(stream: Http2ClientStream, isEarly: boolean): void {
    this.#streams.delete(stream)
    this.#idleSinceMono = performance.now()
    if (isEarly) this.#countReset()
  }

  #countReset(): void {
    if (this.#meter.isResetTooMuch(performance.now())) this.endFlood()
  }

  onBytesQueued(bytes: number): void {
    this.#context.onBytesHeld(bytes)
  }

  onBodyBytes(bytes: number): void {
    this.#meter.earn(bytes)
  }

  #onStream(stream: ServerHttp2Stream, flags: number, [fields]: readonly unknown[]): void {
    const hasBody = (flags & NGHTTP2_FLAG_END_STREAM) === 0
    const { queue } = this.#context
    stream.on('error', ignore)
    if (!queue.begin()) {
      queue.wait({
        dispatch: () => this.#dispatch(stream, hasBody, fields as readonly string[]),
        refuse: () => {
          stream.close(NGHTTP2_REFUSED_STREAM)
          this.#countReset()
        },
      })
      return
    }
    this.#dispatch(stream, hasBody, fields as readonly string[])
    queue.end()
  }

  #dispatch(stream: ServerHttp2Stream, hasBody: boolean, fields: readonly string[]): void {
    const { clock } = this.#context
    if (stream.destroyed) {
      // The client has given it up while it waited.
      this.#countReset()
      return
    }
    try {
      this.#take(stream, hasBody, fields)
    } catch (error) {
      this.#context.onFault(error)
      stream.close(NGHTTP2_INTERNAL_ERROR)
    } finally {
      clock.drop()
    }
  }

  #take(stream: ServerHttp2Stream, hasBody: boolean, fields: readonly string[]): void {
    const { gate, settings, ids, isClosing } = this.#context
    const x = beginExchange(this.#context, this.#peer)
    x.httpVersion = '2'
    const refused = this.#read(x, fields, hasBody)
    this.#meter.earnRequest(x.requestHeadBytes)
    const client = new Http2ClientStream(stream, this, hasBody, this.#context.fields.waitsToContinue)
    // It may have been reset in the turn that brought it: its end was reported to nobody.
    if (stream.destroyed) return
    this.#streams.add(client)
    this.#holdCrumbs(client)
    if (isClosing) this.#session.close()
    if (x.id === '') x.id = ids.next(x.startedAt)
    if (refused !== null) gate.refuse(x, client, refused)
    else gate.accept(x, client, settings)
  }

  #holdCrumbs(client: Http2ClientStream): void {
    const { crumbBytes } = this.#context.fields
    if (crumbBytes === 0) return
    client.crumbBytes = crumbBytes
    this.#context.onBytesHeld(crumbBytes)
  }

  #read(x: Exchange, fields: readonly string[], hasBody: boolean): Reply | null {
    return this.#context.fields.apply(x, fields, hasBody, this.#context.settings)
  }

  /** Until when the client must have taken what was handed over, on the monotonic clock, ms. */
  #lingerEnd({ handedOverMono, unsentBytes }: Http2ClientStream): number {
    const { lingerMs, settings } = this.#context
    if (settings.minReadRate === 0) return handedOverMono + LONGEST_LINGER_MS
    return handedOverMono + lingerMs + (unsentBytes * 1000) / settings.minReadRate
  }
}

/** `close` follows. */
function ignore(): void {}
