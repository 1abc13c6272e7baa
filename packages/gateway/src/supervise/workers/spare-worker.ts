import { RestartBudget } from '../process/restart-budget.js'
import type { WorkerHandle } from './worker-handle.js'

/** A running process and its native parser's head limit. */
interface Spare {
  readonly handle: WorkerHandle
  readonly headBytes: number
}

/**
 * A worker process that has loaded its modules but serves nothing. Loading is most of a worker's start
 * time, so a slot that takes the spare is filled in a fraction of it.
 */
export class SpareWorker {
  readonly #fork: (headBytes: number) => WorkerHandle
  /** Never gives up: without a spare, slots are still filled, only more slowly. */
  readonly #budget = new RestartBudget(() => performance.now())
  #spare: Spare | null = null
  #timer: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(fork: (headBytes: number) => WorkerHandle) {
    this.#fork = fork
    this.#budget.becameReady()
  }

  get handle(): WorkerHandle | null {
    return this.#spare?.handle ?? null
  }

  /** Starts the spare process unless it exists or is scheduled. */
  keep(headBytes: number): void {
    if (this.#isClosed || this.#spare !== null || this.#timer !== null) return
    const spare = { handle: this.#fork(headBytes), headBytes }
    this.#spare = spare
    void spare.handle.started()
    void spare.handle.exited.then((exit) => {
      if (this.#spare !== spare) return
      this.#spare = null
      const verdict = this.#budget.died(exit)
      this.#wait(verdict.kind === 'restart' ? verdict.delayMs : 0, headBytes)
    })
  }

  /**
   * Hands the spare over to a slot. It may still be starting. Returns null if there is none for heads of this
   * size.
   */
  take(headBytes: number): WorkerHandle | null {
    const spare = this.#spare
    if (spare === null) return null
    this.#spare = null
    if (spare.headBytes === headBytes) return spare.handle
    spare.handle.kill('the spare worker accepts only smaller request heads')
    return null
  }

  /** Kills the spare, if any, and starts no other. */
  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#spare?.handle.kill('the gateway is stopping')
    this.#spare = null
  }

  #wait(delayMs: number, headBytes: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.keep(headBytes)
    }, delayMs)
  }
}
