import { Worker } from 'node:worker_threads'
import type { DocumentSource, LoadResult } from '@sluice/config'
import type { CheckSettings } from './document-checks.js'
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
 * A thread that has loaded a document from this length on stays: it has what the next version needs, and would take seconds
 * to make it again.
 */
const KEPT_FROM_CHARS = 256 * 1024

/** Far more than documents of 4 MB need: 45,000 routes take 10 s and 0.5 GB. */
const BOUNDS: CheckBounds = { deadlineMs: 60_000, memoryMb: 1024, idleMs: 30_000 }

/**
 * Checks documents beside the supervisor's event loop, which goes on answering health checks and watching workers
 * however long a document takes. One at a time: the deployment queue sends no other meanwhile.
 */
export class DocumentThread {
  readonly #entry: URL
  readonly #settings: CheckSettings
  readonly #bounds: CheckBounds
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | null = null

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

  /** The bundle, or what is wrong with the document. @throws Error when the check itself fails. */
  async load(source: DocumentSource): Promise<LoadResult> {
    if (this.#idle !== null) clearTimeout(this.#idle)
    const result = await this.#check(this.#started(), source)
    const isKept = result.ok && source.text.length >= KEPT_FROM_CHARS
    if (!isKept) this.#idle = setTimeout(() => this.close(), this.#bounds.idleMs).unref()
    return result
  }

  /** Ends the thread, and what it is doing; the next document starts another. */
  close(): void {
    const thread = this.#thread
    this.#thread = null
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

  #check(thread: Worker, source: DocumentSource): Promise<LoadResult> {
    const { deadlineMs, memoryMb } = this.#bounds
    return new Promise<LoadResult>((resolve, reject) => {
      const settle = (result: LoadResult): void => {
        stop()
        thread.off('message', settle).off('error', fail).off('exit', fail)
        resolve(result)
      }
      const fail = (reason: NodeJS.ErrnoException | number): void => {
        const isTooLarge = typeof reason === 'object' && reason.code === 'ERR_WORKER_OUT_OF_MEMORY'
        if (!isTooLarge)
          reject(reason instanceof Error ? reason : new Error('the check of the document was ended'))
        settle(refused(source, `checking the document took more than ${memoryMb} MB of memory`))
      }
      const stop = processTimeout(new ProcessClock(process.pid), deadlineMs, () => {
        settle(refused(source, `checking the document took longer than ${deadlineMs / 1000} s`))
        this.close()
      })
      thread.on('message', settle).on('error', fail).on('exit', fail)
      thread.postMessage(source)
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

function refused({ name }: DocumentSource, message: string): LoadResult {
  const place = { file: name, line: 1, column: 1, path: '' }
  const remedy = 'make it smaller; run gw validate for what is wrong with it'
  return { ok: false, diagnostics: [{ severity: 'error', ...place, message, remedy }] }
}
