import { Worker } from 'node:worker_threads'

/** What the watching thread is started with. */
export interface WatchSettings {
  /** What runs now, as a place in the list of names from 1 on, or 0; and how often something has begun. */
  readonly cells: Int32Array
  readonly worker: number
}

const RUNNING = 0
const BEGUN = 1

/**
 * Marks which code of a plugin runs, where a thread can see it: a worker whose event loop hangs cannot say so itself any
 * more, and the log has to name the policy that holds it up.
 */
export class RunMarks {
  readonly #cells = new Int32Array(new SharedArrayBuffer(8))
  readonly #worker: number
  readonly #names = new Map<string, number>()
  #thread: Worker | null = null

  constructor(worker: number) {
    this.#worker = worker
  }

  /** The mark of some code. @param name what the log calls it. */
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

  /** Ends the watch. */
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
    // Without it a hang is reported by the supervisor alone, without a name.
    thread.on('error', () => {})
    thread.unref()
    this.#thread = thread
    return thread
  }
}
