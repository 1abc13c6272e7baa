import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { appendWhole, createFile } from '../lib/append-file.js'
import { steadyMs } from '../lib/steady-clock.js'
import { BLOCK_HEAD_BYTES, blockHead, type RecordId, readBlocks } from './block.js'
import { SegmentContent } from './segment-content.js'
import { SegmentMemory } from './segment-memory.js'

/**
 * Location of a segment. Its file name consists of the number of its first record and, once sealed, the
 * number of records.
 */
export interface SegmentLocation {
  readonly dir: string
  /** Prefix of the IDs of all records in the directory. */
  readonly prefix: string
  readonly first: number
}

/** File status of a segment. */
interface FileFacts {
  readonly size: number
  readonly mtimeMs: number
}

/**
 * Sequence of records that is shipped and deleted as a whole. It is in a file, in memory, or in both: only in
 * memory if writing failed, only on disk if there is more to ship than memory may hold.
 */
export class Segment {
  readonly location: SegmentLocation
  /**
   * Steady-clock arrival time of its first record, in milliseconds. For a segment taken over, that of its
   * last record.
   */
  readonly sinceMono: number
  /** Time of the first response that temporarily refused its records (`performance.now()`), or null. */
  refusedSinceMono: number | null = null
  records = 0
  bytes = 0
  /** The records, while they are in memory. */
  #memory: SegmentMemory | null = null
  #fd = -1
  #path = ''
  #hasFile: boolean
  #mayBeDelivered = false

  private constructor(location: SegmentLocation, hasFile: boolean, sinceMono = steadyMs()) {
    this.location = location
    this.sinceMono = sinceMono
    this.#hasFile = hasFile
  }

  /** Creates a segment in a file. @throws The file system error. */
  static create(location: SegmentLocation): Segment {
    const segment = new Segment(location, true)
    segment.#path = join(location.dir, openName(location.first))
    segment.#fd = createFile(segment.#path)
    segment.#memory = new SegmentMemory()
    return segment
  }

  /** Creates a segment in memory only. */
  static inMemory(location: SegmentLocation): Segment {
    const segment = new Segment(location, false)
    segment.#memory = new SegmentMemory()
    return segment
  }

  /** Returns a sealed segment in a directory. */
  static sealed(location: SegmentLocation, records: number, { size, mtimeMs }: FileFacts): Segment {
    // Another process wrote the file, so only its modification time is known. It is converted once, so that
    // later clock changes do not matter.
    const ageMs = Math.max(0, Date.now() - mtimeMs)
    const segment = new Segment(location, true, steadyMs() - ageMs)
    segment.#path = join(location.dir, sealedName(location.first, records))
    segment.records = records
    segment.bytes = size
    // The previous owner may have delivered records.
    segment.#mayBeDelivered = true
    return segment
  }

  /** True if an attempt without a response may have delivered some of its records. */
  get mayBeDelivered(): boolean {
    return this.#mayBeDelivered
  }

  get isOnDisk(): boolean {
    return this.#hasFile
  }

  get isInMemory(): boolean {
    return this.#memory !== null
  }

  /**
   * Appends lines as a block. @returns The size of the block in bytes. @throws The file system error; the segment is
   * then unchanged.
   */
  append(lines: Buffer, records: number): number {
    const { prefix, first } = this.location
    const body = this.#memory!.encode(lines, records, { prefix, number: first + this.records })
    if (this.#fd !== -1) appendWhole(this.#fd, [blockHead(body, records), body], this.bytes)
    this.#memory!.keep(body)
    this.records += records
    this.bytes += BLOCK_HEAD_BYTES + body.length
    return BLOCK_HEAD_BYTES + body.length
  }

  /** Syncs the file to disk. @throws The file system error. */
  sync(): void {
    if (this.#fd !== -1) fdatasyncSync(this.#fd)
    else if (this.#hasFile) syncFile(this.#path)
  }

  /**
   * Closes the segment for writing and adds the number of records to its file name. @throws The file system
   * error.
   */
  seal(): void {
    this.#memory?.seal()
    if (this.#fd === -1) return
    closeSync(this.#fd)
    this.#fd = -1
    const path = join(this.location.dir, sealedName(this.location.first, this.records))
    renameSync(this.#path, path)
    this.#path = path
  }

  /** Releases the memory if the content is on disk. */
  forget(): void {
    if (this.#hasFile) this.#releaseMemory()
  }

  /** Returns the records; valid until `forget` or `remove`. @throws The file system error. */
  read(): SegmentContent {
    if (this.#memory !== null) return new SegmentContent(this.#memory.body, this.records)
    const { body, records } = readBlocks(readFileSync(this.#path), firstId(this.location))
    return new SegmentContent(body, records)
  }

  /**
   * Records that a delivery attempt ended without a response. The output may still read the records after the
   * segment is removed, and some records may have been delivered.
   */
  unanswered(): void {
    this.#memory?.share()
    this.#mayBeDelivered = true
  }

  /** Deletes the segment after it was shipped or dropped. */
  remove(): void {
    if (this.#fd !== -1) closeSync(this.#fd)
    this.#fd = -1
    this.#releaseMemory()
    if (this.#hasFile) rmSync(this.#path, { force: true })
    this.#hasFile = false
  }

  #releaseMemory(): void {
    this.#memory?.release()
    this.#memory = null
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Parses the file name of a segment. Returns null for other files. */
export function parseSegmentName(
  file: string,
): { readonly first: number; readonly records: number | null } | null {
  const match = /^(\d{15})(?:-(\d+)\.seg|\.open)$/.exec(file)
  if (match === null) return null
  return { first: Number(match[1]), records: match[2] === undefined ? null : Number(match[2]) }
}

/**
 * Seals an abandoned segment and truncates its torn end. The segment is null if it contains no valid record.
 * @throws The file system error.
 */
export function sealAbandoned(location: SegmentLocation): {
  readonly segment: Segment | null
  readonly tornRecords: number
} {
  const path = join(location.dir, openName(location.first))
  const bytes = readFileSync(path)
  const { allRecords: records, validBytes, tornRecords } = readBlocks(bytes, firstId(location))
  if (records === 0) {
    rmSync(path, { force: true })
    return { segment: null, tornRecords }
  }
  const { mtimeMs } = statSync(path)
  if (tornRecords > 0) truncateSync(path, validBytes)
  renameSync(path, join(location.dir, sealedName(location.first, records)))
  return { segment: Segment.sealed(location, records, { size: validBytes, mtimeMs }), tornRecords }
}

function firstId({ prefix, first }: SegmentLocation): RecordId {
  return { prefix, number: first }
}

function openName(first: number): string {
  return `${String(first).padStart(15, '0')}.open`
}

function sealedName(first: number, records: number): string {
  return `${String(first).padStart(15, '0')}-${records}.seg`
}
