/** Minimum interval between two reports in milliseconds. */
const REPORT_EVERY_MS = 1000

/**
 * Reports problems of the log to the operator, at most once per second, with the number of records lost since
 * the last report.
 */
export class ProblemReport {
  readonly #notify: (message: string) => void
  #lost = 0
  #cause = ''
  #reportedMono = Number.NEGATIVE_INFINITY

  constructor(notify: (message: string) => void) {
    this.#notify = notify
  }

  /** Remembers a problem for the next report. Cheap enough to be called for every request. */
  note(lost: number, cause: string): void {
    this.#lost += lost
    this.#cause = cause
  }

  /** True if a problem has not been reported yet. */
  get isPending(): boolean {
    return this.#cause !== ''
  }

  /**
   * Reports the remembered problem, unless the last report is too recent. `isLast` reports it in any case.
   */
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
