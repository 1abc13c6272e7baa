import { randomBytes } from 'node:crypto'
import type { ConfigBundle } from '@sluice/config'
import { EMPTY_LOG, type StateStore } from '@sluice/core'
import { ChannelStore } from '../state/channel-store.js'
import { Heartbeat } from '../telemetry/heartbeat.js'
import { residentBytes } from '../telemetry/process-memory.js'
import type { Sample } from '../telemetry/sample.js'
import type { DataPlane } from './data-plane.js'
import {
  type DrainMessage,
  type FromWorker,
  type PrepareMessage,
  REPLACES_ENV,
  type RoutesMessage,
  type ToWorker,
} from './messages.js'
import { Preparation } from './preparation.js'
import { Vitals } from './vitals.js'

/** Dependencies that a worker provides to its data plane. */
export interface PlaneDependencies {
  /** Chosen port by listener address. It grows before a bundle that needs more ports is prepared. */
  readonly ports: Readonly<Record<string, number>>
  /** Returns the longest recent delay of the event loop in milliseconds. */
  readonly loopLagMs: () => number
  /** Heartbeat of the worker. Requests trigger it when timers are late. */
  readonly heartbeat: Heartbeat
  /** State store shared by all workers of the gateway. */
  readonly memory: StateStore
  /** Secret shared by all workers, see StateStores. */
  readonly secret: Uint8Array
  /** Returns the current secret of session tickets, shared by all workers. */
  readonly ticketSecret: () => Uint8Array
  /** Tells the supervisor which plugin code is about to run. Resolves when the message has been sent. */
  readonly announce: (what: string) => Promise<void>
  /** True if workers of another supervisor may serve on the same ports. */
  readonly opensLate: boolean
}

/** Creates the data plane once the worker knows its number. */
export type CreatePlane = (worker: number, dependencies: PlaneDependencies) => DataPlane

/**
 * Time in milliseconds after a drain's deadline for writing the traffic log. After that the process exits
 * anyway.
 */
const DRAIN_GRACE_MS = 6000
/**
 * Signal that wakes the event loop. It is ignored by default and not used otherwise: it announces urgent
 * socket data to processes that requested it.
 */
const LOOP_SIGNAL = 'SIGURG'
/** Maximum number of heartbeats sent without a callback yet; one minute of them. */
const MAX_BEATS_UNDERWAY = 120

/** Maximum number of step traces sent without a callback yet. */
const MAX_TRACES_UNDERWAY = 32

/** The worker's side of the protocol in `messages.ts`, from the first message to the exit. */
export class WorkerRuntime {
  readonly #createPlane: CreatePlane
  readonly #ports: Record<string, number> = {}
  readonly #memory = new ChannelStore((id, calls, written) => {
    if (!process.connected) return false
    const message: FromWorker = { kind: 'state', id, calls }
    process.send!(message, written)
    return true
  })
  /** Routes of the active and the next bundle by number, as JSON texts. */
  readonly #routes = new Map<number, string>()
  #ticketSecret: Uint8Array = randomBytes(32)
  #worker = 0
  /** Measured only once the worker has a number: the timer would wake an idle spare. */
  #vitals: Vitals | null = null
  #plane: DataPlane | null = null
  #preparation: Preparation | null = null
  readonly #heartbeat = new Heartbeat(() => this.#sendHeartbeat(), wakeEventLoop)
  #beatsUnderway = 0
  #tracesUnderway = 0
  #isEnding = false
  #isDraining = false
  #drainMs = 0

  constructor(createPlane: CreatePlane) {
    this.#createPlane = createPlane
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  /** True if requests are served, or may arrive at any moment. */
  get isServing(): boolean {
    return this.#plane !== null && this.#plane.digest !== null && !this.#isDraining && !this.#isEnding
  }

  /** Drain timeout of the last prepared bundle, in milliseconds. */
  get drainMs(): number {
    return this.#drainMs
  }

  /** Announces the worker to the supervisor and starts its heartbeat. */
  begin(): void {
    process.on(LOOP_SIGNAL, () => {})
    process.once('disconnect', () => {
      this.#memory.close()
      this.#plane?.setStepTraces([], () => false)
    })
    this.#heartbeat.begin()
    send({ kind: 'hello' })
  }

  onMessage(message: ToWorker): void {
    if (message.kind === 'identity') this.#start(message.worker, message.secret)
    else if (message.kind === 'tickets') this.#ticketSecret = message.secret
    else if (message.kind === 'state') this.#memory.onResults(message.id, message.results)
    else if (message.kind === 'routes') this.#receive(message.routes)
    else if (message.kind === 'beat') this.#heartbeat.beatLate(performance.now())
    else if (this.#plane !== null && this.#preparation !== null) {
      this.#execute(message, this.#plane, this.#preparation)
    }
  }

  /**
   * Exits after at most `drainMs`; a second call exits at once. If the supervisor has already asked for a
   * drain, that drain continues, and the deadline only bounds it.
   * @param isReplaced true if another worker serves on the same ports.
   */
  async end(drainMs: number, code: number, isReplaced = false): Promise<void> {
    if (this.#isEnding || this.#plane === null) process.exit(code)
    this.#isEnding = true
    setTimeout(() => process.exit(code), drainMs + DRAIN_GRACE_MS)
    if (this.#isDraining) return
    await this.#plane.drain(drainMs, isReplaced).catch(() => 0)
    process.exit(code)
  }

  #start(worker: number, secret: Uint8Array): void {
    this.#worker = worker
    const vitals = new Vitals(() => {
      this.#plane?.onLoopCheck()
      this.#reportChanges()
    })
    this.#vitals = vitals
    this.#plane = this.#createPlane(worker, {
      ports: this.#ports,
      loopLagMs: () => vitals.lag.longestMs,
      heartbeat: this.#heartbeat,
      memory: this.#memory,
      secret,
      ticketSecret: () => this.#ticketSecret,
      announce,
      opensLate: process.env[REPLACES_ENV] !== undefined,
    })
    this.#preparation = new Preparation(this.#plane)
  }

  /** Reports changed URIs, batched per event loop measurement. */
  #reportChanges(): void {
    const uris = this.#plane?.responses.takeChanged() ?? []
    if (uris.length > 0) send({ kind: 'changed', uris })
  }

  #execute(
    message: Exclude<ToWorker, { kind: 'identity' | 'tickets' | 'beat' | 'state' | 'routes' }>,
    plane: DataPlane,
    preparation: Preparation,
  ): void {
    switch (message.kind) {
      case 'prepare':
        Object.assign(this.#ports, message.ports)
        this.#drainMs = message.bundle.plan.drain.timeoutMs
        void preparation.prepare(message.id, message.epoch, this.#bundleOf(message)).then(send)
        break
      case 'activate':
        void preparation.activate(message.id, message.epoch).then(send)
        break
      case 'discard':
        void preparation.discard(message.id, message.epoch).then(send)
        break
      case 'ready':
        plane.setReady(message.isReady && !this.#isEnding)
        break
      case 'samples':
        send({ kind: 'samples', id: message.id, samples: this.#samples(plane) })
        break
      case 'targets':
        plane.setTargets(message)
        send({ kind: 'targets', id: message.id })
        break
      case 'responses': {
        const { id, what } = message
        const purged = 'purge' in what ? plane.responses.purge(what.purge) : 0
        send({ kind: 'responses', id, purged, found: 'key' in what ? plane.responses.find(what.key) : [] })
        break
      }
      case 'step-traces': {
        const lost = plane.setStepTraces(message.sessions, (session, trace) =>
          this.#sendTrace(session, trace),
        )
        send({ kind: 'step-traces', id: message.id, lost })
        break
      }
      case 'changed':
        plane.responses.invalidate(message.uris)
        break
      case 'drain':
        void this.#drain(plane, message)
        break
      case 'cut':
        plane.cut()
    }
  }

  #receive(routes: RoutesMessage['routes']): void {
    for (const [number, text] of routes) this.#routes.set(number, text)
  }

  #bundleOf({ bundle, routes, forgotten }: PrepareMessage): ConfigBundle {
    const routeTexts = Array.from(routes, (number) => this.#routes.get(number)!)
    for (const number of forgotten) this.#routes.delete(number)
    return { ...bundle, routeTexts }
  }

  async #drain(plane: DataPlane, { id, deadlineMs, isReplaced }: DrainMessage): Promise<void> {
    if (this.#isDraining || this.#isEnding) return
    this.#isDraining = true
    const cut = await plane.drain(deadlineMs, isReplaced)
    const last: FromWorker = {
      kind: 'drained',
      id,
      cut,
      samples: this.#samples(plane),
      log: plane.logIdentity(),
    }
    // Exit after the message is sent. If the supervisor is gone, the channel is closed, and there is nobody
    // to send it to.
    if (process.connected) process.send!(last, () => process.exit(0))
    else process.exit(0)
  }

  #samples(plane: DataPlane): Sample[] {
    return [...plane.samples(), ...(this.#vitals?.samples(this.#worker) ?? [])]
  }

  #sendTrace(session: number, trace: string): boolean {
    if (this.#tracesUnderway >= MAX_TRACES_UNDERWAY || !process.connected) return false
    this.#tracesUnderway++
    const message: FromWorker = { kind: 'step-trace', session, trace }
    process.send!(message, () => {
      this.#tracesUnderway--
    })
    return true
  }

  #sendHeartbeat(): void {
    // If the supervisor does not read (stopped, swapped out), heartbeats must not pile up here. Several may
    // be pending: each is written at once, but in a busy event loop its callback comes much later.
    if (this.#beatsUnderway >= MAX_BEATS_UNDERWAY || !process.connected) return
    this.#beatsUnderway++
    const beat: FromWorker = {
      kind: 'heartbeat',
      digest: this.#plane?.digest ?? null,
      inFlight: this.#plane?.inFlight ?? 0,
      connections: this.#plane?.connections ?? 0,
      log: this.#plane?.logIdentity() ?? EMPTY_LOG,
      rssBytes: residentBytes(),
      loopLagMs: this.#vitals?.lag.takeMs() ?? 0,
      stateProblem: this.#plane?.stateProblem ?? null,
    }
    process.send!(beat, () => {
      this.#beatsUnderway--
    })
  }
}

/**
 * Makes the event loop run timers. After a signal, libuv stops polling for socket events and continues with
 * timers, `setImmediate` and new sockets. If a future version behaves differently, requests still trigger
 * heartbeats.
 */
function wakeEventLoop(): void {
  process.kill(process.pid, LOOP_SIGNAL)
}

/**
 * Sends a message to the supervisor, if it is connected. The end of the channel is handled by `disconnect`.
 */
function send(message: FromWorker): void {
  if (process.connected) process.send!(message, () => {})
}

function announce(what: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!({ kind: 'plugin-code', what } satisfies FromWorker, () => resolve())
    else resolve()
  })
}
