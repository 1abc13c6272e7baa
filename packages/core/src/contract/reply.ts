import { ERRORS, type ErrorCode } from './errors.js'

/** The facts of an error answer (RFC 9457), from which a listener renders JSON or a SOAP fault. */
export interface Problem {
  readonly code: ErrorCode
  readonly title: string
  readonly detail: string
}

/** An answer made by the gateway itself. Built once, at compile time where possible, and never changed. */
export interface Reply {
  readonly status: number
  /** Flat list of lower-case names and values, without framing fields. */
  readonly headers: readonly string[]
  /** The body; null for a problem, whose text ends with the id of the request. With a body a problem is for the log only. */
  readonly body: Uint8Array | null
  readonly problem: Problem | null
  /** It takes the place of the upstream's response and refuses nothing: from a cache, to a preflight, of a mock. */
  readonly isSubstitute: boolean
}

/** What a hook that cannot wait returns: a refusal, or null for "no objection". */
export type Outcome = Reply | null

/** What a hook may return: a promise only where it really waits. */
export type Eventual = Outcome | Promise<Outcome>

/** A reply with a fixed body. */
export function answer(status: number, headers: readonly string[], body: Uint8Array | null): Reply {
  return { status, headers, body, problem: null, isSubstitute: false }
}

/** A reply in place of the upstream's response; the exchange counts as a success, whatever its status. */
export function substitute(status: number, headers: readonly string[], body: Uint8Array | null): Reply {
  return { status, headers, body, problem: null, isSubstitute: true }
}

/**
 * An error reply: the status and title of its code, `x-gw-error`, and the detail that says what the client can do.
 * @param headers more fields, such as `www-authenticate`.
 */
export function refusal(code: ErrorCode, detail: string, headers: readonly string[] = []): Reply {
  const { status, title } = ERRORS[code]
  const problem = { code, title, detail }
  return { status, headers: ['x-gw-error', code, ...headers], body: null, problem, isSubstitute: false }
}
