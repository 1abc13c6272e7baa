import type net from 'node:net'
import type { CachedClock } from '../../lib/cached-clock.js'
import type { Connector } from '../transport/connector.js'
import { failureOf } from '../transport/failure.js'
import type { Opening } from '../transport/opening.js'
import type { H2Attempt } from './h2-attempt.js'
import { H2Connection, type H2ConnectionOwner } from './h2-connection.js'

/** Maximum number of concurrent streams on a connection, if the target allows as many. */
const MAX_STREAMS = 100
/** Timeout of the ping that follows an attempt without a response, in milliseconds. */
const PING_MS = 2000
/** Final fraction of the maximum age over which connections opened together are renewed. */
const AGE_SPREAD = 0.1

interface H2SessionOptions {
  readonly connector: Connector
  readonly connectMs: number
  readonly keepAliveMs: number
  readonly maxHeaderBytes: number
  readonly clock: CachedClock
  readonly maxConnectionAgeMs: number
  /** True if HTTP/2 is used without negotiation: over plain TCP, or regardless of ALPN. */
  readonly hasPriorKnowledge: boolean
}

/** Owner of connections, implemented by the pool. */
export interface H2SessionOwner {
  /** Called when there is room for another stream, or the connection is gone. */
  onRoom(): void
  onClosed(session: H2Session): void
  /** Called if the target does not support HTTP/2, with the attempts to move. */
  onHttp1(attempts: readonly H2Attempt[]): void
}

/** An HTTP/2 connection to a target, with the attempts that wait until it is open. */
export class H2Session implements H2ConnectionOwner {
  /** Number of streams, including attempts that wait for the connection. */
  streams = 0
  readonly #options: H2SessionOptions
  readonly #owner: H2SessionOwner
  #waiting: H2Attempt[] = []
  #connection: H2Connection | null = null
  #limit = MAX_STREAMS
  #isClosed = false
  /** True if it accepts no more streams and closes after the last one. */
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
    return !this.#isOld && !this.#isClosed && this.#connection?.isSpent !== true && this.streams < this.#limit
  }

  /** Adds an attempt. There must be room. */
  add(attempt: H2Attempt): void {
    this.streams++
    this.#stopTimer()
    if (this.#connection === null) this.#waiting.push(attempt)
    else if (!attempt.begin(this.#connection, null)) this.onStreamOver()
  }

  /** Removes an attempt that waits for the connection. Returns false if it does not wait here. */
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
    const connection = this.#connection
    if (connection === null || this.#isPinging || connection.isEnded) return
    this.#isPinging = true
    const timer = setTimeout(() => connection.destroy(), PING_MS).unref()
    connection.ping(() => {
      this.#isPinging = false
      clearTimeout(timer)
    })
  }

  onLimit(streams: number): void {
    this.#limit = Math.min(MAX_STREAMS, streams)
    if (this.hasRoom) this.#owner.onRoom()
  }

  onGoaway(): void {
    this.retire()
  }

  /** Closes the connection after its last stream. */
  retire(): void {
    this.#isOld = true
    if (this.streams === 0) this.#connection?.close()
  }

  #onConnect(socket: net.Socket, opening: Opening): void {
    const protocol = 'alpnProtocol' in socket ? socket.alpnProtocol : null
    if (protocol !== 'h2' && !this.#options.hasPriorKnowledge) {
      this.#fallBackToHttp1(socket)
      return
    }
    const connection = new H2Connection(socket, this.#options, this)
    this.#connection = connection
    this.#renewal = setTimeout(
      () => this.retire(),
      this.#options.maxConnectionAgeMs * (1 - AGE_SPREAD * Math.random()),
    ).unref()
    const waiting = this.#waiting
    this.#waiting = []
    for (const attempt of waiting) if (!attempt.begin(connection, opening)) this.onStreamOver()
    if (this.streams === 0) this.#onIdle()
  }

  #fallBackToHttp1(socket: net.Socket): void {
    socket.destroy()
    const waiting = this.#waiting
    this.#waiting = []
    this.onClosed()
    this.#owner.onHttp1(waiting)
  }

  #failWaiting(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.onClosed()
    const failure = failureOf(error)
    for (const attempt of waiting) attempt.fail(failure)
  }

  onClosed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopTimer()
    if (this.#renewal !== null) clearTimeout(this.#renewal)
    this.#owner.onClosed(this)
  }

  #onIdle(): void {
    const connection = this.#connection
    if (connection === null || connection.isEnded) return
    if (this.#isOld) connection.close()
    else this.#timer = setTimeout(() => this.retire(), this.#options.keepAliveMs).unref()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
