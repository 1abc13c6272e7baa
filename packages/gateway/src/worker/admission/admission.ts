import type { OverloadPlan } from '@sluice/config'
import { type Reply, refusal } from '@sluice/core'
import { CRITICALITIES, type Route } from '../../flow/route.js'
import { type Clocks, processClocks, workBetween } from '../../lib/process-clocks.js'
import { clientNetwork } from '../../listen/client-network.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import { hashText } from '../../upstream/request-key.js'
import { FairQueue } from './fair-queue.js'
import type { WaitingRequest } from './waiting-request.js'

/** Processor time between two checks of the event loop (every 20 ms) above which requests wait, in milliseconds. */
const BUSY_MS = 40
/** Time after which requests no longer wait if each turn has started all of them, in milliseconds. */
const CALM_MS = 1000
/** Time in each turn of the event loop for starting requests that have waited, in milliseconds. */
const SLICE_MS = 8
/** Number of waiting requests that are started in each turn, whatever they cost. */
const LEAST_STARTED = 16
/**
 * Share of the processor time for refusals. A refusal costs a third to a half of a cheap request, and refused clients
 * often retry immediately. Without this limit, refusals would leave no time for anything else.
 */
const REFUSAL_SHARE = 0.15
/** Total cost of a refusal relative to its measured cost. Reading and parsing the request is not measured. */
const REFUSAL_FACTOR = 2
/** Minimum cost of a refusal, and cost of discarding one byte of its body, in milliseconds. */
const LEAST_REFUSAL_MS = 0.01
const DISCARDED_BYTE_MS = 2e-6
/** Largest body of a refused request that is read to its end, in bytes. */
export const MAX_DISCARDED_BYTES = 64 * 1024
/** Weight of the last turn in the average cost of a request. */
const LEARNING = 0.2
/** Maximum number of waiting requests, and of waiting refusals. */
const MOST_WAITING = 10_000
/** Fraction of the limits at which requests are refused, by criticality. Delay never refuses a critical request. */
const DELAY_SHARES = [0.8, 1, Number.POSITIVE_INFINITY] as const
const IN_FLIGHT_SHARES = [0.8, 1, 1.2] as const
const CRITICAL = 2
const OFF: OverloadPlan = { maxLoopDelayMs: 0, maxInFlight: null, retryAfterMs: 1000 }

/**
 * Decides which requests a worker serves if it receives more than it can process.
 *
 *     request ─┬─► served at once, unless the worker is busy
 *              ├─► FairQueue ─► served, a few per turn of the event loop
 *              └─► refused if the wait would exceed `maxLoopDelay`
 *
 * Requests wait here and not in the kernel. The kernel returns events of clients and of targets in one queue, so a turn
 * would start all new requests before it can finish any. Here, clients take turns. The average cost of earlier requests
 * predicts the wait, so a request that would wait too long is refused on arrival.
 *
 * All times are processor times, because refusals do not help a process that waits for a CPU.
 */
export class Admission {
  readonly #readClocks: () => Clocks
  readonly #queue = new FairQueue<WaitingRequest>()
  /** Requests to be refused when there is time. */
  readonly #refusals = new FairQueue<WaitingRequest>()
  /** Number of refused requests, by criticality. */
  readonly #shed = [0, 0, 0]
  /** True while requests have to wait. */
  #isBusy = false
  /** Clocks at the last check of the event loop. */
  #lastCheck: Clocks = { mono: 0, cpuMs: 0 }
  /** Monotonic time after which the next request checks the processor time. */
  #checkMono = Number.POSITIVE_INFINITY
  /** Monotonic times of the last turn that left requests waiting, and of the last refusal for delay. */
  #waitedMono = Number.NEGATIVE_INFINITY
  #refusedMono = Number.NEGATIVE_INFINITY
  /** Average processor time per request, in milliseconds. */
  #costMs = 0
  /** Number of requests started since the last check, or in the last turn while requests wait. */
  #started = 0
  #lastTurn: Clocks = { mono: 0, cpuMs: 0 }
  /** True if the last turn left requests waiting. */
  #leftSome = false
  #isScheduled = false
  /** Processor time left for refusals, and used for them since the last turn, in milliseconds. */
  #refusalCreditMs = 0
  #refusalsMs = 0
  readonly #seed: number
  #maxDelayMs = OFF.maxLoopDelayMs
  #maxInFlight: readonly number[] = []
  #overloaded = refuseFor('', OFF)
  #delayed = refuseFor('', OFF)
  #spent = refuseFor('', OFF)

  /** @param seed random, so that clients cannot choose addresses that share a lane with another client's. */
  constructor(readClocks: () => Clocks = processClocks, seed = Math.random()) {
    this.#readClocks = readClocks
    this.#seed = seed
    this.configure(OFF)
  }

  /** Applies the limits of a configuration. Measurements are kept. */
  configure(plan: OverloadPlan): void {
    const { maxInFlight } = plan
    this.#maxDelayMs = plan.maxLoopDelayMs
    if (this.#maxDelayMs === 0) {
      this.#isBusy = false
      this.#refusedMono = Number.NEGATIVE_INFINITY
      // Nothing is measured until it is switched on again.
      this.#lastCheck = { mono: 0, cpuMs: 0 }
    }
    this.#checkMono = Number.POSITIVE_INFINITY
    this.#maxInFlight = IN_FLIGHT_SHARES.map((share) =>
      maxInFlight === null ? Number.POSITIVE_INFINITY : Math.max(1, maxInFlight * share),
    )
    this.#overloaded = refuseFor('this worker has reached its limit for requests in flight', plan)
    this.#delayed = refuseFor('this worker is overloaded', plan)
    this.#spent = refuseFor('this route has used its CPU budget', plan)
  }

  /** Number of requests that wait to be served or refused. */
  get waiting(): number {
    return this.#queue.size + this.#refusals.size
  }

  /** Checks the event loop. Called about every 20 ms, later if the loop is late. */
  onLoopCheck(): void {
    if (this.#maxDelayMs === 0) return
    const now = this.#readClocks()
    // The work before the first check started the worker.
    if (this.#lastCheck.mono > 0) this.#checkWork(now)
    this.#lastCheck = now
    this.#checkMono = now.mono + BUSY_MS
    if (this.#isBusy) {
      if (now.mono - this.#waitedMono > CALM_MS) this.#isBusy = false
    } else this.#started = 0
  }

  /**
   * Returns the refusal of a request because too many are in flight or its route has used its CPU budget, or null.
   * @param nowMono time of its arrival.
   */
  refusalOf({ criticality, cpuBudget }: Route, inFlight: number, nowMono: number): Reply | null {
    const isFull = inFlight + this.waiting >= this.#maxInFlight[criticality]!
    if (!isFull && (cpuBudget === null || !cpuBudget.isSpent(nowMono))) return null
    this.#shed[criticality]!++
    return isFull ? this.#overloaded : this.#spent
  }

  /** Returns true if a request has to wait. It is then passed to `add`. @param nowMono time of its arrival. */
  mustWait({ criticality }: Route, nowMono: number): boolean {
    if (!this.#isBusy && nowMono > this.#checkMono) {
      const now = this.#readClocks()
      this.#checkMono = now.mono + BUSY_MS
      this.#checkWork(now)
    }
    this.#started++
    return this.#isBusy && criticality !== CRITICAL
  }

  /** Adds a request that has to wait, or refuses it. */
  add(request: WaitingRequest): void {
    this.#started--
    const key = hashText(`${this.#seed} ${clientNetwork(request.x.clientIp)} ${request.route.id}`)
    let queue = this.#queue
    if (this.#isTooLate(request, key)) {
      this.#shed[request.route.criticality]!++
      this.#refusedMono = request.x.startedMono
      queue = this.#refusals
    }
    if (queue === this.#refusals && (this.#refusalCreditMs > 0 || queue.size >= MOST_WAITING))
      this.#refuse(request)
    else {
      request.hold()
      queue.add(request, key)
    }
    this.#schedule()
  }

  samples(worker: number): Sample[] {
    const labels = label('worker', String(worker))
    const isOverloaded = this.#lastCheck.mono - this.#refusedMono < CALM_MS
    return [
      { name: 'gw_worker_overloaded', labels, value: Number(isOverloaded) },
      { name: 'gw_worker_waiting_requests', labels, value: this.waiting },
      ...CRITICALITIES.map((name, i) => ({
        name: 'gw_requests_shed_total',
        labels: label('criticality', name),
        value: this.#shed[i]!,
      })),
    ]
  }

  #checkWork(now: Clocks): void {
    const workedMs = workBetween(this.#lastCheck, now)
    if (this.#isBusy || this.#started === 0 || workedMs <= BUSY_MS) return
    this.#isBusy = true
    this.#waitedMono = now.mono
    // The first estimate. With few requests, most of the work may be something else.
    this.#costMs = this.#started > LEAST_STARTED ? workedMs / this.#started : 0
    this.#started = 0
    this.#lastTurn = now
  }

  /** Clients with few waiting requests may wait for twice as long, but their turn comes sooner. */
  #isTooLate({ route: { criticality } }: WaitingRequest, key: number): boolean {
    const { size } = this.#queue
    if (size >= MOST_WAITING) return true
    const limitMs = this.#maxDelayMs * DELAY_SHARES[criticality]! * (this.#queue.isBusy(key) ? 1 : 2)
    return size * this.#costMs > limitMs
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#runTurn)
  }

  /** Serves and refuses as many waiting requests as this turn of the event loop has time for. */
  readonly #runTurn = (): void => {
    const now = this.#readClocks()
    const workedMs = Math.max(0, workBetween(this.#lastTurn, now) - this.#refusalsMs)
    if (this.#started > 0) this.#learn(workedMs / this.#started)
    this.#refusalCreditMs = Math.min(SLICE_MS, this.#refusalCreditMs + workedMs * REFUSAL_SHARE)
    this.#lastTurn = now
    this.#refusalsMs = 0
    this.#started = 0
    this.#serveSlice(now.mono + SLICE_MS)
    this.#leftSome = this.#queue.size > 0
    if (this.#leftSome) this.#waitedMono = now.mono
    else this.#refusalCreditMs = SLICE_MS
    this.#refuseSome()
    if (this.waiting > 0) setImmediate(this.#runTurn)
    else this.#isScheduled = false
  }

  /** A turn that had time for more requests shows only that they do not cost more than this. */
  #learn(measuredMs: number): void {
    const hadTime = this.#started <= LEAST_STARTED && !this.#leftSome
    if (!hadTime || measuredMs < this.#costMs) this.#costMs += LEARNING * (measuredMs - this.#costMs)
  }

  #serveSlice(untilMono: number): void {
    // The cost of a body arises later in the turn.
    const most = Math.max(LEAST_STARTED, SLICE_MS / this.#costMs)
    while (this.#started < most) {
      const request = this.#queue.take()
      if (request === null) return
      if (request.isGone) continue
      this.#started++
      request.serve()
      if (performance.now() > untilMono) return
    }
  }

  #refuseSome(): void {
    while (this.#refusalCreditMs > 0) {
      const request = this.#refusals.take()
      if (request === null) return
      if (!request.isGone) this.#refuse(request)
    }
  }

  #refuse(request: WaitingRequest): void {
    const fromMono = performance.now()
    request.refuse(this.#delayed)
    const measuredMs = Math.max(LEAST_REFUSAL_MS, performance.now() - fromMono)
    const { contentLength } = request.x
    const isDiscarded = contentLength > 0 && contentLength <= MAX_DISCARDED_BYTES
    const costMs = measuredMs * REFUSAL_FACTOR + (isDiscarded ? contentLength * DISCARDED_BYTE_MS : 0)
    this.#refusalCreditMs -= costMs
    this.#refusalsMs += costMs
  }
}

function refuseFor(detail: string, { retryAfterMs }: OverloadPlan): Reply {
  return refusal('GW_OVERLOADED', detail, ['retry-after', String(Math.ceil(retryAfterMs / 1000))])
}
