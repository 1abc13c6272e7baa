import { Worker } from 'node:worker_threads'

/** Settings of the hang watch thread. */
export interface WatchSettings {
  /**
   * Two shared cells: number of the running code (index into the names from 1, or 0), and a counter of runs.
   */
  readonly cells: Int32Array
  readonly worker: number
}

const RUNNING = 0
const BEGUN = 1

/**
 * Records which plugin code is running, visible to a watch thread. When the event loop hangs, the worker
 * itself cannot report it, and the log has to name the policy.
 */
export class RunMarks {
  readonly #cells = new Int32Array(new SharedArrayBuffer(8))
  readonly #worker: number
  readonly #names = new Map<string, number>()
  #thread: Worker | null = null

  constructor(worker: number) {
    this.#worker = worker
  }

  /** Returns the number that marks some code. @param name name of the code in the log. */
  markOf(name: string): number {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const mark = this.#names.size + 1
    this.#names.set(name, mark)
    this.#watch().postMessage(name)
    return mark
  }

  begin(mark: number): void {
    this.#cells[BEGUN] = this.#cells[BEGUN]! + 1
    this.#cells[RUNNING] = mark
  }

  end(): void {
    this.#cells[RUNNING] = 0
  }

  /** Stops the watch thread. */
  close(): void {
    void this.#thread?.terminate()
    this.#thread = null
  }

  #watch(): Worker {
    if (this.#thread !== null) return this.#thread
    const workerData: WatchSettings = { cells: this.#cells, worker: this.#worker }
    const thread = new Worker(new URL('./hang-watch-program.js', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    })
    // Without the thread, only the supervisor reports a hang, without a name.
    thread.on('error', () => {})
    thread.unref()
    this.#thread = thread
    return thread
  }
}
