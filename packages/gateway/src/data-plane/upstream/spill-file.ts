import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The files of this process; one more than `most` cannot be opened, so that connections and logs have descriptors. */
export const SPILL_FILES = { open: 0, most: Number.POSITIVE_INFINITY }

/**
 * Bytes that have to wait on disk, first in, first out. The file has no name: it goes with the process.
 *
 * It exists because pausing does not stop uWebSockets.js at once: as long as every read fills its buffer it goes on
 * reading within one turn of the event loop, and a fast sender on a fast link got 220 MB past a pause that way. The
 * calls are synchronous on purpose: there is no other turn in which they could happen, and they hold the sender back.
 */
export class SpillFile {
  #file: number | null = null
  #readAt = 0
  #writtenTo = 0

  get isEmpty(): boolean {
    return this.#readAt === this.#writtenTo
  }

  /** @throws Error when the disk refuses. */
  append(chunk: Uint8Array): void {
    this.#file ??= openUnnamed()
    let at = 0
    while (at < chunk.length) at += writeSync(this.#file, chunk, at, chunk.length - at, this.#writtenTo + at)
    this.#writtenTo += chunk.length
  }

  /** The next bytes, at most so many. */
  take(maxBytes: number): Buffer {
    const piece = Buffer.allocUnsafe(Math.min(maxBytes, this.#writtenTo - this.#readAt))
    const length = this.#file === null ? 0 : readSync(this.#file, piece, 0, piece.length, this.#readAt)
    this.#readAt += length
    if (this.isEmpty) this.#empty()
    return piece.subarray(0, length)
  }

  close(): void {
    if (this.#file !== null) {
      closeSync(this.#file)
      SPILL_FILES.open--
    }
    this.#file = null
    this.#readAt = this.#writtenTo
  }

  #empty(): void {
    if (this.#file !== null) ftruncateSync(this.#file)
    this.#readAt = 0
    this.#writtenTo = 0
  }
}

function openUnnamed(): number {
  if (SPILL_FILES.open >= SPILL_FILES.most) throw new Error('too many bodies wait on disk')
  const dir = mkdtempSync(join(tmpdir(), 'sluice-'))
  try {
    const file = openSync(join(dir, 'body'), 'wx+', 0o600)
    SPILL_FILES.open++
    return file
  } finally {
    rmSync(dir, { recursive: true })
  }
}
