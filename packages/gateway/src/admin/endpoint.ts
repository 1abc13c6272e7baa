import type { AdminRole } from '@sluice/config'
import type { AdminBackend } from '../supervise/admin-backend.js'
import type { Access, Admission } from './authenticator.js'
import type { AdminAnswer } from './problem.js'
import type { BodyText } from './request-body.js'

/** An authorized request. */
export interface AdminCall {
  readonly backend: AdminBackend
  /** Caller as `id@address`. */
  readonly actor: string
  readonly role: AdminRole
  readonly query: URLSearchParams
  readonly session: CallSession
  /** Returns a header's value, empty if absent. `name` is in lower case. */
  header(name: string): string
  /** Reads the body, which must have one of these media types. */
  body(types: readonly string[]): Promise<BodyText>
}

/** The browser session of a request. */
export interface CallSession {
  /** True if the dashboard is served. */
  readonly isOn: boolean
  readonly isLoginRequired: boolean
  /** Opens a new session, which replaces the one of the request. The cookie is null if no login is required. */
  open(token: string): Admission & { readonly cookie: string | null }
  /** Closes the session. Returns the header that deletes its cookie. */
  close(): string
}

/** A method of a path. */
export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly access: Access
  /** Handles a request. @throws Error only for a bug, which is answered with 500. */
  readonly answer: (call: AdminCall) => AdminAnswer | Promise<AdminAnswer>
}
