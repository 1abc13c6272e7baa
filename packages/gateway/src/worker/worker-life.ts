import { EMPTY_LOG } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'
import type { DataPlane } from './data-plane.js'
import { type FromWorker, HEARTBEAT_MS, type ToWorker } from './messages.js'
import { Preparation } from './preparation.js'
import { Vitals } from './vitals.js'

/** What the life of a worker gives to its data plane. */
export interface PlaneSurroundings {
  /** Listener address to the port chosen for it; grows before a load that needs more is prepared. */
  readonly ports: Readonly<Record<string, number>>
  /** The longest delay of the event loop of late, ms. */
  readonly loopLagMs: () => number
}

/** Makes the data plane once the worker knows which one it is. */
export type PlaneMaker = (worker: number, surroundings: PlaneSurroundings) => DataPlane

/** What a drain may take beyond its deadline, to write out the traffic log, before the process ends without it. */
const DRAIN_GRACE_MS = 6000

/** The worker's side of the conversation in `messages.ts`, from the first word to the end of the process. */
export class WorkerLife {
  readonly #make: PlaneMaker
  readonly #ports: Record<string, number> = {}
  #worker = 0
  /** Watched from when it serves: looks at the event loop of a spare would wake a process that has nothing to do. */
  #vitals: Vitals | null = null
  #plane: DataPlane | null = null
  #preparation: Preparation | null = null
  #isBeatUnderway = false
  #isEnding = false
  #isDraining = false

  constructor(make: PlaneMaker) {
    this.#make = make
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  begin(): void {
    setInterval(() => this.#beat(), HEARTBEAT_MS)
    say({ kind: 'hello' })
  }

  hear(message: ToWorker): void {
    if (message.kind === 'seat') this.#sit(message.worker)
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

  #sit(worker: number): void {
    this.#worker = worker
    const vitals = new Vitals()
    this.#vitals = vitals
    this.#plane = this.#make(worker, { ports: this.#ports, loopLagMs: () => vitals.lag.longestMs })
    this.#preparation = new Preparation(this.#plane)
  }

  #obey(message: Exclude<ToWorker, { kind: 'seat' }>, plane: DataPlane, preparation: Preparation): void {
    switch (message.kind) {
      case 'prepare':
        Object.assign(this.#ports, message.ports)
        void preparation.prepare(message.id, message.epoch, message.load).then(say)
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
      case 'drain':
        void this.#drain(plane, message.id, message.deadlineMs)
    }
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

  #beat(): void {
    // A supervisor that does not read (stopped, swapped out) must not make this process hold its heartbeats.
    if (this.#isBeatUnderway || !process.connected) return
    this.#isBeatUnderway = true
    const beat: FromWorker = {
      kind: 'heartbeat',
      digest: this.#plane?.digest ?? null,
      inFlight: this.#plane?.inFlight ?? 0,
      connections: this.#plane?.connections ?? 0,
      log: this.#plane?.logIdentity() ?? EMPTY_LOG,
      rssBytes: process.memoryUsage.rss(),
      loopLagMs: this.#vitals?.lag.takeMs() ?? 0,
    }
    process.send!(beat, () => {
      this.#isBeatUnderway = false
    })
  }
}

/** A message that cannot leave has no reader: the channel's end is dealt with where `disconnect` is heard. */
function say(message: FromWorker): void {
  if (process.connected) process.send!(message, () => {})
}
