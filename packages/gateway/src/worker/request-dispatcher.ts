import { type Exchange, PHASE, type Reply, type RoutedExchange, refusal } from '@sluice/core'
import type { Snapshot } from '../compile/snapshot.js'
import type { Lease, PipelineContext } from '../flow/context.js'
import { Flow } from '../flow/flow.js'
import { placeholderRoute } from '../flow/placeholder-route.js'
import { REFUSALS } from '../flow/refusals.js'
import type { Route } from '../flow/route.js'
import { RoutingBody } from '../flow/routing-body.js'
import type { ClientStream, ListenerSettings, RequestHandler } from '../listen/listener.js'
import type { Match } from '../route/router.js'
import { type Admission, MAX_DISCARDED_BYTES } from './admission/admission.js'
import { type RequestServer, WaitingRequest } from './admission/waiting-request.js'
import { EarlyRequests } from './early-requests.js'
import type { StepTraceSession } from './messages.js'
import { StepTracer, type StepTracerOptions } from './step-tracer.js'

const NO_LEASE: Lease = { release() {} }
const RETRY_SOON = ['retry-after', '1']
const STARTING = refusal(
  'GW_OVERLOADED',
  'too many requests are waiting for this worker to start',
  RETRY_SOON,
)
const STOPPING = refusal('GW_OVERLOADED', 'this worker is stopping before it was ready', RETRY_SOON)

/**
 * Entry point of a worker's pipeline: finds the route of each request and starts its flow. A worker listens
 * shortly before its first snapshot is active, and requests arriving in between wait.
 */
export class RequestDispatcher implements RequestHandler, RequestServer {
  /** The only variable that a reload changes. */
  #snapshot: Snapshot | null = null
  isReady = false
  /** Step traces of requests, or null if none are open: one comparison per request. */
  #tracer: StepTracer | null = null
  readonly #early = new EarlyRequests()
  readonly #context: PipelineContext
  readonly #admission: Admission
  /** Placeholder route for requests refused before the first snapshot. */
  readonly #placeholderRoute: Route

  constructor(context: PipelineContext, admission: Admission) {
    this.#context = context
    this.#admission = admission
    const rule = { isOff: false, capture: null, isTraced: false }
    this.#placeholderRoute = placeholderRoute(
      context,
      { rule, byMethod: null, slowMs: Number.POSITIVE_INFINITY, isTimed: true },
      '',
    )
  }

  serve(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    const { waiting, gone } = this.#early.take()
    for (const { x, client } of gone)
      this.#leave(snapshot.placeholderRoute, x, client, NO_LEASE).onClientAbort()
    for (const { x, client, settings } of waiting) this.#guard(client, () => this.accept(x, client, settings))
  }

  /** Refuses requests that wait for the first snapshot, and all that arrive without one. */
  drain(): void {
    const { waiting } = this.#early.take()
    for (const { x, client } of waiting) this.refuse(x, client, STOPPING)
  }

  /** Sets the open step traces. Returns the losses of those that end. */
  setStepTraces(sessions: readonly StepTraceSession[], options: StepTracerOptions): [number, number][] {
    const tracer = this.#tracer ?? new StepTracer(options)
    const lost = tracer.set(sessions)
    this.#tracer = tracer.isArmed ? tracer : null
    return lost
  }

  accept(x: Exchange, client: ClientStream, settings: ListenerSettings): void {
    if (settings.health && x.path.startsWith('/-/')) {
      this.#answerHealth(x, client)
      return
    }
    const snapshot = this.#snapshot
    if (snapshot === null) {
      this.#wait(x, client, settings)
      return
    }
    const match = snapshot.router.match(x)
    if (match.isBodyWanted) {
      this.#collect(x, client, snapshot)
      return
    }
    const refused = refusalOf(match, x)
    if (refused === null) this.#admit(match.value!, x, client, snapshot.use())
    else this.refuse(x, client, refused)
  }

  #wait(x: Exchange, client: ClientStream, settings: ListenerSettings): void {
    if (this.#context.isDraining) this.refuse(x, client, STOPPING)
    else if (!this.#early.add({ x, client, settings })) this.refuse(x, client, STARTING)
  }

  #admit(route: Route, x: RoutedExchange, client: ClientStream, lease: Lease): void {
    const refused = this.#admission.refusalOf(route, this.#context.inFlight, x.startedMono)
    if (refused !== null) this.#leaveRoute(route, x, client, lease).refuse(refused)
    else if (this.#admission.mustWait(route, x.startedMono))
      this.#admission.add(new WaitingRequest(this, { route, x, client, lease }))
    else this.#serve(route, x, client, lease)
  }

  #serve(route: Route, x: RoutedExchange, client: ClientStream, lease: Lease): void {
    const served = this.#tracer === null ? route : this.#tracer.routeFor(route, x)
    new Flow(served, x, client, { context: this.#context, lease }).start()
  }

  serveWaiting({ route, x, client, lease, invalid }: WaitingRequest): void {
    this.#guard(client, () => {
      if (invalid === null) this.#serve(route, x, client, lease)
      else this.#leaveRoute(route, x, client, lease).refuse(invalid)
    })
  }

  refuseWaiting({ route, x, client, lease }: WaitingRequest, reply: Reply): void {
    this.#guard(client, () => refuseAfterBody(this.#leaveRoute(route, x, client, lease), reply))
  }

  /** As in a listener, a failure closes only its own connection. */
  #guard(client: ClientStream, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#context.report('listener_fault', { error: String(error) })
      client.abort()
    }
  }

  dropWaiting({ route, x, client, lease }: WaitingRequest): void {
    this.#leaveRoute(route, x, client, lease).onClientAbort()
  }

  /** Returns the flow of a request whose policies do not run. Its record names the route. */
  #leaveRoute(route: Route, x: RoutedExchange, client: ClientStream, lease: Lease): Flow {
    const flow = this.#leave(this.#snapshot!.placeholderRoute, x, client, lease)
    x.route = route
    return flow
  }

  /** Collects the body, because the route depends on it, and then matches against the same snapshot. */
  #collect(x: Exchange, client: ClientStream, snapshot: Snapshot): void {
    const options = { context: this.#context, lease: snapshot.use(), examine: snapshot.examine }
    new RoutingBody(x, client, options, {
      onRoutable: ({ lease }) => this.#route(x, client, snapshot, lease),
      onUnroutable: ({ lease }, reply) => {
        const flow = this.#leave(snapshot.placeholderRoute, x, client, lease)
        if (reply === null) flow.onClientAbort()
        else flow.refuse(reply)
      },
    }).start()
  }

  #route(x: Exchange, client: ClientStream, snapshot: Snapshot, lease: Lease): void {
    let match: Match<Route>
    try {
      match = snapshot.router.match(x)
    } catch (error) {
      this.#leave(snapshot.placeholderRoute, x, client, lease).fault(error)
      return
    }
    const refused = refusalOf(match, x)
    if (refused === null) this.#admit(match.value!, x, client, lease)
    else this.#leave(snapshot.placeholderRoute, x, client, lease).refuse(refused)
  }

  #leave(nowhereRoute: Route, x: Exchange, client: ClientStream, lease: Lease): Flow {
    return new Flow(nowhereRoute, x, client, { context: this.#context, lease })
  }

  refuse(x: Exchange, client: ClientStream, reply: Reply): void {
    const route = this.#snapshot === null ? this.#placeholderRoute : this.#snapshot.placeholderRoute
    new Flow(route, x, client, { context: this.#context, lease: NO_LEASE }).refuse(reply)
  }

  /** Answers a health check. It is neither logged nor counted, because load balancers ask every second. */
  #answerHealth(x: Exchange, client: ClientStream): void {
    if (this.#context.isLeaving) client.closeAfter = true
    const { status, text } = healthAnswer(x.path, this.isReady)
    const headers = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store']
    if (x.method === 'HEAD') client.sendHead(status, headers, text.length)
    else client.send(status, headers, text)
  }
}

/** Returns the refusal for a request without a usable route, or null. */
function refusalOf({ value, allowed }: Match<Route>, x: Exchange): Reply | null {
  if (value === null) return missReply(allowed)
  return x.hasEncodedSlash && !value.keepsEncodedSlashes ? REFUSALS.encodedSlash : null
}

/** Returns 404 for an unknown path, or 405 with the allowed methods. */
function missReply(allowed: readonly string[] | null): Reply {
  if (allowed === null) return REFUSALS.notFound
  const methods = allowed.join(', ')
  return refusal('GW_METHOD_NOT_ALLOWED', `this path accepts ${methods}`, ['allow', methods])
}

/** Returns the response to /-/healthz or /-/readyz on a listener with `health: true`. */
function healthAnswer(path: string, isReady: boolean): { readonly status: number; readonly text: string } {
  if (path === '/-/healthz') return { status: 200, text: 'ok\n' }
  if (path !== '/-/readyz') return { status: 404, text: 'not found\n' }
  return isReady ? { status: 200, text: 'ready\n' } : { status: 503, text: 'not ready\n' }
}

/** Refuses a request after discarding its short body. An answer before the end would cost the client its connection. */
function refuseAfterBody(flow: Flow, reply: Reply): void {
  const { x, client } = flow
  const isShort = x.contentLength > 0 && x.contentLength <= MAX_DISCARDED_BYTES
  if (!isShort || x.body !== null || client.waitsToContinue) {
    flow.refuse(reply)
    return
  }
  flow.timer.waitIn(PHASE.requestBody, 'request-body', x.pace.bodyIdleMs)
  client.readBody({
    onBodyChunk(chunk, isLast) {
      if (flow.isOver) return
      x.requestBytes += chunk.length
      flow.onBodyBytes(chunk.length)
      if (isLast) flow.refuse(reply)
    },
  })
}
