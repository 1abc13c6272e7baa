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
    when: 'The request body paused for longer than `limits.bodyIdle`, came slower than `limits.minBodyRate`, or had not come whole within `timeouts.total`.',
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
  GW_EXPECTATION_FAILED: {
    status: 417,
    title: 'Expectation failed',
    when: 'The request has an `Expect` other than `100-continue`.',
  },
  GW_VERSION_NOT_SUPPORTED: {
    status: 505,
    title: 'HTTP version not supported',
    when: 'The request is of a version of HTTP that the listener does not speak.',
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
    when: 'TRACE and CONNECT are not served, nor methods in lower case.',
  },
  GW_UPGRADE_NOT_SUPPORTED: {
    status: 501,
    title: 'Upgrade not supported',
    when: 'The request is a WebSocket handshake for a route without `websocket`, or asks for another protocol that is none of HTTP.',
  },
  GW_WEBSOCKET_VERSION: {
    status: 426,
    title: 'WebSocket version not supported',
    when: 'The WebSocket handshake asks for another version than 13 (RFC 6455 section 4.4); `Sec-WebSocket-Version` names it.',
  },
  GW_CODING_NOT_SUPPORTED: {
    status: 501,
    title: 'Transfer coding not supported',
    when: 'The only transfer coding accepted is a single `chunked`.',
  },
  GW_OVERLOADED: {
    status: 503,
    title: 'Overloaded',
    when: "A bound is reached, of the listener's connections, or of the upstream's `connections`, `maxPending` and `pendingTimeout`; try again.",
  },
  GW_DRAINING: {
    status: 503,
    title: 'Draining',
    when: 'The gateway ended before the response was complete; only the traffic log says so, the connection is closed.',
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
    when: 'No target is available: all are unhealthy, ejected or drained; `Retry-After` says when that may have changed.',
  },
  GW_UPSTREAM_CIRCUIT_OPEN: {
    status: 503,
    title: 'Circuit breaker open',
    when: 'No target is available, and the circuit breaker of one at least is open; `Retry-After` says when it lets a request through.',
  },
  GW_UPSTREAM_CREDENTIALS: {
    status: 503,
    title: 'No credentials for the upstream',
    when: '`backend-auth` has no credentials now: the token endpoint refuses, or does not answer. `Retry-After` says when it is asked again.',
  },
  GW_NOT_CACHED: {
    status: 504,
    title: 'Not in the cache',
    when: 'The request has `only-if-cached`, and `response-cache` has no response that may answer it.',
  },
  GW_CACHE_UNAVAILABLE: {
    status: 503,
    title: 'Cache unavailable',
    when: 'The store of a `cache` policy with `onStoreDown: closed` does not answer; try again.',
  },
  GW_IP_DENIED: {
    status: 403,
    title: 'Address not allowed',
    when: '`ip-filter` does not let this address in.',
  },
  GW_GEO_DENIED: {
    status: 403,
    title: 'Place not allowed',
    when: '`geo-filter` lets nobody in from the place of this address.',
  },
  GW_CORS_DENIED: {
    status: 403,
    title: 'Origin not allowed',
    when: 'A preflight comes from an origin that `cors` does not allow.',
  },
  GW_ACCESS_DENIED: {
    status: 403,
    title: 'Access denied',
    when: '`authorize` does not let this consumer in, or `forward-auth` this request, with the status of its server; `error.reason` in the traffic log says why.',
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
  GW_AUTH_UNAVAILABLE: {
    status: 503,
    title: 'Nobody decides who may call',
    when: 'The server that `forward-auth` or `oauth2-introspection` asks, the directory of `ldap`, the issuer whose keys `jwt` fetches, or the provider of `oidc`, does not answer or fails, or the store that says whether a nonce was used before; try again.',
  },
  GW_LOGIN_FAILED: {
    status: 400,
    title: 'The login failed',
    when: 'A browser comes back from the provider of `oidc` or `saml-login` with what belongs to no login of its own, or the provider has refused the login; `error.reason` in the traffic log says why.',
  },
  GW_LOGOUT_TOKEN: {
    status: 400,
    title: 'Logout token not valid',
    when: 'What `oidc-backchannel-logout` gets is no logout token of the provider, is too old, or was used before.',
  },
  GW_CALL_FAILED: {
    status: 502,
    title: 'A call to another server failed',
    when: 'A server that `api-call` asks does not answer, or not as the policy expects; `api_calls` in the traffic log says which and why.',
  },
  GW_CALL_TIMEOUT: {
    status: 504,
    title: 'A call to another server took too long',
    when: 'A server that `api-call` asks has not answered within `timeout`.',
  },
  GW_CALL_LOOP: {
    status: 508,
    title: 'Calls in a circle',
    when: 'Calls of policies have come back to gateways and made them call again, more than 5 times.',
  },
  GW_MAINTENANCE: {
    status: 503,
    title: 'Under maintenance',
    when: '`maintenance` keeps requests out for a while; `Retry-After` says when to try again.',
  },
  GW_FAULT_INJECTED: {
    status: 503,
    title: 'Fault injected',
    when: '`fault` has refused the request to try what callers do then; the status may be another one.',
  },
  GW_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    when: 'A `rate-limit` has nothing left for the request, or `basic-auth` has seen too many failed attempts; `Retry-After` says when to try again.',
  },
  GW_CLIENT_BANNED: {
    status: 429,
    title: 'Banned for a while',
    when: '`client-ban` has seen too many failed requests of the caller; `Retry-After` says when the ban ends. 403 where the policy says so.',
  },
  GW_BODY_UNPARSABLE: {
    status: 400,
    title: 'Body not readable',
    when: 'A policy or a condition has to read the request body, and it is not what it should be: not well-formed, too deep, or in a content coding.',
  },
  GW_MEDIA_TYPE: {
    status: 415,
    title: 'Media type not supported',
    when: 'A policy does not take request bodies of this `Content-Type` or `Content-Encoding`.',
  },
  GW_SCHEMA_INVALID: {
    status: 400,
    title: 'Not valid against the schema',
    when: 'The request is not what `json-schema`, `xsd` or `openapi` asks for; the detail lists where.',
  },
  GW_RESPONSE_INVALID: {
    status: 502,
    title: 'Response not valid',
    when: 'A policy has to read the response of the upstream and cannot, or it is not valid against the schema.',
  },
  GW_TRANSFORM_INPUT: {
    status: 400,
    title: 'Body cannot be transformed',
    when: 'A transformation failed because of what the request says.',
  },
  GW_TRANSFORM_FAILED: {
    status: 500,
    title: 'Transformation failed',
    when: 'A transformation failed by itself, or took longer or made more than it may.',
  },
  GW_CONTENT_BLOCKED: {
    status: 403,
    title: 'Content not allowed',
    when: '`content-filter` found what it looks for; the log names the rule.',
  },
  GW_TIME_RESTRICTED: {
    status: 403,
    title: 'Not at this time',
    when: '`time-window` does not let requests pass now.',
  },
  GW_QUOTA_EXCEEDED: {
    status: 429,
    title: 'Quota exceeded',
    when: 'A `quota` is used up; `Retry-After` says when its period ends.',
  },
  GW_LIMIT_KEY_MISSING: {
    status: 403,
    title: 'Nothing to count by',
    when: 'A `rate-limit` or `quota` with `onMissingKey: deny` finds nothing in the request to count it by.',
  },
  GW_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Limiter unavailable',
    when: 'The store of a `rate-limit` or `quota` with `onStoreDown: closed` does not answer; try again.',
  },
  GW_CONCURRENCY_LIMITED: {
    status: 503,
    title: 'Too many requests at once',
    when: '`concurrency-limit` has as many requests under way as it allows; `Retry-After` says when to try again.',
  },
  GW_TOKEN_MALFORMED: {
    status: 401,
    title: 'Token malformed',
    when: 'The token is not one that can be read.',
  },
  GW_TOKEN_SIGNATURE: {
    status: 401,
    title: 'Token signature not valid',
    when: 'The token is not signed by a key and an algorithm that the policy allows.',
  },
  GW_TOKEN_EXPIRED: { status: 401, title: 'Token expired', when: 'The token was valid once.' },
  GW_TOKEN_INACTIVE: {
    status: 401,
    title: 'Token not active',
    when: 'The authorization server does not call the token active: it does not know it, or has ended or revoked it.',
  },
  GW_TOKEN_NOT_YET_VALID: {
    status: 401,
    title: 'Token not valid yet',
    when: 'The token is not valid before a later time.',
  },
  GW_TOKEN_ISSUER: {
    status: 401,
    title: 'Token of another issuer',
    when: 'The issuer of the token is not one that the policy allows.',
  },
  GW_TOKEN_AUDIENCE: {
    status: 401,
    title: 'Token for another audience',
    when: 'The token is not meant for this API.',
  },
  GW_TOKEN_REPLAYED: {
    status: 401,
    title: 'Assertion used before',
    when: 'An assertion of `saml` that is taken once comes again.',
  },
  GW_TOKEN_BINDING: {
    status: 401,
    title: 'Token of another holder',
    when: 'The token is bound to a client certificate that is not that of the connection, or to a key whose proof the policy does not check.',
  },
  GW_TOKEN_CLAIMS: {
    status: 403,
    title: 'Token without a claim',
    when: 'The token lacks a claim that the policy asks for, or it has another value.',
  },
  GW_SCOPE_MISSING: {
    status: 403,
    title: 'Scope missing',
    when: 'The credential lacks a scope that `jwt` or `authorize` asks for.',
  },
  GW_SIGNATURE_MISSING: { status: 401, title: 'Signature missing', when: 'The message has to be signed.' },
  GW_SIGNATURE_INVALID: {
    status: 401,
    title: 'Signature not valid',
    when: 'The signature of the message is not valid, too old, or was used before.',
  },
  GW_DECRYPT_FAILED: {
    status: 400,
    title: 'Not decrypted',
    when: 'Something in the message could not be decrypted; no more is said.',
  },
  GW_WSS_FAILED: {
    status: 401,
    title: 'WS-Security check failed',
    when: 'The security header of a SOAP message is missing or not valid; SOAP clients get the fault code of the standard.',
  },
  GW_SCRIPT_ERROR: {
    status: 500,
    title: 'Script failed',
    when: 'A script failed, or took more time or memory than it may.',
  },
  GW_CONDITION_ERROR: {
    status: 500,
    title: 'Condition failed',
    when: 'A condition of a policy could not be evaluated for this request.',
  },
  GW_POLICY_REFUSED: {
    status: 403,
    title: 'Refused by a policy',
    when: 'A policy of a plugin refuses the request, for the reason that the detail says; it may choose another status.',
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

/** Whether a text is one of the error codes. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text)
}

/** The HTTP status that belongs to an error code. */
export function statusOf(code: ErrorCode): number {
  return ERRORS[code].status
}
