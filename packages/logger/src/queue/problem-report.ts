/** An operator is told once in this time at most, ms. */
const REPORT_EVERY_MS = 1000

/** Tells an operator what goes wrong with the log, at most once a second, with the number of records lost since. */
export class ProblemReport {
  readonly #tell: (message: string) => void
  #lost = 0
  #cause = ''
  #toldMono = Number.NEGATIVE_INFINITY

  constructor(tell: (message: string) => void) {
    this.#tell = tell
  }

  /** Keeps a problem for the next report; costs nothing but an addition, as it may happen on every request. */
  note(lost: number, cause: string): void {
    this.#lost += lost
    this.#cause = cause
  }

  /** Whether something waits to be told. */
  get isPending(): boolean {
    return this.#cause !== ''
  }

  /** Tells what was noted, unless the last report is too fresh and this is not the last word. */
  tell(isLast: boolean): void {
    if (this.#cause === '') return
    const nowMono = performance.now()
    if (!isLast && nowMono - this.#toldMono < REPORT_EVERY_MS) return
    const message = this.#lost === 0 ? this.#cause : `${this.#lost} records lost: ${this.#cause}`
    this.#toldMono = nowMono
    this.#lost = 0
    this.#cause = ''
    this.#tell(message)
  }
}
