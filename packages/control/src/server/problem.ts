/** Error codes of the controller's API. Codes are stable. */
export const CONTROL_ERRORS = {
  GW_CONTROL_BAD_REQUEST: { status: 400, title: 'Bad request' },
  GW_CONTROL_AUTH_MISSING: { status: 401, title: 'Token missing' },
  GW_CONTROL_AUTH_INVALID: { status: 401, title: 'Token not valid' },
  GW_CONTROL_ROLE_MISSING: { status: 403, title: 'Role not sufficient' },
  GW_CONTROL_GROUP_REFUSED: { status: 403, title: 'Token not for this group' },
  GW_CONTROL_TEAM_REFUSED: { status: 403, title: 'Token not for this part' },
  GW_CONTROL_HOST_REFUSED: { status: 403, title: 'Host not allowed' },
  GW_CONTROL_ORIGIN_REFUSED: { status: 403, title: 'Browsers not allowed' },
  GW_CONTROL_FORGERY_SUSPECTED: { status: 403, title: 'Not sent by the dashboard' },
  GW_CONTROL_NOT_FOUND: { status: 404, title: 'No such resource' },
  GW_CONTROL_ABORTED: { status: 409, title: 'Deploy aborted' },
  GW_CONTROL_DEPLOYING: { status: 409, title: 'Another deploy is running' },
  GW_CONTROL_CANARY_REFUSED: { status: 409, title: 'Canary not possible' },
  GW_CONTROL_CHUNKS_MISSING: { status: 409, title: 'Chunks missing' },
  GW_CONTROL_STALE: { status: 412, title: 'Group has changed' },
  GW_CONTROL_BODY_TOO_LARGE: { status: 413, title: 'Body too large' },
  GW_CONTROL_TYPE_NOT_SUPPORTED: { status: 415, title: 'Content type not supported' },
  GW_CONTROL_DOCUMENT_INVALID: { status: 422, title: 'Document not valid' },
  GW_CONTROL_LOCKED_OUT: { status: 429, title: 'Too many wrong tokens' },
  GW_CONTROL_INTERNAL: { status: 500, title: 'Internal error' },
  GW_CONTROL_BUSY: { status: 503, title: 'Controller busy' },
  GW_CONTROL_STORE_UNAVAILABLE: { status: 503, title: 'Store unavailable' },
} as const

/** Stable error code of the controller's API. */
export type ControlErrorCode = keyof typeof CONTROL_ERRORS

/** Optional parts of a problem. */
interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>
  /** Additional members of the object (RFC 9457 section 3.2). */
  readonly members?: Readonly<Record<string, unknown>>
}

/** A refusal, answered as `application/problem+json` (RFC 9457). The detail tells what to do. */
export class ControlProblem extends Error {
  override readonly name = 'ControlProblem'
  readonly code: ControlErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly #members: Readonly<Record<string, unknown>>

  constructor(code: ControlErrorCode, detail: string, { headers = {}, members = {} }: ProblemExtras = {}) {
    super(detail)
    this.code = code
    this.headers = headers
    this.#members = members
  }

  get status(): number {
    return CONTROL_ERRORS[this.code].status
  }

  /** The object to send. */
  get body(): Readonly<Record<string, unknown>> {
    const { title, status } = CONTROL_ERRORS[this.code]
    return { type: 'about:blank', title, status, code: this.code, detail: this.message, ...this.#members }
  }
}

/** Refuses a manifest whose chunks were not all uploaded. */
export function chunksMissing(missing: readonly string[]): ControlProblem {
  return new ControlProblem(
    'GW_CONTROL_CHUNKS_MISSING',
    `upload the ${missing.length} missing chunks to /v1/chunks`,
    {
      members: { missing },
    },
  )
}
