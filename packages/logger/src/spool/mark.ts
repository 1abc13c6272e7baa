import { closeSync, openSync, readFileSync, rmSync, unlinkSync, write, writeSync } from 'node:fs'
import { join } from 'node:path'

/** How many records there have been. */
export interface Progress {
  /** Encoded by the request path. */
  readonly encoded: number
  /** Of these, those that need nobody any more to be counted: in the spool on disk, delivered, or counted as lost. */
  readonly safe: number
  /**
   * The number of the first record of the segment that is open on disk, or, where none is, of the one that comes next; and
   * how many of the safe ones it has.
   */
  readonly openFirst: number
  readonly openRecords: number
}

const NUMBERS = ['encoded', 'safe', 'openFirst', 'openRecords'] as const
const NUMBER_BYTES = 8
const OWN_AT = NUMBERS.length * NUMBER_BYTES
/**
 * Of a process: a disk that stands still must not take all of the four threads that libuv has, which look up names as
 * well.
 */
const MOST_WRITES = 1
let writesUnderWay = 0

/** No segment has this name. */
const FILE = 'mark'

/**
 * How far an owner has come, kept in its directory, so that whoever takes that over has it too, and nobody else: the
 * numbers of its progress, and the first once more, as the request path itself has counted; 8 bytes each, little-endian.
 * The page cache outlives a process that is killed, so the adopter can know how many records died.
 */
export class Mark {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(OWN_AT)
  readonly #own = Buffer.alloc(NUMBER_BYTES)
  /** The numbers are in the file as they are here. */
  #isWritten = true
  #encoded = 0
  #isNoting = false
  #isClosed = false

  /** @param isMade the file is there already. @throws the file system's error. */
  constructor(dir: string, isMade: boolean) {
    this.#path = join(dir, FILE)
    this.#fd = openSync(this.#path, isMade ? 'r+' : 'wx', 0o600)
  }

  /** Writes the owner's numbers, unless they are as before. @throws the file system's error. */
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
   * Notes the last number: the owner's thread may be late, or not have begun. Nobody waits for the disk: one write is
   * under way at most, and a number that comes meanwhile follows it. A disk that takes nothing is no error.
   * @returns false: another owner's write is under way, and this has to be asked again.
   */
  noteEncoded(received: number): boolean {
    if (!this.#isNoting && writesUnderWay >= MOST_WRITES) return false
    this.#encoded = received
    if (!this.#isNoting && !this.#isClosed) this.#writeEncoded()
    return true
  }

  /** Lets go of the file, which stays; after the write that is under way. */
  close(): void {
    this.#isClosed = true
    if (!this.#isNoting) closeSync(this.#fd)
  }

  /** All is accounted for: there is nothing to report. */
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
 * How far the owner that made a directory had come, reported once: its mark goes. Null when it had let go, or this has been
 * asked before. Only for whoever has taken the directory over.
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

/** Null for a file in which nobody has written, or numbers that make no sense. */
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
