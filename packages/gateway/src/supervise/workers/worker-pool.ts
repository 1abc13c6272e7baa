import { randomBytes } from 'node:crypto'
import { EMPTY_LOG, type LogIdentity } from '@sluice/core'
import type { KnownService } from '../../kubernetes/known-services.js'
import type { SharedMemory } from '../../state/shared-memory.js'
import { answerCalls } from '../../state/state-calls.js'
import { SampleLedger } from '../../telemetry/merge.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import {
  NO_TARGET_FACTS,
  type ResponsesQuery,
  type StepTraceSession,
  type TargetFacts,
  type TargetOutage,
} from '../../worker/messages.js'
import type { Assignment, Participant, Refusal } from '../rollout/rollout.js'
import { LogLedger } from './log-ledger.js'
import { BATCH, EARLY_HEAD_BYTES, heapFlags } from './sizing.js'
import { SpareWorker } from './spare-worker.js'
import { StateChanges } from './state-changes.js'
import { SILENCE_REASON, watchSilence } from './watchdog.js'
import type { ResponsesAnswer, StepTraceLosses, WorkerHandle } from './worker-handle.js'
import { WorkerSlot } from './worker-slot.js'

/**
 * Starts a worker process, one of `workers`. `headBytes` is the largest request head that its native parser
 * accepts. `reservedBytes` is the memory used by processes other than workers.
 */
export type Fork = (headBytes: number, workers: number, reservedBytes: number) => WorkerHandle

/** Dependencies of `WorkerPool`. */
export interface PoolOptions {
  readonly fork: Fork
  readonly log: OperationLog
  /** Memory shared by the workers. */
  readonly memory: SharedMemory
  /** Returns the heap option for each of this many workers. Defaults to that of this machine. */
  readonly heapOf?: (workers: number, reservedBytes: number) => string
  /** Called once for each slot that cannot be filled. */
  readonly onGaveUp: (reason: string) => void
  /** Called when a worker is added or removed, or changes its state. */
  readonly onChanged: () => void
}

/** Parameters of the first workers. */
export interface FirstWorkers {
  readonly headBytes: number
  /** Memory used by processes other than workers, in bytes. */
  readonly reservedBytes: number
}

/** The workers of the gateway: one slot for each worker in the plan, kept filled. */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #changes = new StateChanges()
  readonly #samples = new SampleLedger()
  readonly #logs = new LogLedger()
  /** Running processes, including draining ones. */
  readonly #live = new Set<WorkerHandle>()
  readonly #spare = new SpareWorker((headBytes) => this.#fork(headBytes))
  readonly #stopWatch: () => void
  /** Restart counts of slots removed by a smaller worker count, continued if they return. */
  readonly #restarts = new Map<number, number>()
  isStarted = false
  /** Memory used by processes other than workers, in bytes. Applies to workers started from now on. */
  reservedBytes = 0
  /** Called with each traced request, as JSON. */
  onStepTrace: (session: number, trace: string) => void = () => {}
  #slots: WorkerSlot[] = []
  /** Slots waiting to be started. */
  #queue: WorkerSlot[] = []
  #startingCount = 0
  #count = 0
  #current: Assignment | null = null
  #headBytes = 0
  #ticketSecret = randomBytes(32)
  readonly #ticketTimer = setInterval(() => this.#rotateTickets(), TICKET_LIFETIME_MS).unref()
  #targets = NO_TARGET_FACTS
  #stepTraces: readonly StepTraceSession[] = []
  #isOpen = true
  #isEnding = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#stopWatch = watchSilence(
      () => this.#live,
      (silent) => {
        options.log.error('worker.silent', { worker: silent.worker, pid: silent.pid })
        silent.kill(SILENCE_REASON)
      },
    )
  }

  get slots(): readonly WorkerSlot[] {
    return this.#slots
  }

  get live(): ReadonlySet<WorkerHandle> {
    return this.#live
  }

  /** The process ready to fill a slot, or null. */
  get spare(): WorkerHandle | null {
    return this.#spare.handle
  }

  get headBytes(): number {
    return this.#headBytes
  }

  get readyCount(): number {
    return this.#slots.filter((slot) => slot.handle?.isReady === true).length
  }

  /** Starts the first workers before their document is known. */
  startEarly(count: number): void {
    this.#headBytes = EARLY_HEAD_BYTES
    this.#grow(count)
  }

  /**
   * Fills the first slots. Resolves with true when every worker waits for its bundle, or false if one cannot
   * start.
   */
  async start(count: number, { headBytes, reservedBytes }: FirstWorkers): Promise<boolean> {
    this.isStarted = true
    const { heapOf = heapText } = this.#options
    // Workers started for smaller heads or another heap size must be replaced.
    const isOfOtherHeap = heapOf(count, reservedBytes) !== heapOf(this.#count, this.reservedBytes)
    if (headBytes > this.#headBytes || isOfOtherHeap) this.resize(0, 0)
    this.reservedBytes = reservedBytes
    this.#headBytes = Math.max(headBytes, this.#headBytes)
    this.resize(count, 0)
    // Each start has its own deadline, and a slot whose workers do not start is given up.
    await this.#changes.until(() => this.#slots.every((slot) => slot.state === 'idle' || isStopped(slot)))
    return this.#slots.every((slot) => slot.state === 'idle')
  }

  /**
   * Returns the workers that take part in a rollout. Waits for those that are starting. A worker being
   * restarted has no vote, and starts with whatever bundle is active then.
   */
  async participants(): Promise<Participant[]> {
    await this.#changes.until(() => this.#isSettled(), SETTLE_MS)
    // Before the first bundle there is nothing to serve, so wait as long as a slot may still be filled.
    if (this.#current === null)
      await this.#changes.until(() => this.#voters().length > 0 || this.#slots.every(isStopped))
    return this.#voters().map((slot) => slot.handle!)
  }

  /** Makes a bundle the active one. Resolves when the workers that voted are ready. */
  async commit(assignment: Assignment): Promise<void> {
    this.#current = assignment
    await this.#refresh()
  }

  /** Waits until every slot is ready. Resolves with false if a slot was given up. */
  async allReady(): Promise<boolean> {
    await this.#changes.until(() => this.#slots.every((slot) => slot.state === 'ready' || isStopped(slot)))
    return this.#slots.every((slot) => slot.state === 'ready')
  }

  /** Adds slots, or removes the last ones and drains their workers. */
  resize(count: number, drainMs: number): void {
    for (const slot of this.#slots.splice(count)) {
      this.#restarts.set(slot.worker, slot.restarts)
      void slot.stop()?.drain(drainMs)
    }
    this.#grow(count)
  }

  /** Replaces the workers one at a time by processes whose native parser accepts larger heads. */
  async replaceAll(headBytes: number, drainMs: number): Promise<void> {
    this.#headBytes = headBytes
    for (const slot of [...this.#slots]) {
      if (this.#isEnding) return
      const last = await slot.replace()
      void last?.drain(drainMs)
    }
  }

  /**
   * Activates a bundle in new processes, which replace the old ones one at a time. Resolves with null on
   * success. If the first process fails, resolves with the reason, and the old ones keep their bundle.
   */
  async renew(assignment: Assignment, drainMs: number): Promise<Refusal> {
    const before = this.#current
    this.#current = assignment
    for (const slot of [...this.#slots]) {
      if (this.#isEnding) return 'the gateway is stopping'
      const last = await slot.replace()
      if (last === null && slot === this.#slots[0]) {
        this.#current = before
        await this.#refresh()
        return slot.refusal
      }
      void last?.drain(drainMs)
    }
    await this.#refresh()
    return null
  }

  async #refresh(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.refresh()))
  }

  /** Makes all current and future workers answer readiness probes with 503. */
  closeGates(): void {
    this.#isOpen = false
    for (const handle of this.#live) handle.setReady(false)
  }

  /**
   * Drains and stops all workers. Resolves with the number of requests cut.
   * @param isReplaced true if other workers serve on the same ports.
   */
  async drain(deadlineMs: number, isReplaced = false): Promise<number> {
    this.#endSlots()
    const cuts = await Promise.all([...this.#live].map((handle) => handle.drain(deadlineMs, isReplaced)))
    return cuts.reduce((total, cut) => total + cut, 0)
  }

  /** Ends the current drain immediately. */
  cut(): void {
    for (const handle of this.#live) handle.cut()
  }

  /** Kills all workers and waits until they have exited. */
  async close(): Promise<void> {
    this.#stopWatch()
    clearInterval(this.#ticketTimer)
    this.#endSlots()
    const gone = [...this.#live].map((handle) => handle.exited)
    for (const handle of this.#live) handle.kill('the gateway is stopping')
    await Promise.all(gone)
  }

  /**
   * Returns the current metrics of all workers, or the last known ones of a worker that does not answer in
   * time.
   */
  async samples(): Promise<Sample[]> {
    await Promise.all([...this.#live].map((handle) => handle.sample()))
    return this.#samples.merged([...this.#live].map((handle) => handle.lastSamples))
  }

  logIdentity(): LogIdentity {
    return this.#logs.total([...this.#live].map((handle) => handle.lastLog ?? EMPTY_LOG))
  }

  /**
   * Queries or purges the stored responses of all workers. The result is null for a worker that did not
   * answer in time.
   */
  queryResponses(what: ResponsesQuery): Promise<(ResponsesAnswer | null)[]> {
    return Promise.all([...this.#live].map((handle) => handle.queryResponses(what)))
  }

  /** Tells all current and future workers which targets are out of service. */
  setOutages(outages: readonly TargetOutage[]): Promise<void> {
    return this.#setTargets({ ...this.#targets, outages })
  }

  /** Tells all current and future workers the pods of Services. */
  setServices(services: readonly KnownService[]): Promise<void> {
    return this.#setTargets({ ...this.#targets, services })
  }

  async #setTargets(targets: TargetFacts): Promise<void> {
    this.#targets = targets
    await Promise.all([...this.#live].map((handle) => handle.setTargets(targets)))
  }

  /**
   * Sets the step traces of all current and future workers. Resolves with the losses of sessions that ended; null for
   * a worker that did not answer in time.
   */
  setStepTraces(sessions: readonly StepTraceSession[]): Promise<(StepTraceLosses | null)[]> {
    this.#stepTraces = sessions
    return Promise.all([...this.#live].map((handle) => handle.setStepTraces(sessions)))
  }

  /** Replaces the secret of session tickets in all current and future workers. Older tickets no longer resume. */
  #rotateTickets(): void {
    this.#ticketSecret = randomBytes(32)
    for (const handle of this.#live) handle.setTicketSecret(this.#ticketSecret)
  }

  #endSlots(): void {
    this.#isEnding = true
    this.#spare.close()
    for (const slot of this.#slots) slot.stop()
  }

  #grow(count: number): void {
    this.#count = count
    while (this.#slots.length < count && !this.#isEnding) {
      const slot = new WorkerSlot(this.#slots.length + 1, {
        enqueue: (waiting) => {
          this.#queue.push(waiting)
          this.#fillNext()
        },
        obtainWorker: (worker) => this.#obtainWorker(worker),
        current: () => this.#current,
        isOpen: () => this.#isOpen,
        changed: () => this.#changed(),
        gaveUp: this.#options.onGaveUp,
        log: this.#options.log,
      })
      slot.restarts = this.#restarts.get(slot.worker) ?? 0
      this.#slots.push(slot)
      slot.start()
    }
  }

  /** Starts at most one worker per CPU at a time. More would only slow each other down. */
  #fillNext(): void {
    while (this.#startingCount < BATCH) {
      const slot = this.#queue.shift()
      if (slot === undefined) return
      if (isStopped(slot)) continue
      this.#startingCount++
      void slot.fill().then(() => {
        this.#startingCount--
        this.#fillNext()
      })
    }
  }

  #obtainWorker(worker: number): WorkerHandle {
    const handle = this.#spare.take(this.#headBytes) ?? this.#fork(this.#headBytes)
    handle.assignNumber(worker)
    return handle
  }

  /** Starts the spare once all slots are ready, so that it does not slow them down. */
  #changed(): void {
    this.#changes.notify()
    this.#options.onChanged()
    const isServed = this.#slots.length > 0 && this.#slots.every((slot) => slot.state === 'ready')
    if (isServed) this.#spare.keep(this.#headBytes)
  }

  #fork(headBytes: number): WorkerHandle {
    const handle = this.#options.fork(headBytes, this.#count, this.reservedBytes)
    handle.onChanged = (uris) => {
      for (const other of this.#live) if (other !== handle) other.tellChanged(uris)
    }
    handle.answerState = (calls) => answerCalls((key) => this.#options.memory.tableOf(key), calls)
    handle.setTicketSecret(this.#ticketSecret)
    void handle.setTargets(this.#targets)
    void handle.setStepTraces(this.#stepTraces)
    handle.onStepTrace = (session, trace) => this.onStepTrace(session, trace)
    this.#live.add(handle)
    void handle.exited.then(() => {
      this.#live.delete(handle)
      this.#samples.retire(handle.lastSamples)
      this.#logs.retire(handle.lastLog ?? EMPTY_LOG)
    })
    return handle
  }

  #voters(): WorkerSlot[] {
    const isVoter = (slot: WorkerSlot): boolean =>
      slot.state === 'ready' || (slot.state === 'idle' && this.#current === null)
    return this.#slots.filter(isVoter)
  }

  #isSettled(): boolean {
    const isMoving = (slot: WorkerSlot): boolean =>
      slot.state === 'starting' || (slot.state === 'idle' && this.#current !== null)
    return this.#voters().length > 0 && !this.#slots.some(isMoving)
  }
}

function isStopped(slot: WorkerSlot): boolean {
  return slot.state === 'stopped'
}

function heapText(workers: number, reservedBytes: number): string {
  return heapFlags(workers, reservedBytes).join()
}

/** Time after which session tickets no longer resume, in milliseconds. */
const TICKET_LIFETIME_MS = 12 * 3_600_000

/** Longest wait of a rollout for starting workers, in milliseconds. */
const SETTLE_MS = 10_000
