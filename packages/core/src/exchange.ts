import type { BodyAnswers } from './body-language.js'
import { type BodyView, BodyViews, type ViewMaker } from './body-views.js'
import type { Capture } from './capture.js'
import { type ClientPace, NO_PACE } from './client-pace.js'
import type { ErrorCode } from './errors.js'
import type { EventStream } from './event-stream.js'
import type { HeaderList } from './header-list.js'
import type { Journal } from './journal.js'
import { PHASE, type Phase } from './phase.js'

/** Who is calling, set by the policy that authenticated the request. */
export interface Consumer {
  readonly id: string
  readonly name: string
  /** The policy that vouched: `basic-auth`, `api-key`, … */
  readonly auth: string
  readonly groups: readonly string[]
}

/** The API that a route is a part of, as the document names it. */
export interface RouteApi {
  readonly name: string
  readonly group: string | null
  readonly revision: string | null
}

/** How an exchange ended, as the traffic log and the metrics tell it. */
export type ExchangeResult = 'success' | 'blocked' | 'error' | 'aborted' | 'shed'

/** A response that policies read has to fit into memory, many times at once. */
const RESPONSE_BODY_BYTES = 10 * 1024 * 1024

/** Of all exchanges whose times nobody wants. */
const NO_TIMES: number[] = []

/**
 * One request and its response on their way through the gateway; `x` wherever it appears. Plain fields, all assigned
 * here in one order, so that every exchange has the same shape. Policies read and change it; nothing keeps it after
 * `onFinish`.
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
  httpVersion: '1.1' | '2' = '1.1'
  scheme: 'http' | 'https' = 'http'
  /** The Host field, without a dot at the end of the host. */
  authority = ''
  /** Host in lower case, without the port. */
  host = ''
  /** The path as received, without the query. */
  rawPath = ''
  /** The canonical path without path parameters (docs/paths.md): what routes, conditions and policies compare with. */
  path = ''
  /** The path that goes upstream unless the route rewrites it. */
  forwardPath = ''
  /** The path holds "%2F" or "%5C", which only some routes take. */
  hasEncodedSlash = false
  /** The query as received, without "?"; empty when there is none. */
  query = ''
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
  routeId = '-'
  /** Of the configuration that it is served by; empty: by none. */
  configDigest = ''
  /** What the route is a part of; null: of nothing that has a name. */
  api: RouteApi | null = null
  /** The path pattern of the route, as the document has it. */
  routeTemplate = ''
  /** Values of the route's path parameters, in the order of their names. */
  params: readonly string[] = []
  paramNames: readonly string[] = []
  consumer: Consumer | null = null
  /** The claims of the token that was verified, as text by their names; null while there is none. */
  claims: ReadonlyMap<string, string> | null = null
  /** Free variables, set by policies and read by conditions; null until the first is set. */
  vars: Map<string, string> | null = null
  /** Values of policies: the slot and its value in turn (see Slot). */
  slots: unknown[] = []
  /** What is kept for the traffic log beside the record; null when nothing is, as for most. */
  capture: Capture | null = null
  /** What the traffic log tells of some exchanges only; null for most. */
  journal: Journal | null = null
  /** The limit that had the least left of those that applied, see noteLimit; empty: none did. */
  limitName = ''
  limitRemaining = 0

  // The upstream.
  upstream = ''
  /** Origin of the last attempt's target, `http://10.0.0.5:9000`. */
  target = ''
  /** What the attempt sends: the Host field, and the path without the query. Set before the attempt hooks run. */
  sentHost = ''
  sentPath = ''
  upstreamStatus = 0
  /** Attempts made, the first included. */
  attempts = 0
  /** Attempts made again because a kept connection turned out to be dead. */
  retries = 0
  /** Attempts made at another target because the one before could not be reached. */
  failovers = 0
  /** The last attempt went over a connection that had served before. */
  isReused = false

  // The response to the client.
  /** 0 until known. */
  status = 0
  responseHeaders: HeaderList = []
  /** The whole response body, once it was collected for a policy that needs it; null otherwise. */
  responseBody: Uint8Array | null = null
  /** Largest response body that is collected for a policy, in bytes; a policy may lower or raise it before. */
  responseBodyLimit = RESPONSE_BODY_BYTES
  /** The length of the response body as the upstream announced it, in bytes; 0 no body, -1 unknown. */
  responseLength = 0
  /** Longest response body that reaches the client, in bytes; a policy may lower it. A longer one is cut. */
  responseCutoff = Number.POSITIVE_INFINITY
  /** What is counted of a response that is a stream of events, and is logged; null for all others. */
  stream: EventStream | null = null
  /** Body bytes received from and sent to the client. */
  requestBytes = 0
  responseBytes = 0
  result: ExchangeResult = 'success'
  errorCode: ErrorCode | '' = ''
  /** The policy that refused or failed. */
  errorPolicy = ''
  /** What the client was told, without what is secret inside. */
  errorMessage = ''
  /** Where the exchange was when it failed. */
  errorPhase: Phase = PHASE.route

  // Where the time went.
  phase: Phase = PHASE.route
  /** Monotonic clock when the phase began. */
  phaseSince = 0
  /** Time spent in each phase, ms, by its number; empty unless somebody wants to know (`keepTimes`). */
  phaseMs: number[] = NO_TIMES
  /** Monotonic clock at the end; 0 until then. */
  endedMono = 0

  /** Notes the time spent in each phase from here on. */
  keepTimes(): void {
    this.phaseMs = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  }

  /** Goes on to another phase, which may be one that it was in before. */
  enter(phase: Phase, nowMono: number): void {
    if (this.phaseMs !== NO_TIMES) this.phaseMs[this.phase]! += nowMono - this.phaseSince
    this.phase = phase
    this.phaseSince = nowMono
  }

  /** Counts so much of the time since the current phase began for another one. */
  attribute(phase: Phase, ms: number): void {
    if (this.phaseMs === NO_TIMES) return
    this.phaseMs[phase]! += ms
    this.phaseSince += ms
  }

  /** Notes why it cannot succeed, and where it was then. */
  fail(code: ErrorCode | '', message: string): void {
    this.errorCode = code
    this.errorMessage = message
    this.errorPhase = this.phase
  }

  /** The last byte is out, or given up: time stops. */
  end(nowMono: number): void {
    this.enter(this.phase, nowMono)
    this.endedMono = nowMono
  }

  /** What `make` makes of a body, made once for all that ask. @throws what `make` throws */
  viewOf<V extends BodyView>(make: ViewMaker<V>, body: Uint8Array): V {
    this.views ??= new BodyViews()
    return this.views.of(make, body)
  }

  /** Sets a free variable. */
  setVar(name: string, value: string): void {
    this.vars ??= new Map()
    this.vars.set(name, value)
  }
}
