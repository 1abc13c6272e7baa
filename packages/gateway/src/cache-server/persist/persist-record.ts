import { isFieldValue, joinJsonHead, splitJsonHead } from '@sluice/core'
import type { Entry } from '../store/entry.js'

const MAX_TYPE_BYTES = 256
const MAX_TAGS_BYTES = 2048
/** Maximum lifetime in milliseconds: 365 days. */
const MAX_TTL_MS = 365 * 86_400_000
/** Tolerance for clock differences in milliseconds. */
const SLACK_MS = 60_000
/** Maximum length of a character in JSON, in bytes, and of everything in a head besides its texts. */
const CHARACTER_BYTES = 6
const OTHER_HEAD_BYTES = 256

/**
 * A value as stored in Valkey. Epoch and number order all writes and purges across restarts of the server.
 */
export interface PersistRecord {
  readonly entry: Omit<Entry, 'hash'>
  /** Start of the server that wrote it. */
  readonly epoch: number
  readonly number: number
}

/** Head of a record: everything but the value. An entry without `expiresAt` does not expire. */
interface Head extends Omit<Entry, 'hash' | 'value' | 'expiresAt'> {
  readonly epoch: number
  readonly number: number
  readonly expiresAt: number | null
  readonly bytes: number
}

/** Returns the maximum size of a record in bytes. @param maxBytes maximum value size. */
export function maxRecordBytes(key: string, maxBytes: number): number {
  return OTHER_HEAD_BYTES + CHARACTER_BYTES * (key.length + MAX_TYPE_BYTES + MAX_TAGS_BYTES) + maxBytes
}

/** Serializes a record. */
export function writeRecord({ entry, epoch, number }: PersistRecord): Buffer {
  const { key, type, tags, value, expiresAt } = entry
  const head: Head = {
    ...{ epoch, number, key, type, tags, bytes: value.length },
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : null,
  }
  return joinJsonHead(head, value)
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
  const { head, body: value } = splitJsonHead(bytes) ?? { head: {}, body: bytes }
  const { epoch, number, key: ofKey, type, tags, expiresAt: until, bytes: size } = head as Unchecked<Head>
  if (ofKey !== key || size !== value.length || value.length > maxBytes) return null
  const expiresAt = until ?? Number.POSITIVE_INFINITY
  if (!isWhole(epoch) || !isWhole(number) || !isExpiry(expiresAt, nowMs)) return null
  if (!isType(type) || !isTags(tags)) return null
  return { entry: { key, type, tags, value, expiresAt }, epoch, number }
}

/** A parsed head, whose members can have any type. */
type Unchecked<T> = { readonly [K in keyof T]?: unknown }

function isWhole(number: unknown): number is number {
  return Number.isSafeInteger(number)
}

function isExpiry(expiresAt: unknown, nowMs: number): expiresAt is number {
  if (expiresAt === Number.POSITIVE_INFINITY) return true
  return typeof expiresAt === 'number' && expiresAt > nowMs && expiresAt <= nowMs + MAX_TTL_MS + SLACK_MS
}

function isType(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_TYPE_BYTES && isFieldValue(text)
}

/** Tags hold one byte per character. */
function isTags(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > MAX_TAGS_BYTES) return false
  return text === '' || /^ [ -\xff]* $/.test(text)
}
