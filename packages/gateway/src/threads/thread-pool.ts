import { createHash } from 'node:crypto'
import { type Offload, Overload } from '@sluice/core'
import { Piscina } from 'piscina'
import { type ThreadAnswer, type ThreadTask, UNKNOWN_WORK } from './thread-task.js'

/** Tasks that may wait for a thread; more are refused, because each holds its body in memory. */
const MAX_WAITING = 64
/** A thread that nobody needed for so long ends, and gives its memory back. */
const IDLE_MS = 30_000

/**
 * The threads of a worker for work that would hold up the requests of others. None runs before the first task.
 *
 *     run ─► at most MAX_WAITING tasks ─► a thread, which keeps what it made of the configurations of its tasks
 */
export class ThreadPool {
  readonly #maxThreads: number
  #pool: Piscina<ThreadTask, ThreadAnswer> | null = null

  constructor(maxThreads: number) {
    this.#maxThreads = maxThreads
  }

  /** @param module exports `work`, an OffloadedWork. */
  offload<I, O>(module: URL, config: unknown): Offload<I, O> {
    const digest = createHash('sha256').update(JSON.stringify(config)).digest('hex')
    const work = { module: module.href, key: `${module.href} ${digest}` }
    return {
      run: async (input) => {
        // A configuration may be long: a thread that knows the work is not sent it again.
        const answer = await this.#run({ ...work, config: UNKNOWN_WORK, input })
        if (answer.isKnown) return answer.output as O
        return (await this.#run({ ...work, config, input })).output as O
      },
    }
  }

  async #run(task: ThreadTask): Promise<ThreadAnswer> {
    const pool = this.#open()
    if (pool.queueSize >= MAX_WAITING) throw new Overload('as much waits for a thread as may wait')
    return pool.run(task)
  }

  #open(): Piscina<ThreadTask, ThreadAnswer> {
    this.#pool ??= new Piscina<ThreadTask, ThreadAnswer>({
      filename: new URL('./thread.js', import.meta.url).href,
      name: 'run',
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: IDLE_MS,
      concurrentTasksPerWorker: 1,
      // What a task returns is read at once; waiting by Atomics would keep a thread from ending.
      atomics: 'disabled',
    })
    return this.#pool
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = null
    await pool?.destroy()
  }
}
