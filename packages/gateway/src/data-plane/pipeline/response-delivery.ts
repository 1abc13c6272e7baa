import { performance } from 'node:perf_hooks'
import {
  EventStream,
  type Exchange,
  hasContentCoding,
  headerValue,
  mediaType,
  PHASE,
  type Reply,
} from '@sluice/core'
import { isBodiless } from '../listener/response-head.js'
import type { ResponseHooks } from './chain.js'
import type { ExchangeFlow } from './exchange-flow.js'
import type { ExchangeTimer } from './exchange-timer.js'
import { type BodySink, FILTER_WAIT_MS, FilteredBody, type FilterOwner } from './filtered-body.js'
import { REFUSALS } from './refusals.js'
import { ResponseCollector } from './response-collector.js'
import type { DeliveryBounds } from './route.js'
import { type HeldSource, SlowReader } from './slow-reader.js'

/** Of server-sent events (HTML, 9.2). */
const EVENT_STREAM = 'text/event-stream'

/** How far the response to the client has come. */
type Progress = 'announced' | 'bodiless' | 'collecting' | 'held' | 'streaming' | 'whole' | 'abandoned'

/** Its reactions run as soon as what was read is worked off, without what queueMicrotask() does around each. */
const READ_OVER = Promise.resolve()

/** Who has a response delivered. */
export interface DeliveryOwner extends HeldSource {
  /** The response has outgrown its limit. */
  onOverflow(reply: Reply): void
  /** The hooks have seen its head: the body is wanted. */
  onDelivering(): void
  /** All of it has been handed to the client. */
  onDelivered(): void
}

/**
 * A response on its way to the client, from the target's head on:
 *
 *     announced ─► (response hooks) ─┬─► bodiless ─────────────────────────────────┐
 *                                    ├─► collecting ─► (body hooks) ─► whole ──────┼─► finish
 *                                    └─► held ─┬─► whole, or no body at all ───────┤
 *                                              └─► streaming ──────────────────────┘
 *
 * Where a step keeps responses and others behind it read bodies, theirs are through with the body before all others see
 * the head.
 *
 * While the client is slow its response is read ahead, as far as there is room, so that the target's connection becomes
 * free; then the source waits. Until something has gone to the client it may be abandoned for another answer.
 */
export class ResponseDelivery implements FilterOwner {
  readonly #flow: ExchangeFlow
  readonly #timer: ExchangeTimer
  readonly #owner: DeliveryOwner
  readonly #bounds: DeliveryBounds
  /** What takes the body: the client, or the filters before it. */
  #sink: BodySink
  /** Null where no filter changes the body. */
  #filtered: FilteredBody | null = null
  /** Null as long as the client has kept up. */
  #slow: SlowReader | null = null
  /** Content-Length; -1 unknown. */
  #length: number
  #progress: Progress = 'announced'
  /** The target has sent all of it. It may have while hooks wait: a response to HEAD cannot be paused. */
  #hasEnded = false
  #trailers: readonly string[] | null = null
  /** The hooks that are at work on it. */
  #hooks: ResponseHooks
  /** Gathers the response for the hooks that read its body; null where there are none. */
  #collector: ResponseCollector | null = null

  /** @param length the target's Content-Length; -1 unknown. */
  constructor(flow: ExchangeFlow, owner: DeliveryOwner, length: number, bounds: DeliveryBounds) {
    this.#flow = flow
    this.#timer = flow.timer
    this.#owner = owner
    this.#sink = flow.client
    this.#length = length
    this.#bounds = bounds
    const { chain } = flow.route
    this.#hooks = chain.layers === null ? chain : chain.layers.inner
  }

  /** Whether something of the response has gone to the client: it cannot be another one any more. */
  get isUnderWay(): boolean {
    switch (this.#progress) {
      case 'streaming':
      case 'whole':
        return true
      default:
        return false
    }
  }

  get isAbandoned(): boolean {
    return this.#progress === 'abandoned'
  }

  /** Whether all of the response has gone to the client. */
  get isWhole(): boolean {
    return this.#progress === 'whole'
  }

  /** Its head is in the exchange. */
  meetHooks(): void {
    if (this.#flow.route.chain.response !== null) this.#timer.enter(PHASE.responseChain)
    this.#flow.runPhase(this.#hooks.response, this, this.#meetOuterHooks)
  }

  /** Those that have not begun yet; null: there are none. */
  get #outerHooks(): ResponseHooks | null {
    const { layers } = this.#flow.route.chain
    return layers === null || this.#hooks === layers.outer ? null : layers.outer
  }

  #meetOuterHooks(): void {
    const { x } = this.#flow
    const outer = this.#outerHooks
    // Without a body there is nothing to wait for.
    if (outer !== null && (x.method === 'HEAD' || isBodiless(x.status))) {
      this.#hooks = outer
      this.#flow.runPhase(outer.response, this, this.#begin)
    } else this.#begin()
  }

  #begin(): void {
    const { x, route, client, context } = this.#flow
    const { response, responseBody } = route.chain
    if (context.isLeaving) client.closeAfter = true
    if (response !== null && this.#outerHooks === null) x.responseHeaders.push('x-request-id', x.id)
    this.#timer.enter(PHASE.upstreamBody)
    this.#open(responseBody !== null)
    this.#owner.onDelivering()
  }

  /** @param isRead others will read its body before the client does. */
  #open(isRead: boolean): void {
    const { x } = this.#flow
    if (x.method === 'HEAD' || isBodiless(x.status)) {
      this.#progress = 'bodiless'
      this.#timer.waitFor('response-body', this.#bounds.idleMs)
      this.#meetFilters()
      // The body that a GET would bring may be changed.
      if (isRead) this.#length = -1
    } else if (isRead) {
      this.#progress = 'collecting'
      this.#collector = new ResponseCollector(x.responseBodyLimit)
      this.#timer.waitFor('response-body', this.#bounds.idleMs)
    } else {
      this.#progress = 'held'
      this.#meetFilters()
      // A body that came with the head is there before this runs, and goes out in one write with it.
      void READ_OVER.then(() => this.#flushHead())
    }
    if (this.#hasEnded) this.#complete()
  }

  /** All hooks are through: what they have added filters for goes through those. */
  #meetFilters(): void {
    if (this.#flow.x.responseFilters === null) return
    this.#filtered = new FilteredBody(this.#flow, this)
    this.#sink = this.#filtered
  }

  /** Sends a head that is held; its body is still on its way. */
  #flushHead(): void {
    const flow = this.#flow
    if (this.#progress !== 'held' || flow.isOver) return
    this.#progress = 'streaming'
    this.#timer.waitFor('response-body', this.#bounds.idleMs)
    if (flow.isLogged && this.#length === -1) watchEvents(flow.x)
    this.#sink.start(flow.x.status, flow.x.responseHeaders, this.#length)
  }

  /** Nothing more of it goes to the client, also of a head that is held. */
  abandon(): void {
    this.#progress = 'abandoned'
    if (this.#slow !== null) this.#flow.x.responseBytes -= this.#slow.close()
  }

  /** Takes a part of the target's body. */
  write(chunk: Uint8Array): void {
    const flow = this.#flow
    if (flow.isOver || this.#progress === 'bodiless') return
    flow.context.heartbeat.beatIfLate()
    const { x } = flow
    if (x.responseTap !== null) x.responseTap.onChunk(chunk)
    if (this.#collector !== null) {
      if (this.#collector.add(chunk)) this.#timer.touch(this.#bounds.idleMs)
      else this.#owner.onOverflow(REFUSALS.responseTooLarge)
      return
    }
    x.responseBytes += chunk.length
    if (x.record.capture !== null) x.record.capture.onResponseChunk(chunk)
    if (this.#progress === 'held' && chunk.length === this.#length) {
      this.#progress = 'whole'
      this.#sink.send(x.status, x.responseHeaders, chunk)
      return
    }
    if (x.responseBytes > x.responseCutoff) {
      this.#owner.onOverflow(REFUSALS.responseTooLarge)
      return
    }
    this.#flushHead()
    if (x.record.stream !== null) (x.record.stream as EventStream).read(chunk)
    if (this.#slow?.isBehind === true) this.#slow.add(chunk)
    else if (this.#sink.write(chunk)) this.#timer.touch(this.#bounds.idleMs)
    else this.#fallBehind(chunk.length)
  }

  #fallBehind(bytes: number): void {
    // A filter that failed has ended it.
    if (this.isAbandoned) return
    this.#slow ??= new SlowReader(this.#flow, this.#owner, this.#sink, this.#bounds)
    this.#slow.fallBehind(bytes)
    if (this.#filtered !== null) this.#waitForFilters(this.#filtered)
  }

  /** The target's response is complete. @param trailers go out with a streamed body only; null: none. */
  end(trailers: readonly string[] | null): void {
    this.#hasEnded = true
    if (trailers !== null) this.#trailers = trailers
    if (this.#progress !== 'announced') this.#complete()
  }

  #complete(): void {
    const { x } = this.#flow
    const tap = x.responseTap
    if (tap !== null) {
      x.responseTap = null
      tap.onEnd()
    }
    const sink = this.#sink
    // What filters still work on goes first.
    if (this.#filtered?.isBusy === true) return
    if (this.#collector !== null) {
      this.#collector.finish(x)
      this.#reviseBody()
      return
    }
    if (this.#trailers !== null) this.#flushHead()
    if (this.#progress === 'bodiless') {
      sink.sendHead(x.status, x.responseHeaders, x.method === 'HEAD' ? this.#length : -1)
    } else if (this.#progress === 'held') {
      this.#progress = 'whole'
      sink.send(x.status, x.responseHeaders, null)
    } else if (this.#progress === 'streaming') {
      // What it has not taken goes first.
      if (this.#slow?.isBehind === true) return
      sink.end(this.#trailers)
    }
    this.#deliver()
  }

  onFiltered(): void {
    if (this.#hasEnded) this.#deliver()
  }

  #waitForFilters({ isWaiting, isHeld }: FilteredBody): void {
    if (isWaiting) this.#timer.waitFor('filter', FILTER_WAIT_MS)
    else if (isHeld) this.#timer.waitFor('client', this.#bounds.idleMs)
  }

  #deliver(): void {
    const filtered = this.#filtered
    if (filtered === null) this.#owner.onDelivered()
    else if (filtered.isBusy) this.#waitForFilters(filtered)
    else if (!this.isAbandoned) this.#owner.onDelivered()
  }

  #reviseBody(): void {
    this.#flow.runPhase(this.#hooks.responseBody, this, this.#sendBody)
  }

  #reviseOuter(): void {
    const { x } = this.#flow
    x.responseHeaders.push('x-request-id', x.id)
    this.#reviseBody()
  }

  /** Sends what the hooks have made of the body. */
  #sendBody(): void {
    const outer = this.#outerHooks
    if (outer !== null) {
      this.#hooks = outer
      this.#flow.runPhase(outer.response, this, this.#reviseOuter)
      return
    }
    const { x } = this.#flow
    this.#meetFilters()
    const body = x.responseBody!
    x.responseBytes = body.length
    if (x.record.capture !== null) x.record.capture.onResponseChunk(body)
    this.#progress = 'whole'
    this.#sink.send(x.status, x.responseHeaders, body)
    this.#deliver()
  }

  /** The client has taken what it had. */
  onDrain(): void {
    const slow = this.#slow
    const filtered = this.#filtered
    if (this.#flow.isOver || filtered?.takeDrain() === true || slow === null || !slow.isBehind) return
    if (!slow.onDrain()) {
      if (filtered !== null) this.#waitForFilters(filtered)
    } else if (this.#hasEnded) this.#complete()
    else {
      this.#timer.waitIn(PHASE.upstreamBody, 'response-body', this.#bounds.idleMs)
      slow.letGo()
    }
  }

  /** The client has not taken what it should. False: it is given up. */
  onClientDue(): boolean {
    return this.#slow?.onDue() === true
  }
}

/** The traffic log shows how many events a stream of them had. */
function watchEvents(x: Exchange): void {
  const { responseHeaders } = x
  if (mediaType(headerValue(responseHeaders, 'content-type') ?? '') !== EVENT_STREAM) return
  x.record.stream = new EventStream(performance.now(), !hasContentCoding(responseHeaders))
}
