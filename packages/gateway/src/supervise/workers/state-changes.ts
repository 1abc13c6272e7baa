/** Notifies waiters when shared state changes. */
export class StateChanges {
  readonly #waiters = new Set<() => void>()

  /** Re-evaluates all conditions being waited for. */
  notify(): void {
    for (const check of [...this.#waiters]) check()
  }

  /**
   * Waits until the condition holds. Resolves with false at the deadline. Without a deadline, the caller must
   * ensure that the condition becomes true.
   */
  until(condition: () => boolean, deadlineMs?: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isMet: boolean): void => {
        this.#waiters.delete(check)
        clearTimeout(timer)
        resolve(isMet)
      }
      const check = (): void => {
        if (condition()) end(true)
      }
      const timer = deadlineMs === undefined ? undefined : setTimeout(() => end(false), deadlineMs)
      this.#waiters.add(check)
    })
  }
}
