/** Every code the admin API refuses with: its status and its title. Codes are stable, like those of the listeners. */
export const ADMIN_ERRORS = {
  GW_ADMIN_BAD_REQUEST: { status: 400, title: 'Bad request' },
  GW_ADMIN_AUTH_MISSING: { status: 401, title: 'Token missing' },
  GW_ADMIN_AUTH_INVALID: { status: 401, title: 'Token not valid' },
  GW_ADMIN_ROLE_MISSING: { status: 403, title: 'Role not sufficient' },
  GW_ADMIN_HOST_REFUSED: { status: 403, title: 'Host not allowed' },
  GW_ADMIN_ORIGIN_REFUSED: { status: 403, title: 'Browsers not allowed' },
  GW_ADMIN_NOT_FOUND: { status: 404, title: 'No such resource' },
  GW_ADMIN_METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  GW_ADMIN_ROLLED_BACK: { status: 409, title: 'Rolled back' },
  GW_ADMIN_STALE: { status: 412, title: 'Plan has changed' },
  GW_ADMIN_BODY_TOO_LARGE: { status: 413, title: 'Body too large' },
  GW_ADMIN_TYPE_NOT_SUPPORTED: { status: 415, title: 'Content type not supported' },
  GW_ADMIN_DOCUMENT_INVALID: { status: 422, title: 'Document not valid' },
  GW_ADMIN_LOCKED_OUT: { status: 429, title: 'Too many wrong tokens' },
  GW_ADMIN_INTERNAL: { status: 500, title: 'Internal error' },
  GW_ADMIN_BUSY: { status: 503, title: 'Too many deploys' },
  GW_ADMIN_NOT_READY: { status: 503, title: 'Not ready' },
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
