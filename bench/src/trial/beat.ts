/** Does something over and over, one after the other, until it is ended. */
export class Beat {
  readonly #timer: NodeJS.Timeout
  #underWay: Promise<void> | null = null

  /** What is still under way when the next is due takes its place. */
  constructor(seconds: number, act: () => Promise<void>) {
    this.#timer = setInterval(() => {
      this.#underWay ??= act().finally(() => {
        this.#underWay = null
      })
    }, seconds * 1000)
  }

  /** Resolves when nothing is under way any more. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#underWay
  }
}
