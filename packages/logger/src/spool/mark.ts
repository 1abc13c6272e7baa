import { closeSync, openSync, readFileSync, rmSync, unlinkSync, write, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * How far an owner has come, kept beside its lock in three numbers of 8 bytes, little-endian: records that the request
 * path has encoded, of these the records that are in the spool, and the first once more, as the request path itself has
 * counted. The page cache outlives a process that is killed, so whoever takes over can tell how many records died.
 */
export class Mark {
  readonly #path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(16)
  readonly #own = Buffer.alloc(8)
  #encoded = 0
  #isNoting = false
  #isClosed = false

  /** @param isMade the file is there already. @throws the file system's error. */
  constructor(root: string, owner: string, isMade: boolean) {
    this.#path = markPath(root, owner)
    this.#fd = openSync(this.#path, isMade ? 'r+' : 'wx', 0o600)
  }

  /** Writes the first two numbers, unless they are as before. @throws the file system's error. */
  set(received: number, spooled: number): void {
    if (this.#bytes.readDoubleLE(0) === received && this.#bytes.readDoubleLE(8) === spooled) return
    this.#bytes.writeDoubleLE(received, 0)
    this.#bytes.writeDoubleLE(spooled, 8)
    writeSync(this.#fd, this.#bytes, 0, 16, 0)
  }

  /**
   * Notes the third number: the owner's thread may be late, or not have begun. Nobody waits for the disk: one write is
   * under way at most, and a number that comes meanwhile follows it. A disk that takes nothing is no error.
   */
  noteEncoded(received: number): void {
    this.#encoded = received
    if (!this.#isNoting && !this.#isClosed) this.#writeEncoded()
  }

  /** Lets go of the file, which stays; behind the write that is under way. */
  close(): void {
    this.#isClosed = true
    if (!this.#isNoting) closeSync(this.#fd)
  }

  /** All is accounted for: there is nothing to tell. */
  remove(): void {
    closeSync(this.#fd)
    rmSync(this.#path, { force: true })
  }

  #writeEncoded(): void {
    const received = this.#encoded
    if (this.#own.readDoubleLE(0) === received) return
    this.#own.writeDoubleLE(received, 0)
    this.#isNoting = true
    write(this.#fd, this.#own, 0, 8, 16, () => {
      this.#isNoting = false
      if (this.#isClosed) closeSync(this.#fd)
      else this.#writeEncoded()
    })
  }
}

/** The records that died with an owner, told once: its mark goes. */
export function takeLost(root: string, owner: string): number {
  const path = markPath(root, owner)
  try {
    const bytes = readFileSync(path)
    // Of several that come at the same time, one succeeds.
    unlinkSync(path)
    const numberAt = (at: number): number => (bytes.length < at + 8 ? 0 : bytes.readDoubleLE(at))
    const lost = Math.max(numberAt(0), numberAt(16)) - numberAt(8)
    return lost > 0 && Number.isSafeInteger(lost) ? lost : 0
  } catch {
    // An owner that has let go has none.
    return 0
  }
}

function markPath(root: string, owner: string): string {
  return join(root, `${owner}.mark`)
}
