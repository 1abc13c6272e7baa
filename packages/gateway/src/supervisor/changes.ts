/** Lets code wait for a state that others bring about. */
export class Changes {
  readonly #waiters = new Set<() => void>()

  /** Something may have become true. */
  notify(): void {
    for (const look of [...this.#waiters]) look()
  }

  /** Waits until the condition holds; false when the deadline came first. Without a deadline, others have to ensure that it ends. */
  until(condition: () => boolean, deadlineMs?: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isMet: boolean): void => {
        this.#waiters.delete(look)
        clearTimeout(timer)
        resolve(isMet)
      }
      const look = (): void => {
        if (condition()) end(true)
      }
      const timer = deadlineMs === undefined ? undefined : setTimeout(() => end(false), deadlineMs)
      this.#waiters.add(look)
    })
  }
}
