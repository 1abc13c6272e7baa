import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { serialize } from 'node:v8'
import { type Offload, Overload, Overtime } from '@sluice/core'
import type { Piscina } from 'piscina'
import { Semaphore, type Waiter } from './semaphore.js'
import { type ThreadAnswer, type ThreadTask, UNKNOWN_WORK } from './thread-task.js'

const require = createRequire(import.meta.url)
/** Maximum number of tasks waiting for a thread. Further tasks are refused, because each one holds a body in memory. */
const MAX_WAITING = 64
/**
 * Maximum wait for a thread, as far as the process has a CPU, in milliseconds. Clients of tasks that have waited longer
 * have often gone, and later tasks would wait as long.
 */
const MAX_WAIT_MS = 2000
/** Time after which an idle thread ends and releases its memory, in milliseconds. */
const IDLE_MS = 30_000
/** Default limit for the work of one task, in milliseconds. */
const TASK_MS = 30_000

/**
 * A worker's threads for work that would block other requests. The first task starts the first thread.
 *
 *     run ─► at most MAX_WAITING tasks ─► a thread, which caches the work compiled for each configuration
 *
 * Tasks queue here and not in the Piscina pool. There, a dying thread would leave them behind, and they could overtake
 * each other.
 */
export class ThreadPool {
  readonly #maxThreads: number
  readonly #onFault: (error: unknown) => void
  readonly #taskMs: number
  readonly #semaphore: Semaphore
  #pool: Piscina<ThreadTask, ThreadAnswer> | null = null
  #isClosed = false

  /**
   * @param onFault called with errors that occur on a thread outside a task.
   * @param taskMs time after which a thread that is still working is terminated.
   */
  constructor(maxThreads: number, onFault: (error: unknown) => void, taskMs = TASK_MS) {
    this.#maxThreads = maxThreads
    this.#onFault = onFault
    this.#taskMs = taskMs
    this.#semaphore = new Semaphore(maxThreads, MAX_WAIT_MS)
  }

  /**
   * Creates a runner for the given kind of work.
   * @param module module that exports `work`, an OffloadedWork.
   * @param maxMs time after which the work and its thread are terminated, unless the process was short of CPU.
   */
  offload<I, O>(module: URL, config: unknown, maxMs = this.#taskMs): Offload<I, O> {
    const digest = createHash('sha256').update(serialize(config)).digest('hex')
    const work = { module: module.href, key: `${module.href} ${digest}` }
    return {
      run: (input, x) =>
        this.#withThread(x, async () => {
          // A configuration may be long, so it is sent only if the thread does not have it yet.
          const answer = await this.#run({ ...work, config: UNKNOWN_WORK, input }, maxMs)
          if (answer.isKnown) return answer.output as O
          return (await this.#run({ ...work, config, input }, maxMs)).output as O
        }),
    }
  }

  async #withThread<O>(x: Waiter, run: () => Promise<O>): Promise<O> {
    // Tasks whose clients have gone must not take threads or queue places from later ones.
    if (this.#semaphore.waiting >= MAX_WAITING) this.#semaphore.dropEnded()
    if (this.#semaphore.waiting >= MAX_WAITING) throw new Overload('the queue for worker threads is full')
    if (!(await this.#semaphore.acquire(x)))
      throw new Overload('the request ended, or no worker thread became free in time')
    try {
      return await run()
    } finally {
      this.#semaphore.release()
    }
  }

  async #run(task: ThreadTask, maxMs: number): Promise<ThreadAnswer> {
    const late = new AbortController()
    const startMono = performance.now()
    const startCpu = process.cpuUsage()
    const end = (): void => {
      const { user, system } = process.cpuUsage(startCpu)
      // A thread that got no CPU time is given longer, up to the overall limit.
      const isStarved = (user + system) / 1000 < maxMs && performance.now() - startMono < this.#taskMs - maxMs
      if (isStarved) timer.refresh()
      else late.abort()
    }
    const timer = setTimeout(end, maxMs)
    try {
      return await this.#open().run(task, { signal: late.signal })
    } catch (error) {
      throw late.signal.aborted
        ? new Overtime(`a task ran on a worker thread for more than ${maxMs} ms`)
        : error
    } finally {
      clearTimeout(timer)
    }
  }

  #open(): Piscina<ThreadTask, ThreadAnswer> {
    if (this.#isClosed) throw new Error('the thread pool is closed')
    this.#pool ??= this.#create()
    return this.#pool
  }

  #create(): Piscina<ThreadTask, ThreadAnswer> {
    // Loaded on first use: most documents need no thread.
    const { Piscina } = require('piscina') as typeof import('piscina')
    const pool = new Piscina<ThreadTask, ThreadAnswer>({
      filename: new URL('./thread.js', import.meta.url).href,
      name: 'run',
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: IDLE_MS,
      concurrentTasksPerWorker: 1,
      // With Atomics enabled, an idle thread blocks while it waits for work and cannot end.
      atomics: 'disabled',
    })
    // An error on a thread outside a task ends only that thread, which is replaced, and not the process.
    pool.on('error', this.#onFault)
    return pool
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = null
    this.#isClosed = true
    await pool?.destroy()
  }
}
