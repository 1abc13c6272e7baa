import { performance } from 'node:perf_hooks'
import type { Eventual, Exchange, Reply } from '@sluice/core'
import type { Deadline } from '../lib/timer-wheel.js'
import type { ClientOwner, ClientStream } from '../listen/listener.js'
import { BodyCollector, type BodyReader } from './body-collector.js'
import type { Lease, PipelineContext } from './context.js'
import { paceDeadline } from './pace.js'
import { REFUSALS } from './refusals.js'

/** Receiver of requests whose route depends on the body. */
export interface RoutingOwner {
  /** Called when the body is in `x.body`. */
  onRoutable(body: RoutingBody): void
  /** Called if the request cannot be routed: the body is too large or too slow, or the client has disconnected. */
  onUnroutable(body: RoutingBody, reply: Reply | null): void
}

interface RoutingOptions {
  readonly context: PipelineContext
  readonly lease: Lease
  /** Evaluates the router's conditions on a large body in advance; null if there are none. */
  readonly examine: ((x: Exchange) => Eventual) | null
}

/** Time limit for the thread that reads a large body, in milliseconds. */
const EXAMINATION_MS = 30_000

/**
 * A request whose route depends on its body, while the body is collected:
 *
 *     accept ─► collect ─┬─► onRoutable: the router is asked again
 *                        └─► onUnroutable: refused, or the client has gone
 */
export class RoutingBody implements ClientOwner, Deadline, BodyReader {
  readonly x: Exchange
  readonly client: ClientStream
  /** Snapshot at the start of the request, which also routes it. */
  readonly lease: Lease
  isOver = false
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #context: PipelineContext
  readonly #examine: RoutingOptions['examine']
  readonly #owner: RoutingOwner
  readonly #collector = new BodyCollector(this)
  #hasBody = false

  constructor(x: Exchange, client: ClientStream, options: RoutingOptions, owner: RoutingOwner) {
    this.x = x
    this.client = client
    this.lease = options.lease
    this.#context = options.context
    this.#examine = options.examine
    this.#owner = owner
    client.owner = this
  }

  start(): void {
    if (this.x.contentLength > this.x.bodyLimit) {
      this.#owner.onUnroutable(this, REFUSALS.tooLarge)
      return
    }
    this.#context.inFlight++
    this.#touch(this.x.pace.bodyIdleMs)
    this.#context.wheel.arm(this)
    this.#collector.collect(() => void this.#examined())
  }

  /** Routes a small body at once, and a large one after a thread has read it. */
  async #examined(): Promise<void> {
    try {
      const outcome = this.#examine?.(this.x) ?? null
      const refused = outcome instanceof Promise ? await this.#waitFor(outcome) : outcome
      if (this.isOver) return
      if (refused !== null) this.refuse(refused)
      else {
        this.#end()
        this.#owner.onRoutable(this)
      }
    } catch (error) {
      if (!this.isOver) this.refuse(REFUSALS.conditionFailed)
      this.#context.report('condition_failed', { error: String(error) })
    }
  }

  #waitFor(outcome: Promise<Reply | null>): Promise<Reply | null> {
    this.#hasBody = true
    this.#touch(EXAMINATION_MS)
    this.#context.wheel.arm(this)
    return outcome
  }

  onBodyBytes(bytes: number): void {
    this.#context.heartbeat.beatIfLate()
    const { minBodyRate, bodyIdleMs } = this.x.pace
    this.dueAt = paceDeadline(this.dueAt, bytes, minBodyRate, bodyIdleMs)
  }

  #touch(ms: number): void {
    this.dueAt = performance.now() + ms
  }

  refuse(reply: Reply): void {
    this.#end()
    this.#owner.onUnroutable(this, reply)
  }

  onDeadline(): void {
    if (!this.isOver) this.refuse(this.#hasBody ? REFUSALS.policyTimedOut : REFUSALS.tooSlow)
  }

  onClientAbort(): void {
    if (this.isOver) return
    this.#end()
    this.#owner.onUnroutable(this, null)
  }

  onClientDrain(): void {}

  onBodyInvalid(reply: Reply): void {
    if (!this.isOver) this.refuse(reply)
  }

  #end(): void {
    this.isOver = true
    this.#context.wheel.disarm(this)
    this.#context.inFlight--
    this.#collector.drop()
  }
}
