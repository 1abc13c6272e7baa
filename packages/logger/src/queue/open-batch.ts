import type { Batch } from './messages.js'

/** Maximum number of records in a batch. */
const BATCH_RECORDS = 512
/** Maximum size of a batch in bytes, unless it consists of one longer record. */
export const BATCH_BYTES = 128 * 1024

/** Batches smaller than this are copied to a buffer of their exact size. */
const MIN_TRANSFER_BYTES = BATCH_BYTES / 2
/** Maximum number of spare buffers: as many as are on their way to the thread and back. */
const SPARE_BUFFERS = 4
/** Reusable buffers of earlier batches. New buffers would burden the garbage collector. */
const spare: Buffer[] = []

/** Returns the buffer of a processed batch for reuse. */
export function giveBack(buffer: ArrayBuffer): void {
  if (buffer.byteLength === BATCH_BYTES && spare.length < SPARE_BUFFERS) spare.push(Buffer.from(buffer))
}

/** The batch that is currently being filled. */
export class OpenBatch {
  readonly #bytes: Buffer
  #length = 0
  #records = 0

  /** @param firstLineBytes Length of the first line. A line longer than a normal batch gets its own batch. */
  constructor(firstLineBytes: number) {
    const kept = firstLineBytes <= BATCH_BYTES ? spare.pop() : undefined
    this.#bytes = kept ?? Buffer.allocUnsafeSlow(Math.max(BATCH_BYTES, firstLineBytes))
  }

  /** Returns true if the batch has room for a line of this length. */
  takes(lineBytes: number): boolean {
    return this.#records < BATCH_RECORDS && this.#length + lineBytes <= this.#bytes.length
  }

  get isFull(): boolean {
    return this.#records === BATCH_RECORDS
  }

  /** Adds an ASCII line that ends with a newline. Check `takes` first. */
  add(line: string): void {
    this.#length += this.#bytes.write(line, this.#length, 'latin1')
    this.#records++
  }

  /**
   * Returns the content as a message. The batch cannot be used afterwards. Small batches are copied, because
   * the queue limit counts record bytes: while the thread is busy, a waiting batch with one record must not
   * occupy memory for hundreds.
   */
  seal(): Batch {
    // Buffers from allocUnsafeSlow are not pooled, so this one can be transferred.
    let buffer = this.#bytes.buffer as ArrayBuffer
    if (this.#length < MIN_TRANSFER_BYTES) {
      const whole = buffer
      buffer = whole.slice(0, this.#length)
      giveBack(whole)
    }
    return { kind: 'batch', buffer, length: this.#length, records: this.#records }
  }
}
