import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type LossReason, makeFolders } from '@sluice/core'
import { segmentFile } from '../segment-name.js'
import { type CapOptions, enforceCap } from './segment-cap.js'

/** Where a worker's segments go. */
export interface SegmentOptions extends CapOptions {
  readonly worker: number
}

/** What became of a piece of the log: records written, why the rest was not, and what an operator should know. */
export interface AppendResult {
  readonly written: number
  readonly reason: LossReason | ''
  readonly problem: string
}

const NEWLINE = 10
/** A new file always: never one that is there, never through a link that somebody put in its place. */
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_APPEND

/** Appends lines to the segment files of one run; synchronous, for a thread of its own. Files 0600, directories 0700. */
export class SegmentWriter {
  readonly #options: SegmentOptions
  #startMs: number
  #nextSeq = 0
  #fd = -1
  #path = ''
  #bytes = 0
  #problem = ''

  constructor(options: SegmentOptions, startMs: number) {
    this.#options = options
    this.#startMs = startMs
  }

  /** Writes whole lines, in as many segments as they need. Never throws: what fails is lost and reported. */
  append(lines: Buffer, records: number): AppendResult {
    let written = 0
    let from = 0
    try {
      while (from < lines.length) {
        this.#ensureOpen()
        const to = this.#fittingEnd(lines, from)
        if (to > from) {
          this.#write(lines.subarray(from, to))
          written += to - from === lines.length ? records : countLines(lines, from, to)
          from = to
        } else this.#close()
      }
    } catch (error) {
      this.#abandon()
      return { written, reason: reasonOf(error), problem: textOf(error) }
    }
    const problem = this.#problem
    this.#problem = ''
    return { written, reason: '', problem }
  }

  /** Marks the open segment as alive, for the other workers' eviction. */
  touch(nowMs: number): void {
    if (this.#fd !== -1) futimesSync(this.#fd, nowMs / 1000, nowMs / 1000)
  }

  /** Brings the open segment to the disk and closes it. @throws the file system's error. */
  finish(): void {
    if (this.#fd === -1) return
    fsyncSync(this.#fd)
    this.#close()
  }

  #ensureOpen(): void {
    if (this.#fd !== -1 && !this.#isThere()) this.#close()
    if (this.#fd === -1) this.#open()
  }

  /** Also learns the true size, should somebody have truncated the file. */
  #isThere(): boolean {
    const stat = fstatSync(this.#fd)
    this.#bytes = stat.size
    if (stat.nlink > 0) return true
    this.#problem = `${this.#path} was deleted while it was written; a new segment was begun`
    return false
  }

  #open(): void {
    const { dir, worker } = this.#options
    makeFolders(dir)
    while (this.#fd === -1) {
      const name = { worker, startMs: this.#startMs, seq: this.#nextSeq }
      this.#path = join(dir, segmentFile(name))
      this.#fd = openNew(this.#path)
      // Another run of the same worker began in this very millisecond.
      if (this.#fd === -1) this.#startMs++
      else this.#makeRoom(name)
    }
    this.#bytes = 0
    this.#nextSeq++
  }

  /** A segment that cannot be deleted is reported, but is no reason to lose records. */
  #makeRoom(own: Parameters<typeof enforceCap>[1]): void {
    try {
      enforceCap(this.#options, own, Date.now())
    } catch (error) {
      this.#problem = `old segments are kept beyond the cap: ${textOf(error)}`
    }
  }

  /** The end of the last line that still fits the open segment; an empty segment takes one line of any length. */
  #fittingEnd(lines: Buffer, from: number): number {
    const room = this.#options.segmentBytes - this.#bytes
    if (lines.length - from <= room) return lines.length
    if (room > 0) {
      const newline = lines.lastIndexOf(NEWLINE, from + room - 1)
      if (newline >= from) return newline + 1
    }
    return this.#bytes === 0 ? lines.indexOf(NEWLINE, from) + 1 : from
  }

  #write(lines: Buffer): void {
    let done = 0
    try {
      while (done < lines.length) done += writeSync(this.#fd, lines, done)
    } catch (error) {
      // Half a batch would be counted as lost and yet be there: take it back.
      if (done > 0) ftruncateSync(this.#fd, this.#bytes)
      throw error
    }
    this.#bytes += lines.length
  }

  /** After an error the next batch tries a fresh segment; a full disk must not fill with empty ones. */
  #abandon(): void {
    if (this.#fd === -1) return
    const isEmpty = this.#bytes === 0
    this.#close()
    if (isEmpty) deleteQuietly(this.#path)
  }

  #close(): void {
    const fd = this.#fd
    this.#fd = -1
    try {
      closeSync(fd)
    } catch (error) {
      this.#problem = textOf(error)
    }
  }
}

/** The descriptor, or -1 when the file exists. */
function openNew(path: string): number {
  try {
    return openSync(path, NEW_FILE, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return -1
    throw error
  }
}

function deleteQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It holds nothing; whoever else removed it, or forbids it, changes nothing for the log.
  }
}

function countLines(lines: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = lines.indexOf(NEWLINE, from); at !== -1 && at < to; at = lines.indexOf(NEWLINE, at + 1))
    count++
  return count
}

function reasonOf(error: unknown): LossReason {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'write_error'
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
