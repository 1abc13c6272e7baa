/**
 * Argument of `onRequest`. In JavaScript: `
 * @param {import('@sluice/policies/script').RequestContext} ctx`.
 */
export interface RequestContext extends CommonContext {
  readonly req: ScriptRequest
  /**
   * Answers in place of the upstream. The script continues until it returns, and the last response counts.
   * @param body text, or a value to send as JSON.
   */
  respond(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void
}

/** Argument of `onResponse`. The request is read-only and as it was sent. */
export interface ResponseContext extends CommonContext {
  readonly req: SentRequest
  readonly res: ScriptResponse
  /** Replaces this response. */
  respond(status: number, body?: unknown, headers?: Readonly<Record<string, string>>): void
}

/** Argument of `onError`, which runs if the gateway refuses a request or cannot reach the upstream. */
export interface ErrorContext extends CommonContext {
  readonly req: SentRequest
  readonly error: ScriptError
  readonly res: Omit<ScriptResponse, 'body'> & { readonly body: Pick<ScriptBody, 'set'> }
}

interface CommonContext {
  /** Free variables, visible to conditions, templates and later scripts. */
  readonly vars: Record<string, string>
  /** The consumer, or null if none is identified yet. */
  readonly consumer: ScriptConsumer | null
  /** Id of the route. */
  readonly route: string
  /** Writes a line to the operator's log, never to the client. */
  log(...values: readonly unknown[]): void
}

interface SentRequest {
  /** Value of `x-request-id`. */
  readonly id: string
  readonly method: string
  readonly scheme: string
  readonly host: string
  readonly path: string
  /** Values of the route's path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly clientIp: string
  readonly query: Reading
  readonly headers: Reading
}

interface ScriptRequest extends SentRequest {
  readonly query: Editing
  readonly headers: Editing
  /** Available with `body: request` or `body: true` in the configuration. */
  readonly body: ScriptBody
}

interface ScriptResponse {
  /** Settable to 200-599, except 204, 205 and 304. */
  status: number
  readonly headers: Editing
  /** Available with `body: response` or `body: true` in the configuration. */
  readonly body: ScriptBody
}

interface ScriptError {
  /** Error code such as `GW_AUTH_MISSING`. */
  readonly code: string
  /** Message that the client gets. */
  readonly message: string
}

interface ScriptConsumer {
  readonly id: string
  readonly name: string
  readonly auth: string
  readonly groups: readonly string[]
}

/** Read-only names and values. Header names are case-insensitive. */
interface Reading {
  /** Returns the first value. For a header, returns all values joined by commas. */
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string): boolean
  names(): string[]
}

/** Editable names and values. */
export interface Editing extends Reading {
  /** Replaces all values with one. */
  set(name: string, value: string): void
  append(name: string, value: string): void
  remove(name: string): void
}

/** A body as text. */
export interface ScriptBody {
  /** @throws if the body is not UTF-8 text. If not caught, the client gets 400. */
  text(): string
  /** @throws if the body is not JSON. If not caught, the client gets 400. */
  json(): unknown
  /**
   * Replaces the body.
   * @param value text, or a value to send as JSON.
   * @param type new `content-type`. Without it, JSON gets its own type, and text keeps the current one.
   */
  set(value: unknown, type?: string): void
}
