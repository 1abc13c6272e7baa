import { appendFileSync, closeSync, openSync, readdirSync, readSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '@sluice/core'
import type { Refusal, Shipment } from '../outputs/output.js'
import type { ReportChange } from '../spool/account.js'

/** A file of dead letters grows to this size, and so much is kept of all of them; the oldest go first. */
const FILE_BYTES = 16 * 1024 ** 2
const TOTAL_BYTES = 256 * 1024 ** 2
const END = '}\n'
/** What a file of dead letters is called. */
export const DEAD_LETTER_FILE = /^.+-\d+\.ndjson$/
const NEWLINE = 10
/** A file is read in such pieces when its letters are counted, which takes some 10 ms for a full one. */
const COUNTED_AT_ONCE_BYTES = 64 * 1024
/** Room for as many letters as are usually written at once. */
const USUAL_BYTES = 128 * 1024

/**
 * Records that the output will never take, with its reason, one JSON object a line:
 * `{"@timestamp","id","status","type","reason","record"}`, in `<root>/dead/<owner>-<n>.ndjson`.
 */
export class DeadLetters {
  readonly #dir: string
  readonly #owner: string
  readonly #report: ReportChange
  readonly #batch = new LetterBatch()
  #file = 0
  #fileBytes = 0

  /** @param report hears of letters that had to go. */
  constructor(root: string, owner: string, report: ReportChange) {
    this.#dir = join(root, 'dead')
    this.#owner = owner
    this.#report = report
  }

  /** Where they are. */
  get dir(): string {
    return this.#dir
  }

  /** Keeps refused records of a shipment. @throws the file system's error. */
  keep(shipment: Shipment, refused: readonly Refusal[]): void {
    const letters = this.#batch.fill(shipment, refused)
    try {
      this.#append(letters)
    } catch (error) {
      // Somebody has removed the folder; it is made again with the next file.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#append(letters)
    }
  }

  #append(letters: Buffer): void {
    if (this.#fileBytes === 0) this.#begin()
    const path = join(this.#dir, `${this.#owner}-${this.#file}.ndjson`)
    try {
      appendFileSync(path, letters, { mode: 0o600 })
    } catch (error) {
      // It may end in half a line, which would spoil the next letter.
      this.#nextFile()
      throw error
    }
    this.#fileBytes += letters.length
    if (this.#fileBytes >= FILE_BYTES) this.#nextFile()
  }

  /** A file is about to be made; others count too, of owners that have ended before theirs was full. */
  #begin(): void {
    makeFolders(this.#dir)
    this.#removeOldest()
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
      // Another owner was faster, and counts them.
      if (letters === null) continue
      const reached = `dead letters have reached ${TOTAL_BYTES / 1024 ** 2} MB`
      this.#report({
        deadRemoved: letters,
        problem: `${reached}: the oldest file of them, ${path}, was removed with ${letters} records`,
      })
    }
  }
}

interface LetterFile {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** The files of all owners; what somebody else keeps there is not ours to remove. */
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

/** Removes a file; says how many letters were in it, or null when it is gone already. @throws the file system's error. */
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

/** A letter is a line. */
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

/** Letters of one file, one after the other; the same memory every time. */
class LetterBatch {
  #room: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES)
  #length = 0

  /** The letters; valid until the next `fill`. Records are copied as they are: as text they would be written four times. */
  fill(shipment: Shipment, refused: readonly Refusal[]): Buffer {
    this.#length = 0
    const now = new Date().toISOString()
    for (const { index, status, type, reason } of refused) {
      const why = JSON.stringify({ '@timestamp': now, id: shipment.idOf(index), status, type, reason })
      const head = `${why.slice(0, -1)},"record":`
      // A character of text is three bytes at most.
      this.#reserve(head.length * 3 + shipment.lengthOf(index) + END.length)
      this.#length += this.#room.write(head, this.#length)
      this.#length += shipment.copyJson(index, this.#room, this.#length)
      this.#length += this.#room.write(END, this.#length)
    }
    return this.#room.subarray(0, this.#length)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#room.length) return
    const room = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#room.length))
    this.#room.copy(room, 0, 0, this.#length)
    this.#room = room
  }
}
