/**
 * Every error code the gateway can answer with: its HTTP status and its title.
 * Codes are stable: never renamed, renumbered or given a second meaning. Statuses follow RFC 9110.
 */
export const ERRORS = {
  GW_BAD_REQUEST: { status: 400, title: 'Bad request' },
  GW_REQUEST_TIMEOUT: { status: 408, title: 'Request timeout' },
  GW_BODY_TOO_LARGE: { status: 413, title: 'Body too large' },
  GW_BODY_TOO_SMALL: { status: 400, title: 'Body too small' },
  GW_URL_TOO_LONG: { status: 414, title: 'URL too long' },
  GW_HEADERS_TOO_LARGE: { status: 431, title: 'Header fields too large' },
  GW_ROUTE_NOT_FOUND: { status: 404, title: 'No such route' },
  GW_METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  GW_METHOD_NOT_SUPPORTED: { status: 501, title: 'Method not supported' },
  GW_CODING_NOT_SUPPORTED: { status: 501, title: 'Transfer coding not supported' },
  GW_OVERLOADED: { status: 503, title: 'Overloaded' },
  GW_DRAINING: { status: 503, title: 'Draining' },
  GW_UPSTREAM_TIMEOUT: { status: 504, title: 'Upstream timeout' },
  GW_UPSTREAM_DNS: { status: 502, title: 'Upstream name not resolved' },
  GW_UPSTREAM_REFUSED: { status: 502, title: 'Upstream refused the connection' },
  GW_UPSTREAM_RESET: { status: 502, title: 'Upstream closed the connection' },
  GW_UPSTREAM_TLS: { status: 502, title: 'Upstream TLS failure' },
  GW_UPSTREAM_INVALID: { status: 502, title: 'Upstream answer not valid' },
  GW_UPSTREAM_UNAVAILABLE: { status: 503, title: 'Upstream unavailable' },
  GW_IP_DENIED: { status: 403, title: 'Address not allowed' },
  GW_AUTH_MISSING: { status: 401, title: 'Credentials missing' },
  GW_AUTH_INVALID: { status: 401, title: 'Credentials not valid' },
  GW_AUTH_EXPIRED: { status: 401, title: 'Credentials expired' },
  GW_AUTH_OVERLOADED: { status: 503, title: 'Too many credential checks' },
  GW_RATE_LIMITED: { status: 429, title: 'Too many requests' },
  GW_CONDITION_ERROR: { status: 500, title: 'Condition failed' },
  GW_POLICY_ERROR: { status: 500, title: 'Policy failed' },
  GW_INTERNAL: { status: 500, title: 'Internal error' },
} as const

/** A stable error code, also the value of the `x-gw-error` response header. */
export type ErrorCode = keyof typeof ERRORS

/** The HTTP status that belongs to an error code. */
export function statusOf(code: ErrorCode): number {
  return ERRORS[code].status
}
