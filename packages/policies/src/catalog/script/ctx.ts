/** What a script gets. In JavaScript: `@param {import('@sluice/policies/script').RequestContext} ctx`. */
export interface RequestContext extends CommonContext {
  readonly req: ScriptRequest
  /**
   * Answers instead of the upstream. The script goes on until it returns; the last answer counts.
   * @param body text, or a value that is sent as JSON.
   */
  respond(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void
}

/** What `onResponse` gets; the request is as it was sent, and can no longer be changed. */
export interface ResponseContext extends CommonContext {
  readonly req: SentRequest
  readonly res: ScriptResponse
  /** Answers instead of this response. */
  respond(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void
}

/** What `onError` gets: the gateway refuses, or could not reach the upstream. */
export interface ErrorContext extends CommonContext {
  readonly req: SentRequest
  readonly error: ScriptError
  readonly res: Omit<ScriptResponse, 'body'> & { readonly body: Pick<ScriptBody, 'set'> }
}

interface CommonContext {
  /** Free variables: texts, which conditions, templates and later scripts see. */
  readonly vars: Record<string, string>
  /** Who is calling; null before a policy has found out. */
  readonly consumer: ScriptConsumer | null
  /** Id of the route. */
  readonly route: string
  /** Writes a line to the log of the operator; never to the client. */
  log(...values: readonly unknown[]): void
}

interface SentRequest {
  /** What `x-request-id` says. */
  readonly id: string
  readonly method: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  /** Values of the path parameters of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly clientIp: string
  readonly query: Reading
  readonly headers: Reading
}

interface ScriptRequest extends SentRequest {
  readonly query: Editing
  readonly headers: Editing
  /** There with `body: request` or `body: true` in the configuration. */
  readonly body: ScriptBody
}

interface ScriptResponse {
  /** Can be set to 200-599 but 204, 205 and 304. */
  status: number
  readonly headers: Editing
  /** There with `body: response` or `body: true` in the configuration. */
  readonly body: ScriptBody
}

interface ScriptError {
  /** Such as `GW_AUTH_MISSING`. */
  readonly code: string
  /** What the client gets. */
  readonly message: string
}

interface ScriptConsumer {
  readonly id: string
  readonly name: string
  readonly auth: string
  readonly groups: readonly string[]
}

/** Names and values; header names in any case. */
interface Reading {
  /** The first value; of a header all its values, with commas between them. */
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string): boolean
  names(): string[]
}

/** The same, where they can be changed. */
export interface Editing extends Reading {
  /** One value, whatever was there. */
  set(name: string, value: string): void
  append(name: string, value: string): void
  remove(name: string): void
}

/** A body, as text. */
export interface ScriptBody {
  /** @throws when the body is not UTF-8 text; not caught, the client gets 400. */
  text(): string
  /** @throws when the body is not JSON; not caught, the client gets 400. */
  json(): unknown
  /**
   * Replaces the body.
   * @param value text, or a value that is sent as JSON.
   * @param type the new `content-type`; without it JSON gets its own, and text keeps what is there.
   */
  set(value: unknown, type?: string): void
}
