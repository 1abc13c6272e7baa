/** Buffer size for a segment of 1 MiB plus the batch that completes it. */
const USUAL_BYTES = 1024 ** 2 + 256 * 1024
/** Maximum number of spare buffers: as many as are in delivery at the same time. */
const SPARE_ROOMS = 4

const spare: Buffer[] = []

/**
 * Frames of one segment in memory. Buffers are reused, because allocating one per segment would make V8
 * collect the whole heap once per second.
 */
export class SegmentMemory {
  #room: Buffer = spare.pop() ?? Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  #isShared = false

  /** The frames; valid until `release`. */
  get frames(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  add(frames: Buffer): void {
    const length = this.#length + frames.length
    if (length > this.#room.length) this.#move(Math.max(length, 2 * this.#room.length))
    this.#room.set(frames, this.#length)
    this.#length = length
  }

  /** Ends writing. Shrinks the buffer if it is mostly empty. */
  seal(): void {
    if (2 * this.#length < this.#room.length) this.#move(this.#length)
  }

  /** Marks the frames as shared: a reader may still use them after `release`, so the buffer is not reused. */
  share(): void {
    this.#isShared = true
  }

  /** Releases the frames. */
  release(): void {
    if (!this.#isShared) giveBack(this.#room)
  }

  #move(bytes: number): void {
    const room = Buffer.allocUnsafeSlow(bytes)
    room.set(this.frames)
    giveBack(this.#room)
    this.#room = room
  }
}

function giveBack(room: Buffer): void {
  if (room.length === USUAL_BYTES && spare.length < SPARE_ROOMS) spare.push(room)
}
