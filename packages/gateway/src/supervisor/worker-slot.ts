import type { OperationLog } from '../telemetry/operation-log.js'
import { RestartBudget } from './restart-budget.js'
import type { Assignment } from './rollout.js'
import { exitText, type WorkerHandle } from './worker-handle.js'

/** What a slot needs of the pool it stands in. */
export interface SlotSeams {
  /** Calls `fill` once there is room for one more worker that starts. */
  enqueue(slot: WorkerSlot): void
  /** A process that knows it is this worker: a new one, or the spare. */
  seat(worker: number): WorkerHandle
  /** What a worker has to serve; null before the first rollout. */
  current(): Assignment | null
  /** Whether workers may say that they are ready. */
  isOpen(): boolean
  /** Something changed that others may wait for. */
  changed(): void
  /** The slot is given up. */
  gaveUp(reason: string): void
  readonly log: OperationLog
}

/** The state of a slot, as operators see it. */
export type SlotState = 'starting' | 'idle' | 'ready' | 'restarting' | 'stopped'

/**
 * One place for a worker, filled for as long as the gateway runs:
 *
 *     starting ──► idle (nothing to serve yet) ──► ready ──┐
 *        ▲                                                 │ death
 *        └───────────────── restarting (back-off) ◄────────┘
 */
export class WorkerSlot {
  readonly worker: number
  restarts = 0
  state: SlotState = 'stopped'
  /** Why a worker could not serve what was current, the last time. */
  refusal = 'the worker did not come up; see the log'

  readonly #seams: SlotSeams
  readonly #budget = new RestartBudget(() => performance.now())
  #handle: WorkerHandle | null = null
  #timer: NodeJS.Timeout | null = null
  #catchingUp: WorkerHandle | null = null

  constructor(worker: number, seams: SlotSeams) {
    this.worker = worker
    this.#seams = seams
  }

  /** The worker that serves or is about to; null while the slot waits to be filled again. */
  get handle(): WorkerHandle | null {
    return this.#handle
  }

  /** Has the slot filled in its turn. */
  start(): void {
    this.#timer = null
    this.#become('starting')
    this.#seams.enqueue(this)
  }

  /** Resolves when the worker is up, or has ended. */
  fill(): Promise<boolean> {
    const handle = this.#seams.seat(this.worker)
    this.#handle = handle
    void handle.exited.then(() => this.#onExit(handle))
    const started = handle.started()
    void this.#bringUp(handle, started)
    return started
  }

  /** Lets the slot's worker end by its own; nothing fills the slot again. */
  stop(): WorkerHandle | null {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const handle = this.#handle
    this.#handle = null
    this.#become('stopped')
    return handle
  }

  /**
   * Puts a new worker in the place of the one that serves, which is handed back to be drained: traffic always finds
   * one of the two. Null when the new one did not come up, and then nothing has changed.
   */
  async replace(): Promise<WorkerHandle | null> {
    const next = this.#seams.seat(this.worker)
    const isUp = (await next.started()) && (await this.#catchUp(next))
    if (!isUp || this.state === 'stopped') {
      next.kill('the replacement did not come up')
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

  /** Brings a worker that serves another bundle than the current one up to date; called after every rollout. */
  async refresh(): Promise<void> {
    const handle = this.#handle
    if (handle === null || this.#catchingUp === handle || this.state === 'starting') return
    this.#catchingUp = handle
    const isCurrent = await this.#catchUp(handle)
    this.#catchingUp = null
    if (handle !== this.#handle) return
    if (!isCurrent) handle.kill('the current bundle cannot be prepared')
    else if (this.#seams.current() !== null) this.#serve(handle)
  }

  async #bringUp(handle: WorkerHandle, started: Promise<boolean>): Promise<void> {
    if (!(await started) || handle !== this.#handle) return
    this.#become('idle')
    await this.refresh()
  }

  /** Until the worker serves what is current; a rollout may have moved on in between. */
  async #catchUp(handle: WorkerHandle): Promise<boolean> {
    for (;;) {
      const current = this.#seams.current()
      if (current === null || handle.epoch === current.epoch) return true
      const refusal = (await handle.prepare(current)) ?? (await handle.activate(current.epoch))
      if (refusal !== null) {
        this.refusal = refusal
        this.#seams.log.error('worker.refused', { worker: this.worker, pid: handle.pid, reason: refusal })
        return false
      }
    }
  }

  #serve(handle: WorkerHandle): void {
    this.#budget.becameReady()
    handle.setReady(this.#seams.isOpen())
    if (this.state !== 'ready') {
      this.#seams.log.info('worker.ready', { worker: this.worker, pid: handle.pid })
    }
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
      this.#seams.log.error('worker.crash-loop', { ...facts, deaths: verdict.deaths })
      this.stop()
      this.#seams.gaveUp(`worker ${this.worker} ended ${verdict.deaths} times before it was ready: ${reason}`)
      return
    }
    this.#seams.log.error('worker.ended', { ...facts, restartInMs: verdict.delayMs })
    this.restarts++
    this.#become('restarting')
    this.#timer = setTimeout(() => this.start(), verdict.delayMs)
  }

  #become(state: SlotState): void {
    this.state = state
    this.#seams.changed()
  }
}
