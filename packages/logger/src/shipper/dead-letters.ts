import { appendFileSync, closeSync, openSync, readdirSync, readSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '@sluice/core'
import type { Refusal, Shipment } from '../outputs/output.js'
import type { ReportChange } from '../queue/messages.js'

/** Maximum size of one dead-letter file, and of all files together. The oldest files are deleted first. */
const FILE_BYTES = 16 * 1024 ** 2
const TOTAL_BYTES = 256 * 1024 ** 2
const END = Buffer.from('}\n')
/** Name pattern of dead-letter files. */
export const DEAD_LETTER_FILE = /^.+-\d+\.ndjson$/
const NEWLINE = 10
/** Number of bytes read at a time when counting letters. Counting a full file takes about 10 ms. */
const COUNTED_AT_ONCE_BYTES = 64 * 1024

/**
 * Stores records that the output refuses permanently, with the reason, as one JSON object per line:
 * `{"@timestamp","id","status","type","reason","record"}`. The files are `<root>/dead/<owner>-<n>.ndjson`.
 */
export class DeadLetters {
  readonly #dir: string
  readonly #owner: string
  readonly #report: ReportChange
  #file = 0
  #fileBytes = 0

  /** @param report Called when letters are deleted. */
  constructor(root: string, owner: string, report: ReportChange) {
    this.#dir = join(root, 'dead')
    this.#owner = owner
    this.#report = report
  }

  /** Directory of the dead letters. */
  get dir(): string {
    return this.#dir
  }

  /** Stores refused records of a shipment. @throws The file system error. */
  keep(shipment: Shipment, refused: readonly Refusal[]): void {
    const letters = lettersOf(shipment, refused)
    try {
      this.#append(letters)
    } catch (error) {
      // The directory was deleted. It is created again with the next file.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#append(letters)
    }
  }

  #append(letters: Buffer): void {
    if (this.#fileBytes === 0) {
      makeFolders(this.#dir)
      // The size limit includes files of earlier owners.
      this.#removeOldest()
    }
    const path = join(this.#dir, `${this.#owner}-${this.#file}.ndjson`)
    try {
      appendFileSync(path, letters, { mode: 0o600 })
    } catch (error) {
      // The file may end with an incomplete line, so the next letter goes to a new file.
      this.#nextFile()
      throw error
    }
    this.#fileBytes += letters.length
    if (this.#fileBytes >= FILE_BYTES) this.#nextFile()
  }

  #nextFile(): void {
    this.#file++
    this.#fileBytes = 0
  }

  #removeOldest(): void {
    const files = filesIn(this.#dir)
    let total = files.reduce((sum, file) => sum + file.bytes, 0)
    for (const { path, bytes } of files.sort((a, b) => a.modifiedMs - b.modifiedMs)) {
      if (total <= TOTAL_BYTES) return
      total -= bytes
      const letters = removed(path)
      // Another owner has deleted the file and counts its letters.
      if (letters === null) continue
      const reached = `dead letters reached ${TOTAL_BYTES / 1024 ** 2} MB`
      this.#report({
        deadRemoved: letters,
        problem: `${reached}: the oldest file, ${path}, was deleted with ${letters} records`,
      })
    }
  }
}

interface LetterFile {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** Lists the dead-letter files of all owners. Other files are ignored. */
function filesIn(dir: string): LetterFile[] {
  const files: LetterFile[] = []
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (!entry.isFile() || !DEAD_LETTER_FILE.test(entry.name)) continue
    const path = join(dir, entry.name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined) files.push({ path, bytes: stat.size, modifiedMs: stat.mtimeMs })
  }
  return files
}

/**
 * Deletes a file. Returns the number of letters in it, or null if it no longer exists. @throws The file
 * system error.
 */
function removed(path: string): number | null {
  try {
    const letters = lettersIn(path)
    unlinkSync(path)
    return letters
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Counts the letters in a file: one per line. */
function lettersIn(path: string): number {
  const room = Buffer.allocUnsafe(COUNTED_AT_ONCE_BYTES)
  const fd = openSync(path, 'r')
  try {
    let letters = 0
    for (let length = readSync(fd, room); length > 0; length = readSync(fd, room)) {
      const read = room.subarray(0, length)
      for (let at = read.indexOf(NEWLINE); at !== -1; at = read.indexOf(NEWLINE, at + 1)) letters++
    }
    return letters
  } finally {
    closeSync(fd)
  }
}

/** Formats letters. Records are copied as bytes, because converting them to text and back would be slower. */
function lettersOf(shipment: Shipment, refused: readonly Refusal[]): Buffer {
  const now = new Date().toISOString()
  const parts = refused.flatMap(({ index, status, type, reason }) => {
    const why = JSON.stringify({ '@timestamp': now, id: shipment.idOf(index), status, type, reason })
    return [Buffer.from(`${why.slice(0, -1)},"record":`), shipment.jsonOf(index), END]
  })
  return Buffer.concat(parts)
}
