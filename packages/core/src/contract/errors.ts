/**
 * Error codes that the gateway can return, each with its HTTP status and title. `when` is the description in
 * docs/reference/errors.md. Codes are stable: they are never renamed, renumbered or reused. Statuses follow
 * RFC 9110.
 */
export const ERRORS = {
  GW_BAD_REQUEST: {
    status: 400,
    title: 'Bad request',
    when: 'The request is malformed or ambiguous. The detail names the part.',
  },
  GW_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request timeout',
    when: 'The request body paused for longer than `limits.bodyIdle`, arrived slower than `limits.minBodyRate`, or was incomplete after `timeouts.total`.',
  },
  GW_BODY_TOO_LARGE: {
    status: 413,
    title: 'Body too large',
    when: 'The request body exceeds `limits.bodyBytes` or the maximum of a `body-limit` policy.',
  },
  GW_BODY_TOO_SMALL: {
    status: 400,
    title: 'Body too small',
    when: 'The request body is smaller than the minimum of a `body-limit` policy.',
  },
  GW_URL_TOO_LONG: {
    status: 414,
    title: 'URL too long',
    when: 'The path and query together are longer than `limits.urlBytes`.',
  },
  GW_HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Header fields too large',
    when: 'The header fields exceed `limits.headers` (number) or `limits.headerBytes` (size).',
  },
  GW_EXPECTATION_FAILED: {
    status: 417,
    title: 'Expectation failed',
    when: 'The request has an `Expect` field other than `100-continue`.',
  },
  GW_VERSION_NOT_SUPPORTED: {
    status: 505,
    title: 'HTTP version not supported',
    when: 'The listener does not support the HTTP version of the request.',
  },
  GW_ROUTE_NOT_FOUND: {
    status: 404,
    title: 'No such route',
    when: 'No route matches the request. `gw explain` shows why.',
  },
  GW_METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    when: 'A route matches the path but not the method. The `Allow` field lists the supported methods.',
  },
  GW_METHOD_NOT_SUPPORTED: {
    status: 501,
    title: 'Method not supported',
    when: 'The method is TRACE, CONNECT or not in upper case.',
  },
  GW_UPGRADE_NOT_SUPPORTED: {
    status: 501,
    title: 'Upgrade not supported',
    when: 'The request is a WebSocket handshake for a route without `websocket`, or asks to upgrade to an unsupported protocol.',
  },
  GW_WEBSOCKET_VERSION: {
    status: 426,
    title: 'WebSocket version not supported',
    when: 'The WebSocket handshake asks for a version other than 13 (RFC 6455 section 4.4). `Sec-WebSocket-Version` in the response names the supported version.',
  },
  GW_CODING_NOT_SUPPORTED: {
    status: 501,
    title: 'Transfer coding not supported',
    when: 'The request has a transfer coding other than a single `chunked`.',
  },
  GW_OVERLOADED: {
    status: 503,
    title: 'Overloaded',
    when: 'A limit is reached: connections of the listener, `connections`, `maxPending` or `pendingTimeout` of the upstream, `overload` of the worker, or bodies that wait for a thread. Try again later.',
  },
  GW_DRAINING: {
    status: 503,
    title: 'Draining',
    when: 'The gateway shut down before the response was complete. The connection is closed, so this code appears only in the traffic log.',
  },
  GW_UPSTREAM_TIMEOUT: {
    status: 504,
    title: 'Upstream timeout',
    when: 'The target did not accept the connection or respond within `timeouts`. The detail names the timeout.',
  },
  GW_UPSTREAM_DNS: {
    status: 502,
    title: 'Upstream name not resolved',
    when: 'The host name of the target cannot be resolved.',
  },
  GW_UPSTREAM_REFUSED: {
    status: 502,
    title: 'Upstream refused the connection',
    when: 'The target refused the connection or is unreachable.',
  },
  GW_UPSTREAM_RESET: {
    status: 502,
    title: 'Upstream closed the connection',
    when: 'The target closed the connection before it responded. It may have processed the request.',
  },
  GW_UPSTREAM_TLS: {
    status: 502,
    title: 'Upstream TLS failure',
    when: 'The TLS handshake with the target failed, for example because its certificate is not trusted.',
  },
  GW_UPSTREAM_INVALID: {
    status: 502,
    title: 'Invalid upstream response',
    when: "The target's response is not valid HTTP, or its header section is too large.",
  },
  GW_UPSTREAM_UNAVAILABLE: {
    status: 503,
    title: 'Upstream unavailable',
    when: 'No target is available: all are unhealthy, ejected or drained. `Retry-After` says when to try again.',
  },
  GW_UPSTREAM_CIRCUIT_OPEN: {
    status: 503,
    title: 'Circuit breaker open',
    when: 'No target is available, and at least one circuit breaker is open. `Retry-After` says when it allows the next request.',
  },
  GW_UPSTREAM_CREDENTIALS: {
    status: 503,
    title: 'No credentials for the upstream',
    when: '`backend-auth` has no credentials because the token endpoint refuses them or does not respond. `Retry-After` says when the gateway tries again.',
  },
  GW_NOT_CACHED: {
    status: 504,
    title: 'Not in the cache',
    when: 'The request has `only-if-cached`, and `response-cache` has no usable response for it.',
  },
  GW_CACHE_UNAVAILABLE: {
    status: 503,
    title: 'Cache unavailable',
    when: 'The store of a `cache` policy with `onStoreDown: closed` is unavailable. Try again later.',
  },
  GW_IP_DENIED: {
    status: 403,
    title: 'Address not allowed',
    when: "`ip-filter` does not allow the client's address.",
  },
  GW_GEO_DENIED: {
    status: 403,
    title: 'Location not allowed',
    when: "`geo-filter` does not allow the location of the client's address.",
  },
  GW_CORS_DENIED: {
    status: 403,
    title: 'Origin not allowed',
    when: 'A preflight request comes from an origin that `cors` does not allow.',
  },
  GW_ACCESS_DENIED: {
    status: 403,
    title: 'Access denied',
    when: '`authorize` does not allow this consumer, or `forward-auth` does not allow this request (with the status of the authorization server). `error.reason` in the traffic log gives the reason.',
  },
  GW_AUTH_MISSING: {
    status: 401,
    title: 'Credentials missing',
    when: 'The request has no credentials. `WWW-Authenticate` names the accepted schemes.',
  },
  GW_AUTH_INVALID: {
    status: 401,
    title: 'Invalid credentials',
    when: 'The credentials are unknown or wrong.',
  },
  GW_AUTH_EXPIRED: { status: 401, title: 'Credentials expired', when: 'The credentials have expired.' },
  GW_AUTH_OVERLOADED: {
    status: 503,
    title: 'Too many credential checks',
    when: 'The limit of concurrent password checks is reached. Try again later.',
  },
  GW_AUTH_UNAVAILABLE: {
    status: 503,
    title: 'Authorization service unavailable',
    when: 'A server needed for authentication is unavailable: that of `forward-auth` or `oauth2-introspection`, the `ldap` directory, the issuer of the `jwt` keys, the `oidc` provider, or the store of used nonces. Try again later.',
  },
  GW_LOGIN_FAILED: {
    status: 400,
    title: 'Login failed',
    when: 'The `oidc` or `saml-login` provider refused the login, or its response does not match a login that this browser started. `error.reason` in the traffic log gives the reason.',
  },
  GW_LOGOUT_TOKEN: {
    status: 400,
    title: 'Invalid logout token',
    when: 'The token sent to `oidc-backchannel-logout` is not a logout token of the provider, is too old, or was used before.',
  },
  GW_CALL_FAILED: {
    status: 502,
    title: 'Call to another server failed',
    when: 'A server called by `api-call` did not respond, or not as the policy expects. `api_calls` in the traffic log names the call and the reason.',
  },
  GW_CALL_TIMEOUT: {
    status: 504,
    title: 'Call to another server timed out',
    when: 'A server called by `api-call` did not respond within `timeout`.',
  },
  GW_CALL_LOOP: {
    status: 508,
    title: 'Request loop detected',
    when: 'A call made by a policy came back to a gateway and triggered another call, more than 5 times.',
  },
  GW_MAINTENANCE: {
    status: 503,
    title: 'Under maintenance',
    when: '`maintenance` is refusing requests. `Retry-After` says when to try again.',
  },
  GW_FAULT_INJECTED: {
    status: 503,
    title: 'Fault injected',
    when: '`fault` refused the request to test error handling. Its configuration may choose another status.',
  },
  GW_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    when: 'A `rate-limit` is exhausted, or `basic-auth` has seen too many failed attempts. `Retry-After` says when to try again.',
  },
  GW_CLIENT_BANNED: {
    status: 429,
    title: 'Temporarily banned',
    when: '`client-ban` has seen too many failed requests from the caller. `Retry-After` says when the ban ends. The policy may choose status 403 instead.',
  },
  GW_BODY_UNPARSABLE: {
    status: 400,
    title: 'Unreadable body',
    when: 'A policy or condition cannot read the request body: it is malformed, too deeply nested, or has a content coding.',
  },
  GW_MEDIA_TYPE: {
    status: 415,
    title: 'Media type not supported',
    when: 'A policy does not accept request bodies with this `Content-Type` or `Content-Encoding`.',
  },
  GW_SCHEMA_INVALID: {
    status: 400,
    title: 'Schema validation failed',
    when: 'The request does not match the schema of `json-schema`, `xsd` or `openapi`. The detail lists the locations.',
  },
  GW_RESPONSE_INVALID: {
    status: 502,
    title: 'Invalid response',
    when: "A policy cannot read the upstream's response, or the response does not match the schema.",
  },
  GW_TRANSFORM_INPUT: {
    status: 400,
    title: 'Body cannot be transformed',
    when: 'A transformation failed because of the content of the request.',
  },
  GW_TRANSFORM_FAILED: {
    status: 500,
    title: 'Transformation failed',
    when: 'A transformation failed, took too long, or produced too much output.',
  },
  GW_CONTENT_BLOCKED: {
    status: 403,
    title: 'Content not allowed',
    when: 'A rule of `content-filter` matched. The log names the rule.',
  },
  GW_TIME_RESTRICTED: {
    status: 403,
    title: 'Not allowed at this time',
    when: '`time-window` does not allow requests at this time.',
  },
  GW_QUOTA_EXCEEDED: {
    status: 429,
    title: 'Quota exceeded',
    when: 'A `quota` is used up. `Retry-After` says when its period ends.',
  },
  GW_LIMIT_KEY_MISSING: {
    status: 403,
    title: 'Limit key missing',
    when: 'The request lacks the value that a `rate-limit` or `quota` with `onMissingKey: deny` uses as its counter key.',
  },
  GW_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Limiter unavailable',
    when: 'The store of a `rate-limit` or `quota` with `onStoreDown: closed` is unavailable. Try again later.',
  },
  GW_CONCURRENCY_LIMITED: {
    status: 503,
    title: 'Too many concurrent requests',
    when: 'The limit of a `concurrency-limit` policy is reached. `Retry-After` says when to try again.',
  },
  GW_TOKEN_MALFORMED: {
    status: 401,
    title: 'Malformed token',
    when: 'The token cannot be parsed.',
  },
  GW_TOKEN_SIGNATURE: {
    status: 401,
    title: 'Invalid token signature',
    when: "The token's signature is wrong, or its key or algorithm is not allowed by the policy.",
  },
  GW_TOKEN_EXPIRED: { status: 401, title: 'Token expired', when: 'The token has expired.' },
  GW_TOKEN_INACTIVE: {
    status: 401,
    title: 'Token not active',
    when: 'The authorization server reports the token as inactive: unknown, expired or revoked.',
  },
  GW_TOKEN_NOT_YET_VALID: {
    status: 401,
    title: 'Token not yet valid',
    when: 'The token is valid only from a later time.',
  },
  GW_TOKEN_ISSUER: {
    status: 401,
    title: 'Wrong token issuer',
    when: 'The policy does not allow the issuer of the token.',
  },
  GW_TOKEN_AUDIENCE: {
    status: 401,
    title: 'Wrong token audience',
    when: 'The token was issued for another API.',
  },
  GW_TOKEN_REPLAYED: {
    status: 401,
    title: 'Assertion already used',
    when: 'A one-time `saml` assertion was sent again.',
  },
  GW_TOKEN_BINDING: {
    status: 401,
    title: 'Token bound to another client',
    when: 'The token is bound to a client certificate other than that of the connection, or to a key whose proof the policy does not check.',
  },
  GW_TOKEN_CLAIMS: {
    status: 403,
    title: 'Missing token claim',
    when: 'The token lacks a claim that the policy requires, or the claim has another value.',
  },
  GW_SCOPE_MISSING: {
    status: 403,
    title: 'Missing scope',
    when: 'The credential lacks a scope that `jwt` or `authorize` requires.',
  },
  GW_SIGNATURE_MISSING: { status: 401, title: 'Missing signature', when: 'The message must be signed.' },
  GW_SIGNATURE_INVALID: {
    status: 401,
    title: 'Invalid signature',
    when: 'The signature of the message is wrong, too old, or was used before.',
  },
  GW_DECRYPT_FAILED: {
    status: 400,
    title: 'Decryption failed',
    when: 'Part of the message could not be decrypted. For security, the response gives no details.',
  },
  GW_WSS_FAILED: {
    status: 401,
    title: 'WS-Security check failed',
    when: 'The WS-Security header of a SOAP message is missing or invalid. SOAP clients receive the standard fault code.',
  },
  GW_SCRIPT_ERROR: {
    status: 500,
    title: 'Script failed',
    when: 'A script failed, or exceeded its time or memory limit.',
  },
  GW_CONDITION_ERROR: {
    status: 500,
    title: 'Condition failed',
    when: 'A condition of a policy could not be evaluated for this request.',
  },
  GW_POLICY_REFUSED: {
    status: 403,
    title: 'Refused by a policy',
    when: 'A plugin policy refused the request. The detail gives the reason. The plugin may choose another status.',
  },
  GW_POLICY_ERROR: {
    status: 500,
    title: 'Policy failed',
    when: 'A policy failed or did not finish in time. The log names it.',
  },
  GW_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'The gateway failed. Search the log for the request ID.',
  },
} as const

/** Stable error code. Also the value of the `x-gw-error` response header. */
export type ErrorCode = keyof typeof ERRORS

/** Returns true if the text is an error code. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text)
}

/** Returns the HTTP status of an error code. */
export function statusOf(code: ErrorCode): number {
  return ERRORS[code].status
}
