import type { HeaderList } from '../http/header-list.js'
import { Attempts } from './attempts.js'
import type { BodyAnswers } from './body-answers.js'
import { type BodyFilterOf, ResponseFilters } from './body-filter.js'
import type { BodyTap } from './body-tap.js'
import { type BodyView, BodyViews, type ViewMaker } from './body-views.js'
import type { ClientCertificate } from './client-certificate.js'
import { type ClientPace, NO_PACE } from './client-pace.js'
import type { Consumer } from './consumer.js'
import type { ErrorCode } from './errors.js'
import type { ExchangeTrace } from './exchange-trace.js'
import { PHASE, type Phase } from './phase.js'
import { PhaseTimes } from './phase-times.js'
import { RecordNotes } from './record-notes.js'

/** The API that a route belongs to, as named in the configuration. */
export interface RouteApi {
  readonly name: string
  readonly group: string | null
  readonly revision: string | null
}

/** Properties of a route that its exchanges log. */
export interface RouteFacts {
  readonly id: string
  /** Digest of the configuration that contains the route, or empty if unknown. */
  readonly configDigest: string
  /** The API that the route belongs to, or null if it belongs to no named API. */
  readonly api: RouteApi | null
  /** Path pattern as written in the configuration. */
  readonly template: string
}

/** Route of an exchange that matched no route. */
export const NO_ROUTE: RouteFacts = { id: '-', configDigest: '', api: null, template: '' }

/** Result of an exchange in the traffic log and the metrics. */
export type ExchangeResult = 'success' | 'blocked' | 'error' | 'aborted' | 'shed'

/** Filter for the body of a response (see `BodyFilterOf`). */
export type BodyFilter = BodyFilterOf<Exchange>

/** Default limit for buffered response bodies. Many may be in memory at the same time. */
const RESPONSE_BODY_BYTES = 10 * 1024 * 1024

/**
 * A request and its response; always named `x`. Policies read and change it. Do not keep a reference after
 * `onFinish`.
 *
 * All fields are plain and assigned here in one order, so that every exchange has the same object shape. Fields that
 * only one layer writes are readonly here. The owner writes them through `ReceivedExchange`, `RoutedExchange` or
 * `DeliveredExchange`.
 *
 *     x ─┬─ request, decisions, response   used by policies and conditions
 *        ├─ route                          the matched route
 *        ├─ attempts                       upstream attempts
 *        ├─ times                          current phase and time spent in each phase
 *        ├─ trace                          ids of the trace, if tracing is configured
 *        └─ record                         details for the traffic log only
 */
export class Exchange {
  // The request as received by the listener.
  /** Request ID: a UUIDv7 (RFC 9562), or the `x-request-id` of a trusted proxy. */
  readonly id: string = ''
  /** Wall-clock arrival time in milliseconds since the epoch. */
  readonly startedAt: number = 0
  /** Monotonic arrival time in milliseconds. Use it to compute durations. */
  readonly startedMono: number = 0
  method = ''
  readonly httpVersion: '1.0' | '1.1' | '2' = '1.1'
  readonly scheme: 'http' | 'https' = 'http'
  /** The Host field, without a trailing dot in the host name. */
  readonly authority: string = ''
  /** Host name in lower case, without the port. */
  readonly host: string = ''
  /** Path as received, without the query. */
  readonly rawPath: string = ''
  /**
   * Canonical path without path parameters (docs/guides/paths.md). Routes, conditions and policies match this path.
   */
  readonly path: string = ''
  /** Path sent to the upstream, unless the route rewrites it. */
  forwardPath = ''
  /** True if the path contains "%2F" or "%5C". Only some routes accept such paths. */
  readonly hasEncodedSlash: boolean = false
  /** Query as received, without "?". Empty if absent. */
  query = ''
  /** True if the request target ends with "?": the query is present but empty. */
  readonly hasEmptyQuery: boolean = false
  /** End-to-end request fields, without Host, framing and hop-by-hop fields. */
  headers: HeaderList = []
  /** Size of the request line and header fields as received, in bytes. */
  readonly requestHeadBytes: number = 0
  /** X-Forwarded-For as received, whether trusted or not. Empty if absent. */
  readonly forwardedFor: string = ''
  /** Announced body length in bytes. 0 if there is no body, -1 if it is chunked. */
  readonly contentLength: number = 0
  /** Address of the connection's remote end. */
  readonly peer: string = ''
  /** Client address, resolved through trusted proxies. */
  readonly clientIp: string = ''
  /** Client certificate of the connection, or null without mutual TLS. */
  clientCertificate: ClientCertificate | null = null
  /** Client port as reported by a trusted proxy, or 0 if unknown. */
  readonly clientPort: number = 0
  /** The complete request body, or null unless it was buffered for a policy. */
  body: Uint8Array | null = null
  /** Maximum request body size in bytes. A policy may change it before the body is read. */
  bodyLimit = 0
  /** Minimum speed of the client. */
  readonly pace: ClientPace = NO_PACE
  /** Parsed views of the bodies, or null if none has been created. */
  views: BodyViews | null = null
  /** Precomputed results of body conditions. Null except for large bodies. */
  bodyAnswers: BodyAnswers | null = null

  // Decisions of the gateway.
  readonly route: RouteFacts = NO_ROUTE
  /** Canonical values of the route's path parameters, in the order of `paramNames`. */
  readonly params: readonly string[] = []
  readonly paramNames: readonly string[] = []
  /** The authenticated caller (see `identify`), or null if the request is anonymous. */
  consumer: Consumer | null = null
  /** Number of policies that have identified a consumer, including repeated ones. */
  identifications = 0
  /** Claims of the verified token as text by name, or null without a token. */
  claims: ReadonlyMap<string, string> | null = null
  /** Variables set by policies and read by conditions. Null until one is set. */
  vars: Map<string, string> | null = null
  /** Per-exchange values of policies, alternating slot and value (see `Slot`). */
  slots: unknown[] = []

  // The response to the client.
  /** Response status, or 0 if not known yet. */
  status = 0
  responseHeaders: HeaderList = []
  /** The complete response body, or null unless it was buffered for a policy. */
  responseBody: Uint8Array | null = null
  /** Observer of the upstream's response body, set by a response hook. Null if unset. */
  responseTap: BodyTap | null = null
  /** Filters of the response body, or null if unset. */
  responseFilters: ResponseFilters<Exchange> | null = null
  /** Maximum size of a buffered response body in bytes. A policy may change it before the body is read. */
  responseBodyLimit = RESPONSE_BODY_BYTES
  /** Response body length announced by the upstream, in bytes. 0 if there is no body, -1 if unknown. */
  readonly responseLength: number = 0
  /**
   * Maximum size of the response body sent to the client, in bytes. A policy may lower it. Longer bodies are
   * cut.
   */
  responseCutoff = Number.POSITIVE_INFINITY
  /** Body bytes received from and sent to the client. */
  readonly requestBytes: number = 0
  readonly responseBytes: number = 0
  readonly result: ExchangeResult = 'success'
  readonly errorCode: ErrorCode | '' = ''
  /** Name of the policy that refused the request or failed. */
  readonly errorPolicy: string = ''
  /** Error text sent to the client, without internal details. */
  readonly errorMessage: string = ''
  /** Phase in which the exchange failed. */
  readonly errorPhase: Phase = PHASE.route

  /** Monotonic end time in milliseconds, or 0 while the exchange is in progress. */
  readonly endedMono: number = 0
  /** Trace context, or null without tracing. */
  readonly trace: ExchangeTrace | null = null

  readonly attempts = new Attempts()
  readonly times = new PhaseTimes()
  readonly record = new RecordNotes()

  get routeId(): string {
    return this.route.id
  }

  get api(): RouteApi | null {
    return this.route.api
  }

  /** Origin of the last attempt's target, or empty if there was no attempt. */
  get target(): string {
    return this.attempts.target
  }

  /** Host field sent to the target. Set before the attempt hooks run. */
  get sentHost(): string {
    return this.attempts.sentHost
  }

  /** Path sent to the target, without the query. Set before the attempt hooks run. */
  get sentPath(): string {
    return this.attempts.sentPath
  }

  /** Status of the target's response, or 0 without a response. */
  get upstreamStatus(): number {
    return this.attempts.status
  }

  /** Records the error and the current phase. */
  fail(code: ErrorCode | '', message: string): void {
    ;(this as DeliveredExchange).errorCode = code
    ;(this as DeliveredExchange).errorMessage = message
    ;(this as DeliveredExchange).errorPhase = this.times.phase
  }

  /** Ends the exchange and stops its clock, after the last byte was sent or the exchange was aborted. */
  end(nowMono: number): void {
    this.times.enter(this.times.phase, nowMono)
    ;(this as DeliveredExchange).endedMono = nowMono
  }

  /**
   * Returns the view of a body that `make` creates. It is created once and shared. @throws Errors of `make`.
   */
  viewOf<V extends BodyView>(make: ViewMaker<V>, body: Uint8Array): V {
    this.views ??= new BodyViews()
    return this.views.of(make, body)
  }

  /** Adds a filter for the response body. Call it from response hooks. */
  filterResponse(filter: BodyFilter): void {
    this.responseFilters ??= new ResponseFilters()
    this.responseFilters.add(filter)
  }

  /**
   * Sets the authenticated caller. If several policies call it, the first one counts. For authenticating
   * policies.
   */
  identify(consumer: Consumer): void {
    this.identifications++
    this.consumer ??= consumer
  }

  /** Sets a variable that conditions can read. */
  setVar(name: string, value: string): void {
    this.vars ??= new Map()
    this.vars.set(name, value)
  }
}

type Writable<K extends keyof Exchange> = Omit<Exchange, K> & { -readonly [Field in K]: Exchange[Field] }

/** An exchange while its request is received. The listener fills it, or code that creates its own requests. */
export type ReceivedExchange = Writable<
  | 'id'
  | 'startedAt'
  | 'startedMono'
  | 'httpVersion'
  | 'scheme'
  | 'authority'
  | 'host'
  | 'rawPath'
  | 'path'
  | 'hasEncodedSlash'
  | 'hasEmptyQuery'
  | 'requestHeadBytes'
  | 'forwardedFor'
  | 'contentLength'
  | 'peer'
  | 'clientIp'
  | 'clientPort'
  | 'pace'
>

/** An exchange while its route is searched. Written by the router and the dispatcher. */
export type RoutedExchange = Writable<'route' | 'params' | 'paramNames'>

/** An exchange while it is answered. Written by its flow. */
export type DeliveredExchange = Writable<
  | 'responseLength'
  | 'requestBytes'
  | 'responseBytes'
  | 'result'
  | 'errorCode'
  | 'errorPolicy'
  | 'errorMessage'
  | 'errorPhase'
  | 'endedMono'
  | 'trace'
>
