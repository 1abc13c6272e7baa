import { closeSync, openSync, readFileSync, rmSync, unlinkSync, write, writeSync } from 'node:fs'
import { join } from 'node:path'

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
const OWN_AT = NUMBERS.length * NUMBER_BYTES
/**
 * Maximum number of concurrent writes per process. A stalled disk must not occupy all four libuv threads,
 * which are also needed for DNS lookups.
 */
const MAX_WRITES = 1
let writesUnderWay = 0

/** File name of the mark. Never a segment name. */
const FILE = 'mark'

/**
 * Progress of an owner, stored in its directory, so that only the next owner of the directory reads it. The
 * file contains the numbers of `Progress`, then `encoded` again as counted by the request path itself, 8
 * bytes each, little-endian. The page cache survives a killed process, so the adopter can compute how many
 * records were lost.
 */
export class Mark {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(OWN_AT)
  readonly #own = Buffer.alloc(NUMBER_BYTES)
  /** True if the file contains the current numbers. */
  #isWritten = true
  #encoded = 0
  #isNoting = false
  #isClosed = false

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
    writeSync(this.#fd, this.#bytes, 0, OWN_AT, 0)
    this.#isWritten = true
  }

  /**
   * Saves the number encoded by the request path, because the owner's thread may be late or not have started.
   * Does not block: at most one write is in progress, and a number that arrives meanwhile is written next.
   * Write errors are ignored.
   * @returns False if another owner's write is in progress. Call again later.
   */
  noteEncoded(received: number): boolean {
    if (!this.#isNoting && writesUnderWay >= MAX_WRITES) return false
    this.#encoded = received
    if (!this.#isNoting && !this.#isClosed) this.#writeEncoded()
    return true
  }

  /** Closes the file after the current write and keeps it. */
  close(): void {
    this.#isClosed = true
    if (!this.#isNoting) closeSync(this.#fd)
  }

  /** Deletes the file, because all records are accounted for. */
  remove(): void {
    closeSync(this.#fd)
    rmSync(this.#path, { force: true })
  }

  #writeEncoded(): void {
    const received = this.#encoded
    if (this.#own.readDoubleLE(0) === received) return
    this.#own.writeDoubleLE(received, 0)
    this.#isNoting = true
    writesUnderWay++
    write(this.#fd, this.#own, 0, NUMBER_BYTES, OWN_AT, () => {
      this.#isNoting = false
      writesUnderWay--
      if (this.#isClosed) closeSync(this.#fd)
      else this.#writeEncoded()
    })
  }
}

/**
 * Reads and deletes the mark of a directory's creator. Returns null if the creator ended cleanly or the mark
 * was already read. Call it only after taking over the directory.
 */
export function takeProgress(dir: string): Progress | null {
  const path = join(dir, FILE)
  try {
    const bytes = readFileSync(path)
    unlinkSync(path)
    return progressOf(bytes)
  } catch {
    return null
  }
}

/** Parses a mark. Returns null if it was never written or its numbers are invalid. */
function progressOf(bytes: Buffer): Progress | null {
  if (bytes.length < OWN_AT) return null
  const numberAt = (at: number): number => (bytes.length < at + NUMBER_BYTES ? 0 : bytes.readDoubleLE(at))
  const [own = 0, safe = 0, openFirst = 0, openRecords = 0] = NUMBERS.map((_, i) =>
    numberAt(i * NUMBER_BYTES),
  )
  const encoded = Math.max(own, numberAt(OWN_AT))
  const numbers = [encoded, safe, openFirst, openRecords]
  return numbers.every(Number.isSafeInteger) ? { encoded, safe, openFirst, openRecords } : null
}
