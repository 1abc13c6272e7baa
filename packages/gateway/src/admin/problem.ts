/** Every code the admin API refuses with, as in `ERRORS` of @sluice/core. Codes are stable, like those. */
export const ADMIN_ERRORS = {
  GW_ADMIN_BAD_REQUEST: {
    status: 400,
    title: 'Bad request',
    when: 'The body, the query or If-Match is not what the endpoint takes.',
  },
  GW_ADMIN_AUTH_MISSING: {
    status: 401,
    title: 'Token missing',
    when: 'A token is needed: `Authorization: Bearer TOKEN`.',
  },
  GW_ADMIN_AUTH_INVALID: {
    status: 401,
    title: 'Token not valid',
    when: 'No token under `admin.tokens` has the SHA-256 of this one.',
  },
  GW_ADMIN_ROLE_MISSING: {
    status: 403,
    title: 'Role not sufficient',
    when: 'The role of the token does not allow this.',
  },
  GW_ADMIN_HOST_REFUSED: {
    status: 403,
    title: 'Host not allowed',
    when: 'The Host field is no IP address, not `localhost` and not the host of `admin.address`.',
  },
  GW_ADMIN_ORIGIN_REFUSED: {
    status: 403,
    title: 'Browsers not allowed',
    when: 'The request comes from a web page.',
  },
  GW_ADMIN_NOT_FOUND: {
    status: 404,
    title: 'No such resource',
    when: 'There is no such endpoint, deploy or other resource.',
  },
  GW_ADMIN_METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    when: 'The endpoint has other methods; `Allow` names them.',
  },
  GW_ADMIN_ROLLED_BACK: {
    status: 409,
    title: 'Rolled back',
    when: 'Not every worker could prepare the document; the one before goes on serving.',
  },
  GW_ADMIN_STALE: {
    status: 412,
    title: 'Plan has changed',
    when: 'Another plan serves than the one If-Match names.',
  },
  GW_ADMIN_BODY_TOO_LARGE: {
    status: 413,
    title: 'Body too large',
    when: 'The body is larger than a document may be.',
  },
  GW_ADMIN_TYPE_NOT_SUPPORTED: {
    status: 415,
    title: 'Content type not supported',
    when: 'The content type is not one that the endpoint reads.',
  },
  GW_ADMIN_DOCUMENT_INVALID: {
    status: 422,
    title: 'Document not valid',
    when: 'The document has mistakes; `diagnostics` lists them all.',
  },
  GW_ADMIN_LOCKED_OUT: {
    status: 429,
    title: 'Too many wrong tokens',
    when: 'This address has sent too many wrong tokens; `Retry-After` says when to try again.',
  },
  GW_ADMIN_INTERNAL: {
    status: 500,
    title: 'Internal error',
    when: 'The admin API failed; the log of the gateway says how.',
  },
  GW_ADMIN_STORE_UNAVAILABLE: {
    status: 503,
    title: 'Store unavailable',
    when: 'The server of `state` does not answer, which has the counts of limits.',
  },
  GW_ADMIN_BUSY: { status: 503, title: 'Too many deploys', when: 'Too many deploys are waiting; try again.' },
  GW_ADMIN_NOT_READY: {
    status: 503,
    title: 'Not ready',
    when: 'No configuration is active yet, or the gateway is draining.',
  },
} as const

/** A stable code of the admin API. */
export type AdminErrorCode = keyof typeof ADMIN_ERRORS

/** What an endpoint answers. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A value as JSON. */
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

/** What a problem carries beside its code. */
export interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>
  /** More members of the object (RFC 9457 section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/** A refusal as `application/problem+json` (RFC 9457). The detail says what to do. */
export function problemAnswer(code: AdminErrorCode, detail: string, extras: ProblemExtras = {}): AdminAnswer {
  const { status, title } = ADMIN_ERRORS[code]
  const headers = { 'content-type': 'application/problem+json', 'x-gw-error': code, ...extras.headers }
  return jsonAnswer(status, { type: 'about:blank', title, status, code, detail, ...extras.members }, headers)
}
