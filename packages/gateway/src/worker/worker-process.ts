import cluster from 'node:cluster'
import { createOperationLog, errorFields } from '../telemetry/operation-log.js'
import type { DataPlane } from './data-plane.js'
import { LoopLag } from './loop-lag.js'
import {
  type FromWorker,
  HEARTBEAT_MS,
  type PrepareMessage,
  type ToWorker,
  WORKER_NUMBER_ENV,
  WORKER_VERSION_ENV,
} from './messages.js'
import { Preparation } from './preparation.js'

/** What a worker process hands to the data plane it makes. */
export interface WorkerSeat {
  /** 1 to N. */
  readonly worker: number
  readonly version: string
  /** Listener address to the port chosen for it; grows before a load that needs more is prepared. */
  readonly ports: Readonly<Record<string, number>>
  /** Tells operators about an event of this worker. */
  readonly report: (event: string, fields: object) => void
}

/** Time for requests in flight when the supervisor is gone. */
const ORPHAN_DRAIN_MS = 10_000
/** Time for requests in flight when the worker met an error that nobody caught; its state is no longer trusted. */
const CRASH_DRAIN_MS = 1000
/** What a drain may take beyond its deadline before the process ends without it. */
const DRAIN_GRACE_MS = 1000

/**
 * Makes this process a worker: it serves what the supervisor tells it to and ends when told, when the supervisor is
 * gone, or after an error that nobody caught. Call it once, in the entry file of the worker.
 * @throws Error when the process was not started by the supervisor.
 */
export function runWorker(create: (seat: WorkerSeat) => DataPlane): void {
  const seat = cluster.worker
  if (seat === undefined) throw new Error('this file runs as a worker; start the gateway with `gw start`')
  const ports: Record<string, number> = {}
  const worker = Number(process.env[WORKER_NUMBER_ENV] ?? seat.id)
  const log = createOperationLog({ fields: { worker, pid: process.pid } })
  const version = process.env[WORKER_VERSION_ENV] ?? ''
  const report = (event: string, fields: object): void => log.warn(event, { ...fields })
  const life = new WorkerLife(create({ worker, version, ports, report }), ports)

  // A Ctrl-C reaches every process of the terminal; the supervisor alone decides what it means.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  seat.on('disconnect', () => {
    // Without this, node:cluster ends the process right after this event, in the middle of its requests.
    seat.exitedAfterDisconnect = true
    log.warn('worker.orphaned', { drainMs: ORPHAN_DRAIN_MS })
    void life.end(ORPHAN_DRAIN_MS, 0)
  })
  const crash = (error: unknown): void => {
    if (!life.isEnding) log.error('worker.crashed', errorFields(error))
    void life.end(CRASH_DRAIN_MS, 1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  process.on('message', (message: ToWorker) => life.hear(message))
  life.begin()
}

/** The worker's side of the conversation in `messages.ts`. */
class WorkerLife {
  readonly #plane: DataPlane
  readonly #ports: Record<string, number>
  readonly #preparation: Preparation
  readonly #lag = new LoopLag()
  #isBeatUnderway = false
  #isEnding = false
  #isDraining = false

  constructor(plane: DataPlane, ports: Record<string, number>) {
    this.#plane = plane
    this.#ports = ports
    this.#preparation = new Preparation(plane)
  }

  get isEnding(): boolean {
    return this.#isEnding
  }

  begin(): void {
    setInterval(() => this.#beat(), HEARTBEAT_MS)
    say({ kind: 'hello' })
  }

  hear(message: ToWorker): void {
    switch (message.kind) {
      case 'prepare':
        this.#prepare(message)
        break
      case 'activate':
        void this.#preparation.activate(message.id, message.epoch).then(say)
        break
      case 'discard':
        void this.#preparation.discard(message.id, message.epoch).then(say)
        break
      case 'ready':
        this.#plane.setReady(message.isReady && !this.#isEnding)
        break
      case 'samples':
        say({ kind: 'samples', id: message.id, samples: this.#plane.samples() })
        break
      case 'drain':
        void this.#drain(message.id, message.deadlineMs)
    }
  }

  /** Ends the process after at most `drainMs`; a second call ends it at once unless a drain it asked for goes on. */
  async end(drainMs: number, code: number): Promise<void> {
    if (this.#isEnding) process.exit(code)
    this.#isEnding = true
    setTimeout(() => process.exit(code), drainMs + DRAIN_GRACE_MS)
    // A drain that the supervisor asked for goes on; its own end of the process comes before the timer or not at all.
    if (this.#isDraining) return
    this.#plane.setReady(false)
    await this.#plane.drain(drainMs).catch(() => 0)
    process.exit(code)
  }

  #prepare(message: PrepareMessage): void {
    Object.assign(this.#ports, message.ports)
    void this.#preparation.prepare(message.id, message.epoch, message.load).then(say)
  }

  async #drain(id: number, deadlineMs: number): Promise<void> {
    if (this.#isDraining || this.#isEnding) return
    this.#isDraining = true
    this.#plane.setReady(false)
    const cut = await this.#plane.drain(deadlineMs)
    const last: FromWorker = {
      kind: 'drained',
      id,
      cut,
      samples: this.#plane.samples(),
      log: this.#plane.logIdentity(),
    }
    // The exit waits for the words to leave; a supervisor that is gone has closed the channel, and then it does not.
    if (process.connected) process.send!(last, () => process.exit(0))
    else process.exit(0)
  }

  #beat(): void {
    // A supervisor that does not read (stopped, swapped out) must not make this process hold its heartbeats.
    if (this.#isBeatUnderway || !process.connected) return
    this.#isBeatUnderway = true
    const beat: FromWorker = {
      kind: 'heartbeat',
      digest: this.#plane.digest,
      inFlight: this.#plane.inFlight,
      connections: this.#plane.connections,
      log: this.#plane.logIdentity(),
      rssBytes: process.memoryUsage.rss(),
      loopLagMs: this.#lag.takeMs(),
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
