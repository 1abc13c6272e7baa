import type net from 'node:net'
import { type Exchange, type Reply, refusal } from '@sluice/core'
import { MORE, TOO_LARGE } from '../../http1/message-head.js'
import { applyClientAddress } from '../client-address.js'
import { beginExchange, type ConnectionHost, type Peer } from './connection-host.js'
import type { LocalEnd, TakenHead } from './head-intake.js'
import { BAD_VERSION, RequestHeadReader } from './request-head-reader.js'

/** What `read` answers beside MORE: the connection speaks HTTP/2, as its client knows beforehand. */
export const PREFACE = -5

const REPLIES = {
  malformed: refusal('GW_BAD_REQUEST', 'the request head is not valid HTTP/1.1'),
  version: refusal('GW_VERSION_NOT_SUPPORTED', 'this listener speaks HTTP/1.1 and HTTP/1.0'),
  tooLarge: refusal('GW_HEADERS_TOO_LARGE', 'the request head is larger than this listener accepts'),
  tooLong: refusal('GW_URL_TOO_LONG', 'the request target is longer than this listener accepts'),
  tooSlow: refusal('GW_REQUEST_TIMEOUT', 'the request head did not come in time'),
} as const

/** Characters of a target, and of a method, that are reported of a head that failed. */
const MAX_TARGET = 1024
const MAX_METHOD = 64
/** The method in the preface of HTTP/2 (RFC 9113 section 3.4). */
const H2_METHOD = 'PRI'

/** Reads the heads of a connection, one after the other, and fills an exchange for each. */
export class RequestArrival implements LocalEnd {
  /** The request that has arrived last, until it is taken. */
  x: Exchange | null = null
  taken: TakenHead | null = null
  /** Null: it is served. */
  refused: Reply | null = null
  /** Reads trailers, too. */
  readonly reader: RequestHeadReader
  readonly #socket: net.Socket
  readonly peer: Peer
  readonly #host: ConnectionHost
  #hasArrived = false

  constructor(socket: net.Socket, peer: Peer, host: ConnectionHost) {
    this.#socket = socket
    this.peer = peer
    this.#host = host
    this.reader = new RequestHeadReader(0)
    this.begin()
  }

  /** Gets ready for the next head. */
  begin(): void {
    this.reader.maxBytes = this.#host.settings.headerBytes
    this.reader.begin()
  }

  /** The request that has arrived; a connection that rests keeps nothing of it. */
  take(): Exchange {
    const x = this.x!
    this.x = null
    this.#hasArrived = true
    return x
  }

  /** Nothing of the head has come. */
  get isUntouched(): boolean {
    return this.reader.isUntouched
  }

  /** Reads on. Answers the place behind the head, with the request in `x`; or MORE or PREFACE. */
  read(bytes: Buffer, from: number, to: number): number {
    const { reader } = this
    const { intake } = this.#host
    const isWhole = reader.isUntouched
    const known = isWhole ? intake.find(bytes, from, to) : null
    if (known !== null) {
      this.x = beginExchange(this.#host, this.peer)
      this.taken = known
      this.refused = intake.repeat(this.x, known)
      return from + known.bytes.length
    }
    const end = reader.read(bytes, from, to)
    if (end === MORE) return MORE
    if (end < 0) return this.#fail(end, to)
    this.x = beginExchange(this.#host, this.peer)
    this.x.requestHeadBytes = reader.size
    const piece = isWhole ? { bytes: bytes.subarray(from, end), size: to - from } : null
    this.taken = intake.take(this.x, reader, this, piece)
    this.refused = this.taken.refused
    return end
  }

  /** The head does not come: what is there of it makes a request that is refused. */
  giveUp(): void {
    this.#refuse(REPLIES.tooSlow)
  }

  /** All that was read of a head that has failed. */
  get received(): Buffer {
    return Buffer.from(this.reader.received, 'latin1')
  }

  localAuthority(): string {
    const { localAddress = '', localPort } = this.#socket
    return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  }

  #fail(problem: number, to: number): number {
    const { reader } = this
    const isLong = reader.isInLine || reader.target.length > this.#host.settings.urlBytes
    if (problem === BAD_VERSION) {
      if (reader.method === H2_METHOD && !this.#hasArrived && this.#host.http2 !== null) return PREFACE
      this.#refuse(REPLIES.version)
    } else if (problem === TOO_LARGE) this.#refuse(isLong ? REPLIES.tooLong : REPLIES.tooLarge)
    else this.#refuse(REPLIES.malformed)
    return to
  }

  #refuse(reply: Reply): void {
    const { reader } = this
    const x = beginExchange(this.#host, this.peer)
    const target = reader.target.slice(0, MAX_TARGET)
    x.method = reader.method.slice(0, MAX_METHOD)
    x.rawPath = target.split('?', 1)[0]!
    x.query = target.slice(x.rawPath.length + 1)
    x.requestHeadBytes = reader.size
    applyClientAddress(x, this.#host.settings)
    this.x = x
    this.taken = {
      ...{ refused: reply, minor: 1, isKept: false },
      ...{ waitsToContinue: false, takesTrailers: false, asksForWebSocket: false },
    }
    this.refused = reply
  }
}
