const LF = 10
const CR = 13
const COLON = 58
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const DATA = Buffer.from('data')

/**
 * Counts the events of a server-sent event stream as it passes (HTML standard, section 9.2.6). A block before
 * an empty line counts if it has a `data` field. Comments, which serve as keep-alives, do not count. Lines
 * end with CR, LF or CRLF. No content is kept.
 */
export class EventStream {
  /** Number of complete events. */
  events = 0
  /** Monotonic time at which the response to the client began, in milliseconds. */
  readonly sinceMono: number
  /** False if the stream has a content coding. Events are not counted then. */
  readonly isReadable: boolean
  #offset = 0
  /** Number of bytes in the current line. Only counted up to the end of the field name. */
  #at = 0
  /** True while the current line may be a `data` field. */
  #isData = true
  #hasData = false
  #endedWithCr = false

  constructor(sinceMono: number, isReadable: boolean) {
    this.sinceMono = sinceMono
    this.isReadable = isReadable
  }

  /** Counts the events in the next chunk. */
  read(chunk: Uint8Array): void {
    if (!this.isReadable) return
    let lf = chunk.indexOf(LF)
    let cr = chunk.indexOf(CR)
    let i = this.#skipped(chunk)
    while (i < chunk.length) {
      if (lf !== -1 && lf < i) lf = chunk.indexOf(LF, i)
      if (cr !== -1 && cr < i) cr = chunk.indexOf(CR, i)
      const end = lf === -1 ? cr : cr === -1 ? lf : Math.min(lf, cr)
      this.#readLine(chunk, i, end === -1 ? chunk.length : end)
      if (end === -1) return
      this.#endLine(chunk[end] === CR)
      i = end + 1
    }
  }

  /** Returns the position after a byte order mark at the start of the stream. */
  #skipped(chunk: Uint8Array): number {
    let i = 0
    while (this.#offset < BYTE_ORDER_MARK.length && i < chunk.length) {
      if (chunk[i] !== BYTE_ORDER_MARK[this.#offset]) {
        this.#offset = BYTE_ORDER_MARK.length
        return i
      }
      this.#offset++
      i++
    }
    return i
  }

  #readLine(chunk: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.#endedWithCr = false
    for (let i = from; i < to && this.#at <= DATA.length; i++) {
      if (chunk[i] !== (this.#at === DATA.length ? COLON : DATA[this.#at])) this.#isData = false
      this.#at++
    }
  }

  #endLine(isCr: boolean): void {
    const isSecondHalf = this.#endedWithCr && !isCr && this.#at === 0
    this.#endedWithCr = isCr
    if (isSecondHalf) return
    if (this.#at === 0) {
      if (this.#hasData) this.events++
      this.#hasData = false
    } else if (this.#isData && this.#at >= DATA.length) this.#hasData = true
    this.#at = 0
    this.#isData = true
  }
}
