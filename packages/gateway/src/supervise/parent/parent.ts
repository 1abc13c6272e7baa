import { type ChildProcess, fork } from 'node:child_process'
import { constants } from 'node:os'
import { parentProcessIds } from '@sluice/core/process-stat'
import { createOperationLog, type OperationLog } from '../../telemetry/operation-log.js'
import { RestartBudget } from '../process/restart-budget.js'
import { OrphanedWorkers } from './orphaned-workers.js'
import { LimitCopies } from './parent-copy.js'
import { type FromSupervisor, PARENT_ENV, type ToSupervisor } from './parent-link.js'

/** Base of a shell's exit code for a process ended by a signal. */
const SIGNALLED = 128
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** Time in milliseconds that a supervisor may take to exit after its drain timeout. */
const STOP_GRACE_MS = 30_000
/** Interval in milliseconds for checking the npm that started this process. */
const NPM_POLL_MS = 500

/**
 * Runs this command again as the supervisor, and restarts it when it is killed. Its workers keep serving
 * meanwhile, and the new supervisor takes over from them. Resolves with the exit code when a supervisor exits
 * on request, or cannot start. This process loads next to nothing, so that little can fail in it.
 */
export function runParent(log: OperationLog = createOperationLog()): Promise<number> {
  process.stderr.on('error', () => {})
  return new Parent(log).ended
}

class Parent {
  readonly ended: Promise<number>
  readonly #log: OperationLog
  readonly #workers = new OrphanedWorkers()
  readonly #limits = new LimitCopies()
  #pids: readonly number[] = []
  #end: (code: number) => void = () => {}
  #child: ChildProcess
  #budget = new RestartBudget(() => performance.now())
  #startedMono = 0
  #hasServed = false
  /** True if the supervisor was asked to stop or announced that it will. */
  #isEnding = false
  /** Number of stop signals received. */
  #stops = 0

  constructor(log: OperationLog) {
    this.#log = log
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    for (const signal of SIGNALS) process.on(signal, () => this.#forward(signal))
    if (process.env['npm_execpath'] !== undefined) this.#followNpm()
    this.#child = this.#start()
  }

  #start(): ChildProcess {
    this.#startedMono = performance.now()
    this.#pids = []
    const env = { ...process.env, [PARENT_ENV]: String(process.pid) }
    const child = fork(process.argv[1]!, process.argv.slice(2), { env })
    child.on('message', (message: FromSupervisor) => this.#onMessage(message))
    child.on('error', () => {})
    for (const limits of this.#limits.pieces()) child.send({ limits } satisfies ToSupervisor, () => {})
    child.once('exit', (code, signal) => this.#onExit(code ?? SIGNALLED + constants.signals[signal!]))
    return child
  }

  #forward(signal: (typeof SIGNALS)[number]): void {
    if (signal !== 'SIGHUP') this.#noteStop()
    if (this.#child.connected) this.#child.send({ signal } satisfies ToSupervisor, () => {})
    else if (this.#isEnding) this.#finish(SIGNALLED + constants.signals[signal])
  }

  /**
   * Notes a stop signal. The supervisor stops its own workers. If it hangs, a third signal or the timeout
   * kills it and its workers.
   */
  #noteStop(): void {
    this.#isEnding = true
    this.#stops++
    this.#workers.leave(this.#pids)
    if (this.#stops === 1) setTimeout(() => this.#kill(), this.#workers.drainMs + STOP_GRACE_MS).unref()
    if (this.#stops > 1) this.#workers.cut()
    if (this.#stops > 2) this.#kill()
  }

  #kill(): void {
    this.#workers.cut()
    this.#child.kill('SIGKILL')
  }

  /** Stops the gateway when npm or its shell exits: npx and npm do not forward signals through the shell. */
  #followNpm(): void {
    const parents = String(parentProcessIds())
    const timer = setInterval(() => {
      if (String(parentProcessIds()) === parents) return
      clearInterval(timer)
      this.#log.info('parent.gone', { because: 'the npm process that started the gateway has exited' })
      if (!this.#isEnding) this.#forward('SIGTERM')
    }, NPM_POLL_MS)
    timer.unref()
  }

  /** Resolves `ended` after the workers of killed supervisors have exited too. */
  #finish(code: number): void {
    void this.#workers.end().then(() => this.#end(code))
  }

  #onMessage(message: FromSupervisor): void {
    if (message.state === 'workers') {
      this.#pids = message.pids
      this.#workers.note(message.pids, message.drainMs)
    } else if (message.state === 'limits') this.#limits.note(message.limits)
    else if (message.state === 'ending') this.#isEnding = true
    else {
      // The new supervisor's workers serve, so those of its predecessors can exit.
      this.#workers.leave(this.#pids)
      this.#hasServed = true
      this.#budget = new RestartBudget(() => performance.now())
    }
  }

  #onExit(code: number): void {
    if (this.#isEnding || !this.#hasServed) {
      this.#finish(code)
      return
    }
    const verdict = this.#budget.died({ ageMs: performance.now() - this.#startedMono })
    const facts = { pid: this.#child.pid, code }
    if (verdict.kind === 'stop') {
      this.#log.error('supervisor.crash-loop', { ...facts, deaths: verdict.deaths })
      this.#finish(code === 0 ? 1 : code)
      return
    }
    this.#log.error('supervisor.ended', { ...facts, restartInMs: verdict.delayMs })
    setTimeout(() => {
      if (!this.#isEnding) this.#child = this.#start()
    }, verdict.delayMs)
  }
}
