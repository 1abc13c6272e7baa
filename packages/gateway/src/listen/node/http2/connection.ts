import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { ReceivedExchange, Reply, RequestIds } from '@sluice/core'
import type { CachedClock } from '../../../lib/cached-clock.js'
import type { ListenerSettings, RequestHandler } from '../../listener.js'
import { beginExchange, type Peer } from '../socket/connection-host.js'
import { Http2ClientStream, type StreamOwner } from './client-stream.js'
import { FloodMeter } from './flood-meter.js'
import type { RequestFields } from './request-fields.js'
import type { StreamQueue } from './stream-queue.js'

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants

/** Time that a client has to read a response if there is no minimum rate, in milliseconds. */
const LONGEST_LINGER_MS = 600_000
/** A client that reads nothing while more bytes than this are waiting is closed earlier than `minReadRate` requires. */
const STALLED_BYTES = 1024 * 1024

/** State shared by the HTTP/2 connections of a listener. */
export interface Http2Context {
  readonly scheme: 'http' | 'https'
  /** Present settings of the listener. */
  readonly settings: ListenerSettings
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void
  /** Called when a connection is closed because it exceeds a limit. */
  readonly onRejected: () => void
  readonly fields: RequestFields
  readonly queue: StreamQueue
  /** True if connections close after their present requests. */
  readonly isClosing: boolean
  /** Time that a client has in addition to that of the minimum rate, in milliseconds. */
  readonly lingerMs: number
  /** Called when more bytes are held for clients, as response data or as cookies of requests in progress. */
  onBytesHeld(bytes: number): void
  onConnectionClose(connection: Http2Connection): void
}

/** An HTTP/2 connection: its requests, its timeouts, and its limits against abuse. */
export class Http2Connection implements StreamOwner {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  readonly #peer: Peer
  readonly #context: Http2Context
  readonly #streams = new Set<Http2ClientStream>()
  readonly #meter: FloodMeter
  /** Monotonic time in milliseconds when the last stream closed. */
  #idleSinceMono = performance.now()
  /** Bytes written at the last inspection, and the time of the last progress. */
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

  /**
   * Closes the connection after its requests in progress. GOAWAY names the last one: a client may repeat later ones.
   */
  close(): void {
    this.#session.close()
  }

  /** Handles a half-closed connection. The client can no longer send the window updates that its responses need. */
  #onEnd(): void {
    if (this.#context.settings.allowHalfClose) this.#session.close()
    else this.#session.destroy()
  }

  terminate(): void {
    this.#session.destroy()
  }

  /** Bytes held for the client, including cookies. */
  get heldBytes(): number {
    let bytes = 0
    for (const stream of this.#streams) bytes += stream.unsentBytes + stream.crumbBytes
    return bytes
  }

  /** Returns the time for which the client has read nothing while many bytes were waiting, or 0, in milliseconds. */
  stalledMs(nowMono: number): number {
    return nowMono - this.#progressMono
  }

  /** Checks the limits of the connection. Called at intervals. */
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
      // The session has closed, but the client has not closed the connection.
    } else if (idleMs > settings.keepAliveMs + lingerMs) this.#socket.destroy()
  }

  /** Closes a connection that exceeds a limit. */
  endFlood(): void {
    if (this.#session.destroyed) return
    this.#context.onRejected()
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
      // The client reset the stream while it waited.
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
    const { handler, settings, ids, isClosing } = this.#context
    const x = beginExchange(this.#context, this.#peer)
    x.httpVersion = '2'
    const refused = this.#read(x, fields, hasBody)
    this.#meter.earnRequest(x.requestHeadBytes)
    const client = new Http2ClientStream(stream, this, hasBody, this.#context.fields.waitsToContinue)
    // The stream may have been reset in the turn in which it arrived, before there was a listener for its end.
    if (stream.destroyed) return
    this.#streams.add(client)
    this.#holdCrumbs(client)
    if (isClosing) this.#session.close()
    if (x.id === '') x.id = ids.next(x.startedAt)
    if (refused !== null) handler.refuse(x, client, refused)
    else handler.accept(x, client, settings)
  }

  #holdCrumbs(client: Http2ClientStream): void {
    const { crumbBytes } = this.#context.fields
    if (crumbBytes === 0) return
    client.crumbBytes = crumbBytes
    this.#context.onBytesHeld(crumbBytes)
  }

  #read(x: ReceivedExchange, fields: readonly string[], hasBody: boolean): Reply | null {
    return this.#context.fields.apply(x, fields, hasBody, this.#context.settings)
  }

  /** Returns the monotonic time in milliseconds by which the client must have read its response. */
  #lingerEnd({ handedOverMono, unsentBytes }: Http2ClientStream): number {
    const { lingerMs, settings } = this.#context
    if (settings.minReadRate === 0) return handedOverMono + LONGEST_LINGER_MS
    return handedOverMono + lingerMs + (unsentBytes * 1000) / settings.minReadRate
  }
}

/** A `close` event follows each error. */
function ignore(): void {}
