import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { type Offload, Overload, Overtime } from '@sluice/core'
import { Piscina } from 'piscina'
import { type ThreadAnswer, type ThreadTask, UNKNOWN_WORK } from './thread-task.js'
import { Turns, type Waiter } from './turns.js'

/** Tasks that may wait for a thread; more are refused, because each holds its body in memory. */
const MAX_WAITING = 64
/** A thread that nobody needed for so long ends, and gives its memory back. */
const IDLE_MS = 30_000
/** Longest wait for a thread, and longest work of one: no request waits longer for a policy. */
const TASK_MS = 30_000

/**
 * The threads of a worker for work that would hold up the requests of others. None runs before the first task.
 *
 *     run ─► at most MAX_WAITING tasks ─► a thread, which keeps what it made of the configurations of its tasks
 *
 * Tasks wait here and not in the pool: there they would be left behind by a thread that dies, and overtake each other.
 */
export class ThreadPool {
  readonly #maxThreads: number
  readonly #onFault: (error: unknown) => void
  readonly #taskMs: number
  readonly #turns: Turns
  #pool: Piscina<ThreadTask, ThreadAnswer> | null = null
  #isClosed = false

  /**
   * @param onFault hears of what fails on a thread behind its task.
   * @param taskMs after which a thread that still works is ended.
   */
  constructor(maxThreads: number, onFault: (error: unknown) => void, taskMs = TASK_MS) {
    this.#maxThreads = maxThreads
    this.#onFault = onFault
    this.#taskMs = taskMs
    this.#turns = new Turns(maxThreads)
  }

  /**
   * @param module exports `work`, an OffloadedWork.
   * @param maxMs after which this work is ended with its thread, if the process had the CPU for it.
   */
  offload<I, O>(module: URL, config: unknown, maxMs = this.#taskMs): Offload<I, O> {
    const digest = createHash('sha256').update(JSON.stringify(config)).digest('hex')
    const work = { module: module.href, key: `${module.href} ${digest}` }
    return {
      run: (input, x) =>
        this.#inTurn(x, async () => {
          // A configuration may be long: a thread that knows the work is not sent it again.
          const answer = await this.#run({ ...work, config: UNKNOWN_WORK, input }, maxMs)
          if (answer.isKnown) return answer.output as O
          return (await this.#run({ ...work, config, input }, maxMs)).output as O
        }),
    }
  }

  async #inTurn<O>(x: Waiter, run: () => Promise<O>): Promise<O> {
    // Clients that have gone must not keep threads, or places in the line, from those that came after them.
    if (this.#turns.waiting >= MAX_WAITING) this.#turns.dropEnded()
    if (this.#turns.waiting >= MAX_WAITING) throw new Overload('as much waits for a thread as may wait')
    const dueAt = performance.now() + this.#taskMs
    if (!(await this.#turns.take(x))) throw new Overload('nobody waits for it any more')
    try {
      if (performance.now() > dueAt) throw new Overload('no thread was free in time')
      return await run()
    } finally {
      this.#turns.leave()
    }
  }

  async #run(task: ThreadTask, maxMs: number): Promise<ThreadAnswer> {
    const late = new AbortController()
    const startMono = performance.now()
    const startCpu = process.cpuUsage()
    const end = (): void => {
      const { user, system } = process.cpuUsage(startCpu)
      // Whoever gets no CPU is not to blame, up to the longest time of all.
      const isStarved = (user + system) / 1000 < maxMs && performance.now() - startMono < this.#taskMs - maxMs
      if (isStarved) timer.refresh()
      else late.abort()
    }
    const timer = setTimeout(end, maxMs)
    try {
      return await this.#open().run(task, { signal: late.signal })
    } catch (error) {
      throw late.signal.aborted ? new Overtime(`a thread worked for more than ${maxMs} ms`) : error
    } finally {
      clearTimeout(timer)
    }
  }

  #open(): Piscina<ThreadTask, ThreadAnswer> {
    if (this.#isClosed) throw new Error('the threads have ended')
    this.#pool ??= this.#create()
    return this.#pool
  }

  #create(): Piscina<ThreadTask, ThreadAnswer> {
    const pool = new Piscina<ThreadTask, ThreadAnswer>({
      filename: new URL('./thread.js', import.meta.url).href,
      name: 'run',
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: IDLE_MS,
      concurrentTasksPerWorker: 1,
      // What a task returns is read at once; waiting by Atomics would keep a thread from ending.
      atomics: 'disabled',
    })
    // What fails on a thread after its task costs the thread, which is replaced, and not the process.
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
