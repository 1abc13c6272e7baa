import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { FromThread, LogMemory, ThreadData, ToThread } from './messages.js'

/** Minimum interval between restarts of the thread, in milliseconds. */
const RESTART_EVERY_MS = 1000
/** Heap limit in MiB. Every queue is bounded, so a thread that needs more has a memory leak. */
const THREAD_HEAP_MIB = 96

/** Program of a log thread, which runs a `RecordFeed`. */
export interface WriterProgram {
  readonly entry: URL
  /** Passed to the thread in `ThreadData`. */
  readonly options: unknown
}

/** Callbacks for the owner of a log thread. */
export interface WriterEvents {
  onMessage(message: FromThread): void
  /** Called when the thread has ended. `problem` is empty if the thread was closed. */
  onDown(problem: string): void
}

/** A log thread, restarted if it fails. It keeps the process alive only while it is closing. */
export class WriterThread {
  readonly #program: WriterProgram
  readonly #data: Omit<ThreadData<unknown>, 'reports'>
  readonly #events: WriterEvents
  #worker: Worker | null = null
  #reports: MessagePort | null = null
  #startedMono = 0
  #restart: NodeJS.Timeout | undefined
  #onClosed: (() => void) | null = null

  /** @param lookEveryMs Interval at which the thread looks for records, in milliseconds. */
  constructor(program: WriterProgram, memory: LogMemory, lookEveryMs: number, events: WriterEvents) {
    this.#program = program
    this.#data = { memory, lookEveryMs, options: program.options }
    this.#events = events
  }

  /** Starts the thread unless it is running. */
  start(): void {
    clearTimeout(this.#restart)
    if (this.#worker !== null) return
    this.#startedMono = performance.now()
    try {
      this.#worker = this.#spawn()
    } catch (error) {
      this.#down(`cannot start: ${(error as Error).message}`)
    }
  }

  /** Passes on all messages that the thread has sent so far. */
  receive(): void {
    const reports = this.#reports
    if (reports === null) return
    for (let next = receiveMessageOnPort(reports); next !== undefined; next = receiveMessageOnPort(reports))
      this.#events.onMessage(next.message)
  }

  /** Wakes the thread after it has announced that it sleeps. */
  wake(): void {
    this.#worker?.postMessage({ kind: 'wake' } satisfies ToThread)
  }

  /**
   * Lets the thread finish its work in `deadlineMs` from when it learns of this. Resolves when it has ended, at the latest
   * after `patienceMs`.
   */
  close(deadlineMs: number, patienceMs: number): Promise<void> {
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === null) return Promise.resolve()
    worker.ref()
    worker.postMessage({ kind: 'close', deadlineMs } satisfies ToThread)
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.#abandon(worker), patienceMs)
      this.#onClosed = () => {
        clearTimeout(deadline)
        resolve()
      }
    })
  }

  #spawn(): Worker {
    const { port1: reports, port2 } = new MessageChannel()
    const data: ThreadData<unknown> = { ...this.#data, reports: port2 }
    const worker = new Worker(this.#program.entry, {
      workerData: data,
      transferList: [port2],
      // The thread needs no environment variables or flags of the process.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
    })
    let problem = ''
    this.#reports = reports
    reports.on('message', (message: FromThread) => this.#events.onMessage(message))
    reports.unref()
    worker.on('error', (error: unknown) => {
      problem = textOf(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#ended(problem)
    })
    worker.unref()
    return worker
  }

  #ended(problem: string): void {
    this.#forget()
    if (this.#onClosed === null) this.#down(problem === '' ? 'it exited unexpectedly' : problem)
    else {
      this.#events.onDown(problem)
      this.#onClosed()
    }
  }

  #down(problem: string): void {
    this.#events.onDown(problem)
    const waitMs = Math.max(0, this.#startedMono + RESTART_EVERY_MS - performance.now())
    this.#restart = setTimeout(() => this.start(), waitMs)
    this.#restart.unref()
  }

  /** Receives the last messages of a thread that has ended or is abandoned. */
  #forget(): void {
    this.receive()
    this.#reports?.close()
    this.#reports = null
    this.#worker = null
  }

  /** Stops waiting for a thread that may be stuck in a file system call. */
  #abandon(worker: Worker): void {
    this.#forget()
    worker.unref()
    void worker.terminate()
    this.#onClosed?.()
  }
}

/** Returns the message of an error. The code of a custom output may throw any value. */
function textOf(error: unknown): string {
  if (error instanceof Error) return `${error.message}`
  return typeof error === 'string' && error !== '' ? error : 'it threw a value that is not an Error'
}
