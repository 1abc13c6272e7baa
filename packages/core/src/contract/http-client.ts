/** Where a policy calls, and within which bounds. The author of the document fixes the origin; requests never do. */
export interface HttpClientOptions {
  /** `http://host:port` or `https://host`. */
  readonly origin: string
  /** For the name, the TCP and the TLS handshake of a new connection, ms; default 1,000. */
  readonly connectMs?: number
  /** From the request on a connection to the response head, ms; default 5,000. */
  readonly headersMs?: number
  /** For all of a call, with the wait for a connection, ms; default 10,000. */
  readonly totalMs?: number
  /** Connections of a worker to this origin; default 32. */
  readonly connections?: number
  /** Calls that wait for one of them; default 256. */
  readonly maxPending?: number
  /** Of a response body, in bytes; default 1 MiB. */
  readonly maxResponseBytes?: number
  readonly tls?: HttpClientTls
  /**
   * Addresses that calls may go to beside public ones, as `compileCallAddresses` takes them; looked at for each connection.
   * Absent: any address.
   */
  readonly addresses?: readonly string[]
}

/** TLS towards an origin; files are PEM, read when the policy is compiled. */
export interface HttpClientTls {
  readonly caFile?: string | null
  readonly certFile?: string | null
  readonly keyFile?: string | null
  readonly servername?: string | null
  /** Accepts any certificate. */
  readonly insecure?: boolean
}

/** One call. */
export interface HttpCall {
  readonly method: string
  /** Path and query, percent-encoded. Who puts values of requests into it encodes them. */
  readonly path: string
  /** Flat list of lower-case names and values, without Host and framing. */
  readonly headers?: readonly string[]
  readonly body?: Uint8Array | null
  /** Joins a call under way that is the same in all of these, and gets its answer. For calls that only read. */
  readonly coalesce?: boolean
}

/** What a call was answered. Calls that were joined share it, so nobody changes it. */
export interface HttpAnswer {
  /** 200 to 599; redirects are not followed. */
  readonly status: number
  /** Flat list of lower-case names and values, without framing and hop-by-hop fields. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

/** Calls one origin. Uses with the same origin, TLS and bounds of connections share them, also over reloads. */
export interface HttpClient {
  /** Rejects with HttpCallFailed alone. */
  call(call: HttpCall): Promise<HttpAnswer>
}

/**
 * `busy`: all connections are in use and the queue is full. `unreachable`: there was no connection. `timeout`: a time was
 * over. `broken`: the connection ended before the answer did. `invalid`: the answer is no HTTP, or the call is none.
 * `tooLarge`: the answer is larger than allowed.
 */
export type HttpCallFailure = 'busy' | 'unreachable' | 'timeout' | 'broken' | 'invalid' | 'tooLarge'

/** A call without an answer; the message holds no secrets. */
export class HttpCallFailed extends Error {
  override readonly name = 'HttpCallFailed'
  readonly failure: HttpCallFailure

  constructor(failure: HttpCallFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
