import type { AdminBackend } from '../supervise/admin-backend.js'
import type { Access } from './authenticator.js'
import type { AdminAnswer } from './problem.js'
import type { BodyText } from './request-body.js'

/** An authorized request. */
export interface AdminCall {
  readonly backend: AdminBackend
  /** Caller as `id@address`. */
  readonly actor: string
  readonly query: URLSearchParams
  /** Returns a header's value, empty if absent. `name` is in lower case. */
  header(name: string): string
  /** Reads the body, which must have one of these media types. */
  body(types: readonly string[]): Promise<BodyText>
}

/** A method of a path. */
export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly access: Access
  /** Handles a request. @throws Error only for a bug, which is answered with 500. */
  readonly answer: (call: AdminCall) => AdminAnswer | Promise<AdminAnswer>
}
