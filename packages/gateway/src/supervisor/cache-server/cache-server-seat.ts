import { setTimeout as sleep } from 'node:timers/promises'
import type { CacheSettings } from '../../cache-server/settings.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { RestartBudget } from '../restart-budget.js'
import { SILENT, watchSilence } from '../watchdog.js'
import { CacheServerProcess } from './cache-server-process.js'

/** A former supervisor's server needs a moment to let go of the address. */
const TRIES = 4
const BETWEEN_TRIES_MS = 250

/** The place of a cache server, filled until it is ended: a process that dies is followed by another, which is empty; one that hangs is killed. */
export class CacheServerSeat {
  readonly settings: CacheSettings
  restarts = 0
  state: 'starting' | 'ready' | 'restarting' = 'starting'
  readonly #log: OperationLog
  readonly #budget = new RestartBudget(() => performance.now())
  #process: CacheServerProcess | null = null
  #timer: NodeJS.Timeout | null = null
  #isEnded = false

  constructor(settings: CacheSettings, log: OperationLog) {
    this.settings = settings
    this.#log = log
  }

  /** The process; null while there is none. */
  get process(): CacheServerProcess | null {
    return this.#process
  }

  /** Starts it for the first time. Null: it serves; else why it cannot, and nothing runs. */
  async open(): Promise<string | null> {
    for (let tries = 1; ; tries++) {
      const process = new CacheServerProcess(this.settings, this.#log)
      const problem = await process.listening
      if (problem === null) {
        this.#keep(process)
        return null
      }
      if (!problem.includes('EADDRINUSE') || tries === TRIES) return problem
      await sleep(BETWEEN_TRIES_MS)
    }
  }

  /** Starts it, and again while it cannot. Resolves when the first process serves or has ended. */
  async start(): Promise<void> {
    this.#timer = null
    const process = new CacheServerProcess(this.settings, this.#log)
    this.#process = process
    void process.ended.then((reason) => this.#onEnd(process, reason))
    if ((await process.listening) === null) this.#serve(process)
  }

  /** Ends it: what is under way has some time, or is cut. */
  async end({ isCut }: { readonly isCut: boolean }): Promise<void> {
    this.#isEnded = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const process = this.#process
    if (isCut) await process?.kill('is replaced, or the gateway ends')
    else await process?.stop()
  }

  #keep(process: CacheServerProcess): void {
    this.#process = process
    void process.ended.then((reason) => this.#onEnd(process, reason))
    this.#serve(process)
  }

  #serve(process: CacheServerProcess): void {
    if (this.#isEnded) return
    this.state = 'ready'
    void process.ended.then(
      watchSilence(
        () => [process],
        (silent) => this.#giveUp(silent),
      ),
    )
    this.#budget.becameReady()
    const { host, port, workers } = this.settings
    this.#log.info('cache-server.ready', { pid: process.pid, host, port, workers })
  }

  #giveUp(process: CacheServerProcess): void {
    this.#log.error('cache-server.silent', { pid: process.pid })
    void process.kill(SILENT)
  }

  #onEnd(process: CacheServerProcess, reason: string): void {
    this.#process = null
    if (this.#isEnded) return
    const verdict = this.#budget.died({ ageMs: performance.now() - process.startedMono })
    // The workers serve without it: there is no reason to give up.
    const delayMs = verdict.kind === 'restart' ? verdict.delayMs : LONGEST_WAIT_MS
    this.state = 'restarting'
    this.restarts++
    this.#log.error('cache-server.ended', { pid: process.pid, reason, restartInMs: Math.round(delayMs) })
    this.#timer = setTimeout(() => void this.start(), delayMs)
  }
}

const LONGEST_WAIT_MS = 30_000
