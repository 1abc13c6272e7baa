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
import { isBodiless } from '../listen/response-head.js'
import type { ResponseHooks } from './chain.js'
import type { ExchangeFlow, FilterOwner } from './exchange-flow.js'
import type { ExchangeTimer } from './exchange-timer.js'
import { type BodySink, FILTER_WAIT_MS, FilteredBody } from './filtered-body.js'
import { REFUSALS } from './refusals.js'
import { ResponseCollector } from './response-collector.js'
import type { DeliveryBounds } from './route.js'
import { type HeldSource, SlowReader } from './slow-reader.js'

/** Media type of server-sent events (HTML standard, section 9.2). */
const EVENT_STREAM = 'text/event-stream'

/** State of the response to the client. */
type Progress = 'announced' | 'bodiless' | 'collecting' | 'held' | 'streaming' | 'whole' | 'abandoned'

const NO_BODY = new Uint8Array(0)
/** A resolved promise. Its reactions run right after the current read, without the overhead of queueMicrotask(). */
const READ_OVER = Promise.resolve()

/** Owner of a response that is being delivered. */
export interface DeliveryOwner extends HeldSource {
  /** Called when the response exceeds its limit. */
  onOverflow(reply: Reply): void
  /** Called when the hooks have seen the head and the body is wanted. */
  onDelivering(): void
  /** Called when the whole response was handed to the client. */
  onDelivered(): void
}

/**
 * Delivery of a response to the client, from the target's head to the end:
 *
 *     announced ─► (response hooks) ─┬─► bodiless ─────────────────────────────────┐
 *                                    ├─► collecting ─► (body hooks) ─► whole ──────┼─► finish
 *                                    └─► held ─┬─► whole, or no body at all ───────┤
 *                                              └─► streaming ──────────────────────┘
 *
 * If one step stores responses and steps after it read bodies, those finish with the body before all others see the
 * head.
 *
 * If the client is slow, the response is buffered up to a limit, which frees the target's connection; then the source
 * is paused. Until something has been sent to the client, the response can still be replaced.
 */
export class ResponseDelivery implements FilterOwner {
  readonly #flow: ExchangeFlow
  readonly #timer: ExchangeTimer
  readonly #owner: DeliveryOwner
  readonly #bounds: DeliveryBounds
  /** Destination of the body: the client, or the filters in front of it. */
  #sink: BodySink
  /** Filters of the body; null if there are none. */
  #filtered: FilteredBody | null = null
  /** Buffer for a slow client; null as long as the client has kept up. */
  #slow: SlowReader | null = null
  /** Content-Length, or -1 if unknown. */
  #length: number
  #progress: Progress = 'announced'
  /** True once the target has sent everything, possibly while hooks wait: a response to HEAD cannot be paused. */
  #hasEnded = false
  #trailers: readonly string[] | null = null
  /** Hooks of the current layer. */
  #hooks: ResponseHooks
  /** Collector for hooks that read the body; null if there are none. */
  #collector: ResponseCollector | null = null

  /** @param length Content-Length of the target's response, or -1 if unknown. */
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

  /** True if part of the response was sent to the client, so that it can no longer be replaced. */
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

  /** True if the whole response was sent to the client. */
  get isWhole(): boolean {
    return this.#progress === 'whole'
  }

  /** Runs the response hooks on the head in the exchange. */
  runResponseHooks(): void {
    if (this.#flow.route.chain.response !== null) this.#timer.enter(PHASE.responseChain)
    this.#flow.runPhase(this.#hooks.response, this, this.#runOuterHooks)
  }

  /** Hooks of the outer layer that have not run yet; null if there are none. */
  get #outerHooks(): ResponseHooks | null {
    const { layers } = this.#flow.route.chain
    return layers === null || this.#hooks === layers.outer ? null : layers.outer
  }

  #runOuterHooks(): void {
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

  /** @param isRead true if hooks read the body before the client does. */
  #open(isRead: boolean): void {
    const { x } = this.#flow
    if (x.method === 'HEAD' || isBodiless(x.status)) {
      this.#progress = 'bodiless'
      this.#timer.waitFor('response-body', this.#bounds.idleMs)
      this.#attachFilters()
      // The body of the corresponding GET may be modified.
      if (isRead) this.#length = -1
    } else if (isRead) {
      this.#progress = 'collecting'
      this.#collector = new ResponseCollector(x.responseBodyLimit)
      this.#timer.waitFor('response-body', this.#bounds.idleMs)
    } else {
      this.#progress = 'held'
      this.#attachFilters()
      // If the body arrived with the head, it is here before this runs, and both are sent in one write.
      void READ_OVER.then(() => this.#flushHead())
    }
    if (this.#hasEnded) this.#complete()
  }

  /** Inserts the filters that the hooks have added. */
  #attachFilters(): void {
    if (this.#flow.x.responseFilters === null) return
    this.#filtered = new FilteredBody(this.#flow, this)
    this.#sink = this.#filtered
  }

  /** Sends the held head before the rest of the body. */
  #flushHead(): void {
    const flow = this.#flow
    if (this.#progress !== 'held' || flow.isOver) return
    this.#progress = 'streaming'
    this.#timer.waitFor('response-body', this.#bounds.idleMs)
    if (flow.isLogged && this.#length === -1) watchEvents(flow.x)
    this.#sink.start(flow.x.status, flow.x.responseHeaders, this.#length)
  }

  /** Stops sending to the client, including a held head. */
  abandon(): void {
    this.#progress = 'abandoned'
    if (this.#slow !== null) this.#flow.x.responseBytes -= this.#slow.close()
  }

  /** Processes a chunk of the target's body. */
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
    // A filter failed and ended the response.
    if (this.isAbandoned) return
    this.#slow ??= new SlowReader(this.#flow, this.#owner, this.#sink, this.#bounds)
    this.#slow.fallBehind(bytes)
    if (this.#filtered !== null) this.#waitForFilters(this.#filtered)
  }

  /**
   * Handles the end of the target's response.
   * @param trailers only sent after a streamed body; null if there are none.
   */
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
    // The filters must finish first.
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
      // The buffered bytes must be sent first.
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

  /** Sends the body as the hooks have left it. */
  #sendBody(): void {
    const outer = this.#outerHooks
    if (outer !== null) {
      this.#hooks = outer
      this.#flow.runPhase(outer.response, this, this.#reviseOuter)
      return
    }
    const { x } = this.#flow
    this.#attachFilters()
    const body = x.responseBody ?? NO_BODY
    // A hook may have changed the status: after a 204, the client would read the body as the next response.
    if (isBodiless(x.status)) {
      this.#progress = 'whole'
      this.#sink.sendHead(x.status, x.responseHeaders, -1)
      this.#deliver()
      return
    }
    x.responseBytes = body.length
    if (x.record.capture !== null) x.record.capture.onResponseChunk(body)
    this.#progress = 'whole'
    this.#sink.send(x.status, x.responseHeaders, body)
    this.#deliver()
  }

  /** Handles a client that has drained its buffer. */
  onDrain(): void {
    const slow = this.#slow
    const filtered = this.#filtered
    if (this.#flow.isOver || filtered?.takeDrain() === true || slow === null || !slow.isBehind) return
    if (!slow.onDrain()) {
      if (filtered !== null) this.#waitForFilters(filtered)
    } else if (this.#hasEnded) this.#complete()
    else {
      this.#timer.waitIn(PHASE.upstreamBody, 'response-body', this.#bounds.idleMs)
      slow.resume()
    }
  }

  /** Handles a client that has missed its deadline. Returns false if it should be cut. */
  onClientTimeout(): boolean {
    return this.#slow?.onCreditExpired() === true
  }
}

/** Counts server-sent events for the log record. */
function watchEvents(x: Exchange): void {
  const { responseHeaders } = x
  if (mediaType(headerValue(responseHeaders, 'content-type') ?? '') !== EVENT_STREAM) return
  x.record.stream = new EventStream(performance.now(), !hasContentCoding(responseHeaders))
}
