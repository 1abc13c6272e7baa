import type { Access } from './authenticator.js'
import type { AdminBackend } from './backend.js'
import type { AdminAnswer } from './problem.js'
import type { BodyText } from './request-body.js'

/** One request that has been let in. */
export interface AdminCall {
  readonly backend: AdminBackend
  /** `id@address` of the caller. */
  readonly actor: string
  readonly query: URLSearchParams
  /** A header field's value, empty when absent. `name` in lower case. */
  header(name: string): string
  /** The body, which must have one of these media types. */
  body(types: readonly string[]): Promise<BodyText>
}

/** One method of one path. */
export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly access: Access
  /** @throws Error only for a bug; it is answered 500. */
  readonly answer: (call: AdminCall) => AdminAnswer | Promise<AdminAnswer>
}
