import {
  closeSync,
  constants,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { steadyMs } from '../steady-clock.js'
import { type FrameIndex, indexFrames } from './frame.js'
import { SegmentMemory } from './segment-memory.js'

/** A new file always: never one that is there, never through a link that somebody put in its place. */
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_APPEND

/** The name of a segment: the number of its first record, and, once it is sealed, how many it holds. */
export interface SegmentLocation {
  readonly dir: string
  /** The part of record ids that all records of the directory share. */
  readonly prefix: string
  readonly first: number
}

/** What the file system knows of a segment. */
interface FileFacts {
  readonly size: number
  readonly mtimeMs: number
}

/** What a sealed or open segment is to those that ship it. */
export interface SegmentContent {
  readonly bytes: Buffer
  readonly index: FrameIndex
}

/**
 * A run of records that is shipped and deleted as a whole. It lies in a file, in memory, or in both: in memory alone
 * when the disk did not take it, on disk alone when there is more to ship than memory may hold.
 */
export class Segment {
  readonly location: SegmentLocation
  /** When its first record came, by the steady clock; of one that was taken over, when its last did. */
  readonly sinceMono: number
  /** Time of the first answer that refused records of it for now (`performance.now()`), or null. */
  refusedSinceMono: number | null = null
  records = 0
  bytes = 0
  /** The frames, while memory holds them. */
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

  /** A new one in a file. @throws the file system's error. */
  static create(location: SegmentLocation): Segment {
    const segment = new Segment(location, true)
    segment.#path = join(location.dir, openName(location.first))
    segment.#fd = openSync(segment.#path, NEW_FILE, 0o600)
    segment.#memory = new SegmentMemory()
    return segment
  }

  /** A new one that lies in memory alone. */
  static inMemory(location: SegmentLocation): Segment {
    const segment = new Segment(location, false)
    segment.#memory = new SegmentMemory()
    return segment
  }

  /** One that lies sealed in a directory. */
  static sealed(location: SegmentLocation, records: number, { size, mtimeMs }: FileFacts): Segment {
    // Another process wrote it: the time of the file is all there is. It counts once, so that no later step matters.
    const ageMs = Math.max(0, Date.now() - mtimeMs)
    const segment = new Segment(location, true, steadyMs() - ageMs)
    segment.#path = join(location.dir, sealedName(location.first, records))
    segment.records = records
    segment.bytes = size
    // By whoever left it there.
    segment.#mayBeDelivered = true
    return segment
  }

  /** An attempt that nobody heard the end of may have delivered records of it. */
  get mayBeDelivered(): boolean {
    return this.#mayBeDelivered
  }

  get isOnDisk(): boolean {
    return this.#hasFile
  }

  get isInMemory(): boolean {
    return this.#memory !== null
  }

  /** Adds framed records, of which it keeps a copy. @throws the file system's error; the file is as before then. */
  append(frames: Buffer, records: number): void {
    if (this.#fd !== -1) this.#write(frames)
    this.#memory?.add(frames)
    this.records += records
    this.bytes += frames.length
  }

  /** Brings what was written to the disk. @throws the file system's error. */
  sync(): void {
    if (this.#fd !== -1) fdatasyncSync(this.#fd)
    else if (this.#hasFile) syncFile(this.#path)
  }

  /** Takes no more records; from now on the name says how many there are. @throws the file system's error. */
  seal(): void {
    this.#memory?.seal()
    if (this.#fd === -1) return
    closeSync(this.#fd)
    this.#fd = -1
    const path = join(this.location.dir, sealedName(this.location.first, this.records))
    renameSync(this.#path, path)
    this.#path = path
  }

  /** Lets the memory go; the file has it all. */
  forget(): void {
    if (this.#hasFile) this.#releaseMemory()
  }

  /** The records; valid until `forget` or `remove`. @throws the file system's error. */
  read(): SegmentContent {
    if (this.#memory !== null) {
      const bytes = this.#memory.frames
      return { bytes, index: indexFrames(bytes, true) }
    }
    const bytes = readFileSync(this.#path)
    return { bytes, index: indexFrames(bytes) }
  }

  /**
   * An attempt to deliver records of it ended without an answer: whoever was given them may still look at them when it
   * is removed, and some of them may have been delivered.
   */
  unanswered(): void {
    this.#memory?.share()
    this.#mayBeDelivered = true
  }

  /** It has been shipped, or is given up. */
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

  #write(frames: Buffer): void {
    let done = 0
    try {
      while (done < frames.length) done += writeSync(this.#fd, frames, done)
    } catch (error) {
      if (done > 0) ftruncateSync(this.#fd, this.bytes)
      throw error
    }
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

/** What a file in a spool directory is; null for a file of somebody else. */
export function parseSegmentName(
  file: string,
): { readonly first: number; readonly records: number | null } | null {
  const match = /^(\d{15})(?:-(\d+)\.seg|\.open)$/.exec(file)
  if (match === null) return null
  return { first: Number(match[1]), records: match[2] === undefined ? null : Number(match[2]) }
}

/**
 * Seals a segment that its owner could not: cuts the torn end off. The segment is null when no record is left.
 * @throws the file system's error.
 */
export function sealAbandoned(location: SegmentLocation): {
  readonly segment: Segment | null
  readonly isTorn: boolean
} {
  const path = join(location.dir, openName(location.first))
  const bytes = readFileSync(path)
  const { ordinals, soundBytes } = indexFrames(bytes)
  const records = (ordinals.at(-1) ?? -1) + 1
  const isTorn = soundBytes < bytes.length
  if (records === 0) {
    rmSync(path, { force: true })
    return { segment: null, isTorn }
  }
  const { mtimeMs } = statSync(path)
  if (isTorn) truncateSync(path, soundBytes)
  renameSync(path, join(location.dir, sealedName(location.first, records)))
  return { segment: Segment.sealed(location, records, { size: soundBytes, mtimeMs }), isTorn }
}

function openName(first: number): string {
  return `${String(first).padStart(15, '0')}.open`
}

function sealedName(first: number, records: number): string {
  return `${String(first).padStart(15, '0')}-${records}.seg`
}
