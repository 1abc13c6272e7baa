import { isFieldValue } from '@sluice/core'
import type { Entry } from '../store/entry.js'

// Record layout, big-endian: magic, epoch, number, expiry (ms), length of key, type and tags, 0, length of
// the value; then the four contents.
const MAGIC = 0x534c4331
const HEAD_BYTES = 36
const MAX_TYPE_BYTES = 256
const MAX_TAGS_BYTES = 2048
/** Maximum lifetime in milliseconds: 365 days. */
const MAX_TTL_MS = 365 * 86_400_000
/** Tolerance for clock differences in milliseconds. */
const SLACK_MS = 60_000

/**
 * A value as stored in Valkey. Epoch and number order all writes and purges across restarts of the server.
 */
export interface PersistRecord {
  readonly entry: Omit<Entry, 'hash'>
  /** Start of the server that wrote it. */
  readonly epoch: number
  readonly number: number
}

/** Maximum record size in bytes without key and value. */
export const RECORD_OVERHEAD_BYTES = HEAD_BYTES + MAX_TYPE_BYTES + MAX_TAGS_BYTES

/** Serializes a record. */
export function writeRecord({ entry, epoch, number }: PersistRecord): Buffer {
  const { key, type, tags, value, expiresAt } = entry
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + key.length + type.length + tags.length + value.length)
  bytes.writeUInt32BE(MAGIC, 0)
  bytes.writeUInt32BE(epoch, 4)
  bytes.writeDoubleBE(number, 8)
  bytes.writeDoubleBE(expiresAt, 16)
  bytes.writeUInt16BE(key.length, 24)
  bytes.writeUInt16BE(type.length, 26)
  bytes.writeUInt16BE(tags.length, 28)
  bytes.writeUInt16BE(0, 30)
  bytes.writeUInt32BE(value.length, 32)
  let at = HEAD_BYTES
  for (const text of [key, type, tags]) at += bytes.write(text, at, 'latin1')
  bytes.set(value, at)
  return bytes
}

/**
 * Parses the record of a key. Returns null if it was written by something else, is damaged, or has expired.
 * @param maxBytes maximum value size.
 */
export function readRecord(
  bytes: Buffer,
  key: string,
  { nowMs, maxBytes }: { nowMs: number; maxBytes: number },
): PersistRecord | null {
  if (bytes.length < HEAD_BYTES || bytes.readUInt32BE(0) !== MAGIC) return null
  const [epoch, number, expiresAt] = [bytes.readUInt32BE(4), bytes.readDoubleBE(8), bytes.readDoubleBE(16)]
  const [keyEnd, typeEnd, tagsEnd] = endsOf(bytes)
  const value = bytes.subarray(tagsEnd)
  if (bytes.length < tagsEnd || value.length !== bytes.readUInt32BE(32) || value.length > maxBytes)
    return null
  const isLasting = expiresAt === Number.POSITIVE_INFINITY || expiresAt <= nowMs + MAX_TTL_MS + SLACK_MS
  if (!(expiresAt > nowMs) || !isLasting || !Number.isSafeInteger(number)) return null
  const type = bytes.toString('latin1', keyEnd, typeEnd)
  const tags = bytes.toString('latin1', typeEnd, tagsEnd)
  const isSound = type.length <= MAX_TYPE_BYTES && isFieldValue(type) && isTags(tags)
  if (!isSound || bytes.toString('latin1', HEAD_BYTES, keyEnd) !== key) return null
  return { entry: { key, type, tags, value, expiresAt }, epoch, number }
}

function endsOf(bytes: Buffer): [number, number, number] {
  const keyEnd = HEAD_BYTES + bytes.readUInt16BE(24)
  const typeEnd = keyEnd + bytes.readUInt16BE(26)
  return [keyEnd, typeEnd, typeEnd + bytes.readUInt16BE(28)]
}

function isTags(text: string): boolean {
  return text === '' || (text.length <= MAX_TAGS_BYTES && text.startsWith(' ') && text.endsWith(' '))
}
