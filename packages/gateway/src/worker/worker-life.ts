import type { ConfigBundle } from '@sluice/config'
import { EMPTY_LOG, type StateStore } from '@sluice/core'
import { ChannelStore } from '../state/channel-store.js'
import { Heartbeat } from '../telemetry/heartbeat.js'
import { residentBytes } from '../telemetry/process-memory.js'
import type { Sample } from '../telemetry/sample.js'
import type { DataPlane } from './data-plane.js'
import type { FromWorker, PrepareMessage, RoutesMessage, ToWorker } from './messages.js'
import { Preparation } from './preparation.js'
import { Vitals } from './vitals.js'

/** What the life of a worker gives to its data plane. */
export interface PlaneSurroundings {
  /** Listener address to the port chosen for it; grows before a bundle that needs more is prepared. */
  readonly ports: Readonly<Record<string, number>>
  /** The longest delay of the event loop of late, ms. */
  readonly loopLagMs: () => number
  /** Requests keep it going when timers have to wait. */
  readonly heartbeat: Heartbeat
  /** What all workers of the gateway share. */
  readonly memory: StateStore
  /** Which they all have, see StateStores. */
  readonly secret: Uint8Array
  /** Tells the supervisor what is about to run; resolves when the message has left. */
  readonly announce: (what: string) => Promise<void>
}

/** Makes the data plane once the worker knows which one it is. */
export type PlaneMaker = (worker: number, surroundings: PlaneSurroundings) => DataPlane

/** What a drain may take beyond its deadline, to write out the traffic log, before the process ends without it. */
const DRAIN_GRACE_MS = 6000
/** Ignored by default, and sent by nobody else: it announces urgent data to those who have asked for that. */
const LOOP_SIGNAL = 'SIGURG'
/** Heartbeats that were sent and have no callback yet; a minute of them. */
const MAX_BEATS_UNDERWAY = 120

/** The worker's side of the conversation in `messages.ts`, from the first word to the end of the process. */
export class WorkerLife {
  readonly #make: PlaneMaker
  readonly #ports: Record<string, number> = {}
  readonly #memory = new ChannelStore((id, calls, written) => {
    if (!process.connected) return false
    const message: FromWorker = { kind: 'state', id, calls }
    process.send!(message, written)
    return true
  })
  /** The routes of the bundle that serves and of the next, as JSON texts, by their numbers. */
  readonly #routes = new Map<number, string>()
  #worker = 0
  /** Watched from when it serves: looks at the event loop of a spare would wake a process that has nothing to do. */
  #vitals: Vitals | null = null
  #plane: DataPlane | null = null
  #preparation: Preparation | null = null
  readonly #heartbeat = new Heartbeat(() => this.#sendHeartbeat(), turnLoop)
  #beatsUnderway = 0
  #isEnding = false
  #isDraining = false
  #drainMs = 0

  constructor(make: PlaneMaker) {
    this.#make = make
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  /** Whether requests are served, or may come at any moment. */
  get isServing(): boolean {
    return this.#plane !== null && this.#plane.digest !== null && !this.#isDraining && !this.#isEnding
  }

  /** Time for requests in flight, as the bundle that was prepared last has it. */
  get drainMs(): number {
    return this.#drainMs
  }

  begin(): void {
    process.on(LOOP_SIGNAL, () => {})
    process.once('disconnect', () => this.#memory.close())
    this.#heartbeat.begin()
    say({ kind: 'hello' })
  }

  hear(message: ToWorker): void {
    if (message.kind === 'seat') this.#sit(message.worker, message.secret)
    else if (message.kind === 'state') this.#memory.hear(message.id, message.results)
    else if (message.kind === 'routes') this.#receive(message.routes)
    else if (message.kind === 'beat') this.#heartbeat.beatLate(performance.now())
    else if (this.#plane !== null && this.#preparation !== null) {
      this.#obey(message, this.#plane, this.#preparation)
    }
  }

  /**
   * Ends the process after at most `drainMs`; a second call ends it at once. A drain that the supervisor asked for
   * goes on; its own end of the process comes before the deadline or not at all.
   */
  async end(drainMs: number, code: number): Promise<void> {
    if (this.#isEnding || this.#plane === null) process.exit(code)
    this.#isEnding = true
    setTimeout(() => process.exit(code), drainMs + DRAIN_GRACE_MS)
    if (this.#isDraining) return
    this.#plane.setReady(false)
    await this.#plane.drain(drainMs).catch(() => 0)
    process.exit(code)
  }

  #sit(worker: number, secret: Uint8Array): void {
    this.#worker = worker
    const vitals = new Vitals((lateMs) => {
      this.#plane?.onLoopDelay(lateMs)
      this.#tellChanges()
    })
    this.#vitals = vitals
    this.#plane = this.#make(worker, {
      ports: this.#ports,
      loopLagMs: () => vitals.lag.longestMs,
      heartbeat: this.#heartbeat,
      memory: this.#memory,
      secret,
      announce,
    })
    this.#preparation = new Preparation(this.#plane)
  }

  /** With each look at the event loop, so that changes go together. */
  #tellChanges(): void {
    const uris = this.#plane?.responses.takeChanged() ?? []
    if (uris.length > 0) say({ kind: 'changed', uris })
  }

  #obey(
    message: Exclude<ToWorker, { kind: 'seat' | 'beat' | 'state' | 'routes' }>,
    plane: DataPlane,
    preparation: Preparation,
  ): void {
    switch (message.kind) {
      case 'prepare':
        Object.assign(this.#ports, message.ports)
        this.#drainMs = message.bundle.plan.drain.timeoutMs
        void preparation.prepare(message.id, message.epoch, this.#bundleOf(message)).then(say)
        break
      case 'activate':
        void preparation.activate(message.id, message.epoch).then(say)
        break
      case 'discard':
        void preparation.discard(message.id, message.epoch).then(say)
        break
      case 'ready':
        plane.setReady(message.isReady && !this.#isEnding)
        break
      case 'samples':
        say({ kind: 'samples', id: message.id, samples: this.#samples(plane) })
        break
      case 'targets':
        plane.setTargets(message)
        say({ kind: 'targets', id: message.id })
        break
      case 'responses': {
        const { id, what } = message
        const purged = 'purge' in what ? plane.responses.purge(what.purge) : 0
        say({ kind: 'responses', id, purged, found: 'key' in what ? plane.responses.find(what.key) : [] })
        break
      }
      case 'changed':
        plane.responses.invalidate(message.uris)
        break
      case 'drain':
        void this.#drain(plane, message.id, message.deadlineMs)
        break
      case 'cut':
        plane.cut()
    }
  }

  #receive(routes: RoutesMessage['routes']): void {
    for (const [number, text] of routes) this.#routes.set(number, text)
  }

  #bundleOf({ bundle, routes, forgotten }: PrepareMessage): ConfigBundle {
    const routeTexts = routes.map((number) => this.#routes.get(number)!)
    for (const number of forgotten) this.#routes.delete(number)
    return { ...bundle, routeTexts }
  }

  async #drain(plane: DataPlane, id: number, deadlineMs: number): Promise<void> {
    if (this.#isDraining || this.#isEnding) return
    this.#isDraining = true
    plane.setReady(false)
    const cut = await plane.drain(deadlineMs)
    const last: FromWorker = {
      kind: 'drained',
      id,
      cut,
      samples: this.#samples(plane),
      log: plane.logIdentity(),
    }
    // The exit waits for the words to leave; a supervisor that is gone has closed the channel, and then it does not.
    if (process.connected) process.send!(last, () => process.exit(0))
    else process.exit(0)
  }

  #samples(plane: DataPlane): Sample[] {
    return [...plane.samples(), ...(this.#vitals?.samples(this.#worker) ?? [])]
  }

  #sendHeartbeat(): void {
    // A supervisor that does not read (stopped, swapped out) must not make this process hold its heartbeats. More than
    // one may be under way: each is written at once, but in a busy event loop its callback comes much later.
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
 * libuv does not look for more socket events once a signal has come; it goes on to timers, `setImmediate` and sockets that
 * are new. Should a version of it do without that, heartbeats come from requests all the same.
 */
function turnLoop(): void {
  process.kill(process.pid, LOOP_SIGNAL)
}

/** A message that cannot leave has no reader: the channel's end is dealt with where `disconnect` is heard. */
function say(message: FromWorker): void {
  if (process.connected) process.send!(message, () => {})
}

function announce(what: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!({ kind: 'doing', what } satisfies FromWorker, () => resolve())
    else resolve()
  })
}
