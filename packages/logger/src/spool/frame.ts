import { crc32 } from 'node:zlib'

/**
 * Header size of a frame. A spool file consists of frames, with little-endian numbers:
 *
 *     ┌──────────────┬──────────────┬──────────────┐
 *     │ length  u32  │ CRC-32  u32  │ record, JSON │
 *     └──────────────┴──────────────┴──────────────┘
 *
 * A process that is killed while writing leaves a torn frame at the end, which the checksum reveals.
 */
export const FRAME_HEAD_BYTES = 8
/** Maximum record size. A larger length field is damaged. */
const MAX_RECORD_BYTES = 16 * 1024 ** 2
const NEWLINE = 10

/** Positions of valid records in a buffer: from `starts[i]` to `ends[i]`. */
export interface FrameIndex {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Number of each record among all records, including damaged ones. */
  readonly ordinals: readonly number[]
  /** Size up to the end of the last valid frame. The rest is torn. */
  readonly validBytes: number
}

/** Buffer size for the frames of a normal batch. */
const USUAL_BYTES = 256 * 1024

/**
 * Converts lines to frames. Reuses one buffer, because a new one per batch would burden the garbage
 * collector.
 */
export class Framer {
  readonly #room = Buffer.allocUnsafeSlow(USUAL_BYTES)

  /** Frames lines that each end with a newline. The result is valid until the next call. */
  framesOf(lines: Buffer, records: number): Buffer {
    const size = lines.length - records + records * FRAME_HEAD_BYTES
    const frames = size <= USUAL_BYTES ? this.#room.subarray(0, size) : Buffer.allocUnsafe(size)
    // Copies all lines to the end of the buffer and moves each to its position from there. A view per line
    // would cost more.
    let from = size - lines.length
    frames.set(lines, from)
    for (let to = 0; from < size; ) {
      const end = frames.indexOf(NEWLINE, from)
      const start = to + FRAME_HEAD_BYTES
      const next = start + end - from
      frames.copyWithin(start, from, end)
      frames.writeUInt32LE(end - from, to)
      frames.writeUInt32LE(crc32(frames.subarray(start, next)), to + 4)
      to = next
      from = end + 1
    }
    return frames
  }
}

/**
 * Finds and verifies the records in frames. A damaged record between valid ones is skipped.
 * @param isTrusted True for bytes from memory, which need no verification.
 */
export function indexFrames(bytes: Buffer, isTrusted = false): FrameIndex {
  const starts: number[] = []
  const ends: number[] = []
  const ordinals: number[] = []
  let validBytes = 0
  let ordinal = 0
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; ordinal++) {
    const start = at + FRAME_HEAD_BYTES
    const end = start + bytes.readUInt32LE(at)
    if (end - start > MAX_RECORD_BYTES || end > bytes.length) break
    if (isTrusted || crc32(bytes.subarray(start, end)) === bytes.readUInt32LE(at + 4)) {
      starts.push(start)
      ends.push(end)
      ordinals.push(ordinal)
      validBytes = end
    }
    at = end
  }
  return { starts, ends, ordinals, validBytes }
}
