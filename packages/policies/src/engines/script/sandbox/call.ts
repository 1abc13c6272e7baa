// Runs inside the sandbox (see runtime.ts), so it may use only code of this folder.
import { Body, type BodyKind, contentText } from './body.js'
import { Fields, queryList } from './fields.js'

/**
 * Input of a call, except for the text of the body. It is a list because parsing property names for each call would
 * double the time.
 */
export type CallInput = readonly [
  id: string,
  method: string,
  scheme: string,
  host: string,
  path: string,
  clientIp: string,
  query: string,
  route: string,
  /** Alternating names and values, like all lists below. */
  requestHeaders: string[],
  params: string[],
  vars: string[],
  consumer: object | null,
  /** Response status, or 0 if there is no response yet. */
  status: number,
  responseHeaders: string[],
  error: object | null,
  kind: BodyKind,
  /** Reason why the body cannot be replaced, or an empty string. */
  cannotSet: string,
]

/** Output of a call: only the changes that the script made. */
export interface CallOutput {
  headers?: readonly string[]
  query?: readonly string[]
  vars?: Record<string, string | null>
  status?: number
  hasBody?: true
  reply?: { readonly status: number; readonly headers: readonly string[]; readonly hasBody: boolean }
  log?: readonly string[]
}

/** A call of a script: its context, and the changes that it makes. */
export class Call {
  readonly context: object
  readonly #headers: string[] = []
  readonly #query: string[] = []
  readonly #varsBefore: string[]
  readonly #vars: Record<string, string>
  readonly #body: Body
  readonly #statusBefore: number
  readonly #res: { status: number } | null
  readonly #log: string[] = []
  #reply: NonNullable<CallOutput['reply']> | null = null
  #replyText = ''

  constructor(input: CallInput, text: string) {
    const status = input[12]
    const isSent = status !== 0
    const headers = new Fields(isSent ? input[13] : input[8], this.#headers, ', ')
    const cannotSet = input[16]
    const onType = cannotSet === '' ? (type: string): void => headers.set('content-type', type) : null
    this.#body = new Body(input[15], text, { onType, cannotSet })
    this.#varsBefore = input[10]
    this.#vars = record(input[10])
    this.#statusBefore = status
    this.#res = isSent ? Object.seal({ status, headers, body: this.#body }) : null
    this.context = this.#contextOf(input, isSent ? new Fields(input[8], null, ', ') : headers)
  }

  // Items are read by index: destructuring the list uses an iterator, which is ten times slower.

  #contextOf(input: CallInput, headers: Fields): object {
    const res = this.#res
    const error = input[14]
    const log = (...values: unknown[]): void => this.#note(values)
    const req = this.#request(input, headers)
    const vars = this.#vars
    const consumer = input[11]
    const route = input[7]
    if (error !== null) return Object.freeze({ req, res, error, vars, consumer, route, log })
    const respond = (status: number, body?: unknown, fields?: Record<string, string>): void =>
      this.#respond(status, body, fields)
    if (res === null) return Object.freeze({ req, vars, consumer, route, log, respond })
    return Object.freeze({ req, res, vars, consumer, route, log, respond })
  }

  #request(input: CallInput, headers: Fields): object {
    const isSent = this.#res !== null
    const query = new Fields(queryList(input[6]), isSent ? null : this.#query, null)
    const req = {
      id: input[0],
      method: input[1],
      scheme: input[2],
      host: input[3],
      path: input[4],
      clientIp: input[5],
      params: record(input[9]),
      query,
      headers,
      body: isSent ? undefined : this.#body,
    }
    return Object.freeze(req)
  }

  #respond(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.#replyText = body === undefined ? '' : contentText(body)
    const list = Object.keys(headers).flatMap((name) => [name.toLowerCase(), String(headers[name])])
    const isJson = body !== undefined && typeof body !== 'string'
    if (isJson && !list.some((text, i) => i % 2 === 0 && text === 'content-type'))
      list.push('content-type', 'application/json')
    this.#reply = { status: Number(status), headers: list, hasBody: body !== undefined }
  }

  #note(values: readonly unknown[]): void {
    const text = values.map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    if (this.#log.length < 20) this.#log.push(text.join(' ').slice(0, 1000))
  }

  /** Returns the changes as one line of JSON, followed by the new body. */
  finish(): string {
    const made = Body.madeOf(this.#body)
    const output: CallOutput = {}
    if (this.#headers.length > 0) output.headers = this.#headers
    if (this.#query.length > 0) output.query = this.#query
    if (this.#log.length > 0) output.log = this.#log
    if (this.#res !== null && this.#res.status !== this.#statusBefore)
      output.status = Number(this.#res.status)
    if (made !== null) output.hasBody = true
    if (this.#reply !== null) output.reply = this.#reply
    this.#addVars(output)
    return `${JSON.stringify(output)}\n${this.#reply === null ? (made ?? '') : this.#replyText}`
  }

  #addVars(output: CallOutput): void {
    const names = Object.keys(this.#vars)
    if (names.length === 0 && this.#varsBefore.length === 0) return
    const before = record(this.#varsBefore)
    const changes: Record<string, string | null> = {}
    for (const name of names) {
      const value = String(this.#vars[name])
      if (before[name] !== value) changes[name] = value
    }
    for (const name of Object.keys(before)) if (!(name in this.#vars)) changes[name] = null
    if (Object.keys(changes).length > 0) output.vars = changes
  }
}

/** Converts alternating names and values to an object without a prototype. */
function record(list: readonly string[]): Record<string, string> {
  const values = Object.create(null) as Record<string, string>
  for (let i = 0; i + 1 < list.length; i += 2) values[list[i]!] = list[i + 1]!
  return values
}

/** Functions and classes to copy into the sandbox. */
export const CALL_PARTS = [Call, record]
