import { OPCODE } from '../../protocol/websocket/frames.js'

/** Receiver of frames. Payloads are valid only during the call. */
export interface FrameReceiver {
  onData(payload: Uint8Array, isBinary: boolean, isFirst: boolean, isLast: boolean): void
  onControl(opcode: number, payload: Uint8Array): void
}

const FINAL = 0x80

/**
 * Splits a server's byte stream into frames. The frames must be valid, with complete heads (see FrameWalker). Data is
 * delivered as it arrives: a frame in several pieces becomes several fragments.
 */
export class ServerFrames {
  #left = 0
  #opcode = 0
  #isFinal = false
  #isBinary = false
  /** True if nothing of the message has been delivered. */
  #isFirst = true
  /** Received part of a control frame's payload. */
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

  /** Reads a head and returns the position of the payload. */
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
