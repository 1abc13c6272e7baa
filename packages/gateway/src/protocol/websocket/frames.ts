import { randomFillSync } from 'node:crypto'

/** Frame opcodes (RFC 6455 section 5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const FINAL = 0x80
const MASKED = 0x80
const MASK_BYTES = 4
/** Maximum payload of a control frame in bytes. */
const MAX_CONTROL_BYTES = 125
const CODE_BYTES = 2

/** Pool of random masks, used in turn. Masks must not be predictable (RFC 6455 section 5.3). */
const MASKS = Buffer.allocUnsafeSlow(4096)
let nextMask = MASKS.length

/** The parts of one frame. */
export interface FrameParts {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Uint8Array
  /** True if the frame is masked, as those of a client must be. */
  readonly isMasked: boolean
}

/** Encodes a frame. */
export function formFrame({ opcode, isFinal, payload, isMasked }: FrameParts): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const start = 2 + lengthBytes + (isMasked ? MASK_BYTES : 0)
  const frame = Buffer.allocUnsafe(start + length)
  frame[0] = (isFinal ? FINAL : 0) | opcode
  frame[1] = (isMasked ? MASKED : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2)
  else if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  frame.set(payload, start)
  if (isMasked) mask(frame, start)
  return frame
}

/**
 * Encodes a close frame. Code 1005 stands for a frame without a code.
 * @param reason truncated to what fits into a control frame.
 */
export function formClose(code: number, reason: Uint8Array, isMasked: boolean): Buffer {
  const hasCode = code !== 1005
  const payload = Buffer.alloc(
    hasCode ? CODE_BYTES + Math.min(reason.length, MAX_CONTROL_BYTES - CODE_BYTES) : 0,
  )
  if (hasCode) {
    payload.writeUInt16BE(code)
    payload.set(reason.subarray(0, payload.length - CODE_BYTES), CODE_BYTES)
  }
  return formFrame({ opcode: OPCODE.close, isFinal: true, payload, isMasked })
}

/** Writes a mask in front of the payload and applies it. */
function mask(frame: Buffer, start: number): void {
  if (nextMask === MASKS.length) {
    randomFillSync(MASKS)
    nextMask = 0
  }
  MASKS.copy(frame, start - MASK_BYTES, nextMask, nextMask + MASK_BYTES)
  nextMask += MASK_BYTES
  unmask(frame, start, frame.length)
}

/** Masks or unmasks a payload in place with the mask in front of it. */
export function unmask(frame: Buffer, from: number, to: number): void {
  const key = from - MASK_BYTES
  for (let i = from; i < to; i++) frame[i] = frame[i]! ^ frame[key + ((i - from) & 3)]!
}
