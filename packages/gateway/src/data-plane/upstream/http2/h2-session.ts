import http2 from 'node:http2'
import type net from 'node:net'
import type { Connector } from '../connector.js'
import { failureOf } from '../failure.js'
import type { Opening } from '../opening.js'
import type { H2Attempt, StreamOwner } from './h2-attempt.js'

/** Streams on one connection at once, where the target allows more. */
const MAX_STREAMS = 100
/** Bytes that a target may send ahead, on a stream and on a connection. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 1024 * 1024
/** A target that was silent for an attempt has this long to answer a ping, ms. */
const PING_MS = 2000
/** Connections that were opened together are renewed over this last part of their time. */
const AGE_SPREAD = 0.1

export interface H2SessionOptions {
  readonly origin: string
  readonly connector: Connector
  readonly connectMs: number
  readonly keepAliveMs: number
  readonly maxConnectionAgeMs: number
  /** HTTP/2 is spoken without asking: over plain TCP, or whatever ALPN says. */
  readonly isPrior: boolean
}

/** The pool, as its connections see it. */
export interface H2SessionOwner {
  /** There is room for one more stream, or the connection is gone. */
  onRoom(): void
  onClosed(session: H2Session): void
  /** The target does not speak HTTP/2: its attempts have to go another way. */
  onHttp1(attempts: readonly H2Attempt[]): void
}

/** One HTTP/2 connection to a target, with the attempts that wait until it is open. */
export class H2Session implements StreamOwner {
  /** Streams, and attempts that wait for the connection. */
  streams = 0
  readonly #options: H2SessionOptions
  readonly #owner: H2SessionOwner
  #waiting: H2Attempt[] = []
  #client: http2.ClientHttp2Session | null = null
  #limit = MAX_STREAMS
  #isClosed = false
  /** It takes no more streams, and goes with the last one. */
  #isOld = false
  #isPinging = false
  #timer: NodeJS.Timeout | null = null
  #renewal: NodeJS.Timeout | null = null

  constructor(options: H2SessionOptions, owner: H2SessionOwner) {
    this.#options = options
    this.#owner = owner
    const opening = options.connector(options.connectMs, (error, socket) => {
      if (error === null) this.#onConnect(socket, opening)
      else this.#failWaiting(error)
    })
  }

  get hasRoom(): boolean {
    return !this.#isOld && !this.#isGone && this.streams < this.#limit
  }

  /** Its streams hear of its end before it does: what waits for room must not follow them. */
  get #isGone(): boolean {
    return this.#isClosed || this.#client?.closed === true || this.#client?.destroyed === true
  }

  get client(): http2.ClientHttp2Session {
    return this.#client!
  }

  /** Takes an attempt; there is room for it. */
  add(attempt: H2Attempt): void {
    this.streams++
    this.#stopTimer()
    if (this.#client === null) this.#waiting.push(attempt)
    else attempt.begin(this, null)
  }

  /** An attempt was given up before the connection was open. False: it does not wait here. */
  remove(attempt: H2Attempt): boolean {
    const at = this.#waiting.indexOf(attempt)
    if (at < 0) return false
    this.#waiting.splice(at, 1)
    this.onStreamOver()
    return true
  }

  onStreamOver(): void {
    this.streams--
    if (this.streams === 0) this.#onIdle()
    if (this.hasRoom) this.#owner.onRoom()
  }

  checkTarget(): void {
    const client = this.#client
    if (client === null || this.#isPinging || client.destroyed) return
    this.#isPinging = true
    const timer = setTimeout(() => client.destroy(), PING_MS).unref()
    const onAnswer = (): void => {
      this.#isPinging = false
      clearTimeout(timer)
    }
    if (!client.ping(onAnswer)) onAnswer()
  }

  /** Closes after the last stream. */
  retire(): void {
    this.#isOld = true
    if (this.streams === 0) this.#client?.close()
  }

  #onConnect(socket: net.Socket, opening: Opening): void {
    const { isPrior, origin } = this.#options
    const protocol = 'alpnProtocol' in socket ? socket.alpnProtocol : null
    if (protocol !== 'h2' && !isPrior) {
      this.#leaveToHttp1(socket)
      return
    }
    const client = http2.connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSettings: 32,
    })
    this.#client = client
    this.#watch(client)
    this.#renewal = setTimeout(
      () => this.retire(),
      this.#options.maxConnectionAgeMs * (1 - AGE_SPREAD * Math.random()),
    ).unref()
    const waiting = this.#waiting
    this.#waiting = []
    for (const attempt of waiting) attempt.begin(this, opening)
    if (this.streams === 0) this.#onIdle()
  }

  #watch(client: http2.ClientHttp2Session): void {
    client.on('connect', () => client.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
    client.on('remoteSettings', ({ maxConcurrentStreams }) => {
      this.#limit = Math.min(MAX_STREAMS, maxConcurrentStreams ?? MAX_STREAMS)
      if (this.hasRoom) this.#owner.onRoom()
    })
    client.on('goaway', () => this.retire())
    // Its streams fail with the same error.
    client.on('error', () => {})
    client.on('close', () => this.#onClosed())
  }

  #leaveToHttp1(socket: net.Socket): void {
    socket.destroy()
    const waiting = this.#waiting
    this.#waiting = []
    this.#onClosed()
    this.#owner.onHttp1(waiting)
  }

  #failWaiting(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#onClosed()
    const failure = failureOf(error)
    for (const attempt of waiting) attempt.fail(failure)
  }

  #onClosed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopTimer()
    if (this.#renewal !== null) clearTimeout(this.#renewal)
    this.#owner.onClosed(this)
  }

  #onIdle(): void {
    const client = this.#client
    if (client === null || client.destroyed) return
    if (this.#isOld) client.close()
    else this.#timer = setTimeout(() => this.retire(), this.#options.keepAliveMs).unref()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
