import { Worker } from 'node:worker_threads'
import type { ConfigBundle, DocumentSource, Plan, VaultRequest, VaultValues } from '@sluice/config'
import { ProcessClock, processTimeout } from '../process/process-clock.js'
import type { BundleQuestion, CheckResult, CheckSettings, DocumentRequest } from './document-checks.js'
import type { DocumentAnswer } from './documents.js'

/** Limits for checking a document. A document that exceeds them is refused. */
export interface CheckBounds {
  /** CPU time of this process for one document, in milliseconds. */
  readonly deadlineMs: number
  /** Maximum heap size of the thread in MB. */
  readonly memoryMb: number
  /** Idle time in milliseconds after which the thread exits to free its memory. */
  readonly idleMs: number
}

/**
 * Minimum document length, in characters, for which the thread stays alive. Its cache takes seconds to
 * rebuild.
 */
const KEPT_FROM_CHARS = 256 * 1024

/** Maximum number of questions that wait for the thread or for Vault, so that they do not hold up deploys. */
const MAX_QUESTIONS = 4
/** CPU time for a question, in milliseconds. */
const QUESTION_MS = 10_000

/** Far more than a 4 MB document needs: 45,000 routes take 10 s and 0.5 GB. */
const BOUNDS: CheckBounds = { deadlineMs: 60_000, memoryMb: 1024, idleMs: 30_000 }

const NO_SECRETS: VaultValues = new Map()

/**
 * Checks documents in a thread, so that the supervisor keeps answering health checks and watching workers. It
 * handles one request at a time.
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
  #questionCount = 0

  /** @param entry module that the thread runs; it calls `checkDocuments`. */
  constructor(entry: URL, settings: CheckSettings, bounds: CheckBounds = BOUNDS) {
    this.#entry = entry
    this.#settings = settings
    this.#bounds = bounds
  }

  /** Starts the thread ahead of the first request. Loading its modules takes most of that request's time. */
  start(): this {
    this.#started()
    return this
  }

  /**
   * Returns the bundle and its changes, or the errors in the document.
   * @param serving running bundle for comparison, or null.
   * @throws Error when the check itself fails.
   */
  load(
    source: DocumentSource,
    serving: ConfigBundle | null,
    secrets: VaultValues = NO_SECRETS,
  ): Promise<CheckResult> {
    const refuse = (problem: string): CheckResult => refused(source, problem)
    return this.#inTurn(async () => {
      const result = await this.#ask<CheckResult>({ kind: 'check', source, serving, secrets }, refuse)
      if (result.ok) this.#isKept = source.text.length >= KEPT_FROM_CHARS
      return result
    })
  }

  /** Returns the secrets in Vault that a document needs, or null. */
  vaultRequest(source: DocumentSource): Promise<VaultRequest | null> {
    if (!source.text.includes('${vault:')) return Promise.resolve(null)
    return this.#inTurn(() => this.#ask<VaultRequest | null>({ kind: 'vault', source }, () => null))
  }

  /** Returns a bundle's plan with all secrets masked. @throws Error if that takes too much time or memory. */
  display(bundle: ConfigBundle): Promise<Plan> {
    const fail = (problem: string): never => {
      throw new Error(problem)
    }
    return this.#inTurn(() => this.#ask<Plan>({ kind: 'display', bundle }, fail))
  }

  /** Answers a question about a bundle. */
  ask(question: BundleQuestion): Promise<DocumentAnswer> {
    return this.#question(() =>
      this.#inTurn(async () => {
        const fail = (problem: string): Error => new Error(problem)
        const result = await this.#ask<string | Error>(question, fail, QUESTION_MS)
        return typeof result === 'string' ? { ok: true, json: result } : failed(result.message)
      }),
    )
  }

  /**
   * Returns the changes between two documents.
   * @param secretsOf reads the secrets of both from Vault. It may take long, so it runs before the turn in the thread.
   */
  compare(
    before: DocumentSource,
    after: DocumentSource,
    secretsOf: () => Promise<VaultValues> = async () => NO_SECRETS,
  ): Promise<DocumentAnswer> {
    const load = (source: DocumentSource, serving: ConfigBundle | null, secrets: VaultValues) =>
      this.#ask<CheckResult>(
        { kind: 'check', source, serving, secrets },
        (problem) => refused(source, problem),
        QUESTION_MS,
      )
    return this.#question(async () => {
      const secrets = await secretsOf()
      return this.#inTurn(async () => {
        const first = await load(before, null, secrets)
        const second = first.ok ? await load(after, first.bundle, secrets) : first
        if (second.ok) return { ok: true, json: JSON.stringify({ changes: second.changes }) }
        return failed(`the document is not valid any more: ${second.diagnostics[0]?.message}`)
      })
    })
  }

  async #question(ask: () => Promise<DocumentAnswer>): Promise<DocumentAnswer> {
    if (this.#questionCount >= MAX_QUESTIONS)
      return { ok: false, isBusy: true, problem: 'too many requests; try again' }
    this.#questionCount++
    try {
      return await ask()
    } finally {
      this.#questionCount--
    }
  }

  /** Terminates the thread and its current request. The next request starts a new thread. */
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
    // Errors of an idle thread need no handling: its exit follows.
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
  #ask<T>(
    request: DocumentRequest,
    onProblem: (problem: string) => T,
    deadlineMs = this.#bounds.deadlineMs,
  ): Promise<T> {
    const thread = this.#started()
    const { memoryMb } = this.#bounds
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
          reject(reason instanceof Error ? reason : new Error('the document check was terminated'))
        }
      }
      const stop = processTimeout(new ProcessClock(process.pid), deadlineMs, () => {
        giveUp(`checking the document took longer than ${deadlineMs / 1000} s`)
        this.close()
      })
      thread.on('message', settle).on('error', fail).on('exit', fail)
      thread.postMessage(request)
    })
  }
}

interface DocumentThreadOptions extends Partial<CheckSettings> {
  readonly documentsEntry?: URL
}

/** Starts a thread that loads the modules for checking documents in the background. */
export function startDocumentThread({
  documentsEntry = new URL('./documents-main.js', import.meta.url),
  overrides = {},
  env = process.env,
}: DocumentThreadOptions): DocumentThread {
  return new DocumentThread(documentsEntry, { env: { ...env }, overrides }).start()
}

function failed(problem: string): DocumentAnswer {
  return { ok: false, isBusy: false, problem }
}

function refused({ name }: DocumentSource, message: string): CheckResult {
  const place = { file: name, line: 1, column: 1, path: '' }
  const remedy = 'make the document smaller; run gw validate to find its errors'
  return { ok: false, diagnostics: [{ severity: 'error', ...place, message, remedy }] }
}
