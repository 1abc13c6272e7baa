import type { WireAttempt } from './wire-attempt.js'

/**
 * Attempts that wait for a connection, first in, first out; one that is given up leaves from wherever it is.
 *
 * It is linked, and no `Set`: whenever a set has seen as many come and go as it has room for, V8 makes its table anew, and
 * the old one keeps a reference to the new one. Once one of them is old, every table behind it gets old with it, and so
 * does everything that an attempt in it holds, long after its request is over.
 */
export class AttemptLine {
  #first: WireAttempt | null = null
  #last: WireAttempt | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): WireAttempt | null {
    return this.#first
  }

  add(attempt: WireAttempt): void {
    const last = this.#last
    attempt.isInLine = true
    attempt.linePrevious = last
    if (last === null) this.#first = attempt
    else last.lineNext = attempt
    this.#last = attempt
    this.#size++
  }

  /** One that is not in line is left alone. */
  delete(attempt: WireAttempt): void {
    if (!attempt.isInLine) return
    const { lineNext: next, linePrevious: previous } = attempt
    if (previous === null) this.#first = next
    else previous.lineNext = next
    if (next === null) this.#last = previous
    else next.linePrevious = previous
    attempt.isInLine = false
    attempt.lineNext = null
    attempt.linePrevious = null
    this.#size--
  }
}
