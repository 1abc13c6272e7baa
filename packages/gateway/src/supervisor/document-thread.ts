import { Worker } from 'node:worker_threads'
import type { ConfigBundle, DocumentSource, Plan } from '@sluice/config'
import type { CheckResult, CheckSettings, DocumentQuestion } from './document-checks.js'
import { ProcessClock, processTimeout } from './process-clock.js'

/** What checking a document may take; a document that needs more is refused. */
export interface CheckBounds {
  /** CPU time of this process while it checks one document. */
  readonly deadlineMs: number
  /** Of the thread's heap. */
  readonly memoryMb: number
  /** A thread that nobody needed for so long ends, and gives its memory back. */
  readonly idleMs: number
}

/**
 * Minimum document length, in characters, for which the thread stays alive. Its cache takes seconds to
 * rebuild.
 */
const KEPT_FROM_CHARS = 256 * 1024

/** Far more than documents of 4 MB need: 45,000 routes take 10 s and 0.5 GB. */
const BOUNDS: CheckBounds = { deadlineMs: 60_000, memoryMb: 1024, idleMs: 30_000 }

/**
 * Checks documents beside the supervisor's event loop, which goes on answering health checks and watching workers
 * however long a document takes. It answers one question at a time.
 */
export class DocumentThread {
  readonly #entry: URL
  readonly #settings: CheckSettings
  readonly #bounds: CheckBounds
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #turn: Promise<unknown> = Promise.resolve()
  /** True if the thread caches a large document for its next version. */
  #isKept = false

  /** @param entry the module that the thread runs; it calls `checkDocuments`. */
  constructor(entry: URL, settings: CheckSettings, bounds: CheckBounds = BOUNDS) {
    this.#entry = entry
    this.#settings = settings
    this.#bounds = bounds
  }

  /** Loads its modules, which takes most of the time until the first answer. */
  start(): this {
    this.#started()
    return this
  }

  /**
   * Returns the bundle and its changes, or the errors in the document.
   * @param serving running bundle for comparison, or null.
   * @throws Error when the check itself fails.
   */
  load(source: DocumentSource, serving: ConfigBundle | null): Promise<CheckResult> {
    const refuse = (problem: string): CheckResult => refused(source, problem)
    return this.#inTurn(async () => {
      const result = await this.#ask<CheckResult>({ kind: 'check', source, serving }, refuse)
      if (result.ok) this.#isKept = source.text.length >= KEPT_FROM_CHARS
      return result
    })
  }

  /** The plan of a bundle with every secret replaced. @throws Error when that takes too much time or memory. */
  display(bundle: ConfigBundle): Promise<Plan> {
    const fail = (problem: string): never => {
      throw new Error(problem)
    }
    return this.#inTurn(() => this.#ask<Plan>({ kind: 'display', bundle }, fail))
  }

  /** Ends the thread, and what it is doing; the next document starts another. */
  close(): void {
    const thread = this.#thread
    this.#thread = null
    this.#isKept = false
    void thread?.terminate()
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread
    const thread = new Worker(this.#entry, {
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: this.#bounds.memoryMb },
    })
    // Of a thread with nothing to do; the exit follows.
    thread.on('error', () => {})
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = null
    })
    this.#thread = thread
    return thread
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.#turn.then(async () => {
      if (this.#idle !== null) clearTimeout(this.#idle)
      const result = await ask()
      if (!this.#isKept) this.#idle = setTimeout(() => this.close(), this.#bounds.idleMs).unref()
      return result
    })
    this.#turn = answer.catch(() => {})
    return answer
  }

  /** Sends a request to the thread. @param onProblem returns the result if it exceeds its time or memory limit. */
  #ask<T>(question: DocumentQuestion, onProblem: (problem: string) => T): Promise<T> {
    const thread = this.#started()
    const { deadlineMs, memoryMb } = this.#bounds
    return new Promise<T>((resolve, reject) => {
      const end = (): void => {
        stop()
        thread.off('message', settle).off('error', fail).off('exit', fail)
      }
      const settle = (result: T): void => {
        end()
        resolve(result)
      }
      const giveUp = (problem: string): void => {
        end()
        new Promise<T>((done) => done(onProblem(problem))).then(resolve, reject)
      }
      const fail = (reason: NodeJS.ErrnoException | number): void => {
        const isTooLarge = typeof reason === 'object' && reason.code === 'ERR_WORKER_OUT_OF_MEMORY'
        if (isTooLarge) giveUp(`checking the document took more than ${memoryMb} MB of memory`)
        else {
          end()
          reject(reason instanceof Error ? reason : new Error('the check of the document was ended'))
        }
      }
      const stop = processTimeout(new ProcessClock(process.pid), deadlineMs, () => {
        giveUp(`checking the document took longer than ${deadlineMs / 1000} s`)
        this.close()
      })
      thread.on('message', settle).on('error', fail).on('exit', fail)
      thread.postMessage(question)
    })
  }
}

/** How a thread for documents is started. */
export interface DocumentThreadOptions extends Partial<CheckSettings> {
  readonly documentsEntry?: URL
}

/** A thread that loads what checks documents, beside whatever this one does. */
export function startDocumentThread({
  documentsEntry = new URL('./documents-main.js', import.meta.url),
  overrides = {},
  env = process.env,
}: DocumentThreadOptions): DocumentThread {
  return new DocumentThread(documentsEntry, { env: { ...env }, overrides }).start()
}

function refused({ name }: DocumentSource, message: string): CheckResult {
  const place = { file: name, line: 1, column: 1, path: '' }
  const remedy = 'make it smaller; run gw validate for what is wrong with it'
  return { ok: false, diagnostics: [{ severity: 'error', ...place, message, remedy }] }
}
