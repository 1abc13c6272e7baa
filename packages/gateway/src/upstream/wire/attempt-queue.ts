import { FAILURES } from '../failure.js'
import type { WireAttempt } from './wire-attempt.js'

/**
 * The attempts behind the one whose response comes next, on a connection that is pipelined. Responses come in the order
 * of the requests, so nothing ever leaves it from the middle that has been written.
 *
 *     connection.attempt ◄─ written, in the order of the wire ◄─ due: written at the end of the turn
 */
export class AttemptQueue {
  #attempts: WireAttempt[] = []

  get size(): number {
    return this.#attempts.length
  }

  /** Whether somebody still waits for the response to a request that was written. */
  get isAwaited(): boolean {
    return this.#attempts.some((attempt) => attempt.hasBegun && !attempt.isOver)
  }

  /** Those that are due, in order. */
  get due(): readonly WireAttempt[] {
    return this.#attempts.filter((attempt) => !attempt.hasBegun)
  }

  add(attempt: WireAttempt): void {
    this.#attempts.push(attempt)
  }

  shift(): WireAttempt | null {
    return this.#attempts.shift() ?? null
  }

  /** Takes out one that is due. */
  remove(attempt: WireAttempt): void {
    this.#attempts = this.#attempts.filter((other) => other !== attempt)
  }

  /** Empties it, and answers those that were due. */
  takeDue(): readonly WireAttempt[] {
    const { due } = this
    this.#attempts = []
    return due
  }

  /** Takes out those that were written, and answers those of them that somebody still waits for. */
  takeWritten(): readonly WireAttempt[] {
    const written = this.#attempts.filter((attempt) => attempt.hasBegun)
    this.#attempts = this.#attempts.filter((attempt) => !attempt.hasBegun)
    return written.filter((attempt) => !attempt.isOver)
  }

  /**
   * The target has said that it looks at nothing of what was written: that becomes due again, and so goes over another
   * connection. Answers those to which this happened before; to bound what one target can do, it does not happen twice.
   */
  takeBack(): readonly WireAttempt[] {
    const written = this.takeWritten()
    const due = this.#attempts
    const back = written.filter((attempt) => attempt.takeBack())
    // One that heard of it may have given up another.
    this.#attempts = [...back, ...due].filter((attempt) => !attempt.isOver)
    return written.filter((attempt) => attempt.hasBegun)
  }
}

/** The target has closed the connection and may have acted on their requests; it is for the pipeline to repeat them. */
export function failAll(stranded: readonly WireAttempt[]): void {
  for (const attempt of stranded) {
    if (!attempt.isOver) attempt.fail(FAILURES.reset)
  }
}
