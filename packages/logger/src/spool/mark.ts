import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readCountPage, removeCountPage } from './count-page.js'

/** Progress of an owner, in records. */
export interface Progress {
  /** Records encoded by the request path. */
  readonly encoded: number
  /** Encoded records that are accounted for: in the spool on disk, delivered, or counted as lost. */
  readonly safe: number
  /**
   * Number of the first record in the open segment on disk, or of the next segment if no segment is open;
   * and how many safe records it contains.
   */
  readonly openFirst: number
  readonly openRecords: number
}

const NUMBERS = ['encoded', 'safe', 'openFirst', 'openRecords'] as const
const NUMBER_BYTES = 8
const ALL_BYTES = NUMBERS.length * NUMBER_BYTES

/** File name of the mark. Never a segment name. */
const FILE = 'mark'

/**
 * Progress of an owner, stored in its directory, so that only the next owner of the directory reads it. The
 * file contains the numbers of `Progress`, 8 bytes each, little-endian. The page cache survives a killed
 * process, so the adopter can compute how many records were lost. The number of encoded records in the file
 * is that of the last write. The owner's `CountPage` has the current one.
 */
export class Mark {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(ALL_BYTES)
  /** True if the file contains the current numbers. */
  #isWritten = true

  /** @param isMade True if the file exists already. @throws The file system error. */
  constructor(dir: string, isMade: boolean) {
    this.#path = join(dir, FILE)
    this.#fd = openSync(this.#path, isMade ? 'r+' : 'wx', 0o600)
  }

  /** Writes the progress if it has changed. @throws The file system error. */
  set(progress: Progress): void {
    let isSame = this.#isWritten
    for (let i = 0; i < NUMBERS.length; i++) {
      const value = progress[NUMBERS[i]!]
      if (this.#bytes.readDoubleLE(i * NUMBER_BYTES) === value) continue
      this.#bytes.writeDoubleLE(value, i * NUMBER_BYTES)
      isSame = false
    }
    if (isSame) return
    this.#isWritten = false
    writeSync(this.#fd, this.#bytes, 0, ALL_BYTES, 0)
    this.#isWritten = true
  }

  /** Closes the file and keeps it. */
  close(): void {
    closeSync(this.#fd)
  }

  /** Deletes the file, because all records are accounted for. */
  remove(): void {
    closeSync(this.#fd)
    rmSync(this.#path, { force: true })
  }
}

/**
 * Reads and deletes the mark of a directory's creator, and its count page. Returns null if the creator ended
 * cleanly or the mark was already read. Call it only after taking over the directory.
 */
export function takeProgress(dir: string, creator: string): Progress | null {
  try {
    const progress = progressOf(readFileSync(join(dir, FILE)), readCountPage(creator))
    const mark = new Mark(dir, true)
    if (progress !== null) keep(mark, progress)
    removeCountPage(creator)
    mark.remove()
    return progress
  } catch {
    return null
  }
}

/** Copies the number of the page to the mark, for the next adopter if this one ends before the mark is deleted. */
function keep(mark: Mark, progress: Progress): void {
  try {
    mark.set(progress)
  } catch {
    // The disk is full.
  }
}

/**
 * Parses a mark. Returns null if its numbers are invalid, or if it was never written and there is no page.
 * @param counted Number of encoded records according to the page, or null.
 */
function progressOf(bytes: Buffer, counted: number | null): Progress | null {
  if (bytes.length < ALL_BYTES && counted === null) return null
  const [own = 0, safe = 0, openFirst = 0, openRecords = 0] = NUMBERS.map((_, i) =>
    bytes.length < ALL_BYTES ? 0 : bytes.readDoubleLE(i * NUMBER_BYTES),
  )
  const encoded = counted ?? own
  const numbers = [encoded, safe, openFirst, openRecords]
  return numbers.every(Number.isSafeInteger) ? { encoded, safe, openFirst, openRecords } : null
}
