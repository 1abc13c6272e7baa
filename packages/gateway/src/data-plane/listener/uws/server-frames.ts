import { OPCODE } from '../../websocket/frames.js'

/** Hears what frames hold. The payloads are valid during the call only. */
export interface FrameReceiver {
  onData(payload: Uint8Array, isBinary: boolean, isFirst: boolean, isLast: boolean): void
  onControl(opcode: number, payload: Uint8Array): void
}

const FINAL = 0x80

/**
 * Takes the frames of a server apart, which are valid (see FrameWalker) and of which each head comes whole. Data goes on as
 * it comes: a frame in pieces becomes as many fragments.
 */
export class ServerFrames {
  #left = 0
  #opcode = 0
  #isFinal = false
  #isBinary = false
  /** Nothing of the message has gone on. */
  #isFirst = true
  /** Of a control frame, what has come. */
  #control: Buffer | null = null

  read(bytes: Buffer, from: number, to: number, receiver: FrameReceiver): void {
    let at = from
    while (at < to) {
      if (this.#left === 0) at = this.#enter(bytes, at)
      const end = Math.min(to, at + this.#left)
      this.#left -= end - at
      this.#pass(bytes.subarray(at, end), receiver)
      at = end
    }
  }

  /** Reads a head; answers where the payload begins. */
  #enter(bytes: Buffer, at: number): number {
    const first = bytes[at]!
    const short = bytes[at + 1]!
    this.#opcode = first & 15
    this.#isFinal = first >= FINAL
    if (this.#opcode === OPCODE.text || this.#opcode === OPCODE.binary) {
      this.#isBinary = this.#opcode === OPCODE.binary
      this.#isFirst = true
    }
    this.#left = short
    if (short === 126) this.#left = bytes.readUInt16BE(at + 2)
    else if (short === 127) this.#left = Number(bytes.readBigUInt64BE(at + 2))
    return at + (short < 126 ? 2 : short === 126 ? 4 : 10)
  }

  #pass(payload: Buffer, receiver: FrameReceiver): void {
    if (this.#opcode >= OPCODE.close) {
      const whole = this.#control === null ? payload : Buffer.concat([this.#control, payload])
      this.#control = this.#left > 0 ? Buffer.from(whole) : null
      if (this.#left === 0) receiver.onControl(this.#opcode, whole)
      return
    }
    receiver.onData(payload, this.#isBinary, this.#isFirst, this.#isFinal && this.#left === 0)
    this.#isFirst = false
  }
}
