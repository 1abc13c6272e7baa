import { closeSync, fstatSync, fsyncSync, futimesSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type LossReason, makeFolders, messageOf } from '@sluice/core'
import { appendWhole, createFile } from '../lib/append-file.js'
import { type CapOptions, enforceCap } from './segment-cap.js'
import { segmentFile } from './segment-name.js'

/** Options for writing the segments of a worker. */
export interface SegmentOptions extends CapOptions {
  readonly worker: number
}

/**
 * Result of writing lines: the number of records written, the reason if not all were, and a problem for the
 * operator.
 */
export interface AppendResult {
  readonly written: number
  readonly reason: LossReason | ''
  readonly problem: string
}

const NEWLINE = 10

/**
 * Appends lines to the segment files of one run. Synchronous, for use on a separate thread. Creates files
 * with mode 0600 and directories with mode 0700.
 */
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

  /**
   * Writes complete lines to as many segments as needed. Never throws. Records that cannot be written are
   * lost and reported.
   */
  append(lines: Buffer, records: number): AppendResult {
    let written = 0
    let from = 0
    try {
      while (from < lines.length) {
        this.#ensureOpen()
        const to = this.#fittingEnd(lines, from)
        if (to > from) {
          appendWhole(this.#fd, [lines.subarray(from, to)], this.#bytes)
          this.#bytes += to - from
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

  /** Updates the heartbeat of the open segment, so that other workers do not delete it. */
  touch(nowMs: number): void {
    if (this.#fd !== -1) futimesSync(this.#fd, nowMs / 1000, nowMs / 1000)
  }

  /** Syncs the open segment to disk and closes it. @throws The file system error. */
  finish(): void {
    if (this.#fd === -1) return
    fsyncSync(this.#fd)
    this.#close()
  }

  #ensureOpen(): void {
    if (this.#fd !== -1 && !this.#isThere()) this.#close()
    if (this.#fd === -1) this.#open()
  }

  /** Returns true if the file still exists. Also updates its size, in case it was truncated. */
  #isThere(): boolean {
    const stat = fstatSync(this.#fd)
    this.#bytes = stat.size
    if (stat.nlink > 0) return true
    this.#problem = `${this.#path} was deleted while it was being written; started a new segment`
    return false
  }

  #open(): void {
    const { dir, worker } = this.#options
    makeFolders(dir)
    while (this.#fd === -1) {
      const name = { worker, startMs: this.#startMs, seq: this.#nextSeq }
      this.#path = join(dir, segmentFile(name))
      this.#fd = openNew(this.#path)
      // Another run of the same worker started in the same millisecond.
      if (this.#fd === -1) this.#startMs++
      else this.#makeRoom(name)
    }
    this.#bytes = 0
    this.#nextSeq++
  }

  /** Deletes old segments. A segment that cannot be deleted is reported, but records are still written. */
  #makeRoom(own: Parameters<typeof enforceCap>[1]): void {
    try {
      enforceCap(this.#options, own, Date.now())
    } catch (error) {
      this.#problem = `cannot delete old segments, the log exceeds its size limit: ${textOf(error)}`
    }
  }

  /**
   * Returns the end of the last line that fits in the open segment. An empty segment accepts one line of any
   * length.
   */
  #fittingEnd(lines: Buffer, from: number): number {
    const room = this.#options.segmentBytes - this.#bytes
    if (lines.length - from <= room) return lines.length
    if (room > 0) {
      const newline = lines.lastIndexOf(NEWLINE, from + room - 1)
      if (newline >= from) return newline + 1
    }
    return this.#bytes === 0 ? lines.indexOf(NEWLINE, from) + 1 : from
  }

  /**
   * Closes the segment after an error. The next batch tries a new one. Deletes an empty file, so that a full
   * disk does not collect them.
   */
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

/** Opens a new file. Returns -1 if it exists already. */
function openNew(path: string): number {
  try {
    return createFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return -1
    throw error
  }
}

function deleteQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The file is empty, so it does not matter if deleting it fails.
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
  return messageOf(error)
}
