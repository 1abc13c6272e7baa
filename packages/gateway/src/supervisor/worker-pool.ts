import { availableParallelism } from 'node:os'
import { EMPTY_LOG, type LogIdentity } from '@sluice/core'
import type { KnownService } from '../kubernetes/known-services.js'
import type { SharedMemory } from '../state/shared-memory.js'
import { answerCalls } from '../state/state-calls.js'
import { SampleLedger } from '../telemetry/merge.js'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { Sample } from '../telemetry/sample.js'
import {
  NO_TARGET_FACTS,
  type ResponsesQuestion,
  type TargetFacts,
  type TargetOutage,
} from '../worker/messages.js'
import { Changes } from './changes.js'
import { LogLedger } from './log-ledger.js'
import type { Assignment, Participant, Refusal } from './rollout.js'
import { heapFlags } from './sizing.js'
import { SpareWorker } from './spare-worker.js'
import { SILENT, watchSilence } from './watchdog.js'
import type { ResponsesAnswer, WorkerHandle } from './worker-handle.js'
import { WorkerSlot } from './worker-slot.js'

/**
 * Makes a worker process, one of `workers`; `headBytes` is the largest request head its native parser has to take, and
 * `reservedBytes` what others than the workers hold of the memory of the gateway.
 */
export type Fork = (headBytes: number, workers: number, reservedBytes: number) => WorkerHandle

/** What a pool needs. */
export interface PoolOptions {
  readonly fork: Fork
  readonly log: OperationLog
  /** What the workers share. */
  readonly memory: SharedMemory
  /** What says how large the heap of each of so many workers may be. Default: that of this machine. */
  readonly heapOf?: (workers: number, reservedBytes: number) => string
  /** A slot cannot be filled; reported once per slot. */
  readonly onGaveUp: (reason: string) => void
  /** The workers have changed, or the state of one has. */
  readonly onChanged: () => void
}

/** What the first workers are started for. */
export interface FirstWorkers {
  readonly headBytes: number
  /** What others hold of the memory of the gateway. */
  readonly reservedBytes: number
}

/** All workers of the gateway: as many slots as the plan wants, each kept filled. */
export class WorkerPool {
  readonly #options: PoolOptions
  readonly #changes = new Changes()
  readonly #samples = new SampleLedger()
  readonly #logs = new LogLedger()
  /** Every process that has not ended, the draining ones too. */
  readonly #live = new Set<WorkerHandle>()
  readonly #spare = new SpareWorker((headBytes) => this.#fork(headBytes))
  readonly #stopWatch: () => void
  /** Of slots that a smaller number of workers has removed: a larger one goes on counting from there. */
  readonly #restarts = new Map<number, number>()
  isStarted = false
  /** What others than the workers hold of the memory; counts for workers that are started from now on. */
  reservedBytes = 0
  #slots: WorkerSlot[] = []
  /** Slots that wait for their turn to start. */
  #queue: WorkerSlot[] = []
  #startingCount = 0
  #count = 0
  #current: Assignment | null = null
  #headBytes = 0
  #targets = NO_TARGET_FACTS
  #isOpen = true
  #isEnding = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#stopWatch = watchSilence(
      () => this.#live,
      (silent) => {
        options.log.error('worker.silent', { worker: silent.worker, pid: silent.pid })
        silent.kill(SILENT)
      },
    )
  }

  get slots(): readonly WorkerSlot[] {
    return this.#slots
  }

  get live(): ReadonlySet<WorkerHandle> {
    return this.#live
  }

  /** The process that waits to fill a slot; null while there is none. */
  get spare(): WorkerHandle | null {
    return this.#spare.handle
  }

  get headBytes(): number {
    return this.#headBytes
  }

  get readyCount(): number {
    return this.#slots.filter((slot) => slot.handle?.isReady === true).length
  }

  /** Starts the first workers before it is known what they will serve. */
  startEarly(count: number): void {
    this.#headBytes = EARLY_HEAD_BYTES
    this.#grow(count)
  }

  /** Fills the first slots. Resolves when every worker waits for its bundle; false when one cannot start. */
  async start(count: number, { headBytes, reservedBytes }: FirstWorkers): Promise<boolean> {
    this.isStarted = true
    const { heapOf = heapText } = this.#options
    // What was started for smaller heads, or for another share of the memory, is of no use.
    const isOfOtherHeap = heapOf(count, reservedBytes) !== heapOf(this.#count, this.reservedBytes)
    if (headBytes > this.#headBytes || isOfOtherHeap) this.resize(0, 0)
    this.reservedBytes = reservedBytes
    this.#headBytes = Math.max(headBytes, this.#headBytes)
    this.resize(count, 0)
    // Each start has a deadline of its own, and a slot whose workers do not start is given up.
    await this.#changes.until(() => this.#slots.every((slot) => slot.state === 'idle' || isStopped(slot)))
    return this.#slots.every((slot) => slot.state === 'idle')
  }

  /**
   * The workers that vote on a rollout. Waits for those that are starting; one that is being restarted has no vote and
   * comes up with whatever is current then.
   */
  async participants(): Promise<Participant[]> {
    await this.#changes.until(() => this.#isSettled(), SETTLE_MS)
    // Before the first bundle nobody serves meanwhile: it waits for as long as a slot may still be filled.
    if (this.#current === null)
      await this.#changes.until(() => this.#voters().length > 0 || this.#slots.every(isStopped))
    return this.#voters().map((slot) => slot.handle!)
  }

  /** Makes a bundle the one that every worker has to serve. Resolves when the workers that voted are ready. */
  async commit(assignment: Assignment): Promise<void> {
    this.#current = assignment
    await this.#refresh()
  }

  /** Waits until every slot is filled and serves; false when a slot was given up. */
  async allReady(): Promise<boolean> {
    await this.#changes.until(() => this.#slots.every((slot) => slot.state === 'ready' || isStopped(slot)))
    return this.#slots.every((slot) => slot.state === 'ready')
  }

  /** Adds slots, or drains the workers of the last ones. */
  resize(count: number, drainMs: number): void {
    for (const slot of this.#slots.splice(count)) {
      this.#restarts.set(slot.worker, slot.restarts)
      void slot.stop()?.drain(drainMs)
    }
    this.#grow(count)
  }

  /** Replaces every worker, one after the other, by one whose native parser takes larger heads. */
  async replaceAll(headBytes: number, drainMs: number): Promise<void> {
    this.#headBytes = headBytes
    for (const slot of [...this.#slots]) {
      if (this.#isEnding) return
      const last = await slot.replace()
      void last?.drain(drainMs)
    }
  }

  /**
   * Brings a bundle into service in new processes, which take the places of the old ones in turn. Null: it serves; else
   * why the first of them could not, and the old ones serve what they did.
   */
  async renew(assignment: Assignment, drainMs: number): Promise<Refusal> {
    const before = this.#current
    this.#current = assignment
    for (const slot of [...this.#slots]) {
      if (this.#isEnding) return 'the gateway ends'
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

  /** From now on every worker answers readiness probes with 503, also one that is started later. */
  closeGates(): void {
    this.#isOpen = false
    for (const handle of this.#live) handle.setReady(false)
  }

  /** Ends all workers, after their requests in flight or at the deadline. Resolves with the number of requests cut. */
  async drain(deadlineMs: number): Promise<number> {
    this.#endSlots()
    const cuts = await Promise.all([...this.#live].map((handle) => handle.drain(deadlineMs)))
    return cuts.reduce((total, cut) => total + cut, 0)
  }

  /** Ends the drain that is under way at once. */
  cut(): void {
    for (const handle of this.#live) handle.cut()
  }

  /** Ends all workers at once and waits until they are gone. */
  async close(): Promise<void> {
    this.#stopWatch()
    this.#endSlots()
    const gone = [...this.#live].map((handle) => handle.exited)
    for (const handle of this.#live) handle.kill('the gateway ends')
    await Promise.all(gone)
  }

  /** Fresh numbers of all workers; the last known ones of a worker that does not answer in time. */
  async samples(): Promise<Sample[]> {
    await Promise.all([...this.#live].map((handle) => handle.sample()))
    return this.#samples.merged([...this.#live].map((handle) => handle.lastSamples))
  }

  logIdentity(): LogIdentity {
    return this.#logs.total([...this.#live].map((handle) => handle.lastLog ?? EMPTY_LOG))
  }

  /** What all workers say of the responses they keep; null for one that did not answer in time. */
  askResponses(what: ResponsesQuestion): Promise<(ResponsesAnswer | null)[]> {
    return Promise.all([...this.#live].map((handle) => handle.askResponses(what)))
  }

  /** Has all workers know which targets are out of service, also those that start later. */
  setOutages(outages: readonly TargetOutage[]): Promise<void> {
    return this.#setTargets({ ...this.#targets, outages })
  }

  /** Has all workers know the pods of Services, also those that start later. */
  setServices(services: readonly KnownService[]): Promise<void> {
    return this.#setTargets({ ...this.#targets, services })
  }

  async #setTargets(targets: TargetFacts): Promise<void> {
    this.#targets = targets
    await Promise.all([...this.#live].map((handle) => handle.setTargets(targets)))
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
        seat: (worker) => this.#seat(worker),
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

  /** Starts as many workers at a time as there are CPUs: more would only make each of them slower. */
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

  #seat(worker: number): WorkerHandle {
    const handle = this.#spare.take(this.#headBytes) ?? this.#fork(this.#headBytes)
    handle.seat(worker)
    return handle
  }

  /** The spare is started when all slots are served, so that it never slows them down. */
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
    void handle.setTargets(this.#targets)
    this.#live.add(handle)
    void handle.exited.then(() => {
      this.#live.delete(handle)
      this.#samples.depart(handle.lastSamples)
      this.#logs.depart(handle.lastLog ?? EMPTY_LOG)
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

/** What listeners take unless the document says otherwise (`limits.headerBytes`). */
const EARLY_HEAD_BYTES = 16 * 1024
const BATCH = availableParallelism()
/** Longest wait of a rollout for workers that are starting. */
const SETTLE_MS = 10_000
