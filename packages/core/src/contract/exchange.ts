import type { HeaderList } from '../http/header-list.js'
import { Attempts } from './attempts.js'
import type { BodyAnswers } from './body-answers.js'
import { type BodyFilter, ResponseFilters } from './body-filter.js'
import type { BodyTap } from './body-tap.js'
import { type BodyView, BodyViews, type ViewMaker } from './body-views.js'
import type { ClientCertificate } from './client-certificate.js'
import { type ClientPace, NO_PACE } from './client-pace.js'
import type { Consumer } from './consumer.js'
import type { ErrorCode } from './errors.js'
import { PHASE, type Phase } from './phase.js'
import { PhaseTimes } from './phase-times.js'
import { RecordNotes } from './record-notes.js'

/** The API that a route is a part of, as the document names it. */
export interface RouteApi {
  readonly name: string
  readonly group: string | null
  readonly revision: string | null
}

/** What the exchanges of a route log of it. */
export interface RouteFacts {
  readonly id: string
  /** Of the configuration that it is a part of; empty: of none. */
  readonly configDigest: string
  /** What the route is a part of; null: of nothing that has a name. */
  readonly api: RouteApi | null
  /** The path pattern as the document has it. */
  readonly template: string
}

/** Of an exchange that no route serves. */
export const NO_ROUTE: RouteFacts = { id: '-', configDigest: '', api: null, template: '' }

/** How an exchange ended, as the traffic log and the metrics show it. */
export type ExchangeResult = 'success' | 'blocked' | 'error' | 'aborted' | 'shed'

/** A response that policies read has to fit into memory, many times at once. */
const RESPONSE_BODY_BYTES = 10 * 1024 * 1024

/**
 * One request and its response on their way through the gateway; `x` wherever it appears. Plain fields, all assigned
 * here in one order, so that every exchange has the same shape. Policies read and change it; nothing keeps it after
 * `onFinish`.
 *
 *     x ─┬─ request, decisions, response   what policies and conditions work with
 *        ├─ route                          of the route that serves it
 *        ├─ attempts                       what became of it at its upstream
 *        ├─ times                          its phase, and where the time went
 *        └─ record                         what is noted for the traffic log alone
 */
export class Exchange {
  // The request, as the listener took it in.
  /** UUIDv7 (RFC 9562), or the trusted proxy's `x-request-id`. */
  id = ''
  /** Wall clock at arrival, ms since the epoch. */
  startedAt = 0
  /** Monotonic clock at arrival, ms; durations are differences of these. */
  startedMono = 0
  method = ''
  httpVersion: '1.0' | '1.1' | '2' = '1.1'
  scheme: 'http' | 'https' = 'http'
  /** The Host field, without a dot at the end of the host. */
  authority = ''
  /** Host in lower case, without the port. */
  host = ''
  /** The path as received, without the query. */
  rawPath = ''
  /** The canonical path without path parameters (docs/guides/paths.md): what routes, conditions and policies compare with. */
  path = ''
  /** The path that goes upstream unless the route rewrites it. */
  forwardPath = ''
  /** The path holds "%2F" or "%5C", which only some routes take. */
  hasEncodedSlash = false
  /** The query as received, without "?"; empty when there is none. */
  query = ''
  /** True if the target ends with "?": the query is there, and empty. */
  hasEmptyQuery = false
  /** End-to-end request fields; Host, framing and hop-by-hop fields are not among them. */
  headers: HeaderList = []
  /** Request line and fields as they came, in bytes. */
  requestHeadBytes = 0
  /** X-Forwarded-For as it came, believed or not; empty when there was none. */
  forwardedFor = ''
  /** The announced body length in bytes; 0 no body, -1 chunked (unknown). */
  contentLength = 0
  /** Address of the connection's other end. */
  peer = ''
  /** Address of the client, after trusted proxies. */
  clientIp = ''
  /** The certificate of the connection's other end; null: the listener has asked for none. */
  clientCertificate: ClientCertificate | null = null
  /** Port of the client, where a trusted proxy names it; 0 where nobody does. */
  clientPort = 0
  /** The whole request body, once it was collected for a policy that needs it; null otherwise. */
  body: Uint8Array | null = null
  /** Largest request body accepted, in bytes; a policy may lower or raise it before the body is read. */
  bodyLimit = 0
  /** How slow the client may be. */
  pace: ClientPace = NO_PACE
  /** What was made of bodies for those that read them; null until somebody does. */
  views: BodyViews | null = null
  /** What the request body has answered to the conditions that will ask it; null for all but large ones. */
  bodyAnswers: BodyAnswers | null = null

  // What the gateway decided.
  route: RouteFacts = NO_ROUTE
  /** Values of the route's path parameters, in their canonical form and in the order of their names. */
  params: readonly string[] = []
  paramNames: readonly string[] = []
  /** Who is calling, see `identify`; null while nobody is authenticated. */
  consumer: Consumer | null = null
  /** How many policies have named a consumer, the same or another. */
  identifications = 0
  /** The claims of the token that was verified, as text by their names; null while there is none. */
  claims: ReadonlyMap<string, string> | null = null
  /** Free variables, set by policies and read by conditions; null until the first is set. */
  vars: Map<string, string> | null = null
  /** Values of policies: the slot and its value in turn (see Slot). */
  slots: unknown[] = []

  // The response to the client.
  /** 0 until known. */
  status = 0
  responseHeaders: HeaderList = []
  /** The whole response body, once it was collected for a policy that needs it; null otherwise. */
  responseBody: Uint8Array | null = null
  /** Reads along with the body of the upstream's response; set by a response hook, null: nobody does. */
  responseTap: BodyTap | null = null
  /** What sees and changes the response body on its way to the client; null: nothing does. */
  responseFilters: ResponseFilters | null = null
  /** Largest response body that is collected for a policy, in bytes; a policy may lower or raise it before. */
  responseBodyLimit = RESPONSE_BODY_BYTES
  /** The length of the response body as the upstream announced it, in bytes; 0 no body, -1 unknown. */
  responseLength = 0
  /** Longest response body that reaches the client, in bytes; a policy may lower it. A longer one is cut. */
  responseCutoff = Number.POSITIVE_INFINITY
  /** Body bytes received from and sent to the client. */
  requestBytes = 0
  responseBytes = 0
  result: ExchangeResult = 'success'
  errorCode: ErrorCode | '' = ''
  /** The policy that refused or failed. */
  errorPolicy = ''
  /** What the client got to read, without what is secret inside. */
  errorMessage = ''
  /** Where the exchange was when it failed. */
  errorPhase: Phase = PHASE.route

  /** Monotonic clock at the end; 0 until then. */
  endedMono = 0

  readonly attempts = new Attempts()
  readonly times = new PhaseTimes()
  readonly record = new RecordNotes()

  get routeId(): string {
    return this.route.id
  }

  get api(): RouteApi | null {
    return this.route.api
  }

  /** Origin of the last attempt's target; empty before there was one. */
  get target(): string {
    return this.attempts.target
  }

  /** The Host field towards the target. Set before the attempt hooks run. */
  get sentHost(): string {
    return this.attempts.sentHost
  }

  /** The path towards the target, without the query. Set before the attempt hooks run. */
  get sentPath(): string {
    return this.attempts.sentPath
  }

  /** Of the target's response; 0: there was none. */
  get upstreamStatus(): number {
    return this.attempts.status
  }

  /** Notes why it cannot succeed, and where it was then. */
  fail(code: ErrorCode | '', message: string): void {
    this.errorCode = code
    this.errorMessage = message
    this.errorPhase = this.times.phase
  }

  /** The last byte is out, or given up: time stops. */
  end(nowMono: number): void {
    this.times.enter(this.times.phase, nowMono)
    this.endedMono = nowMono
  }

  /** What `make` makes of a body, made once for all that ask. @throws what `make` throws */
  viewOf<V extends BodyView>(make: ViewMaker<V>, body: Uint8Array): V {
    this.views ??= new BodyViews()
    return this.views.of(make, body)
  }

  /** Lets a filter see and change the body of the response. For response hooks. */
  filterResponse(filter: BodyFilter): void {
    this.responseFilters ??= new ResponseFilters()
    this.responseFilters.add(filter)
  }

  /** Says who is calling; the first of several policies that do decides. For policies that authenticate. */
  identify(consumer: Consumer): void {
    this.identifications++
    this.consumer ??= consumer
  }

  /** Sets a free variable. */
  setVar(name: string, value: string): void {
    this.vars ??= new Map()
    this.vars.set(name, value)
  }
}
