import { forwardableTrailers } from '../response-fields.js'
import { HEX_VALUES } from './byte-classes.js'
import { ChunkExtensions } from './chunk-extensions.js'
import { BROKEN, type MessageHead, MORE } from './message-head.js'

const CR = 13
const LF = 10
const SEMICOLON = 59

/** Maximum length of a chunk-size line. Extensions are ignored, so they must not be expensive either. */
const MAX_SIZE_LINE_BYTES = 4096
/** Largest chunk size that is still an exact integer. */
const MAX_CHUNK_BYTES = 2 ** 52

const SIZE = 0
const EXTENSION = 1
const SIZE_LF = 2
const DATA = 3
const DATA_CR = 4
const DATA_LF = 5
const TRAILERS = 6
const DONE = 7

/**
 * Parser that finds the data in a chunked body (RFC 9112 section 7.1), however the bytes are split. Extensions are
 * validated and dropped.
 *
 *     1a ; extension CR LF   26 bytes of data CR LF   …   0 CR LF   trailers CR LF
 */
export class ChunkedBody {
  /** Number of data bytes at the position that `find` returned. */
  available = 0
  /** Trailer fields to forward to the client, or null. */
  trailers: readonly string[] | null = null
  /** Parser for the trailers. It is free for reuse because the message head has been read. */
  readonly #head: MessageHead
  readonly #extensions = new ChunkExtensions()
  #state = SIZE
  /** Size of the current chunk while its size line is read, then the bytes of it still to come. */
  #left = 0
  #digits = 0
  #lineBytes = 0

  constructor(head: MessageHead) {
    this.#head = head
  }

  get isDone(): boolean {
    return this.#state === DONE
  }

  begin(): void {
    this.#state = SIZE
    this.trailers = null
    this.#beginLine()
  }

  /**
   * Continues parsing at `from` and returns the position of the next data; `available` is then its length. Without
   * data, it returns `to`. At the end of the body it returns the position after the body. A negative number means an
   * invalid body.
   */
  find(bytes: Buffer, from: number, to: number): number {
    this.available = 0
    let at = from
    while (at < to && this.#state !== DONE) {
      if (this.#state === DATA) {
        this.#take(to - at)
        return at
      }
      if (this.#state === TRAILERS) return this.#findEnd(bytes, at, to)
      if (!this.#takeByte(bytes[at]!)) return BROKEN
      at++
    }
    return at
  }

  #take(bytes: number): void {
    this.available = Math.min(bytes, this.#left)
    this.#left -= this.available
    if (this.#left === 0) this.#state = DATA_CR
  }

  #findEnd(bytes: Buffer, from: number, to: number): number {
    const end = this.#head.read(bytes, from, to)
    if (end === MORE) return to
    if (end < 0) return end
    const trailers = this.#head.takeFields()
    if (reframes(trailers)) return BROKEN
    if (trailers.length > 0) this.trailers = forwardableTrailers(trailers)
    this.#state = DONE
    return end
  }

  #takeByte(byte: number): boolean {
    switch (this.#state) {
      case SIZE:
        return this.#takeDigit(byte)
      case EXTENSION:
        if (!this.#extensions.accepts(byte)) return false
        if (byte === CR) this.#state = SIZE_LF
        return ++this.#lineBytes <= MAX_SIZE_LINE_BYTES
      case SIZE_LF:
        this.#endLine()
        return byte === LF
      case DATA_CR:
        this.#state = DATA_LF
        return byte === CR
      default:
        this.#beginLine()
        this.#state = SIZE
        return byte === LF
    }
  }

  #takeDigit(byte: number): boolean {
    const value = HEX_VALUES[byte]!
    if (value < 16) {
      this.#digits++
      this.#left = this.#left * 16 + value
      return this.#left <= MAX_CHUNK_BYTES && ++this.#lineBytes <= MAX_SIZE_LINE_BYTES
    }
    this.#state = byte === CR ? SIZE_LF : EXTENSION
    this.#extensions.begin()
    return this.#digits > 0 && (byte === CR || byte === SEMICOLON)
  }

  #beginLine(): void {
    this.#left = 0
    this.#digits = 0
    this.#lineBytes = 0
  }

  #endLine(): void {
    this.#state = this.#left > 0 ? DATA : TRAILERS
    if (this.#state === TRAILERS) this.#head.beginTrailers()
  }
}

/**
 * Returns true if the trailers contain a framing field. Another parser might have applied it (RFC 9110 section 6.5.1).
 */
function reframes(trailers: readonly string[]): boolean {
  for (let i = 0; i < trailers.length; i += 2) {
    if (trailers[i] === 'content-length' || trailers[i] === 'transfer-encoding') return true
  }
  return false
}
