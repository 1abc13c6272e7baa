import { maxBlockBytes, type RecordId, writeBody } from './block.js'

/** Buffer size for a segment of 1 MiB plus the batch that completes it. */
const USUAL_BYTES = 1024 ** 2 + 256 * 1024
/** Maximum number of spare buffers: as many as are in delivery at the same time. */
const SPARE_ROOMS = 4

const spare: Buffer[] = []

/**
 * Bodies of the blocks of a segment, one behind the other, which together are the body of a bulk request. Buffers are
 * reused, because allocating one per segment would make V8 collect the whole heap once per second.
 */
export class SegmentMemory {
  #room: Buffer = spare.pop() ?? Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  #isShared = false

  /** The bodies; valid until `release`. */
  get body(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  /** Returns the body of a block, which is written but not yet part of the segment. */
  encode(lines: Buffer, records: number, first: RecordId): Buffer {
    const needed = this.#length + maxBlockBytes(lines, records, first.prefix)
    if (needed > this.#room.length) this.#move(Math.max(needed, 2 * this.#room.length))
    const end = writeBody(lines, records, first, { room: this.#room, at: this.#length })
    return this.#room.subarray(this.#length, end)
  }

  /** Makes an encoded body part of the segment. */
  keep(body: Buffer): void {
    this.#length += body.length
  }

  /** Ends writing. Shrinks the buffer if it is mostly empty. */
  seal(): void {
    if (2 * this.#length < this.#room.length) this.#move(this.#length)
  }

  /** Marks the bodies as shared: a reader may still use them after `release`, so the buffer is not reused. */
  share(): void {
    this.#isShared = true
  }

  /** Releases the bodies. */
  release(): void {
    if (!this.#isShared) giveBack(this.#room)
  }

  #move(bytes: number): void {
    const room = Buffer.allocUnsafeSlow(bytes)
    room.set(this.body)
    giveBack(this.#room)
    this.#room = room
  }
}

function giveBack(room: Buffer): void {
  if (room.length === USUAL_BYTES && spare.length < SPARE_ROOMS) spare.push(room)
}
