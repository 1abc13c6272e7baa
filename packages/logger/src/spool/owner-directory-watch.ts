import { newSpoolCount, type SpoolWatch } from '../queue/record-queue.js'
import { OwnerDirectory } from './owner-directory.js'

/**
 * Makes an owner's directory before its thread begins, and notes there how many records there have been: a thread that starts,
 * or is late, does not do so itself, and a process may be killed at any moment.
 */
export class OwnerDirectoryWatch implements SpoolWatch {
  readonly count = newSpoolCount()
  /** Null when the directory cannot be made; the thread tries again, and reports. */
  readonly owner: string | null
  readonly #directory: OwnerDirectory | null
  /** What there was at the look before, and what this has noted itself. */
  #before = Number.POSITIVE_INFINITY
  #noted = 0

  constructor(root: string, owner: string) {
    this.#directory = directoryAt(root, owner)
    this.owner = this.#directory === null ? null : owner
  }

  note(encoded: number): boolean {
    // A thread that came later has a directory of its own, and the first one's count is closed.
    if (this.#directory === null || this.count[2]! > 1) return true
    // Whoever has noted what there was a moment ago does so by itself.
    const isTimely = this.count[3]! >= this.#before
    this.#before = encoded
    if (!isTimely && this.#directory.mark.noteEncoded(encoded)) this.#noted = encoded
    return Math.max(this.count[3]!, this.#noted) >= encoded
  }

  close(): void {
    this.#directory?.mark.close()
  }
}

function directoryAt(root: string, owner: string): OwnerDirectory | null {
  try {
    return new OwnerDirectory(root, owner)
  } catch {
    return null
  }
}
