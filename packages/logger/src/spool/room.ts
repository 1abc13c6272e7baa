import { statfsSync } from 'node:fs'
import { bytesOfOthers } from './adoption.js'

/** What the owners of a spool may keep. */
export interface RoomOptions {
  readonly root: string
  readonly owner: string
  /** The most bytes on disk, of all owners together. */
  readonly maxBytes: number
  /** What this owner may keep of them whatever the others do. */
  readonly shareBytes: number
  /** Bytes of the disk that are left to others. */
  readonly keepFreeBytes: number
  /** What gives way at that bound. */
  readonly whenFull: 'drop-oldest' | 'drop-newest'
}

/** What others keep is measured once in this time at most, ms. */
const MEASURE_EVERY_MS = 1000

/**
 * Whether an owner may keep more. Its share is its own; beyond that, what counts is whether all owners together have
 * room, because the adopter of several owners keeps their shares as well.
 */
export class Room {
  readonly #options: RoomOptions
  #othersBytes = 0
  #measuredMono = Number.NEGATIVE_INFINITY

  constructor(options: RoomOptions) {
    this.#options = options
  }

  /** Whether this owner may keep so many bytes. */
  has(bytes: number): boolean {
    const { maxBytes, shareBytes } = this.#options
    if (bytes <= shareBytes) return true
    return bytes <= maxBytes && bytes + this.#others() <= maxBytes
  }

  /** @throws Error when another file would take of the disk what is left to others, or the file system's error. */
  checkDisk(): void {
    const { root, keepFreeBytes } = this.#options
    if (keepFreeBytes === 0) return
    const { blocks, bavail, bsize } = statfsSync(root)
    // Some file systems of a network or of user space do not say their size.
    if (blocks === 0) return
    const freeBytes = bavail * bsize
    if (freeBytes < keepFreeBytes)
      throw new Error(
        `${megabytes(freeBytes)} are free, and spool.keepFree leaves ${megabytes(keepFreeBytes)} to others`,
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

/** What cannot be measured may be anything: then there is no room beyond the share. */
function measured(root: string, owner: string): number {
  try {
    return bytesOfOthers(root, owner)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
