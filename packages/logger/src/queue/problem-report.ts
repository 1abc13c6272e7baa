/** An operator hears once in this time at most, ms. */
const REPORT_EVERY_MS = 1000

/** Reports to an operator what goes wrong with the log, at most once a second, with the number of records lost since. */
export class ProblemReport {
  readonly #notify: (message: string) => void
  #lost = 0
  #cause = ''
  #reportedMono = Number.NEGATIVE_INFINITY

  constructor(notify: (message: string) => void) {
    this.#notify = notify
  }

  /** Keeps a problem for the next report; costs nothing but an addition, as it may happen on every request. */
  note(lost: number, cause: string): void {
    this.#lost += lost
    this.#cause = cause
  }

  /** Whether something waits to be reported. */
  get isPending(): boolean {
    return this.#cause !== ''
  }

  /** Reports what was noted, unless the last report is too fresh and this is not the last word. */
  send(isLast: boolean): void {
    if (this.#cause === '') return
    const nowMono = performance.now()
    if (!isLast && nowMono - this.#reportedMono < REPORT_EVERY_MS) return
    const message = this.#lost === 0 ? this.#cause : `${this.#lost} records lost: ${this.#cause}`
    this.#reportedMono = nowMono
    this.#lost = 0
    this.#cause = ''
    this.#notify(message)
  }
}
