import { statfsSync } from 'node:fs'
import { bytesOfOthers } from './adoption.js'

/** Size limits of a spool. */
export interface RoomOptions {
  readonly root: string
  readonly owner: string
  /** Maximum size of the spools of all owners together, in bytes. */
  readonly maxBytes: number
  /** Size guaranteed to this owner, in bytes. */
  readonly shareBytes: number
  /** Disk space to leave free, in bytes. */
  readonly minFreeBytes: number
  /** Records to drop when the limit is reached. */
  readonly whenFull: 'drop-oldest' | 'drop-newest'
}

/** Minimum interval for measuring the spools of other owners, in milliseconds. */
const MEASURE_EVERY_MS = 1000

/**
 * Decides whether an owner may store more. It may always use its own share. Beyond that, the total of all
 * owners counts, because an adopter also uses the shares of the owners it took over.
 */
export class Room {
  readonly #options: RoomOptions
  #othersBytes = 0
  #measuredMono = Number.NEGATIVE_INFINITY

  constructor(options: RoomOptions) {
    this.#options = options
  }

  /** Returns true if this owner may store this number of bytes in total. */
  has(bytes: number): boolean {
    const { maxBytes, shareBytes } = this.#options
    if (bytes <= shareBytes) return true
    return bytes <= maxBytes && bytes + this.#others() <= maxBytes
  }

  /**
   * Checks the free disk space. @throws Error if a new file would use space to be left free, or the file
   * system error.
   */
  checkDisk(): void {
    const { root, minFreeBytes } = this.#options
    if (minFreeBytes === 0) return
    const { blocks, bavail, bsize } = statfsSync(root)
    // Some network and user-space file systems do not report their size.
    if (blocks === 0) return
    const freeBytes = bavail * bsize
    if (freeBytes < minFreeBytes)
      throw new Error(
        `${megabytes(freeBytes)} are free, less than spool.minFreeBytes (${megabytes(minFreeBytes)})`,
      )
  }

  #others(): number {
    const nowMono = performance.now()
    if (nowMono - this.#measuredMono >= MEASURE_EVERY_MS) {
      const { root, owner } = this.#options
      this.#othersBytes = measured(root, owner)
      this.#measuredMono = nowMono
    }
    return this.#othersBytes
  }
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)} MB`
}

/** Returns infinity if the spools of others cannot be measured, so that only the own share is used. */
function measured(root: string, owner: string): number {
  try {
    return bytesOfOthers(root, owner)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
