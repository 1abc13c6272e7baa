const LF = 10
const CR = 13
const COLON = 58
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const DATA = Buffer.from('data')

/**
 * Counts the events of a stream of server-sent events while it passes (HTML, 9.2.6): what stands before an empty line
 * is one if it has a field `data`, so that comments, which keep connections alive, are none. Lines end with CR, LF or
 * both. Nothing is kept of it.
 */
export class EventStream {
  /** Those that were complete. */
  events = 0
  /** When it began to go to the client, monotonic, ms. */
  readonly sinceMono: number
  /** False: the stream is in a content coding, and nobody looks into it. */
  readonly isReadable: boolean
  #offset = 0
  /** Bytes of the line so far; those behind the name are not counted one by one. */
  #at = 0
  /** The line is of a field `data`, as far as it came. */
  #isData = true
  #hasData = false
  #endedWithCr = false

  constructor(sinceMono: number, isReadable: boolean) {
    this.sinceMono = sinceMono
    this.isReadable = isReadable
  }

  /** Looks at the next part. */
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

  /** The position behind a byte order mark at the very beginning. */
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
