import { performance } from 'node:perf_hooks'
import {
  Capture,
  type DeliveredExchange,
  type ErrorCode,
  PHASE,
  type Reply,
  type RoutedExchange,
  refusal,
  UnreadableBody,
} from '@sluice/core'
import type { ClientStream } from '../listen/listener.js'
import type { RequestTrace } from '../tracing/tracing.js'
import { BodyCollector } from './body-collector.js'
import type { Lease, PipelineContext } from './context.js'
import type { ExchangeFlow } from './exchange-flow.js'
import { ExchangeTimer, type Waiting } from './exchange-timer.js'
import { closeFilters, FILTER_WAIT_MS, FilteredBody } from './filtered-body.js'
import { type Hook, runChain } from './hook.js'
import { ProxyPass } from './proxy-pass.js'
import { faultReply, REFUSALS } from './refusals.js'
import { logRuleOf, type ProxyAction, type Route } from './route.js'
import { sendReply } from './sent-reply.js'
import { prepareUpgrade } from './websocket-session.js'

/** Time limit for a policy in milliseconds. */
const POLICY_WAIT_MS = 30_000

/**
 * Processing of one request on its route:
 *
 *     start ─► request hooks ─► body (collected if a hook needs it) ─► action ─┬─► answer ─► response hooks ─► reply
 *                  │                                                           └─► ProxyPass: attempts, response hooks,
 *                  └─ refusal or substitute ─► response hooks of the steps already passed ─► reply   delivery
 *
 * Every path ends in `finish`, exactly once: finish hooks, metrics, log record.
 */
export class Flow implements ExchangeFlow {
  readonly x: DeliveredExchange
  readonly id: string
  readonly client: ClientStream
  readonly route: Route
  readonly context: PipelineContext
  readonly timer: ExchangeTimer
  readonly isLogged: boolean
  readonly trace: RequestTrace | null
  hook: Hook | null = null
  /** Number of replies so far. A policy's late decision is ignored if the flow has moved on. */
  turn = 0
  isOver = false
  readonly #lease: Lease
  #proxy: ProxyPass | null = null
  #collector: BodyCollector | null = null
  #reply: Reply | null = null
  /** Hook that answered in place of the upstream. */
  #substituting: Hook | null = null

  constructor(
    route: Route,
    x: DeliveredExchange & RoutedExchange,
    client: ClientStream,
    shared: { context: PipelineContext; lease: Lease },
  ) {
    this.route = route
    this.x = x
    this.id = x.id
    this.client = client
    this.context = shared.context
    this.#lease = shared.lease
    const { isOff, capture, isTraced } = logRuleOf(route.log, x.method)
    this.isLogged = !isOff
    const isTimed = !isOff && route.log.isTimed
    this.timer = new ExchangeTimer(x, isTimed, this.context, this)
    if (!isOff) {
      if (isTimed) x.times.keep()
      this.context.log.announce(1)
    }
    if (capture !== null) {
      x.record.capture = new Capture(capture, x)
      if (x.body !== null) x.record.capture.onRequestChunk(x.body)
    }
    // After the capture, which shows the fields as received.
    this.trace = this.context.tracing === null ? null : this.context.tracing.begin(x)
    x.trace = this.trace
    if (route.metrics.isPolicySample() || isTraced || this.trace?.isSampled === true)
      x.record.tracePolicies(isTraced, this.trace !== null)
    x.route = route
    x.times.sinceMono = x.startedMono
    client.owner = this
    this.context.inFlight++
    const { heartbeat } = this.context
    if (x.startedMono >= heartbeat.dueMono) heartbeat.beatLate(x.startedMono)
  }

  // Request steps.

  start(): void {
    const hooks = this.route.chain.request
    if (hooks !== null) this.timer.enter(PHASE.requestChain)
    this.runPhase(hooks, this, this.#takeBody)
  }

  #takeBody(): void {
    const hooks = this.route.chain.requestBody
    if (this.#isTooLarge()) this.refuse(REFUSALS.tooLarge)
    else if (hooks === null) this.#act()
    // The router has already collected the body.
    else if (this.x.body !== null) this.runPhase(hooks, this, this.#act)
    else {
      this.timer.waitIn(PHASE.requestBody, 'request-body', this.x.pace.bodyIdleMs)
      this.#collector = new BodyCollector(this)
      this.#collector.collect(() => {
        this.timer.enter(PHASE.requestChain)
        this.runPhase(hooks, this, this.#act)
      })
    }
  }

  #act(): void {
    // A policy whose condition reads the body can set its limit only afterwards.
    if (this.#isTooLarge()) {
      this.refuse(REFUSALS.tooLarge)
      return
    }
    const { action, chain } = this.route
    if (action.kind === 'proxy') this.#pass(action)
    else this.#answer(action.reply(this.x), chain.response, this.#reviseReply)
  }

  #pass(action: ProxyAction): void {
    const refused = this.client.upgrade === null ? null : prepareUpgrade(this.x, this.client.upgrade, action)
    if (refused !== null) {
      this.refuse(refused)
      return
    }
    this.timer.limitTotal(action.timeouts.totalMs)
    this.#proxy = new ProxyPass(this, action)
    this.#proxy.start()
  }

  #answer(reply: Reply, hooks: readonly Hook[] | null, next: (this: Flow) => void): void {
    const { x } = this
    this.#reply = reply
    this.turn++
    if (x.responseFilters !== null) closeFilters(this)
    // Policies that are still running no longer have an effect.
    if (x.record.policyTrace !== null) x.record.policyTrace.close(performance.now())
    x.status = reply.status
    x.responseLength = reply.body?.length ?? 0
    x.responseHeaders = reply.headers.slice()
    if (hooks !== null) this.timer.enter(PHASE.responseChain)
    this.runPhase(hooks, this, next)
  }

  /**
   * Answers with a hook's reply instead of the upstream's response. The steps listed before it treat it as a response.
   */
  #substitute(reply: Reply): void {
    if (this.isOver) return
    this.#substituting = this.hook
    this.#leaveProxy()
    // It may replace the refusal of a failed upstream.
    this.x.fail('', '')
    this.x.result = 'success'
    this.x.responseBody = null
    const hooks = this.#passedBefore(this.route.chain.response, this.hook)
    this.#answer(reply, hooks, this.#reviseReply)
  }

  /** Runs the body hooks on the route's own reply, as on an upstream's response. */
  #reviseReply(): void {
    const hooks = this.#passedBefore(this.route.chain.responseBody, this.#substituting)
    const { body } = this.#reply!
    if (hooks === null || body === null || this.x.method === 'HEAD') {
      this.#sendReply()
      return
    }
    this.x.responseBody = body
    this.runPhase(hooks, this, this.#sendReply)
  }

  #sendReply(): void {
    if (this.context.isLeaving) this.client.closeAfter = true
    // The body of the corresponding GET may be modified.
    const isRevised = this.route.chain.responseBody !== null
    if (this.x.responseFilters !== null) {
      this.#sendFiltered(isRevised)
      return
    }
    sendReply(this.#reply!, { x: this.x, client: this.client, isRevised })
    this.finish()
  }

  #sendFiltered(isRevised: boolean): void {
    const client = new FilteredBody(this, this)
    sendReply(this.#reply!, { x: this.x, client, isRevised })
    if (client.isWaiting) this.timer.waitFor('filter', FILTER_WAIT_MS)
    else this.finish()
  }

  onFiltered(): void {
    this.finish()
  }

  onDrain(): void {}

  /** Ends the flow once the response was handed over or given up. */
  finish(): void {
    if (this.isOver) return
    this.isOver = true
    const { context, route, x } = this
    this.timer.stop()
    this.#collector?.drop()
    x.end(this.timer.readClock())
    // The response was delivered, but the call to the upstream failed.
    if (x.upstreamStatus >= 500 && x.result === 'success' && this.#substituting === null) x.result = 'error'
    if (x.endedMono >= context.heartbeat.dueMono) context.heartbeat.beatLate(x.endedMono)
    if (x.responseFilters !== null) closeFilters(this)
    if (route.chain.finish !== null) this.#runFinishHooks()
    const totalMs = x.endedMono - x.startedMono
    if (x.record.policyTrace !== null) x.record.policyTrace.close(x.endedMono)
    if (this.trace !== null) this.trace.end(x, totalMs)
    route.metrics.record(x, totalMs)
    context.metrics.consumers.record(x, totalMs)
    if (totalMs > route.log.slowMs && x.record.trace?.pool == null) this.#proxy?.noteConnections()
    if (this.isLogged) context.log.record(x)
    if (x.views !== null) x.views.close()
    // The log record is written. Later body chunks are not needed.
    if (x.record.capture !== null) x.record.capture.dropBodies()
    context.inFlight--
    this.#lease.release()
  }

  #runFinishHooks(): void {
    for (const hook of this.route.chain.finish!) {
      try {
        hook.run(this.x)
      } catch (error) {
        this.context.report('policy_failed', {
          policy: hook.name,
          route: this.route.id,
          error: String(error),
        })
      }
    }
  }

  // Policies.

  runPhase<Owner>(hooks: readonly Hook[] | null, owner: Owner, next: (this: Owner) => void): void {
    if (hooks === null) {
      next.call(owner)
      return
    }
    // Hooks may take long, so the cached clock reading would be stale.
    this.context.clock.drop()
    try {
      const outcome = runChain(hooks, this.x, this)
      if (outcome === null) next.call(owner)
      else if (outcome instanceof Promise) this.#await(outcome, owner, next)
      else this.#block(outcome)
    } catch (error) {
      this.fault(error)
    }
  }

  #await<Owner>(outcome: Promise<Reply | null>, owner: Owner, next: (this: Owner) => void): void {
    this.#proxy?.pause()
    this.timer.waitFor('policy', POLICY_WAIT_MS)
    const { turn } = this
    const proceed = (reply: Reply | null): void => {
      if (this.isOver || turn !== this.turn) return
      this.timer.waiting = 'none'
      if (reply === null) next.call(owner)
      else this.#block(reply)
    }
    const fail = (error: unknown): void => {
      if (turn === this.turn) this.fault(error)
    }
    // An exception from here on ends this request, not the process.
    outcome.then(proceed, fail).catch((error: unknown) => this.fault(error))
  }

  /** Handles a refusal or a substitute response from a hook. */
  #block(reply: Reply): void {
    if (reply.isSubstitute) {
      this.#substitute(reply)
      return
    }
    this.x.result = 'blocked'
    this.x.errorPolicy = this.hook?.name ?? ''
    this.refuse(reply)
  }

  /** Fails closed after an exception in a policy, and reports the policy. */
  fault(error: unknown): void {
    if (this.isOver) return
    const { x } = this
    const policy = x.responseFilters?.running?.name ?? this.hook?.name ?? ''
    const isUnderWay = x.responseFilters !== null && x.responseFilters.sentBytes >= 0
    x.errorPolicy = policy
    if (!isUnderWay && error instanceof UnreadableBody) {
      this.refuse(refusal(error.code, error.message))
      return
    }
    this.context.report('policy_failed', { policy, route: this.route.id, id: x.id, error: String(error) })
    x.result = 'error'
    this.#leaveProxy()
    if (isUnderWay) {
      this.cut('error', 'GW_POLICY_ERROR', 'a policy of this route failed; the response is not complete')
      return
    }
    // Run the response hooks of the steps before the failed one, as for a refusal.
    const hooks = this.#reply === null ? this.#passedBefore(this.route.chain.response, this.hook) : null
    this.#answerFailure(faultReply(error), hooks)
  }

  // Refusals.

  /** Answers with a refusal, after the response hooks of the steps that the request has passed. */
  refuse(reply: Reply): void {
    if (this.isOver) return
    const { x } = this
    if (reply.status >= 500 && x.result !== 'blocked') this.#proxy?.noteConnections()
    this.#leaveProxy()
    // A refusal made while the reply is already in the hooks is sent as it is.
    const hooks = this.#reply === null ? this.#passedHooks() : null
    this.#answerFailure(reply, hooks)
  }

  #answerFailure(reply: Reply, hooks: readonly Hook[] | null): void {
    const { x } = this
    const { problem, status } = reply
    x.fail(problem === null ? '' : problem.code, problem === null ? '' : problem.detail)
    if (x.result === 'success') x.result = status === 503 ? 'shed' : 'error'
    x.responseBody = null
    this.#answer(reply, hooks, this.#sendReply)
  }

  #passedHooks(): readonly Hook[] | null {
    const refusing = this.x.result === 'blocked' ? this.hook : null
    return this.#passedBefore(this.route.chain.response, refusing)
  }

  /** Returns the hooks of the steps listed before that of `answering`; all hooks if that is null. */
  #passedBefore(hooks: readonly Hook[] | null, answering: Hook | null): readonly Hook[] | null {
    if (hooks === null || answering === null) return hooks
    return hooks.filter((hook) => hook.order < answering.order)
  }

  #leaveProxy(): void {
    this.#proxy?.abandon()
    this.#proxy = null
  }

  /** True if the announced or received body exceeds the limit. The router may have read it before the limit was set. */
  #isTooLarge(): boolean {
    const { contentLength, requestBytes, bodyLimit } = this.x
    return contentLength > bodyLimit || requestBytes > bodyLimit
  }

  onBodyBytes(bytes: number): void {
    this.context.heartbeat.beatIfLate()
    this.timer.touchBody(bytes)
  }

  onOverdue(waiting: Waiting, isTotal: boolean): void {
    if (this.isOver) return
    if (waiting === 'request-body') this.refuse(isTotal ? REFUSALS.tooLong : REFUSALS.tooSlow)
    else if (waiting === 'policy') this.refuse(REFUSALS.policyTimedOut)
    else if (waiting === 'filter') this.fault(new Error('a response filter did not finish in time'))
    else this.#proxy?.onOverdue(waiting, isTotal)
  }

  // Client events.

  onClientAbort(): void {
    if (this.isOver) return
    const { x } = this
    // After the drain timeout, the gateway itself closes the connection.
    const { isCutting } = this.context
    x.result = isCutting ? 'shed' : 'aborted'
    if (isCutting) x.fail('GW_DRAINING', 'the gateway shut down before the response was complete')
    // HTTP has no status for a disconnected client. 499 is nginx's convention.
    if (x.responseBytes === 0) x.status = isCutting ? 503 : 499
    this.#proxy?.abandon()
    this.finish()
  }

  onClientDrain(): void {
    this.#proxy?.onClientDrain()
  }

  onBodyInvalid(reply: Reply): void {
    if (this.isOver) return
    if (this.#proxy === null) this.refuse(reply)
    else this.#proxy.onOverflow(reply)
  }

  cut(result: 'error' | 'aborted', code: ErrorCode, message: string): void {
    this.x.fail(code, message)
    if (this.x.result === 'success') this.x.result = result
    this.client.abort()
    this.finish()
  }
}
