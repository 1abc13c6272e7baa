import { Worker } from 'node:worker_threads'
import type { Batch, Lost, Receipt, ToWriter } from './messages.js'

/** A dead thread is replaced once in this time at most, ms. */
const RESTART_EVERY_MS = 1000
/** A batch is 128 KiB and every queue is bounded, so a thread that needs more than this is leaking, MiB. */
const THREAD_HEAP_MIB = 96

/** Code that runs as a writer: it receives ToWriter messages and answers each batch with a Receipt, in order. */
export interface WriterProgram {
  readonly entry: URL
  /** Handed to the thread as its workerData. */
  readonly options: unknown
}

/** What the owner of a writer thread hears. */
export interface WriterEvents {
  onReceipt(receipt: Receipt): void
  /** The thread is gone, and with it every batch that has no receipt; `problem` is empty when it was asked to go. */
  onDown(problem: string): void
  /** A thread takes batches (again). */
  onUp(): void
}

/** One writer thread, replaced when it dies. It holds no process open, but while it is closing. */
export class WriterThread {
  readonly #program: WriterProgram
  readonly #events: WriterEvents
  #worker: Worker | null = null
  #startedMono = 0
  #restart: NodeJS.Timeout | undefined
  #onClosed: (() => void) | null = null

  constructor(program: WriterProgram, events: WriterEvents) {
    this.#program = program
    this.#events = events
  }

  /** Whether batches can be sent. */
  get isUp(): boolean {
    return this.#worker !== null
  }

  /** Starts the thread, unless it runs. */
  start(): void {
    clearTimeout(this.#restart)
    if (this.#worker !== null) return
    this.#startedMono = performance.now()
    try {
      this.#worker = this.#spawn()
    } catch (error) {
      this.#down(`cannot start: ${(error as Error).message}`)
      return
    }
    this.#events.onUp()
  }

  /** Hands a batch over; its buffer is not usable afterwards. Only while `isUp`. */
  send(batch: Batch): void {
    this.#worker?.postMessage(batch satisfies ToWriter, [batch.buffer])
  }

  /** Says something that is not answered. Only while `isUp`. */
  notify(message: Lost): void {
    this.#worker?.postMessage(message satisfies ToWriter)
  }

  /** Lets the thread finish what it was sent; resolves when it has ended, after `deadlineMs` at the latest. */
  close(deadlineMs: number): Promise<void> {
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === null) return Promise.resolve()
    worker.ref()
    worker.postMessage({ kind: 'close', deadlineMs } satisfies ToWriter)
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.#abandon(worker), deadlineMs)
      this.#onClosed = () => {
        clearTimeout(deadline)
        resolve()
      }
    })
  }

  #spawn(): Worker {
    const worker = new Worker(this.#program.entry, {
      workerData: this.#program.options,
      // The thread needs no secrets of the process, nor its flags.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
    })
    let problem = ''
    worker.on('message', (receipt: Receipt) => {
      if (this.#worker === worker) this.#events.onReceipt(receipt)
    })
    worker.on('error', (error: unknown) => {
      problem = textOf(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#ended(problem)
    })
    worker.unref()
    return worker
  }

  /** Every receipt the thread sent has been heard by now: Node drains its messages before it reports the end. */
  #ended(problem: string): void {
    this.#worker = null
    if (this.#onClosed === null) this.#down(problem === '' ? 'it exited by itself' : problem)
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

  /** A thread that hangs in the file system may take long to end; nobody waits for it. */
  #abandon(worker: Worker): void {
    this.#worker = null
    worker.unref()
    void worker.terminate()
    this.#onClosed?.()
  }
}

/** Code of a custom output may throw anything, and here nothing would catch an error of ours. */
function textOf(error: unknown): string {
  if (error instanceof Error) return `${error.message}`
  return typeof error === 'string' && error !== '' ? error : 'it threw something that is no error'
}
