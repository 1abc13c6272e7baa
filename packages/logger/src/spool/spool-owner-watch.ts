import { newSpoolCount, type SpoolWatch } from '../queue/record-queue.js'
import { Home } from './spool-owner.js'

/**
 * Makes an owner's home before its thread begins, and notes there how many records there have been: a thread that starts,
 * or is late, does not do so itself, and a process may be killed at any moment.
 */
export class HomeWatch implements SpoolWatch {
  readonly count = newSpoolCount()
  /** Null when the home cannot be made; the thread tries again, and tells. */
  readonly owner: string | null
  readonly #home: Home | null
  /** What there was at the look before, and what this has noted itself. */
  #before = Number.POSITIVE_INFINITY
  #noted = 0

  constructor(root: string, owner: string) {
    this.#home = homeAt(root, owner)
    this.owner = this.#home === null ? null : owner
  }

  note(encoded: number): boolean {
    // A thread that came later has a home of its own, and the first one's count is closed.
    if (this.#home === null || this.count[2]! > 1) return true
    // Whoever has noted what there was a moment ago does so by itself.
    const isTimely = this.count[3]! >= this.#before
    this.#before = encoded
    if (!isTimely && this.#home.mark.noteEncoded(encoded)) this.#noted = encoded
    return Math.max(this.count[3]!, this.#noted) >= encoded
  }

  close(): void {
    this.#home?.mark.close()
  }
}

function homeAt(root: string, owner: string): Home | null {
  try {
    return new Home(root, owner)
  } catch {
    return null
  }
}
