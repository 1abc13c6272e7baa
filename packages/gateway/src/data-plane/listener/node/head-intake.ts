import { type Exchange, internString, type Reply, refusal } from '@sluice/core'
import { type CachedHead, HeadCache } from '../../http1/head-cache.js'
import { readAuthority } from '../authority.js'
import { applyClientAddress } from '../client-address.js'
import type { ListenerSettings } from '../listener.js'
import { RequestHead, refuseLargeHead } from '../request-head.js'
import { applyTarget } from '../request-target.js'
import type { RequestHeadReader } from './request-head-reader.js'

const BAD_TARGET = refusal('GW_BAD_REQUEST', 'the request target is neither a path nor an http URL')
const OLD_CODING = refusal('GW_BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding')

/** Parsers differ on lines that say the same: llhttp refuses them, so nobody behind can be of another opinion. */
const TWO_LENGTHS = refusal('GW_BAD_REQUEST', 'Content-Length stands in more than one line')

/** How many heads of a listener are kept. */
const HEAD_SLOTS = 64

/** What a connection has to know of a request's head. */
export interface TakenHead {
  /** Null: it is served. */
  readonly refused: Reply | null
  /** The 1 of HTTP/1.1, the 0 of HTTP/1.0. */
  readonly minor: number
  /** The client wants the connection to be kept behind the response. */
  readonly isKept: boolean
  /** The client waits with the body for `100 Continue`. */
  readonly waitsToContinue: boolean
  /** The client reads trailers after a response in chunks. */
  readonly takesTrailers: boolean
  readonly asksForWebSocket: boolean
}

/** Where a request has arrived. */
export interface LocalEnd {
  /** What stands for the Host field that HTTP/1.0 need not have. */
  localAuthority(): string
}

/** A head, and how many bytes were read at once with it. */
export interface WholePiece {
  readonly bytes: Buffer
  readonly size: number
}

/** A head that was taken in and may serve again, with what it means before it is known who has sent it. */
interface KnownHead extends TakenHead, CachedHead {
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
 * Fills exchanges from the heads of a listener's requests, and checks them. The bytes of a head that came before are not
 * read again: most requests of one client have the same.
 */
export class HeadIntake {
  #settings: ListenerSettings
  readonly #head = new RequestHead()
  readonly #cache = new HeadCache<KnownHead>(HEAD_SLOTS)
  /** The head that was read last has a Host field: without one it means another host at another address of this machine. */
  #hasHost = false

  constructor(settings: ListenerSettings) {
    this.#settings = settings
  }

  /** What a head means depends on them. */
  set settings(settings: ListenerSettings) {
    this.#settings = settings
    this.#cache.clear()
  }

  /** The head that stands at the beginning of what was read; null when it has to be read. */
  find(bytes: Buffer, from: number, to: number): KnownHead | null {
    return this.#cache.find(bytes, from, to)
  }

  /** Fills the exchange from a head that came before. */
  repeat(x: Exchange, known: KnownHead): Reply | null {
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
   * Fills the exchange from a head that was read.
   * @param piece what was read at once, where that was the whole head: it may be kept then.
   */
  take(x: Exchange, reader: RequestHeadReader, end: LocalEnd, piece: WholePiece | null): TakenHead {
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

  /** Answers whether there is more than one length. */
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

  /** Fills the exchange, all of it also where something is refused: its record says what is known. */
  #check(x: Exchange, target: string, minor: number): Reply | null {
    const badHead = this.#head.apply(x, this.#settings)
    const badTarget = target.startsWith('/') ? this.#applyPath(x, target) : this.#applyUrl(x, target)
    const badCoding = minor === 0 && x.contentLength < 0 ? OLD_CODING : null
    return badHead ?? badTarget ?? refuseLargeHead(x, this.#settings) ?? badCoding
  }

  #applyPath(x: Exchange, target: string): Reply | null {
    const mark = target.indexOf('?')
    if (mark < 0) return applyTarget(x, target, null, this.#settings)
    return applyTarget(x, target.slice(0, mark), target.slice(mark + 1), this.#settings)
  }

  /** The absolute form, whose host counts, and not that of the Host field (RFC 9112 section 3.2.2). */
  #applyUrl(x: Exchange, target: string): Reply | null {
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
  ): Pick<TakenHead, 'isKept' | 'waitsToContinue' | 'takesTrailers' | 'asksForWebSocket'> {
    const head = this.#head
    const { takesTrailers, asksForWebSocket } = head
    const isKept = !head.wantsClose && (minor === 1 || head.wantsKeepAlive)
    return { isKept, waitsToContinue: minor === 1 && head.waitsToContinue, takesTrailers, asksForWebSocket }
  }
}

function known(x: Exchange, taken: TakenHead, bytes: Buffer): KnownHead {
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
