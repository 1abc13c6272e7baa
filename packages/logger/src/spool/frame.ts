import { crc32 } from 'node:zlib'

/**
 * How records lie in a spool file, one after the other, numbers little-endian:
 *
 *     ┌──────────────┬──────────────┬──────────────┐
 *     │ length  u32  │ CRC-32  u32  │ record, JSON │
 *     └──────────────┴──────────────┴──────────────┘
 *
 * A process that is killed in the middle of a write leaves a torn frame at the end; the checksum shows it.
 */
export const FRAME_HEAD_BYTES = 8
/** A longer record is none: the length itself is damaged. */
const MAX_RECORD_BYTES = 16 * 1024 ** 2
const NEWLINE = 10

/** Where sound records lie in a buffer: from `starts[i]` to `ends[i]`. */
export interface FrameIndex {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** The position of each among all records, damaged ones counted. */
  readonly ordinals: readonly number[]
  /** Bytes up to the end of the last sound frame; what follows is torn. */
  readonly soundBytes: number
}

/** Room for the frames of a batch, the usual case. */
const USUAL_BYTES = 256 * 1024

/** Frames lines. It has one room for all frames, because a new one for each batch would have to be collected. */
export class Framer {
  readonly #room = Buffer.allocUnsafeSlow(USUAL_BYTES)

  /** The frames of lines that end with a newline each; valid until the next call. */
  framesOf(lines: Buffer, records: number): Buffer {
    const size = lines.length - records + records * FRAME_HEAD_BYTES
    const frames = size <= USUAL_BYTES ? this.#room.subarray(0, size) : Buffer.allocUnsafe(size)
    // All lines are brought to the end at once and from there to their positions: a view for each would cost more.
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
 * Finds the records of frames and checks each; one that is damaged between sound ones is left out.
 * @param isTrusted the bytes come from memory and not from a disk: checking them again would only cost time.
 */
export function indexFrames(bytes: Buffer, isTrusted = false): FrameIndex {
  const starts: number[] = []
  const ends: number[] = []
  const ordinals: number[] = []
  let soundBytes = 0
  let ordinal = 0
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; ordinal++) {
    const start = at + FRAME_HEAD_BYTES
    const end = start + bytes.readUInt32LE(at)
    if (end - start > MAX_RECORD_BYTES || end > bytes.length) break
    if (isTrusted || crc32(bytes.subarray(start, end)) === bytes.readUInt32LE(at + 4)) {
      starts.push(start)
      ends.push(end)
      ordinals.push(ordinal)
      soundBytes = end
    }
    at = end
  }
  return { starts, ends, ordinals, soundBytes }
}
