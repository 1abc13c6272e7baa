import { crc32 } from 'node:zlib'

/**
 * How records lie in a spool file, one behind the other, numbers little-endian:
 *
 *     ┌──────────────┬──────────────┬──────────────┐
 *     │ length  u32  │ CRC-32  u32  │ record, JSON │
 *     └──────────────┴──────────────┴──────────────┘
 *
 * A process that is killed in the middle of a write leaves a torn frame at the end; the checksum tells.
 */
export const FRAME_HEAD_BYTES = 8
/** A longer record is none: the length itself is damaged. */
const MAX_RECORD_BYTES = 16 * 1024 ** 2
const NEWLINE = 10

/** Where sound records lie in a buffer: from `starts[i]` to `ends[i]`. */
export interface FrameIndex {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** The place of each among all records, damaged ones counted. */
  readonly ordinals: readonly number[]
  /** Bytes up to the end of the last sound frame; what follows is torn. */
  readonly soundBytes: number
}

/** Frames lines that end with a newline each. */
export function framesOf(lines: Buffer, records: number): Buffer {
  const frames = Buffer.allocUnsafe(lines.length - records + records * FRAME_HEAD_BYTES)
  let to = 0
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(NEWLINE, from)
    frames.writeUInt32LE(end - from, to)
    frames.writeUInt32LE(crc32(lines.subarray(from, end)), to + 4)
    lines.copy(frames, to + FRAME_HEAD_BYTES, from, end)
    to += FRAME_HEAD_BYTES + end - from
    from = end + 1
  }
  return frames
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
