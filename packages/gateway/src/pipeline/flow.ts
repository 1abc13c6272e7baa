import { performance } from 'node:perf_hooks'
import {
  Capture,
  type Exchange,
  Journal,
  PHASE,
  type Phase,
  type Reply,
  refusal,
  UnreadableBody,
} from '@sluice/core'
import type { ClientOwner, ClientStream } from '../listener/listener.js'
import type { Deadline } from '../telemetry/timer-wheel.js'
import { BodyCollector } from './body-collector.js'
import type { Lease, PipelineContext } from './context.js'
import { type Hook, type HookCursor, runChain } from './hook.js'
import { paceDeadline } from './pace.js'
import { ProxyPass } from './proxy-pass.js'
import { faultReply, REFUSALS } from './refusals.js'
import { logRuleOf, type Route } from './route.js'
import { sendReply } from './sent-reply.js'

/** What a flow does next, once the hooks of a phase have run. */
export type Stage = 'body' | 'action' | 'dispatch' | 'deliver' | 'deliver-body' | 'reply-body' | 'reply'

/** Whom a flow waits for, which decides what a missed deadline means. */
export type Waiting =
  | 'nobody'
  | 'policy'
  | 'request-body'
  | 'connection'
  | 'response'
  | 'response-body'
  | 'client'

/** Longest wait for a policy. */
const POLICY_WAIT_MS = 30_000

/**
 * The way of one request through its route:
 *
 *     start ─► request hooks ─► body (collected if a hook needs it) ─► action ─┬─► answer ─► response hooks ─► reply
 *                  │                                                           └─► ProxyPass: attempts, response hooks,
 *                  └─ refusal ─► response hooks of the steps already passed ─► reply             delivery
 *
 * Every way ends in `finish`, exactly once: finish hooks, metrics, traffic record.
 */
export class Flow implements ClientOwner, HookCursor, Deadline {
  readonly x: Exchange
  /** The exchange's id as it came from the listener, which vouches for it; what a policy makes of `x.id` is judged. */
  readonly id: string
  readonly client: ClientStream
  readonly route: Route
  readonly context: PipelineContext
  hook: Hook | null = null
  /** Counts answers: what a policy decides after the flow went on without it is not heard. */
  turn = 0
  waiting: Waiting = 'nobody'
  isOver = false
  dueAt = 0
  wheelNext: Deadline | null = null
  wheelPrevious: Deadline | null = null
  wheelSlot = -1
  readonly #lease: Lease
  /** Somebody reads the times of its phases. */
  readonly isLogged: boolean
  #totalDueAt = Number.POSITIVE_INFINITY
  #proxy: ProxyPass | null = null
  #reply: Reply | null = null

  constructor(
    route: Route,
    x: Exchange,
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
    if (!isOff) x.keepTimes()
    if (isTraced) x.journal = new Journal(true)
    if (capture !== null) {
      x.capture = new Capture(capture, x)
      if (x.body !== null) x.capture.onRequestChunk(x.body)
    }
    x.routeId = route.id
    x.configDigest = route.configDigest
    x.api = route.api
    x.routeTemplate = route.template
    x.phaseSince = x.startedMono
    client.owner = this
    this.context.inFlight++
    const { heartbeat } = this.context
    if (x.startedMono >= heartbeat.dueMono) heartbeat.beatLate(x.startedMono)
    if (this.context.isDraining) client.closeAfter = true
  }

  start(): void {
    const hooks = this.route.chain.request
    if (hooks !== null) this.enter(PHASE.requestChain)
    this.run(hooks, 'body')
  }

  /** Runs the hooks of a phase, then goes on to the next stage, or ends the flow with a refusal or a fault. */
  run(hooks: readonly Hook[] | null, next: Stage): void {
    if (hooks === null) {
      this.#enter(next)
      return
    }
    // They may take long.
    this.context.clock.drop()
    try {
      const outcome = runChain(hooks, this.x, this)
      if (outcome === null) this.#enter(next)
      else if (outcome instanceof Promise) this.#await(outcome, next)
      else this.#blocked(outcome)
    } catch (error) {
      this.fault(error)
    }
  }

  #await(outcome: Promise<Reply | null>, next: Stage): void {
    this.#proxy?.pause()
    this.waitFor('policy', POLICY_WAIT_MS)
    const { turn } = this
    const goOn = (reply: Reply | null): void => {
      if (this.isOver || turn !== this.turn) return
      this.waiting = 'nobody'
      if (reply === null) this.#enter(next)
      else this.#blocked(reply)
    }
    const fail = (error: unknown): void => {
      if (turn === this.turn) this.fault(error)
    }
    // What fails on the way from here costs this request, not the process.
    outcome.then(goOn, fail).catch((error: unknown) => this.fault(error))
  }

  #enter(stage: Stage): void {
    switch (stage) {
      case 'body':
        this.#takeBody()
        return
      case 'action':
        this.#act()
        return
      case 'dispatch':
        this.#proxy!.dispatch()
        return
      case 'deliver':
        this.#proxy!.deliver()
        return
      case 'deliver-body':
        this.#proxy!.deliverBody()
        return
      case 'reply-body':
        this.#reviseReply()
        return
      case 'reply':
        this.#sendReply()
    }
  }

  #takeBody(): void {
    const hooks = this.route.chain.requestBody
    if (this.#isTooLarge()) this.refuse(REFUSALS.tooLarge)
    else if (hooks === null) this.#act()
    // Routing has needed the body already.
    else if (this.x.body !== null) this.run(hooks, 'action')
    else {
      this.waitIn(PHASE.requestBody, 'request-body', this.x.pace.bodyIdleMs)
      new BodyCollector(this).collect(() => {
        this.enter(PHASE.requestChain)
        this.run(hooks, 'action')
      })
    }
  }

  /** What was announced, or has come already: routing may have needed the body before the route set a limit to it. */
  #isTooLarge(): boolean {
    const { contentLength, requestBytes, bodyLimit } = this.x
    return contentLength > bodyLimit || requestBytes > bodyLimit
  }

  #act(): void {
    // A policy whose condition asks for the body sets its limit when that is there.
    if (this.#isTooLarge()) {
      this.refuse(REFUSALS.tooLarge)
      return
    }
    const action = this.route.action
    if (action.kind === 'proxy') {
      this.#totalDueAt =
        action.timeouts.totalMs === 0 ? this.#totalDueAt : this.x.startedMono + action.timeouts.totalMs
      this.#proxy = new ProxyPass(this, action)
      this.#proxy.start()
    } else {
      this.#answer(action.reply(this.x), this.route.chain.response, 'reply-body')
    }
  }

  /** Refuses because a hook objected. */
  #blocked(reply: Reply): void {
    this.x.result = 'blocked'
    this.x.errorPolicy = this.hook?.name ?? ''
    this.refuse(reply)
  }

  /** Refuses the request. Response hooks of the steps that let it pass still see the answer. */
  refuse(reply: Reply): void {
    if (this.isOver) return
    if (this.#proxy !== null) {
      if (reply.status >= 500 && this.x.result !== 'blocked') this.#proxy.noteConnections()
      this.#proxy.abandon()
      this.#proxy = null
    }
    const { problem } = reply
    this.x.fail(problem === null ? '' : problem.code, problem === null ? '' : problem.detail)
    if (this.x.result === 'success') this.x.result = reply.status === 503 ? 'shed' : 'error'
    // A refusal made while the answer is already on its way through the hooks goes out as it is.
    this.x.responseBody = null
    if (this.#reply !== null) this.#answer(reply, null)
    else this.#answer(reply, this.#passedHooks())
  }

  #passedHooks(): readonly Hook[] | null {
    const hooks = this.route.chain.response
    const refusing = this.x.result === 'blocked' ? this.hook : null
    if (hooks === null || refusing === null) return hooks
    return hooks.filter((hook) => hook.order < refusing.order)
  }

  /** A policy threw: fail closed, say which. */
  fault(error: unknown): void {
    if (this.isOver) return
    if (error instanceof UnreadableBody) {
      this.x.errorPolicy = this.hook?.name ?? ''
      this.refuse(refusal(error.code, error.message))
      return
    }
    const policy = this.hook?.name ?? ''
    this.context.report('policy_failed', {
      policy,
      route: this.route.id,
      id: this.x.id,
      error: String(error),
    })
    this.x.errorPolicy = policy
    this.x.result = 'error'
    const reply = faultReply(error)
    this.#proxy?.abandon()
    this.#proxy = null
    this.x.fail(reply.problem!.code, reply.problem!.detail)
    this.x.responseBody = null
    this.#answer(reply, null)
  }

  #answer(reply: Reply, hooks: readonly Hook[] | null, next: Stage = 'reply'): void {
    this.#reply = reply
    this.turn++
    // What still runs has no say any more.
    if (this.x.journal !== null) this.x.journal.close(performance.now())
    this.x.status = reply.status
    this.x.responseLength = reply.body?.length ?? 0
    this.x.responseHeaders = reply.headers.slice()
    if (hooks !== null) this.enter(PHASE.responseChain)
    this.run(hooks, next)
  }

  /** What the route itself answers with goes through the hooks that read bodies, as an upstream's response would. */
  #reviseReply(): void {
    const hooks = this.route.chain.responseBody
    const { body } = this.#reply!
    if (hooks === null || body === null || this.x.method === 'HEAD') {
      this.#sendReply()
      return
    }
    this.x.responseBody = body
    this.run(hooks, 'reply')
  }

  #sendReply(): void {
    // The body that a GET would bring may be changed.
    const isRevised = this.route.chain.responseBody !== null
    sendReply(this.#reply!, { x: this.x, client: this.client, isRevised })
    this.finish()
  }

  // Deadlines.

  /** Arms the deadline for whom the flow waits for now; the exchange's total bound always holds too. */
  waitFor(whom: Waiting, ms: number): void {
    this.#arm(whom, this.context.clock.now() + ms)
  }

  /** The same where another part of the exchange's time begins; one reading of the clock serves both. */
  waitIn(phase: Phase, whom: Waiting, ms: number): void {
    const nowMono = this.isLogged ? performance.now() : this.context.clock.now()
    this.x.enter(phase, nowMono)
    this.#arm(whom, nowMono + ms)
  }

  /** Another part of the exchange's time begins; the clock is read only where somebody reads the times. */
  enter(phase: Phase): void {
    if (this.isLogged) this.x.enter(phase, performance.now())
    else this.x.phase = phase
  }

  #arm(whom: Waiting, dueAt: number): void {
    this.waiting = whom
    this.dueAt = Math.min(dueAt, this.#totalDueAt)
    this.context.wheel.arm(this)
  }

  /** Some of the request body has come. */
  onBodyBytes(bytes: number): void {
    this.context.heartbeat.beatIfLate()
    const { minBodyRate, bodyIdleMs } = this.x.pace
    this.dueAt = Math.min(paceDeadline(this.dueAt, bytes, minBodyRate, bodyIdleMs), this.#totalDueAt)
  }

  /** Moves the deadline later after progress. */
  touch(ms: number): void {
    this.dueAt = Math.min(performance.now() + ms, this.#totalDueAt)
  }

  onDeadline(): void {
    if (this.isOver) return
    const isTotal = performance.now() >= this.#totalDueAt
    if (this.waiting === 'request-body') this.refuse(isTotal ? REFUSALS.tooLong : REFUSALS.tooSlow)
    else if (this.waiting === 'policy') this.refuse(REFUSALS.policyTimedOut)
    else this.#proxy?.onTimeout(this.waiting, isTotal)
  }

  // The client.

  onClientAbort(): void {
    if (this.isOver) return
    // The gateway closes the connection itself when the time of a drain is over.
    const { isCutting } = this.context
    this.x.result = isCutting ? 'shed' : 'aborted'
    if (isCutting) this.x.fail('GW_DRAINING', 'the gateway ended before the response was complete')
    // nginx's convention for "the client went away": there is no status of the protocol for it.
    if (this.x.responseBytes === 0) this.x.status = isCutting ? 503 : 499
    this.#proxy?.abandon()
    this.finish()
  }

  onClientDrain(): void {
    this.#proxy?.onClientDrain()
  }

  /** Ends the flow; the response has been handed over or given up. */
  finish(): void {
    if (this.isOver) return
    this.isOver = true
    const { context, route, x } = this
    context.wheel.disarm(this)
    x.end(performance.now())
    // Delivered as it came, and yet the call has failed.
    if (x.upstreamStatus >= 500 && x.result === 'success') x.result = 'error'
    if (x.endedMono >= context.heartbeat.dueMono) context.heartbeat.beatLate(x.endedMono)
    if (route.chain.finish !== null) this.#runFinishHooks()
    const totalMs = x.endedMono - x.startedMono
    route.metrics.record(x, totalMs)
    if (totalMs > route.log.slowMs && this.#proxy !== null && x.journal?.pool == null)
      this.#proxy.noteConnections()
    if (x.errorCode !== '') context.metrics.countError(x.errorCode)
    if (x.journal !== null) x.journal.close(x.endedMono)
    if (this.isLogged) context.log.record(x)
    if (x.views !== null) x.views.close()
    // The record is written; whatever still comes of a body is for nobody.
    if (x.capture !== null) x.capture.dropBodies()
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
}
