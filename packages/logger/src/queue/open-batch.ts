import type { Batch } from '../writer/messages.js'

/** A batch is handed over when it holds so many records, */
const BATCH_RECORDS = 512
/** or so many bytes. */
export const BATCH_BYTES = 128 * 1024

/** A batch that is filled less than this gives its records away in a buffer of their size. */
const WORTH_GIVING_BYTES = BATCH_BYTES / 2
/** Buffers that are kept for the next batches, at most: as many as are on their way to the thread and back. */
const SPARE_BUFFERS = 4
/** Of batches that gave their records away, or that the thread has done with: new ones would have to be collected. */
const spare: Buffer[] = []

/** Takes a buffer back that a batch was handed over in. */
export function giveBack(buffer: ArrayBuffer): void {
  if (buffer.byteLength === BATCH_BYTES && spare.length < SPARE_BUFFERS) spare.push(Buffer.from(buffer))
}

/** The batch that is being filled. */
export class OpenBatch {
  readonly #bytes: Buffer
  #length = 0
  #records = 0

  /** @param firstLineBytes a line longer than a usual batch gets one of its own. */
  constructor(firstLineBytes: number) {
    const kept = firstLineBytes <= BATCH_BYTES ? spare.pop() : undefined
    this.#bytes = kept ?? Buffer.allocUnsafeSlow(Math.max(BATCH_BYTES, firstLineBytes))
  }

  /** Whether a line of so many bytes still belongs into it. */
  takes(lineBytes: number): boolean {
    return this.#records < BATCH_RECORDS && this.#length + lineBytes <= this.#bytes.length
  }

  get isFull(): boolean {
    return this.#records === BATCH_RECORDS
  }

  /** Adds a line of ASCII that ends with a newline; `takes` must have said yes. */
  add(line: string): void {
    this.#length += this.#bytes.write(line, this.#length, 'latin1')
    this.#records++
  }

  /**
   * What it holds, as a message; it takes nothing more. Batches wait while the thread does not get to them, and the
   * bound of what waits counts records, so a batch of one record must not take the room of hundreds.
   */
  seal(): Batch {
    // allocUnsafeSlow never takes from a pool, so the buffer is this batch's alone and can be transferred.
    let buffer = this.#bytes.buffer as ArrayBuffer
    if (this.#length < WORTH_GIVING_BYTES) {
      const whole = buffer
      buffer = whole.slice(0, this.#length)
      giveBack(whole)
    }
    return { kind: 'batch', buffer, length: this.#length, records: this.#records }
  }
}
