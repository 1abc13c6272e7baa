import { internString, type ReceivedExchange, type Reply, refusal } from '@sluice/core'
import { type CachedHead, HeadCache } from '../../../protocol/http1/head-cache.js'
import { readAuthority } from '../../authority.js'
import { applyClientAddress } from '../../client-address.js'
import type { ListenerSettings } from '../../listener.js'
import { RequestHead, refuseLargeHead } from '../../request-head.js'
import { applyTarget } from '../../request-target.js'
import type { RequestHeadReader } from './request-head-reader.js'

const BAD_TARGET = refusal('GW_BAD_REQUEST', 'the request target is neither a path nor an HTTP URL')
const OLD_CODING = refusal('GW_BAD_REQUEST', 'HTTP/1.0 does not support Transfer-Encoding')

/**
 * Repeated Content-Length lines are refused even if they agree, because parsers differ on them (llhttp refuses them).
 */
const TWO_LENGTHS = refusal('GW_BAD_REQUEST', 'Content-Length occurs more than once')

/** Number of heads cached per listener. */
const HEAD_SLOTS = 64

/** The properties of a request head that matter to the connection. */
export interface DecodedHead {
  /** Refusal, or null if the request is served. */
  readonly refused: Reply | null
  /** Minor version: 1 for HTTP/1.1, 0 for HTTP/1.0. */
  readonly minor: number
  /** True if the client wants to keep the connection after the response. */
  readonly isKept: boolean
  /** True if the client waits for `100 Continue` before it sends the body. */
  readonly waitsToContinue: boolean
  /** True if the client accepts trailers after a chunked response. */
  readonly takesTrailers: boolean
  readonly asksForWebSocket: boolean
}

/** The local end of a connection. */
export interface LocalEnd {
  /** Returns the authority to use if an HTTP/1.0 request has no Host field. */
  localAuthority(): string
}

/** A complete head and the size of the read that contained it. */
export interface WholePiece {
  readonly bytes: Buffer
  readonly size: number
}

/** A cached head with everything derived from it that does not depend on the client. */
interface KnownHead extends DecodedHead, CachedHead {
  readonly method: string
  readonly headers: readonly string[]
  readonly contentLength: number
  readonly authority: string
  readonly host: string
  readonly rawPath: string
  readonly path: string
  readonly forwardPath: string
  readonly hasEncodedSlash: boolean
  readonly hasEmptyQuery: boolean
  readonly query: string
}

/**
 * Fills exchanges from request heads and validates them. A head with the same bytes as an earlier one is not parsed
 * again, because most requests of a client are identical.
 */
export class HeadDecoder {
  #settings: ListenerSettings
  readonly #head = new RequestHead()
  readonly #cache = new HeadCache<KnownHead>(HEAD_SLOTS)
  /** True if the last head had a Host field. Without one, the authority depends on the local address. */
  #hasHost = false

  constructor(settings: ListenerSettings) {
    this.#settings = settings
  }

  /** Replaces the settings and clears the cache, because cached results depend on them. */
  set settings(settings: ListenerSettings) {
    this.#settings = settings
    this.#cache.clear()
  }

  /** Returns the cached head that these bytes start with, or null. */
  find(bytes: Buffer, from: number, to: number): KnownHead | null {
    return this.#cache.find(bytes, from, to)
  }

  applyCached(x: ReceivedExchange, known: KnownHead): Reply | null {
    x.httpVersion = known.minor === 0 ? '1.0' : '1.1'
    x.method = known.method
    x.headers = known.headers.slice()
    x.contentLength = known.contentLength
    x.authority = known.authority
    x.host = known.host
    x.rawPath = known.rawPath
    x.path = known.path
    x.forwardPath = known.forwardPath
    x.hasEncodedSlash = known.hasEncodedSlash
    x.query = known.query
    x.hasEmptyQuery = known.hasEmptyQuery
    x.requestHeadBytes = known.bytes.length
    return applyClientAddress(x, this.#settings)
  }

  /**
   * Fills the exchange from a parsed head.
   * @param piece the read that contained the whole head, if one did. It may then be cached.
   */
  decode(
    x: ReceivedExchange,
    reader: RequestHeadReader,
    end: LocalEnd,
    piece: WholePiece | null,
  ): DecodedHead {
    const { minor, target } = reader
    x.httpVersion = minor === 0 ? '1.0' : '1.1'
    x.method = reader.method
    const hasTwoLengths = this.#addFields(reader.takeFields(), minor, end)
    const refused = this.#check(x, target, minor) ?? (hasTwoLengths ? TWO_LENGTHS : null)
    const taken = { refused, minor, ...this.#connectionOptions(minor) }
    if (refused === null && piece !== null && this.#hasHost && this.#cache.wants(piece.size, piece.bytes))
      this.#cache.put(piece.size, known(x, taken, piece.bytes))
    const badHop = applyClientAddress(x, this.#settings)
    return refused === null && badHop !== null ? { ...taken, refused: badHop } : taken
  }

  /** Adds the fields and returns true if there is more than one Content-Length. */
  #addFields(fields: readonly string[], minor: number, end: LocalEnd): boolean {
    const head = this.#head
    let hasHost = false
    let lengths = 0
    head.begin()
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] === 'host') hasHost = true
      else if (fields[i] === 'content-length') lengths++
      head.add(fields[i]!, fields[i + 1]!)
    }
    if (!hasHost && minor === 0) head.add('host', end.localAuthority())
    this.#hasHost = hasHost
    return lengths > 1
  }

  /** Fills the exchange. It is filled even if the request is refused, so that the log record is complete. */
  #check(x: ReceivedExchange, target: string, minor: number): Reply | null {
    const badHead = this.#head.apply(x, this.#settings)
    const badTarget = target.startsWith('/') ? this.#applyPath(x, target) : this.#applyUrl(x, target)
    const badCoding = minor === 0 && x.contentLength < 0 ? OLD_CODING : null
    return badHead ?? badTarget ?? refuseLargeHead(x, this.#settings) ?? badCoding
  }

  #applyPath(x: ReceivedExchange, target: string): Reply | null {
    const mark = target.indexOf('?')
    if (mark < 0) return applyTarget(x, target, null, this.#settings)
    return applyTarget(x, target.slice(0, mark), target.slice(mark + 1), this.#settings)
  }

  /** Handles an absolute-form target. Its host takes precedence over the Host field (RFC 9112 section 3.2.2). */
  #applyUrl(x: ReceivedExchange, target: string): Reply | null {
    const [, written, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
    const refused = this.#applyPath(
      x,
      written === undefined || rest.startsWith('/') ? rest || target : '/' + rest,
    )
    const authority = readAuthority(written ?? '')
    if (authority === null) return BAD_TARGET
    x.authority = authority.text
    x.host = authority.host
    return refused
  }

  #connectionOptions(
    minor: number,
  ): Pick<DecodedHead, 'isKept' | 'waitsToContinue' | 'takesTrailers' | 'asksForWebSocket'> {
    const head = this.#head
    const { takesTrailers, asksForWebSocket } = head
    const isKept = !head.wantsClose && (minor === 1 || head.wantsKeepAlive)
    return { isKept, waitsToContinue: minor === 1 && head.waitsToContinue, takesTrailers, asksForWebSocket }
  }
}

function known(x: ReceivedExchange, taken: DecodedHead, bytes: Buffer): KnownHead {
  return {
    ...taken,
    bytes,
    method: x.method,
    headers: x.headers.map(internString),
    contentLength: x.contentLength,
    authority: x.authority,
    host: x.host,
    rawPath: x.rawPath,
    path: x.path,
    forwardPath: x.forwardPath,
    hasEncodedSlash: x.hasEncodedSlash,
    query: x.query,
    hasEmptyQuery: x.hasEmptyQuery,
  }
}
