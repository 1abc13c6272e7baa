import { randomFillSync } from 'node:crypto'

/** A trace ID and a span ID. */
const BYTES_PER_PAIR = 24
/** Random bytes are generated for many IDs at once, because each call costs more than the bytes. */
const PAIRS = 128
const TRACE_DIGITS = 32
const DIGITS_PER_PAIR = BYTES_PER_PAIR * 2

/**
 * Generates pairs of a trace ID and a span ID. The last two digits of a span ID are zeros: the spans of the upstream
 * attempts have their number there (see `attemptSpanId`).
 */
export class TraceIds {
  readonly #random = Buffer.alloc(BYTES_PER_PAIR * PAIRS)
  #hex = ''
  #at = DIGITS_PER_PAIR * PAIRS

  /** Trace ID of the current pair: 32 hexadecimal digits. */
  get traceId(): string {
    return this.#hex.slice(this.#at, this.#at + TRACE_DIGITS)
  }

  /** Span ID of the current pair: 16 hexadecimal digits. */
  get spanId(): string {
    return this.#hex.slice(this.#at + TRACE_DIGITS, this.#at + DIGITS_PER_PAIR)
  }

  /** Advances to the next pair. */
  advance(): void {
    this.#at += DIGITS_PER_PAIR
    if (this.#at < this.#hex.length) return
    randomFillSync(this.#random)
    for (let i = BYTES_PER_PAIR - 1; i < this.#random.length; i += BYTES_PER_PAIR) this.#random[i] = 0
    this.#hex = this.#random.toString('hex')
    this.#at = 0
  }
}
