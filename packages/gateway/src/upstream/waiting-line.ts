/** What waits for a connection. The links belong to the line. */
export interface InLine {
  isInLine: boolean
  lineNext: InLine | null
  linePrevious: InLine | null
}

/**
 * Attempts that wait for a connection, first in, first out; one that is given up leaves from wherever it is.
 *
 * It is linked, and no `Set`: whenever a set has seen as many come and go as it has room for, V8 makes its table anew, and
 * the old one keeps a reference to the new one. Once one of them is old, every table behind it gets old with it, and so
 * does everything that an attempt in it holds, long after its request is over.
 */
export class WaitingLine<T extends InLine> {
  #first: InLine | null = null
  #last: InLine | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): T | null {
    return this.#first as T | null
  }

  add(attempt: T): void {
    const last = this.#last
    attempt.isInLine = true
    attempt.linePrevious = last
    if (last === null) this.#first = attempt
    else last.lineNext = attempt
    this.#last = attempt
    this.#size++
  }

  /** One that is not in line is left alone. */
  delete(attempt: T): void {
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
