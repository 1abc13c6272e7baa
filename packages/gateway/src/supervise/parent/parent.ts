import { type ChildProcess, fork, type SendHandle } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { isAbsolute } from 'node:path'
import { parentProcessIds } from '@sluice/core/process-stat'
import { createOperationLog, type OperationLog } from '../../telemetry/operation-log.js'
import { REPLACES_ENV } from '../../worker/messages.js'
import { RestartBudget } from '../process/restart-budget.js'
import { OrphanedWorkers } from './orphaned-workers.js'
import { LimitCopies } from './parent-copy.js'
import { type FromSupervisor, PARENT_ENV, type ToSupervisor } from './parent-link.js'

/** Base of a shell's exit code for a process ended by a signal. */
const SIGNALLED = 128
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const
/** Time in milliseconds that a supervisor may take to exit after its drain timeout. */
const STOP_GRACE_MS = 30_000
/** Interval in milliseconds for checking the npm that started this process. */
const NPM_POLL_MS = 500
/** Time in milliseconds in which the next version must serve. */
const UPGRADE_MS = 120_000

/**
 * Runs this command again as the supervisor, and restarts it when it is killed. Its workers keep serving
 * meanwhile, and the new supervisor takes over from them. On request, it starts the supervisor of a new version
 * beside the running one, which then drains. Resolves with the exit code when a supervisor exits on request, or
 * cannot start. This process loads next to nothing, so that little can fail in it.
 */
export function runParent(log: OperationLog = createOperationLog()): Promise<number> {
  process.stderr.on('error', () => {})
  return new Parent(log).ended
}

/** A running upgrade. Until the next version serves, the last one has changed nothing. */
interface Upgrade {
  /** The supervisor that serves. */
  readonly last: ChildProcess
  /** The supervisor of the next version. */
  readonly next: ChildProcess
  readonly startedMono: number
  readonly timer: NodeJS.Timeout
}

class Parent {
  readonly ended: Promise<number>
  readonly #log: OperationLog
  readonly #workers = new OrphanedWorkers()
  readonly #limits = new LimitCopies()
  #end: (code: number) => void = () => {}
  /** The supervisor that serves, or starts. */
  #child: ChildProcess
  /** Workers of each running supervisor. */
  readonly #pids = new Map<ChildProcess, readonly number[]>()
  #upgrade: Upgrade | null = null
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
    const child = this.#fork()
    for (const limits of this.#limits.pieces()) send(child, { limits })
    return child
  }

  /** Runs this command again. A link in its path, or in that of Node.js, may name another version by now. */
  #fork(more: NodeJS.ProcessEnv = {}): ChildProcess {
    const env = { ...process.env, ...more, [PARENT_ENV]: String(process.pid) }
    const { argv0 } = process
    const execPath = isAbsolute(argv0) && existsSync(argv0) ? argv0 : process.execPath
    const child = fork(process.argv[1]!, process.argv.slice(2), { env, execPath })
    this.#pids.set(child, [])
    child.on('message', (message: FromSupervisor, handle: unknown) => this.#onMessage(child, message, handle))
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      const end = (): void => this.#onExit(child, code ?? SIGNALLED + constants.signals[signal!])
      // Its last messages may still arrive, such as that it serves.
      if (child.connected) child.once('disconnect', end)
      else end()
    })
    return child
  }

  #forward(signal: (typeof SIGNALS)[number]): void {
    const isStop = signal === 'SIGTERM' || signal === 'SIGINT'
    if (isStop) this.#noteStop()
    if (isStop) for (const other of this.#others()) send(other, { signal })
    if (this.#child.connected) send(this.#child, { signal })
    else if (this.#isEnding) this.#finish(SIGNALLED + constants.signals[signal])
  }

  /**
   * Notes a stop signal. The supervisor stops its own workers. If it hangs, a third signal or the timeout
   * kills it and its workers.
   */
  #noteStop(): void {
    this.#isEnding = true
    this.#stops++
    this.#leaveOrphans()
    if (this.#stops === 1) setTimeout(() => this.#kill(), this.#workers.drainMs + STOP_GRACE_MS).unref()
    if (this.#stops > 1) this.#workers.cut()
    if (this.#stops > 2) this.#kill()
  }

  /** Asks workers whose supervisor has ended to finish their requests. */
  #leaveOrphans(): void {
    this.#workers.leave([...this.#pids.values()].flat())
  }

  #kill(): void {
    this.#workers.cut()
    for (const child of this.#pids.keys()) child.kill('SIGKILL')
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

  /** Resolves `ended` after other supervisors, and the workers of killed ones, have exited too. */
  #finish(code: number): void {
    this.#isEnding = true
    const exits = this.#others().map((child) => {
      send(child, { signal: 'SIGTERM' })
      return new Promise((resolve) => child.once('exit', resolve))
    })
    void Promise.all([this.#workers.end(), ...exits]).then(() => this.#end(code))
  }

  /** Supervisors of other versions: starting, or finishing their requests. */
  #others(): ChildProcess[] {
    return [...this.#pids.keys()].filter((child) => child !== this.#child)
  }

  #onMessage(child: ChildProcess, message: FromSupervisor, handle: unknown): void {
    const isNext = child === this.#upgrade?.next
    const { state } = message
    if (state === 'workers') {
      this.#pids.set(child, message.pids)
      this.#workers.note(message.pids, message.drainMs)
    } else if (state === 'handover') {
      send(child === this.#child ? this.#upgrade?.next : this.#child, message.message, handle)
    } else if (state === 'failed') {
      if (isNext) this.#failUpgrade(message.reason)
    } else if (isNext) {
      if (state === 'serving') this.#succeed(message.version)
    } else if (child !== this.#child) return
    else if (state === 'limits') this.#limits.note(message.limits)
    else if (state === 'ending') this.#isEnding = true
    else if (state === 'upgrade') this.#beginUpgrade()
    else this.#onServing()
  }

  /** The supervisor's workers serve, so those of killed supervisors can exit. */
  #onServing(): void {
    this.#leaveOrphans()
    this.#hasServed = true
    this.#budget = new RestartBudget(() => performance.now())
  }

  /** Starts the next version beside the running one. */
  #beginUpgrade(): void {
    const last = this.#child
    if (this.#isEnding || this.#others().length > 0) {
      const reason = this.#isEnding
        ? 'the gateway is stopping'
        : 'the processes of the last upgrade still finish their requests; try again later'
      send(last, { upgrade: { ok: false, reason } })
      return
    }
    const next = this.#fork({ [REPLACES_ENV]: String(last.pid) })
    const timer = setTimeout(() => this.#failUpgrade(`not ready after ${UPGRADE_MS / 1000} s`), UPGRADE_MS)
    this.#log.info('upgrade.begun', { pid: next.pid, replaces: last.pid })
    this.#upgrade = { last, next, startedMono: performance.now(), timer }
  }

  /** The next version failed, so the running one continues. */
  #failUpgrade(why: string): void {
    if (this.#upgrade === null) return
    const { next, last, timer } = this.#upgrade
    clearTimeout(timer)
    this.#upgrade = null
    const reason = `the next version did not start: ${why}`
    this.#log.error('upgrade.failed', { pid: next.pid, reason })
    send(last, { upgrade: { ok: false, reason } })
    this.#retire(next)
  }

  #succeed(version: string): void {
    const { next, last, startedMono, timer } = this.#upgrade!
    clearTimeout(timer)
    this.#upgrade = null
    const { pid = 0 } = next
    const durationMs = Math.round(performance.now() - startedMono)
    this.#log.info('upgrade.serving', { pid, replaces: last.pid, version, durationMs })
    this.#child = next
    this.#startedMono = startedMono
    send(last, { upgrade: { ok: true, pid, version, durationMs } })
    this.#retire(last)
  }

  /** Has a supervisor finish its requests and exit, because another one serves. */
  #retire(child: ChildProcess): void {
    send(child, { phase: 'replaced' })
    setTimeout(() => child.kill('SIGKILL'), this.#workers.drainMs + STOP_GRACE_MS).unref()
  }

  #onExit(child: ChildProcess, code: number): void {
    this.#pids.delete(child)
    if (child === this.#child) {
      this.#onServingExit(child, code)
      return
    }
    this.#log.info('upgrade.ended', { pid: child.pid, code })
    if (child === this.#upgrade?.next) this.#failUpgrade(`it ended with code ${code}; see the log`)
    this.#leaveOrphans()
    send(this.#child, { phase: 'released' })
  }

  #onServingExit(child: ChildProcess, code: number): void {
    this.#failUpgrade('the running supervisor ended')
    if (this.#isEnding || !this.#hasServed) {
      this.#finish(code)
      return
    }
    const verdict = this.#budget.died({ ageMs: performance.now() - this.#startedMono })
    const facts = { pid: child.pid, code }
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

/** Sends a message to a supervisor, unless it has exited. Closes this process's copy of the handle. */
function send(to: ChildProcess | undefined, message: ToSupervisor, handle?: unknown): void {
  const close = (): void => (handle as { close(): void } | undefined)?.close()
  if (to?.connected) to.send(message, handle as SendHandle, {}, close)
  else close()
}
