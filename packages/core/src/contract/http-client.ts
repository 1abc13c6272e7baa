/** Options for `CompileEnv.httpClient`. The origin comes from the configuration, never from a request. */
export interface HttpClientOptions {
  /** Origin, such as `http://host:port` or `https://host`. */
  readonly origin: string
  /** Timeout for DNS lookup, TCP and TLS handshake of a new connection, in milliseconds; default 1,000. */
  readonly connectMs?: number
  /** Timeout from sending the request to the response head, in milliseconds; default 5,000. */
  readonly headersMs?: number
  /** Timeout for the whole call, including the wait for a connection, in milliseconds; default 10,000. */
  readonly totalMs?: number
  /** Maximum number of connections per worker to this origin; default 32. */
  readonly connections?: number
  /** Maximum number of calls waiting for a connection; default 256. */
  readonly maxPending?: number
  /** Maximum size of a response body in bytes; default 1 MiB. */
  readonly maxResponseBytes?: number
  readonly tls?: HttpClientTls
  /**
   * Non-public addresses that may be called, in the format of `compileCallAddresses`. Checked for every
   * connection. If absent, all addresses are allowed.
   */
  readonly addresses?: readonly string[]
}

/** TLS options for an origin. The PEM files are read when the policy is compiled. */
export interface HttpClientTls {
  readonly caFile?: string | null
  readonly certFile?: string | null
  readonly keyFile?: string | null
  readonly servername?: string | null
  /** True if any server certificate is accepted. */
  readonly insecure?: boolean
}

/** An HTTP request to make. */
export interface HttpCall {
  readonly method: string
  /** Path and query, percent-encoded. The caller must encode values taken from requests. */
  readonly path: string
  /** Flat list of lower-case names and values, without Host and framing fields. */
  readonly headers?: readonly string[]
  readonly body?: Uint8Array | null
  /** True if concurrent identical calls share one request and response. Use it only for safe methods. */
  readonly coalesce?: boolean
}

/** Response to a call. Coalesced calls share it, so do not modify it. */
export interface HttpAnswer {
  /** Status from 200 to 599. Redirects are not followed. */
  readonly status: number
  /** Flat list of lower-case names and values, without framing and hop-by-hop fields. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

/**
 * HTTP client for one origin. Clients with the same origin, TLS options and connection limits share
 * connections, even across configuration reloads.
 */
export interface HttpClient {
  /** Makes a call. Rejects only with `HttpCallFailed`. */
  call(call: HttpCall): Promise<HttpAnswer>
}

/**
 * Kind of failure:
 * - `busy`: all connections are in use and the queue is full
 * - `unreachable`: no connection could be established
 * - `timeout`: a timeout expired
 * - `broken`: the connection closed before the response was complete
 * - `invalid`: the call or the response is not valid HTTP
 * - `tooLarge`: the response exceeds the size limit
 */
export type HttpCallFailure = 'busy' | 'unreachable' | 'timeout' | 'broken' | 'invalid' | 'tooLarge'

/** Error for a call that got no usable response. The message contains no secrets. */
export class HttpCallFailed extends Error {
  override readonly name = 'HttpCallFailed'
  readonly failure: HttpCallFailure

  constructor(failure: HttpCallFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
