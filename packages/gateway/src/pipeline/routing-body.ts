import { performance } from 'node:perf_hooks'
import type { Exchange, Reply } from '@sluice/core'
import type { ClientOwner, ClientStream } from '../listener/listener.js'
import type { Deadline } from '../telemetry/timer-wheel.js'
import { BodyCollector, type BodyReader } from './body-collector.js'
import type { Lease, PipelineContext } from './context.js'
import { REFUSALS } from './refusals.js'

/** Goes on with a request whose route was not known before its body. */
export interface RoutingOwner {
  /** The body is in `x.body`. */
  onRoutable(body: RoutingBody): void
  /** It cannot be routed: the body is too large, too slow, or its client has gone. */
  onUnroutable(body: RoutingBody, reply: Reply | null): void
}

/**
 * A request whose route depends on its body, until that is there:
 *
 *     accept ─► collect ─┬─► onRoutable: the router is asked again
 *                        └─► onUnroutable: refused, or the client has gone
 */
export class RoutingBody implements ClientOwner, Deadline, BodyReader {
  readonly x: Exchange
  readonly client: ClientStream
  /** The snapshot that it began with, which also routes it. */
  readonly lease: Lease
  isOver = false
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #context: PipelineContext
  readonly #owner: RoutingOwner

  constructor(
    x: Exchange,
    client: ClientStream,
    shared: { context: PipelineContext; lease: Lease },
    owner: RoutingOwner,
  ) {
    this.x = x
    this.client = client
    this.lease = shared.lease
    this.#context = shared.context
    this.#owner = owner
    client.owner = this
  }

  start(): void {
    if (this.x.contentLength > this.x.bodyLimit) {
      this.#owner.onUnroutable(this, REFUSALS.tooLarge)
      return
    }
    this.#context.inFlight++
    this.touch(this.x.bodyIdleMs)
    this.#context.wheel.arm(this)
    new BodyCollector(this).collect(() => {
      this.#end()
      this.#owner.onRoutable(this)
    })
  }

  touch(ms: number): void {
    this.dueAt = performance.now() + ms
  }

  refuse(reply: Reply): void {
    this.#end()
    this.#owner.onUnroutable(this, reply)
  }

  onDeadline(): void {
    if (!this.isOver) this.refuse(REFUSALS.tooSlow)
  }

  onClientAbort(): void {
    if (this.isOver) return
    this.#end()
    this.#owner.onUnroutable(this, null)
  }

  onClientDrain(): void {}

  #end(): void {
    this.isOver = true
    this.#context.wheel.disarm(this)
    this.#context.inFlight--
  }
}
