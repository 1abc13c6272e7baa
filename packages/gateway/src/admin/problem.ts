import type { AnswerStream } from './answer-stream.js'

/** Error codes of the admin API, like `ERRORS` of @sluice/core. Codes are stable. */
export const ADMIN_ERRORS = {
  GW_ADMIN_BAD_REQUEST: {
    status: 400,
    title: 'Bad request',
    when: 'The body, the query or If-Match is invalid.',
  },
  GW_ADMIN_AUTH_MISSING: {
    status: 401,
    title: 'Token missing',
    when: 'A token is required: `Authorization: Bearer TOKEN`.',
  },
  GW_ADMIN_AUTH_INVALID: {
    status: 401,
    title: 'Token not valid',
    when: 'The token matches none in `admin.tokens`.',
  },
  GW_ADMIN_ROLE_MISSING: {
    status: 403,
    title: 'Role not sufficient',
    when: 'The role of the token does not allow this.',
  },
  GW_ADMIN_HOST_REFUSED: {
    status: 403,
    title: 'Host not allowed',
    when: 'The Host header is not an IP address, `localhost` or the host of `admin.address`.',
  },
  GW_ADMIN_ORIGIN_REFUSED: {
    status: 403,
    title: 'Browsers not allowed',
    when: 'The request comes from a web page.',
  },
  GW_ADMIN_FORGERY_SUSPECTED: {
    status: 403,
    title: 'Not sent by the dashboard',
    when: 'A request with a session cookie that another site may have sent.',
  },
  GW_ADMIN_NOT_FOUND: {
    status: 404,
    title: 'No such resource',
    when: 'There is no such endpoint, deploy or other resource.',
  },
  GW_ADMIN_METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    when: 'The endpoint does not support this method; `Allow` lists those that it supports.',
  },
  GW_ADMIN_ROLLED_BACK: {
    status: 409,
    title: 'Rolled back',
    when: 'A worker could not prepare the document; the previous one stays active.',
  },
  GW_ADMIN_CONTROLLED: {
    status: 409,
    title: 'Configured by a controller',
    when: 'The configuration of this gateway comes from a controller. Send `force=1` to replace it until the next deploy or a restart.',
  },
  GW_ADMIN_STALE: {
    status: 412,
    title: 'Plan has changed',
    when: 'The active plan is not the one in If-Match.',
  },
  GW_ADMIN_BODY_TOO_LARGE: {
    status: 413,
    title: 'Body too large',
    when: 'The body exceeds the maximum document size.',
  },
  GW_ADMIN_TYPE_NOT_SUPPORTED: {
    status: 415,
    title: 'Content type not supported',
    when: 'The endpoint does not support the content type.',
  },
  GW_ADMIN_DOCUMENT_INVALID: {
    status: 422,
    title: 'Document not valid',
    when: 'The document has errors; `diagnostics` lists all of them.',
  },
  GW_ADMIN_LOCKED_OUT: {
    status: 429,
    title: 'Too many wrong tokens',
    when: 'Too many wrong tokens from this address; `Retry-After` tells when to try again.',
  },
  GW_ADMIN_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'The admin API failed; the gateway’s operation log has the details.',
  },
  GW_ADMIN_STORE_UNAVAILABLE: {
    status: 503,
    title: 'Store unavailable',
    when: 'The `state` server, which holds the counts, does not answer.',
  },
  GW_ADMIN_LOG_UNREADABLE: {
    status: 503,
    title: 'Traffic log not readable',
    when: 'No target of the traffic log can be read, or it does not answer.',
  },
  GW_ADMIN_BUSY: {
    status: 503,
    title: 'Too many requests',
    when: 'Too many deploys or questions are waiting, or too many step traces are open; try again.',
  },
  GW_ADMIN_UPGRADE_FAILED: {
    status: 409,
    title: 'Upgrade failed',
    when: 'The next version did not start, or cannot be started now. The running version continues.',
  },
  GW_ADMIN_NOT_READY: {
    status: 503,
    title: 'Not ready',
    when: 'No configuration is active yet, or the gateway is draining.',
  },
} as const

/** Stable error code of the admin API. */
export type AdminErrorCode = keyof typeof ADMIN_ERRORS

/** Response of an endpoint. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Streamed body, in place of `body`. */
  readonly stream?: AnswerStream
}

/** Creates a JSON response. */
export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): AdminAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(value)}\n`,
  }
}

/** Optional parts of a problem response. */
export interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>
  /** Additional members of the object (RFC 9457 section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/** Creates a refusal as `application/problem+json` (RFC 9457). The detail tells what to do. */
export function problemAnswer(code: AdminErrorCode, detail: string, extras: ProblemExtras = {}): AdminAnswer {
  const { status, title } = ADMIN_ERRORS[code]
  const headers = { 'content-type': 'application/problem+json', 'x-gw-error': code, ...extras.headers }
  return jsonAnswer(status, { type: 'about:blank', title, status, code, detail, ...extras.members }, headers)
}
