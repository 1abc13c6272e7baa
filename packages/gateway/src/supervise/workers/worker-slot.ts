import type { OperationLog } from '../../telemetry/operation-log.js'
import { RestartBudget } from '../process/restart-budget.js'
import type { Assignment } from '../rollout/rollout.js'
import { exitText, type WorkerHandle } from './worker-handle.js'

interface SlotDependencies {
  /** Calls `fill` once another worker may start. */
  enqueue(slot: WorkerSlot): void
  /** Returns a process with this worker number: a new one, or the spare. */
  obtainWorker(worker: number): WorkerHandle
  /** Returns the active bundle, or null before the first rollout. */
  current(): Assignment | null
  /** Returns true if workers may report ready. */
  isOpen(): boolean
  /** Called when the slot's state changes. */
  changed(): void
  /** Called when the slot is given up. */
  gaveUp(reason: string): void
  readonly log: OperationLog
}

/** State of a slot, as shown to operators. */
export type SlotState = 'starting' | 'idle' | 'ready' | 'restarting' | 'stopped'

/**
 * A position for one worker, kept filled while the gateway runs:
 *
 *     starting ──► idle (nothing to serve yet) ──► ready ──┐
 *        ▲                                                 │ death
 *        └───────────────── restarting (back-off) ◄────────┘
 */
export class WorkerSlot {
  readonly worker: number
  restarts = 0
  state: SlotState = 'stopped'
  /** Reason of the last failure to activate the current bundle. */
  refusal = 'the worker did not start; see the log'

  readonly #dependencies: SlotDependencies
  readonly #budget = new RestartBudget(() => performance.now())
  #handle: WorkerHandle | null = null
  #timer: NodeJS.Timeout | null = null
  #catchingUp: WorkerHandle | null = null

  constructor(worker: number, dependencies: SlotDependencies) {
    this.worker = worker
    this.#dependencies = dependencies
  }

  /** The current worker, or null while the slot waits for a restart. */
  get handle(): WorkerHandle | null {
    return this.#handle
  }

  start(): void {
    this.#timer = null
    this.#become('starting')
    this.#dependencies.enqueue(this)
  }

  /** Starts a worker. Resolves with true when it is up, or false if it has exited. */
  fill(): Promise<boolean> {
    const handle = this.#dependencies.obtainWorker(this.worker)
    this.#handle = handle
    void handle.exited.then(() => this.#onExit(handle))
    const started = handle.started()
    void this.#bringUp(handle, started)
    return started
  }

  /** Stops refilling the slot and returns its worker, which the caller has to stop. */
  stop(): WorkerHandle | null {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const handle = this.#handle
    this.#handle = null
    this.#become('stopped')
    return handle
  }

  /**
   * Replaces the worker with a new one and returns the old one, to be drained. One of the two always serves
   * traffic. Returns null if the new one fails, and then nothing has changed.
   */
  async replace(): Promise<WorkerHandle | null> {
    const next = this.#dependencies.obtainWorker(this.worker)
    const isUp = (await next.started()) && (await this.#catchUp(next))
    if (!isUp || this.state === 'stopped') {
      next.kill('the replacement did not start')
      return null
    }
    const last = this.#handle
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#handle = next
    void next.exited.then(() => this.#onExit(next))
    this.#serve(next)
    return last
  }

  /** Updates a worker that does not serve the active bundle. Called after every rollout. */
  async refresh(): Promise<void> {
    const handle = this.#handle
    if (handle === null || this.#catchingUp === handle || this.state === 'starting') return
    this.#catchingUp = handle
    const isCurrent = await this.#catchUp(handle)
    this.#catchingUp = null
    if (handle !== this.#handle) return
    if (!isCurrent) handle.kill('the active bundle cannot be prepared')
    else if (this.#dependencies.current() !== null) this.#serve(handle)
  }

  async #bringUp(handle: WorkerHandle, started: Promise<boolean>): Promise<void> {
    if (!(await started) || handle !== this.#handle) return
    this.#become('idle')
    await this.refresh()
  }

  /** Updates the worker until it serves the active bundle. A rollout may change that meanwhile. */
  async #catchUp(handle: WorkerHandle): Promise<boolean> {
    for (;;) {
      const current = this.#dependencies.current()
      if (current === null || handle.epoch === current.epoch) return true
      const refusal = (await handle.prepare(current)) ?? (await handle.activate(current.epoch))
      if (refusal !== null) {
        this.refusal = refusal
        this.#dependencies.log.error('worker.refused', {
          worker: this.worker,
          pid: handle.pid,
          reason: refusal,
        })
        return false
      }
    }
  }

  #serve(handle: WorkerHandle): void {
    this.#budget.becameReady()
    handle.setReady(this.#dependencies.isOpen())
    if (this.state !== 'ready')
      this.#dependencies.log.info('worker.ready', { worker: this.worker, pid: handle.pid })
    this.#become('ready')
  }

  #onExit(handle: WorkerHandle): void {
    if (handle !== this.#handle) return
    this.#handle = null
    void this.#fillAgain(handle)
  }

  async #fillAgain(handle: WorkerHandle): Promise<void> {
    const exit = await handle.exited
    if (this.state === 'stopped') return
    const reason = handle.killReason ?? exitText(exit)
    const verdict = this.#budget.died(exit)
    const facts = { worker: this.worker, pid: handle.pid, reason, ageMs: Math.round(exit.ageMs) }
    if (verdict.kind === 'stop') {
      this.#dependencies.log.error('worker.crash-loop', { ...facts, deaths: verdict.deaths })
      this.stop()
      this.#dependencies.gaveUp(
        `worker ${this.worker} exited ${verdict.deaths} times before it was ready: ${reason}`,
      )
      return
    }
    this.#dependencies.log.error('worker.ended', { ...facts, restartInMs: verdict.delayMs })
    this.restarts++
    this.#become('restarting')
    this.#timer = setTimeout(() => this.start(), verdict.delayMs)
  }

  #become(state: SlotState): void {
    this.state = state
    this.#dependencies.changed()
  }
}
