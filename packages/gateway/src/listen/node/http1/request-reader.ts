import type net from 'node:net'
import { type ReceivedExchange, type Reply, refusal } from '@sluice/core'
import { MORE, TOO_LARGE } from '../../../protocol/http1/message-head.js'
import { applyClientAddress } from '../../client-address.js'
import { beginExchange, type ConnectionHost, type Peer } from '../socket/connection-host.js'
import type { DecodedHead, HeadDecoder, LocalEnd } from './head-decoder.js'
import { BAD_VERSION, RequestHeadReader } from './request-head-reader.js'

/** Result of `read` besides MORE: the client speaks HTTP/2 with prior knowledge. */
export const PREFACE = -5

const REPLIES = {
  malformed: refusal('GW_BAD_REQUEST', 'the request head is invalid'),
  version: refusal('GW_VERSION_NOT_SUPPORTED', 'this listener supports HTTP/1.1 and HTTP/1.0'),
  tooLarge: refusal('GW_HEADERS_TOO_LARGE', 'the request head is larger than this listener accepts'),
  tooLong: refusal('GW_URL_TOO_LONG', 'the request target is longer than this listener accepts'),
  tooSlow: refusal('GW_REQUEST_TIMEOUT', 'the request head did not arrive in time'),
} as const

/** Maximum number of characters of target and method in the record of an invalid head. */
const MAX_TARGET = 1024
const MAX_METHOD = 64
/** Method in the HTTP/2 preface (RFC 9113 section 3.4). */
const H2_METHOD = 'PRI'

/** State shared by the HTTP/1 connections of a listener. */
export interface Http1Host extends ConnectionHost {
  readonly decoder: HeadDecoder
}

/** Reads the request heads of a connection in turn and fills an exchange for each. */
export class RequestReader implements LocalEnd {
  /** Last request that has arrived, until it is taken. */
  x: ReceivedExchange | null = null
  taken: DecodedHead | null = null
  /** Refusal, or null if the request is served. */
  refused: Reply | null = null
  /** Parser for heads, and for trailers. */
  readonly reader: RequestHeadReader
  readonly #socket: net.Socket
  readonly peer: Peer
  readonly #host: Http1Host
  #hasArrived = false

  constructor(socket: net.Socket, peer: Peer, host: Http1Host) {
    this.#socket = socket
    this.peer = peer
    this.#host = host
    this.reader = new RequestHeadReader(0)
    this.begin()
  }

  /** Prepares for the next head. */
  begin(): void {
    this.reader.maxBytes = this.#host.settings.headerBytes
    this.reader.begin()
  }

  /** Returns the request that has arrived, without keeping a reference, so that an idle connection holds no memory. */
  take(): ReceivedExchange {
    const x = this.x!
    this.x = null
    this.#hasArrived = true
    return x
  }

  /** True if nothing of the head has arrived. */
  get isUntouched(): boolean {
    return this.reader.isUntouched
  }

  /** Continues reading. Returns the position after the head, with the request in `x`; or MORE or PREFACE. */
  read(bytes: Buffer, from: number, to: number): number {
    const { reader } = this
    const { decoder } = this.#host
    const isWhole = reader.isUntouched
    const known = isWhole ? decoder.find(bytes, from, to) : null
    if (known !== null) {
      this.x = beginExchange(this.#host, this.peer)
      this.taken = known
      this.refused = decoder.applyCached(this.x, known)
      return from + known.bytes.length
    }
    const end = reader.read(bytes, from, to)
    if (end === MORE) return MORE
    if (end < 0) return this.#fail(end, to)
    this.x = beginExchange(this.#host, this.peer)
    this.x.requestHeadBytes = reader.size
    const piece = isWhole ? { bytes: bytes.subarray(from, end), size: to - from } : null
    this.taken = decoder.decode(this.x, reader, this, piece)
    this.refused = this.taken.refused
    return end
  }

  /** Handles a head that was not complete in time: its parts make up a request that is refused. */
  giveUp(): void {
    this.#refuse(REPLIES.tooSlow)
  }

  /** The bytes read of an invalid head. */
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
