import { type DeliveredExchange, type ErrorCode, PHASE, type Reply } from '@sluice/core'
import { addForwardingFields } from '../listen/client-address.js'
import type { ClientStream } from '../listen/listener.js'
import type { UpgradeAttempt, UpgradeObserver } from '../upstream/http1/upgrade-attempt.js'
import type { Target } from '../upstream/target.js'
import { attributeOpening, type Opening } from '../upstream/transport/opening.js'
import type { ReceivedHead } from '../upstream/transport/received-head.js'
import type { Attempt, Failure } from '../upstream/transport/transport.js'
import { noteAnswer, noteAttempt, noteConnections } from './attempt-notes.js'
import { bufferOf } from './buffer-of.js'
import { renewCredentials } from './credential-renewal.js'
import type { ExchangeFlow } from './exchange-flow.js'
import type { ExchangeTimer, Waiting } from './exchange-timer.js'
import { REFUSALS } from './refusals.js'
import { RequestBody, type RequestBodyObserver } from './request-body.js'
import { requestPlainBody } from './response-collector.js'
import { type DeliveryOwner, ResponseDelivery } from './response-delivery.js'
import type { ProxyAction } from './route.js'
import { announce, sendTrace, sentHost, sentPath } from './sent-target.js'
import { TargetSearch } from './target-search.js'
import {
  failureReply,
  lateReply,
  noTargetReply,
  SLOW_CLIENTS,
  slowClientsReply,
} from './upstream-refusals.js'
import { relayWebSocket, switchFields } from './websocket-session.js'

/** Slack for the overall connection wait, in milliseconds. The transport times out first, and that fails over. */
const CONNECTION_SLACK_MS = 1000

/**
 * Sends a request to its upstream and passes the response on for delivery:
 *
 *     start ─► (body ready) ─► choose target ─► attempt hooks ─► dispatch ─► onStarted ─► onHead ─► response hooks
 *                                   ▲                                │                                   │
 *                                   └──────── retry, if safe ◄───────┘ onFailure             deliver: ResponseDelivery
 *
 * Bodies stream in both directions. Each side is paused while the other is slow.
 */
export class ProxyPass implements UpgradeObserver, RequestBodyObserver, DeliveryOwner {
  readonly #flow: ExchangeFlow
  readonly #timer: ExchangeTimer
  readonly #x: DeliveredExchange
  readonly #client: ClientStream
  readonly #action: ProxyAction
  readonly #search: TargetSearch
  #body: RequestBody | null = null
  #attempt: Attempt | null = null
  #hasStarted = false
  /** Delivery of the response, or null until the target has sent the head. */
  #response: ResponseDelivery | null = null
  #isPaused = false
  /** Timer for the next attempt. Until then, events of the previous attempt are ignored. */
  #backoff: NodeJS.Timeout | null = null

  constructor(flow: ExchangeFlow, action: ProxyAction) {
    this.#flow = flow
    this.#timer = flow.timer
    this.#x = flow.x
    this.#client = flow.client
    this.#action = action
    this.#search = new TargetSearch(action.upstream, flow.x)
  }

  start(): void {
    const x = this.#x
    x.attempts.upstream = this.#action.upstream.name
    this.#action.upstream.budget.earn()
    addForwardingFields(x)
    if (this.#flow.route.chain.responseBody !== null) requestPlainBody(x)
    if (x.contentLength === 0 || x.body !== null) {
      this.#next()
      return
    }
    this.#timer.waitIn(PHASE.requestBody, 'request-body', x.pace.bodyIdleMs)
    this.#body = new RequestBody(this.#client, x, this)
    this.#body.read()
  }

  onBodyReady(): void {
    if (!this.#flow.isOver) this.#next()
  }

  onBodyProgress(chunk: Uint8Array): void {
    const x = this.#x
    x.requestBytes += chunk.length
    if (this.#flow.isOver) return
    if (x.record.capture !== null) x.record.capture.onRequestChunk(chunk)
    if (x.requestBytes > x.bodyLimit) this.onOverflow(REFUSALS.tooLarge)
    else {
      this.#flow.context.heartbeat.beatIfLate()
      if (this.#timer.waiting === 'request-body') this.#timer.touchBody(chunk.length)
    }
  }

  onBodyEnd(): void {
    if (!this.#isPaused) this.#search.releaseConnection()
    this.#search.noteSent()
    if (!this.#flow.isOver && this.#response === null)
      this.#timer.waitFor('response', this.#action.timeouts.headersMs)
  }

  onBodyHeld(): void {
    if (this.#isUploading()) this.#timer.waitFor('response', this.#action.timeouts.idleMs)
  }

  onBodyWanted(): void {
    if (this.#isUploading()) this.#timer.waitFor('request-body', this.#x.pace.bodyIdleMs)
  }

  #isUploading(): boolean {
    return !this.#flow.isOver && this.#hasStarted && this.#response === null
  }

  /** Handles a body over its limit: refuses the request, or cuts the response if it has started. */
  onOverflow(reply: Reply): void {
    if (this.#canStillAnswer) this.#flow.refuse(reply)
    else this.#cut(reply.problem!.code, `${reply.problem!.detail}; the response had already started`)
  }

  // Attempts.

  #next(): void {
    const target = this.#search.take(this.#body?.isComplete === false)
    if (target === null) {
      this.#flow.refuse(noTargetReply(this.#action.upstream))
      return
    }
    this.#x.attempts.target = target.origin
    if (this.#body?.isComplete === false && !this.#search.reserveConnection()) {
      this.#flow.refuse(slowClientsReply(this.#action.upstream))
      return
    }
    const hooks = this.#flow.route.chain.attempt
    if (hooks !== null) {
      this.#timer.enter(PHASE.requestChain)
      announce(this.#action, this.#x, target)
    }
    this.#flow.runPhase(hooks, this, this.#dispatch)
  }

  #dispatch(): void {
    const x = this.#x
    const target = this.#search.target!
    x.attempts.count++
    target.attempts++
    this.#hasStarted = false
    this.#waitForConnection()
    x.attempts.sinceMono = x.times.sinceMono
    const request = {
      id: this.#flow.id,
      traceparent: sendTrace(this.#flow, this.#action, target),
      method: x.method,
      path: sentPath(this.#action, x),
      host: sentHost(this.#action, x, target),
      headers: x.headers,
      body: bufferOf(x.body) ?? this.#body?.whole ?? null,
      upload: this.#body?.openUpload(target.transport) ?? null,
      connectMs: this.#action.timeouts.connectMs,
    }
    if (request.upload !== null && this.#body!.isComplete) this.#search.noteSent()
    if (x.record.capture !== null) x.record.capture.onDispatch(x, request.host)
    const { mirror } = this.#action.upstream
    const observer =
      mirror === null || x.attempts.count > 1 ? this : mirror.copyRequest({ request, target, observer: this })
    const attempt =
      this.#client.upgrade === null
        ? target.transport.dispatch(request, observer, this.#search.isFresh || target.suspectsStale)
        : this.#search.dispatchUpgrade(target, request, this)
    // A synchronous failure has already moved on to the next attempt, or ended the flow.
    if (this.#search.target === target && !this.#flow.isOver && this.#attempt === null)
      this.#attempt = attempt
  }

  onStarted(opening: Opening | null): void {
    this.#hasStarted = true
    this.#x.attempts.isReused = opening === null
    if (opening !== null) attributeOpening(this.#x, opening)
    const { timeouts } = this.#action
    if (this.#body !== null && this.#body.whole === null) this.#body.release()
    const isUploading = this.#body !== null && !this.#body.isComplete
    if (isUploading) this.#timer.waitIn(PHASE.upstreamFirstByte, 'request-body', this.#x.pace.bodyIdleMs)
    else this.#timer.waitIn(PHASE.upstreamFirstByte, 'response', timeouts.headersMs)
  }

  #waitForConnection(): void {
    const { timeouts, upstream } = this.#action
    const ms = upstream.pendingTimeoutMs + timeouts.connectMs + CONNECTION_SLACK_MS
    this.#timer.waitIn(PHASE.upstreamQueue, 'connection', ms)
  }

  onFailure(failure: Failure): void {
    if (this.#response?.isWhole !== true) this.#search.noteFailure(failure)
    const target = this.#releaseTarget()
    if (this.#flow.isOver || this.#backoff !== null) return
    if (target !== null) {
      target.failures++
      if (this.#action.upstream.watchesAnswers) this.#noteFailure(target)
    }
    if (this.#response?.isWhole === true) this.#response.end(null)
    else if (!this.#canStillAnswer) this.#cut(failure.code, failure.detail)
    else if (target === null || !this.#retry(failure, target))
      this.#flow.refuse(failureReply(this.#action.upstream, failure))
  }

  #noteFailure(target: Target): void {
    this.#action.upstream.noteFailure(target, this.#waitedMs)
  }

  /** Time spent waiting for the target, in milliseconds. */
  get #waitedMs(): number {
    const { sinceMono } = this.#x.attempts
    return this.#flow.context.clock.now() - (this.#body?.sentSince(sinceMono) ?? sinceMono)
  }

  #retry(failure: Failure, target: Target): boolean {
    if (this.#response !== null) return false
    const { leftMs } = this.#timer
    const attempt = { failure, target, hasStarted: this.#hasStarted, body: this.#body, leftMs }
    const decision = this.#search.retryAfterFailure(attempt)
    const failed = { code: failure.code, status: 0, reason: failure.detail, retry: decision }
    noteAttempt(this.#flow, target, failed)
    if (decision === 'repeated') this.#retryLater()
    else if (decision === 'moved' || decision === 'resent') this.#next()
    else return false
    return true
  }

  /** Retries after a response or timeout, if allowed. Returns false if the response stands. */
  #retryResponse(status: number, code: ErrorCode | null, fields: readonly string[]): boolean {
    const target = this.#search.target!
    const { leftMs } = this.#timer
    const decision = this.#search.retryAfterResponse({ target, body: this.#body, status, fields, leftMs })
    noteAnswer(this.#flow, target, { status, code, retry: decision })
    if (decision === 'repeated') this.#retryLater()
    return decision === 'repeated'
  }

  /** Returns true if the response is rejected, for a retry or because a policy has other credentials. */
  #rejectsResponse({ status, fields }: ReceivedHead): boolean {
    if (this.#action.upstream.retryOn?.includes(status) === true && this.#retryResponse(status, null, fields))
      return true
    const { rejected } = this.#flow.route.chain
    if (rejected === null || status >= 500 || !this.#search.canRenew(this.#body)) return false
    if (!renewCredentials(rejected, this.#flow, { status, fields })) return false
    const target = this.#search.renew()
    noteAnswer(this.#flow, target, { status, code: null, retry: 'renewed' })
    this.#retryLater()
    return true
  }

  /** Starts the next attempt after a pause. A rejected response that ends by then keeps its connection reusable. */
  #retryLater(): void {
    const ms = this.#search.backoffMs
    this.#timer.waitIn(PHASE.upstreamQueue, 'connection', ms + CONNECTION_SLACK_MS)
    this.#backoff = setTimeout(() => {
      this.#backoff = null
      this.#leaveTarget()
      this.#next()
    }, ms)
  }

  #leaveTarget(): void {
    const attempt = this.#attempt
    this.#releaseTarget()
    attempt?.abort()
  }

  // Response.

  onHead(head: ReceivedHead): void {
    if (this.#flow.isOver) return
    const x = this.#x
    this.#search.noteAnswer(head.status, this.#waitedMs)
    if (head.status >= 400 && this.#rejectsResponse(head)) return
    this.#response = new ResponseDelivery(this.#flow, this, head.length, this.#action.delivery)
    x.attempts.status = head.status
    x.status = head.status
    if (x.record.capture !== null) x.record.capture.onResponseHead(head.fields)
    x.responseLength = head.length
    // The target responded before the end of the request body. The rest is not read.
    if (this.#body !== null && !this.#body.isComplete) this.#client.closeAfter = true
    const { response } = this.#flow.route.chain
    x.attempts.fields = head.fields
    x.attempts.isDelimited = head.isDelimited
    x.responseHeaders = response === null ? head.forwardedFieldsWith(x.id) : head.forwardedFields()
    const { upstream } = this.#action
    if (upstream.watchesAnswers) upstream.noteAnswer(x, this.#search.target!, this.#waitedMs)
    this.#response.runResponseHooks()
  }

  onDelivering(): void {
    if (this.#isPaused) this.resume()
  }

  onSwitched(head: ReceivedHead, attempt: UpgradeAttempt): void {
    this.#search.release()
    this.#attempt = attempt
    const x = this.#x
    x.attempts.status = head.status
    x.status = head.status
    if (x.record.capture !== null) x.record.capture.onResponseHead(head.fields)
    x.responseHeaders = switchFields(head)
    const hooks = this.#flow.route.chain.response
    if (hooks !== null) this.#timer.enter(PHASE.responseChain)
    this.#flow.runPhase(hooks, this, this.#relay)
  }

  #relay(): void {
    const attempt = this.#attempt as UpgradeAttempt
    this.#attempt = null
    this.#timer.enter(PHASE.upstreamBody)
    relayWebSocket(this.#flow, this.#action, attempt)
  }

  onData(chunk: Uint8Array): void {
    const { target } = this.#search
    if (target !== null) target.traffic.responseBytes += chunk.length
    this.#response?.write(chunk)
  }

  onDelivered(): void {
    this.#flow.finish()
  }

  onEnd(trailers: readonly string[] | null): void {
    if (this.#flow.trace !== null) this.#x.attempts.endedMono = this.#flow.context.clock.now()
    this.#releaseTarget()
    if (this.#flow.isOver || this.#backoff !== null) return
    if (this.#body?.isComplete === false) this.#body.destroy()
    else this.#body?.finish()
    this.#response!.end(trailers)
  }

  onClientDrain(): void {
    this.#response?.onDrain()
  }

  hold(): void {
    if (this.#search.reserveConnection()) this.pause()
    else this.#cut('GW_OVERLOADED', SLOW_CLIENTS)
  }

  pause(): void {
    this.#isPaused = true
    this.#attempt?.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#body?.isComplete !== false) this.#search.releaseConnection()
    this.#attempt?.resume()
  }

  /** Handles a missed deadline. */
  onOverdue(waiting: Waiting, isTotal: boolean): void {
    // A client that streams its body slowly may have used up the total time itself.
    const isOwnFault = !isTotal || this.#body?.isReplayable !== false
    if (isOwnFault && (waiting === 'response' || waiting === 'response-body')) this.#search.noteLate()
    if (!this.#canStillAnswer) {
      if (waiting === 'client' && !isTotal && this.#response!.onClientTimeout()) return
      const message = 'the response made no progress for too long'
      this.#cut('GW_UPSTREAM_TIMEOUT', message, waiting === 'client' ? 'aborted' : 'error')
      return
    }
    const { target } = this.#search
    if (isOwnFault && target !== null && waiting !== 'request-body' && this.#action.upstream.watchesAnswers)
      this.#noteFailure(target)
    if (waiting === 'response' && !isTotal && this.#retryResponse(504, 'GW_UPSTREAM_TIMEOUT', [])) {
      this.#leaveTarget()
      return
    }
    const phase = isTotal ? 'total' : waiting === 'connection' ? 'connect' : 'headers'
    this.#flow.refuse(lateReply(this.#action.upstream, phase))
  }

  /** True if nothing of a response has been sent to the client. */
  get #canStillAnswer(): boolean {
    return this.#response?.isUnderWay !== true
  }

  /** Records the state of the connection pool for the log record. */
  noteConnections(): void {
    noteConnections(this.#flow, this.#action.upstream)
  }

  /** Cuts a response that has started and cannot be completed. The client sees a truncated body. */
  #cut(code: ErrorCode, message: string, result: 'error' | 'aborted' = 'error'): void {
    this.noteConnections()
    this.abandon()
    this.#flow.cut(result, code, message)
  }

  abandon(): void {
    if (this.#backoff !== null) clearTimeout(this.#backoff)
    this.#response?.abandon()
    this.#leaveTarget()
    this.#body?.destroy()
  }

  #releaseTarget(): Target | null {
    this.#attempt = null
    return this.#search.release()
  }
}
