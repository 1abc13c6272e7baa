import type { RunObserver } from '../model/run.js'

/** Reports the steps of a run and estimates the remaining time from the previous steps. */
export class Progress {
  readonly #observer: RunObserver
  readonly #startedMono = performance.now()
  #total: number
  #done = 0

  constructor(observer: RunObserver, total: number) {
    this.#observer = observer
    this.#total = total
  }

  begin(what: string): void {
    const elapsedS = (performance.now() - this.#startedMono) / 1000
    const remaining = this.#done === 0 ? 0 : (elapsedS / this.#done) * (this.#total - this.#done)
    this.#observer.onStep(this.#done, this.#total, what, Math.round(remaining))
    this.#done++
  }

  /** Changes the number of steps. */
  add(steps: number): void {
    this.#total = Math.max(this.#done, this.#total + steps)
  }
}
