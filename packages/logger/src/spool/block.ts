import { crc32 } from 'node:zlib'

/**
 * Header size of a block. A spool file consists of blocks, one for each call of `append`, with little-endian numbers:
 *
 *     ┌────────────┬────────────┬─────────────┬────────────┬──────┐
 *     │ length u32 │ CRC-32 u32 │ records u32 │ format u32 │ body │
 *     └────────────┴────────────┴─────────────┴────────────┴──────┘
 *
 * The body is that of a bulk request to Elasticsearch: an action line and a line of JSON for each record. The length
 * is that of the body. The checksum covers everything behind it.
 */
export const BLOCK_HEAD_BYTES = 16
const FORMAT = 1
/** Header size of a frame, in which earlier versions wrote each record: length u32, CRC-32 u32. */
const FRAME_HEAD_BYTES = 8

/** Text around the ID in an action line. The action does not overwrite a record with the same ID. */
export const ACTION_HEAD = '{"create":{"_id":"'
/** See `ACTION_HEAD`. */
export const ACTION_TAIL = '"}}\n'
const NEWLINE = 10
const [DIGIT_9, LETTER_A, LETTER_Z] = [57, 97, 122]
/** Upper limit for the size of an action line besides the owner name, in bytes. */
const ACTION_BYTES = ACTION_HEAD.length + ACTION_TAIL.length + 12

/** ID of a record: the name of the owner that wrote it, and its number in base 36. */
export interface RecordId {
  readonly prefix: string
  readonly number: number
}

/** Content of a spool file. */
export interface BlocksContent {
  /** Bodies of the valid blocks. */
  readonly body: Buffer
  /** Number of records in the valid blocks. */
  readonly records: number
  /** Number of records up to the end of the last valid block, including damaged ones. */
  readonly allRecords: number
  /** Size up to the end of the last valid block. The rest is torn. */
  readonly validBytes: number
  /** Number of torn records, as far as it is known. At least 1 if anything is torn. */
  readonly tornRecords: number
}

/** Returns the action line of a record. */
export function actionLine(id: string): Buffer {
  return Buffer.from(ACTION_HEAD + id + ACTION_TAIL, 'latin1')
}

/** Returns an upper limit for the size of a block. */
export function maxBlockBytes(lines: Buffer, records: number, prefix: string): number {
  return BLOCK_HEAD_BYTES + lines.length + records * (prefix.length + ACTION_BYTES)
}

/**
 * Writes lines that each end with a newline to a buffer, each after its action line. Needs the room of a block.
 * @param first ID of the first record. @returns The position after the body.
 */
export function writeBody(
  lines: Buffer,
  records: number,
  { prefix, number: first }: RecordId,
  { room, at }: { readonly room: Buffer; readonly at: number },
): number {
  let from = at + records * (prefix.length + ACTION_BYTES)
  const end = from + lines.length
  let to = at
  let number = first
  let action = actionLine(`${prefix}-${number.toString(36)}`)
  let digitAt = action.length - ACTION_TAIL.length - 1
  // Copies all lines to the end and moves each to its position from there. A view per line would cost more.
  room.set(lines, from)
  while (from < end) {
    const next = room.indexOf(NEWLINE, from) + 1
    room.set(action, to)
    to += action.length
    room.copyWithin(to, from, next)
    to += next - from
    from = next
    number++
    // Counts in the text, because a new text per record would cost as much as the rest.
    const digit = action[digitAt]!
    if (digit !== LETTER_Z) action[digitAt] = digit === DIGIT_9 ? LETTER_A : digit + 1
    else {
      action = actionLine(`${prefix}-${number.toString(36)}`)
      digitAt = action.length - ACTION_TAIL.length - 1
    }
  }
  return to
}

/** Returns the header of a block. */
export function blockHead(body: Buffer, records: number): Buffer {
  const head = Buffer.allocUnsafe(BLOCK_HEAD_BYTES)
  head.writeUInt32LE(body.length, 0)
  head.writeUInt32LE(records, 8)
  head.writeUInt32LE(FORMAT, 12)
  head.writeUInt32LE(crc32(body, crc32(head.subarray(8))), 4)
  return head
}

/**
 * Reads a spool file and skips damaged blocks. After a damaged header, nothing is found.
 * @param bytes Content of the file, which is overwritten. @param first ID of the first record, for files of earlier
 * versions.
 */
export function readBlocks(bytes: Buffer, first: RecordId): BlocksContent {
  if (bytes.length >= BLOCK_HEAD_BYTES && bytes.readUInt32LE(12) !== FORMAT) return readFrames(bytes, first)
  let [bodyBytes, records, allRecords, validBytes, seen] = [0, 0, 0, 0, 0]
  for (let at = 0; at + BLOCK_HEAD_BYTES <= bytes.length; ) {
    const start = at + BLOCK_HEAD_BYTES
    const length = bytes.readUInt32LE(at)
    const count = bytes.readUInt32LE(at + 8)
    if (bytes.readUInt32LE(at + 12) !== FORMAT || count > length) break
    seen += count
    at = start + length
    if (at > bytes.length || crc32(bytes.subarray(start - 8, at)) !== bytes.readUInt32LE(start - 12)) continue
    bytes.copyWithin(bodyBytes, start, at)
    bodyBytes += length
    records += count
    allRecords = seen
    validBytes = at
  }
  const tornRecords = validBytes === bytes.length ? 0 : Math.max(1, seen - allRecords)
  return { body: bytes.subarray(0, bodyBytes), records, allRecords, validBytes, tornRecords }
}

/** Reads a spool file of an earlier version. Frames do not contain IDs, so these follow from the positions. */
function readFrames(bytes: Buffer, { prefix, number }: RecordId): BlocksContent {
  const parts: Buffer[] = []
  let [records, allRecords, validBytes] = [0, 0, 0]
  for (let at = 0, i = 0; at + FRAME_HEAD_BYTES <= bytes.length; i++) {
    const record = bytes.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + bytes.readUInt32LE(at))
    const isValid = crc32(record) === bytes.readUInt32LE(at + 4)
    at += FRAME_HEAD_BYTES + bytes.readUInt32LE(at)
    if (at > bytes.length || !isValid) continue
    parts.push(actionLine(`${prefix}-${(number + i).toString(36)}`), record, Buffer.from('\n'))
    records++
    allRecords = i + 1
    validBytes = at
  }
  const tornRecords = validBytes === bytes.length ? 0 : 1
  return { body: Buffer.concat(parts), records, allRecords, validBytes, tornRecords }
}
