import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Number of open spill files of this process. The limit leaves descriptors for connections and logs. */
export const SPILL_FILES = { open: 0, most: Number.POSITIVE_INFINITY }

/**
 * First-in, first-out buffer on disk. The file has no name, so it disappears with the process.
 *
 * It exists because a pause does not stop uWebSockets.js at once: while every read fills its buffer, it keeps reading
 * within one turn of the event loop. A fast sender got 220 MB past a pause that way. The calls are synchronous on
 * purpose: there is no other turn for them, and they slow the sender down.
 */
export class SpillFile {
  #file: number | null = null
  #readAt = 0
  #writtenTo = 0

  get isEmpty(): boolean {
    return this.#readAt === this.#writtenTo
  }

  /** Appends a chunk. @throws Error if the file cannot be written. */
  append(chunk: Uint8Array): void {
    this.#file ??= openUnnamed()
    let at = 0
    while (at < chunk.length) at += writeSync(this.#file, chunk, at, chunk.length - at, this.#writtenTo + at)
    this.#writtenTo += chunk.length
  }

  /** Removes and returns the next bytes, at most `maxBytes`. */
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
  if (SPILL_FILES.open >= SPILL_FILES.most) throw new Error('too many bodies are buffered on disk')
  const dir = mkdtempSync(join(tmpdir(), 'sluice-'))
  try {
    const file = openSync(join(dir, 'body'), 'wx+', 0o600)
    SPILL_FILES.open++
    return file
  } finally {
    rmSync(dir, { recursive: true })
  }
}
