import { setTimeout as sleep } from 'node:timers/promises'
import type { CacheSettings } from '../../cache-server/store/settings.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { RestartBudget } from '../process/restart-budget.js'
import { SILENCE_REASON, watchSilence } from '../workers/watchdog.js'
import { CacheServerProcess } from './cache-server-process.js'

/** The server of a previous supervisor may still hold the address for a moment. */
const TRIES = 4
const BETWEEN_TRIES_MS = 250

/**
 * Keeps one cache server process running: restarts it (with an empty cache) when it dies, and kills it when
 * it hangs.
 */
export class CacheServerKeeper {
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

  /** The current process, or null during a restart. */
  get process(): CacheServerProcess | null {
    return this.#process
  }

  /**
   * Starts the server for the first time. Resolves with null once it listens; otherwise with the reason, and
   * nothing is left running.
   */
  async open(): Promise<string | null> {
    for (let tries = 1; ; tries++) {
      const process = new CacheServerProcess(this.settings, this.#log)
      const problem = await process.listening
      if (problem === null) {
        this.#keep(process)
        return null
      }
      if (!problem.includes('address in use') || tries === TRIES) return problem
      await sleep(BETWEEN_TRIES_MS)
    }
  }

  /**
   * Starts the server and retries until it listens. Resolves when the first process listens or has exited.
   */
  async start(): Promise<void> {
    this.#timer = null
    const process = new CacheServerProcess(this.settings, this.#log)
    this.#process = process
    void process.ended.then((reason) => this.#onEnd(process, reason))
    if ((await process.listening) === null) this.#serve(process)
  }

  /** Stops the server for good. `isCut` kills it instead of letting requests in flight finish. */
  async end({ isCut }: { readonly isCut: boolean }): Promise<void> {
    this.#isEnded = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const process = this.#process
    if (isCut) await process?.kill('replaced, or the gateway is stopping')
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
    void process.kill(SILENCE_REASON)
  }

  #onEnd(process: CacheServerProcess, reason: string): void {
    this.#process = null
    if (this.#isEnded) return
    const verdict = this.#budget.died({ ageMs: performance.now() - process.startedMono })
    // The workers can serve without a cache, so there is no reason to give up.
    const delayMs = verdict.kind === 'restart' ? verdict.delayMs : LONGEST_WAIT_MS
    this.state = 'restarting'
    this.restarts++
    this.#log.error('cache-server.ended', { pid: process.pid, reason, restartInMs: Math.round(delayMs) })
    this.#timer = setTimeout(() => void this.start(), delayMs)
  }
}

const LONGEST_WAIT_MS = 30_000
