import { RestartBudget } from './restart-budget.js'
import type { WorkerHandle } from './worker-handle.js'

/** A process that is up, with the settings of its native parser. */
interface Spare {
  readonly handle: WorkerHandle
  readonly headBytes: number
}

/**
 * One worker process that is started and has loaded its modules, but serves nothing. Loading takes most of the time
 * until a worker serves, so that a slot which takes the spare is filled in a fraction of it.
 */
export class SpareWorker {
  readonly #fork: (headBytes: number) => WorkerHandle
  /** Never gives up: without a spare, slots are filled all the same, only later. */
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

  /** Starts the process unless there is one or it is about to be started. */
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

  /** Hands the process over to a slot, up or on its way; null when there is none that takes heads of this size. */
  take(headBytes: number): WorkerHandle | null {
    const spare = this.#spare
    if (spare === null) return null
    this.#spare = null
    if (spare.headBytes === headBytes) return spare.handle
    spare.handle.kill('a spare for smaller heads is of no use')
    return null
  }

  /** Ends the process, if there is one, and starts no other. */
  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#spare?.handle.kill('the gateway ends')
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
