/**
 * Every error code the gateway can answer with: its HTTP status, its title, and when it is sent, for the reference
 * (docs/reference/errors.md).
 * Codes are stable: never renamed, renumbered or given a second meaning. Statuses follow RFC 9110.
 */
export const ERRORS = {
  GW_BAD_REQUEST: {
    status: 400,
    title: 'Bad request',
    when: 'The request is malformed or could be read in two ways; the detail says where.',
  },
  GW_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request timeout',
    when: 'The request body paused for longer than `limits.bodyIdle`.',
  },
  GW_BODY_TOO_LARGE: {
    status: 413,
    title: 'Body too large',
    when: 'The request body is larger than `limits.bodyBytes` or a `body-limit` allows.',
  },
  GW_BODY_TOO_SMALL: {
    status: 400,
    title: 'Body too small',
    when: 'The request body is smaller than a `body-limit` asks for.',
  },
  GW_URL_TOO_LONG: {
    status: 414,
    title: 'URL too long',
    when: 'Path and query are longer than `limits.urlBytes`.',
  },
  GW_HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Header fields too large',
    when: 'The header fields are more or longer than `limits.headers` and `limits.headerBytes` allow.',
  },
  GW_ROUTE_NOT_FOUND: {
    status: 404,
    title: 'No such route',
    when: 'No route matches; `gw explain` says why not.',
  },
  GW_METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    when: 'Routes match but for the method; `Allow` names those they serve.',
  },
  GW_METHOD_NOT_SUPPORTED: {
    status: 501,
    title: 'Method not supported',
    when: 'TRACE and CONNECT are not served.',
  },
  GW_CODING_NOT_SUPPORTED: {
    status: 501,
    title: 'Transfer coding not supported',
    when: 'The only transfer coding accepted is a single `chunked`.',
  },
  GW_OVERLOADED: {
    status: 503,
    title: 'Overloaded',
    when: "A bound is reached, of the listener's connections or of the upstream's `connections` and `maxPending`; try again.",
  },
  GW_DRAINING: {
    status: 503,
    title: 'Draining',
    when: 'Reserved; this version finishes what it has accepted.',
  },
  GW_UPSTREAM_TIMEOUT: {
    status: 504,
    title: 'Upstream timeout',
    when: 'The target did not connect or answer within the `timeouts`; the detail names which.',
  },
  GW_UPSTREAM_DNS: {
    status: 502,
    title: 'Upstream name not resolved',
    when: 'The name of the target does not resolve.',
  },
  GW_UPSTREAM_REFUSED: {
    status: 502,
    title: 'Upstream refused the connection',
    when: 'The target refused the connection or cannot be reached.',
  },
  GW_UPSTREAM_RESET: {
    status: 502,
    title: 'Upstream closed the connection',
    when: 'The target closed the connection before it answered; it may have acted on the request.',
  },
  GW_UPSTREAM_TLS: {
    status: 502,
    title: 'Upstream TLS failure',
    when: 'The TLS handshake with the target failed, for example because of its certificate.',
  },
  GW_UPSTREAM_INVALID: {
    status: 502,
    title: 'Upstream answer not valid',
    when: 'The answer of the target is not valid HTTP/1.1, or its head is too large.',
  },
  GW_UPSTREAM_UNAVAILABLE: {
    status: 503,
    title: 'Upstream unavailable',
    when: 'Reserved; this version tries targets whatever their state.',
  },
  GW_IP_DENIED: {
    status: 403,
    title: 'Address not allowed',
    when: '`ip-filter` does not let this address in.',
  },
  GW_AUTH_MISSING: {
    status: 401,
    title: 'Credentials missing',
    when: 'Credentials are needed; `WWW-Authenticate` says which.',
  },
  GW_AUTH_INVALID: {
    status: 401,
    title: 'Credentials not valid',
    when: 'The credentials are not known or not right.',
  },
  GW_AUTH_EXPIRED: { status: 401, title: 'Credentials expired', when: 'The credentials were valid once.' },
  GW_AUTH_OVERLOADED: {
    status: 503,
    title: 'Too many credential checks',
    when: 'More passwords are being checked than the bound allows; try again.',
  },
  GW_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    when: 'Too many attempts; `Retry-After` says when to try again.',
  },
  GW_CONDITION_ERROR: {
    status: 500,
    title: 'Condition failed',
    when: 'A condition of a policy could not be evaluated for this request.',
  },
  GW_POLICY_ERROR: {
    status: 500,
    title: 'Policy failed',
    when: 'A policy failed or did not decide in time; the log names it.',
  },
  GW_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'The gateway failed; the log knows the request by its id.',
  },
} as const

/** A stable error code, also the value of the `x-gw-error` response header. */
export type ErrorCode = keyof typeof ERRORS

/** The HTTP status that belongs to an error code. */
export function statusOf(code: ErrorCode): number {
  return ERRORS[code].status
}
