import type { ErrorCode } from './errors.js'
import type { HeaderList } from './header-list.js'

/** Who is calling, set by the policy that authenticated the request. */
export interface Consumer {
  readonly id: string
  readonly name: string
  /** The policy that vouched: `basic-auth`, `api-key`, … */
  readonly auth: string
  readonly groups: readonly string[]
}

/** How an exchange ended, as the traffic log and the metrics tell it. */
export type ExchangeResult = 'success' | 'blocked' | 'error' | 'aborted' | 'shed'

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
  scheme: 'http' | 'https' = 'http'
  /** The Host field as received. */
  authority = ''
  /** Host in lower case, without the port. */
  host = ''
  /** The path as received, without the query. */
  rawPath = ''
  /** The canonical path (see canonicalPath): what routes, conditions and policies compare with. */
  path = ''
  /** The query as received, without "?"; empty when there is none. */
  query = ''
  /** End-to-end request fields; Host, framing and hop-by-hop fields are not among them. */
  headers: HeaderList = []
  /** The announced body length in bytes; 0 no body, -1 chunked (unknown). */
  contentLength = 0
  /** Address of the connection's other end. */
  peer = ''
  /** Address of the client, after trusted proxies. */
  clientIp = ''
  /** The whole request body, once it was collected for a policy that needs it; null otherwise. */
  body: Uint8Array | null = null
  /** Largest request body accepted, in bytes; a policy may lower or raise it before the body is read. */
  bodyLimit = 0
  /** Longest wait for the next bytes of the request body, ms. */
  bodyIdleMs = 0

  // What the gateway decided.
  routeId = '-'
  /** Values of the route's path parameters, in the order of their names. */
  params: readonly string[] = []
  paramNames: readonly string[] = []
  consumer: Consumer | null = null
  /** Free variables, set by policies and read by conditions; null until the first is set. */
  vars: Map<string, string> | null = null
  /** Values of policies: the slot and its value in turn (see Slot). */
  slots: unknown[] = []

  // The upstream.
  upstream = ''
  /** Origin of the last attempt's target, `http://10.0.0.5:9000`. */
  target = ''
  upstreamStatus = 0
  /** Attempts made, the first included. */
  attempts = 0
  /** Monotonic clock when the last attempt was handed to the transport, ms; 0 when there was none. */
  dispatchedMono = 0
  /** Monotonic clock at the response head, ms; 0 when none arrived. */
  respondedMono = 0

  // The response to the client.
  /** 0 until known. */
  status = 0
  responseHeaders: HeaderList = []
  /** Body bytes received from and sent to the client. */
  requestBytes = 0
  responseBytes = 0
  result: ExchangeResult = 'success'
  errorCode: ErrorCode | '' = ''
  /** The policy that refused or failed. */
  errorPolicy = ''

  /** Sets a free variable. */
  setVar(name: string, value: string): void {
    this.vars ??= new Map()
    this.vars.set(name, value)
  }
}
