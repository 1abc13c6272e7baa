/** Room for a segment that is sealed at a mebibyte, and for the batch that brings it there. */
const USUAL_BYTES = 1024 ** 2 + 256 * 1024
/** Rooms that wait for the next segment, at most: as many as are on their way to an output at the same time. */
const SPARE_ROOMS = 4

const spare: Buffer[] = []

/**
 * The frames of one segment, one after the other. Its room serves many segments in turn: memory that is allocated
 * again for every segment makes V8 collect the whole heap once a second, which costs more than all that is done with it.
 */
export class SegmentMemory {
  #room: Buffer = spare.pop() ?? Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0
  #isShared = false

  /** Valid until `release`. */
  get frames(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  add(frames: Buffer): void {
    const length = this.#length + frames.length
    if (length > this.#room.length) this.#move(Math.max(length, 2 * this.#room.length))
    this.#room.set(frames, this.#length)
    this.#length = length
  }

  /** Nothing more comes: many segments with little in them must not take the room of full ones. */
  seal(): void {
    if (2 * this.#length < this.#room.length) this.#move(this.#length)
  }

  /** Somebody who was given the frames may look at them even after `release`. */
  share(): void {
    this.#isShared = true
  }

  /** Nobody needs the frames any more. */
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
