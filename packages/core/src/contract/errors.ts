/** A kind of error: its HTTP status, its title, and its description in docs/reference/errors.md. */
export interface ErrorKind {
  /** Status by RFC 9110. */
  readonly status: number
  readonly title: string
  /** Cause, in one sentence. */
  readonly when: string
  /** Remedy for the caller or the operator. */
  readonly remedy: string
}

/**
 * Error codes of the gateway itself. Codes are stable: they are never renamed, renumbered or reused. Policies declare
 * theirs beside their code.
 */
export const GATEWAY_ERRORS = {
  GW_BAD_REQUEST: {
    status: 400,
    title: 'Bad request',
    when: 'The request is malformed or ambiguous. The detail names the part.',
    remedy: 'Correct the part of the request that the detail names.',
  },
  GW_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request timeout',
    when: 'The request body paused for longer than `limits.bodyIdle`, arrived slower than `limits.minBodyRate`, or was incomplete after `timeouts.total`.',
    remedy: 'Send the body faster, or raise `limits.bodyIdle` or lower `limits.minBodyRate` of the listener.',
  },
  GW_BODY_TOO_LARGE: {
    status: 413,
    title: 'Body too large',
    when: 'The request body exceeds `limits.bodyBytes` or the maximum of a `body-limit` policy.',
    remedy: 'Send less, or raise `limits.bodyBytes` of the listener or `maxBytes` of `body-limit`.',
  },
  GW_URL_TOO_LONG: {
    status: 414,
    title: 'URL too long',
    when: 'The path and query together are longer than `limits.urlBytes`.',
    remedy: 'Shorten the URL, for example with a POST body, or raise `limits.urlBytes`.',
  },
  GW_HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Header fields too large',
    when: 'The header fields exceed `limits.headers` (number) or `limits.headerBytes` (size).',
    remedy: 'Send fewer or smaller headers and cookies, or raise `limits.headers` or `limits.headerBytes`.',
  },
  GW_EXPECTATION_FAILED: {
    status: 417,
    title: 'Expectation failed',
    when: 'The request has an `Expect` field other than `100-continue`.',
    remedy: 'Remove the `Expect` header.',
  },
  GW_VERSION_NOT_SUPPORTED: {
    status: 505,
    title: 'HTTP version not supported',
    when: 'The listener does not support the HTTP version of the request.',
    remedy: 'Use HTTP/1.1, or set `engine: node` for HTTP/1.0 and HTTP/2.',
  },
  GW_ROUTE_NOT_FOUND: {
    status: 404,
    title: 'No such route',
    when: 'No route matches the request. `gw explain` shows why.',
    remedy: 'Run `gw explain METHOD URL -c FILE`, and correct the URL or the routes.',
  },
  GW_METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    when: 'A route matches the path but not the method. The `Allow` field lists the supported methods.',
    remedy: 'Use a method from the `Allow` header, or add the method to `match.methods`.',
  },
  GW_METHOD_NOT_SUPPORTED: {
    status: 501,
    title: 'Method not supported',
    when: 'The method is TRACE, CONNECT or not in upper case.',
    remedy: 'Use another method, in upper case.',
  },
  GW_UPGRADE_NOT_SUPPORTED: {
    status: 501,
    title: 'Upgrade not supported',
    when: 'The request is a WebSocket handshake for a route without `websocket`, or asks to upgrade to an unsupported protocol.',
    remedy: 'Add `websocket: {}` to the route. Other protocols are not supported.',
  },
  GW_WEBSOCKET_VERSION: {
    status: 426,
    title: 'WebSocket version not supported',
    when: 'The WebSocket handshake asks for a version other than 13 (RFC 6455 section 4.4). `Sec-WebSocket-Version` in the response names the supported version.',
    remedy: 'Use version 13.',
  },
  GW_CODING_NOT_SUPPORTED: {
    status: 501,
    title: 'Transfer coding not supported',
    when: 'The request has a transfer coding other than a single `chunked`.',
    remedy: 'Send `Transfer-Encoding: chunked` or a `Content-Length`.',
  },
  GW_OVERLOADED: {
    status: 503,
    title: 'Overloaded',
    when: 'A limit is reached: connections of the listener, `connections`, `maxPending` or `pendingTimeout` of the upstream, `overload` of the worker, or bodies that wait for a thread. Try again later.',
    remedy: 'Retry after the time in `Retry-After`. Add workers or pods, or raise the limit.',
  },
  GW_DRAINING: {
    status: 503,
    title: 'Draining',
    when: 'The gateway shut down before the response was complete. The connection is closed, so this code appears only in the traffic log.',
    remedy: 'Retry idempotent requests. Raise `drain.timeout` for long requests.',
  },
  GW_UPSTREAM_TIMEOUT: {
    status: 504,
    title: 'Upstream timeout',
    when: 'The target did not accept the connection or respond within `timeouts`. The detail names the timeout.',
    remedy: 'Check the target, or raise the timeout that the detail names.',
  },
  GW_UPSTREAM_DNS: {
    status: 502,
    title: 'Upstream name not resolved',
    when: 'The host name of the target cannot be resolved.',
    remedy: 'Correct the host name of the target, or check the name servers.',
  },
  GW_UPSTREAM_REFUSED: {
    status: 502,
    title: 'Upstream refused the connection',
    when: 'The target refused the connection or is unreachable.',
    remedy: 'Check that the target runs and is reachable: `gw upstream list`.',
  },
  GW_UPSTREAM_RESET: {
    status: 502,
    title: 'Upstream closed the connection',
    when: 'The target closed the connection before it responded. It may have processed the request.',
    remedy:
      'Check whether the request was processed before you repeat it. Configure the target to keep idle connections open longer than the gateway does.',
  },
  GW_UPSTREAM_TLS: {
    status: 502,
    title: 'Upstream TLS failure',
    when: 'The TLS handshake with the target failed, for example because its certificate is not trusted.',
    remedy: 'Check the certificate of the target, and `tls` of the upstream.',
  },
  GW_UPSTREAM_INVALID: {
    status: 502,
    title: 'Invalid upstream response',
    when: "The target's response is not valid HTTP, or its header section is too large.",
    remedy: 'Correct the response of the target.',
  },
  GW_UPSTREAM_UNAVAILABLE: {
    status: 503,
    title: 'Upstream unavailable',
    when: 'No target is available: all are unhealthy, ejected or drained. `Retry-After` says when to try again.',
    remedy: 'Check the targets: `gw upstream health`, `gw upstream list`.',
  },
  GW_UPSTREAM_CIRCUIT_OPEN: {
    status: 503,
    title: 'Circuit breaker open',
    when: 'No target is available, and at least one circuit breaker is open. `Retry-After` says when the next request is allowed.',
    remedy: 'Retry after the time in `Retry-After`. Check why the target fails or is slow.',
  },
  GW_CALL_LOOP: {
    status: 508,
    title: 'Request loop detected',
    when: 'A call made by a policy came back to a gateway and triggered another call, more than 5 times.',
    remedy: 'Change the URL of the call so that it does not lead back to the same route.',
  },
  GW_BODY_UNPARSABLE: {
    status: 400,
    title: 'Unreadable body',
    when: 'A policy or condition cannot read the request body: it is malformed, too deeply nested, or has a content coding.',
    remedy: 'Send a well-formed body without a content coding.',
  },
  GW_MEDIA_TYPE: {
    status: 415,
    title: 'Media type not supported',
    when: 'A policy does not accept request bodies with this `Content-Type` or `Content-Encoding`.',
    remedy: 'Send a supported `Content-Type` in UTF-8, without `Content-Encoding`.',
  },
  GW_RESPONSE_INVALID: {
    status: 502,
    title: 'Invalid response',
    when: "A policy cannot read the upstream's response, or the response does not match the schema.",
    remedy: 'Correct the response of the upstream, or its schema.',
  },
  GW_CONDITION_ERROR: {
    status: 500,
    title: 'Condition failed',
    when: 'A condition of a policy could not be evaluated for this request.',
    remedy:
      'Check `when` of the policy that the log names. Typical causes are divisions and number conversions.',
  },
  GW_POLICY_REFUSED: {
    status: 403,
    title: 'Refused by a policy',
    when: 'A plugin policy refused the request. The detail gives the reason. The plugin may choose another status.',
    remedy: 'Correct the request as the detail describes.',
  },
  GW_POLICY_ERROR: {
    status: 500,
    title: 'Policy failed',
    when: 'A policy failed or did not finish in time. The log names it.',
    remedy: 'Check the policy that the log names.',
  },
  GW_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'The gateway failed. Search the log for the request ID.',
    remedy: 'Search the operation log for the request id, and report the problem.',
  },
} as const satisfies Readonly<Record<string, ErrorKind>>

// biome-ignore-start lint/suspicious/noEmptyInterface: extended by declaration merging
/** Error codes of policies. The policies package extends it with those that it passes to `declareErrors`. */
export interface PolicyErrors {}
// biome-ignore-end lint/suspicious/noEmptyInterface: extended by declaration merging

/** Stable error code. Also the value of the `x-gw-error` response header. */
export type ErrorCode = keyof typeof GATEWAY_ERRORS | keyof PolicyErrors

const kinds = new Map<string, ErrorKind>(Object.entries(GATEWAY_ERRORS))

/** Declares the error codes of policies. @throws Error for a code that already has another meaning. */
export function declareErrors(errors: Readonly<Record<string, ErrorKind>>): void {
  for (const [code, kind] of Object.entries(errors)) {
    if ((kinds.get(code) ?? kind).title !== kind.title) throw new Error(`${code} is declared twice`)
    kinds.set(code, kind)
  }
}

/** Returns all declared error codes. */
export function errorCodes(): readonly string[] {
  return [...kinds.keys()]
}

/** Returns true if the text is a declared error code. */
export function isErrorCode(text: string): text is ErrorCode {
  return kinds.has(text)
}

/** Returns the kind of an error. @throws Error if its code is not declared. */
export function errorKind(code: ErrorCode): ErrorKind {
  const kind = kinds.get(code)
  if (kind === undefined) throw new Error(`the error code ${code} is not declared`)
  return kind
}

/** Returns the HTTP status of an error code. */
export function statusOf(code: ErrorCode): number {
  return errorKind(code).status
}
