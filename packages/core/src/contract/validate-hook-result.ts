import type { HeaderList } from '../http/header-list.js'
import { isHopByHop, isToken } from '../http/http-syntax.js'
import { isErrorCode } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Outcome, Reply } from './reply.js'

/**
 * Validates the result of a plugin hook, which may be anything, and returns a copy. Each part is read only
 * once, so the reply that is sent is the one that was checked, even if the plugin changes its object later.
 * @throws TypeError if the result is neither null nor a valid reply.
 */
export function validateHookResult(value: unknown): Outcome {
  if (value === null) return null
  if (typeof value !== 'object') throw new TypeError(`it returned ${nameOf(value)}; return null or a reply`)
  const { status, headers, body, problem, isSubstitute } = value as Reply
  const reply: Reply = {
    status,
    headers: Array.isArray(headers) ? headers.slice() : headers,
    body,
    problem: typeof problem === 'object' && problem !== null ? { ...problem } : problem,
    isSubstitute: (isSubstitute as unknown) === true,
  }
  const issue = findIssue(reply)
  if (issue !== null) throw new TypeError(`it returned an invalid reply: ${issue}`)
  return reply
}

function nameOf(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`
}

function findIssue({ status, headers, body, problem }: Reply): string | null {
  if (!isStatus(status)) return 'status must be a number from 200 to 599'
  if (!Array.isArray(headers)) return 'headers must be a list'
  if (!areFields(headers)) return 'headers must alternate lower-case names and single-line values'
  if (body !== null && !(body instanceof Uint8Array)) return 'body must be a Uint8Array or null'
  if (problem === null || problem === undefined)
    return problem === null ? null : 'problem must be null or an object'
  if (typeof problem !== 'object' || !isErrorCode(problem.code))
    return 'problem.code must be a known error code'
  return typeof problem.detail === 'string' && typeof problem.title === 'string'
    ? null
    : 'problem.title and problem.detail must be strings'
}

/** Returns true if a response can have this status. */
function isStatus(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599
}

/** Values of an exchange that a hook can change and `resetInvalid` can restore. */
export type ResettableValues = Pick<
  Exchange,
  'status' | 'method' | 'forwardPath' | 'query' | 'headers' | 'responseHeaders' | 'body' | 'responseBody'
>

/** Returns a copy of the values, to be compared after a hook. The bytes of the bodies are not copied. */
export function resettableValues(x: Exchange): ResettableValues {
  const { status, method, forwardPath, query, headers, responseHeaders, body, responseBody } = x
  return {
    status,
    method,
    forwardPath,
    query,
    headers: headers.slice(),
    responseHeaders: responseHeaders.slice(),
    body,
    responseBody,
  }
}

/**
 * Restores each value that a hook has made invalid, because the exchange continues with `onError: continue`.
 * @param before values before the hook. A value that the hook has not changed is not checked.
 * @returns what is wrong with the last invalid value, or null if all are valid.
 */
export function resetInvalid(x: Exchange, before: ResettableValues): string | null {
  let issue: string | null = null
  if (x.status !== before.status && !isStatus(x.status)) {
    x.status = before.status
    issue = 'it set an invalid status: use a number from 200 to 599'
  }
  if (x.method !== before.method && !isMethod(x.method)) {
    x.method = before.method
    issue = 'it set an invalid method: use a token other than CONNECT'
  }
  if (x.forwardPath !== before.forwardPath && !isForwardPath(x.forwardPath)) {
    x.forwardPath = before.forwardPath
    issue =
      'it set an invalid forwardPath: use a slash, then visible ASCII without "#"; escape the rest as %XX'
  }
  if (x.query !== before.query && !isTargetText(x.query)) {
    x.query = before.query
    issue = 'it set an invalid query: use visible ASCII without "#"; escape the rest as %XX'
  }
  return resetInvalidMessage(x, before) ?? issue
}

/** Restores header lists and bodies. */
function resetInvalidMessage(x: Exchange, before: ResettableValues): string | null {
  let issue: string | null = null
  const requestIssue = findFieldIssue(x.headers, before.headers, isOwnRequestField)
  if (requestIssue !== null) {
    x.headers = before.headers
    issue = `headers ${requestIssue}`
  }
  const responseIssue = findFieldIssue(x.responseHeaders, before.responseHeaders)
  if (responseIssue !== null) {
    x.responseHeaders = before.responseHeaders
    issue = `responseHeaders ${responseIssue}`
  }
  // A body that was buffered cannot be streamed any more. Without it, the message has an empty one.
  if (x.body === null && before.body !== null) x.body = NO_BYTES
  if (x.responseBody === null && before.responseBody !== null) x.responseBody = NO_BYTES
  if (!isBody(x.body)) {
    x.body = before.body
    issue = 'body is not bytes: use a Uint8Array or null'
  }
  if (!isBody(x.responseBody)) {
    x.responseBody = before.responseBody
    issue = 'responseBody is not bytes: use a Uint8Array or null'
  }
  return issue
}

/**
 * Checks the parts of an exchange that a hook can change.
 * @param before values before the hook. Those that are invalid now are restored.
 * @throws TypeError if the exchange has an invalid status, method, path, query, header field or body.
 */
export function checkExchange(x: Exchange, before: ResettableValues): void {
  const issue = resetInvalid(x, before)
  if (issue !== null) throw new TypeError(issue)
}

/** CONNECT would ask the target for a tunnel (RFC 9110, 9.3.6). */
function isMethod(value: unknown): boolean {
  return typeof value === 'string' && isToken(value) && value !== 'CONNECT'
}

function isForwardPath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/') && isTargetText(value)
}

function isTargetText(value: unknown): boolean {
  return typeof value === 'string' && TARGET.test(value)
}

function isBody(value: unknown): boolean {
  return value === null || value instanceof Uint8Array
}

/**
 * Returns what is wrong with a header list, or null. Fields that are the same as before the hook are not checked.
 * @param isOwn returns true for names that the list must not contain.
 */
function findFieldIssue(list: unknown, before: HeaderList, isOwn?: (name: string) => boolean): string | null {
  if (!Array.isArray(list) || !areTexts(list)) return 'is not a list of strings, alternating names and values'
  for (let i = 0; i < list.length; i += 2) {
    const name: string = list[i]
    const value: string = list[i + 1]
    if (name === before[i] && value === before[i + 1]) continue
    if (!isToken(name) || !VALUE.test(value)) return 'contains an invalid header field'
    if (isOwn?.(name) === true) return `contains ${name}, which only the gateway sets`
  }
  return null
}

/**
 * Returns true for request fields that only the gateway sets. Lists have names in lower case: it would send a
 * `Content-Length` beside its own.
 */
function isOwnRequestField(name: string): boolean {
  const lower = name.toLowerCase()
  return OWN_REQUEST_FIELDS.has(lower) || (lower !== name && isHopByHop(lower))
}

function areTexts(list: readonly unknown[]): boolean {
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'string') return false
  return list.length % 2 === 0
}

const NO_BYTES = new Uint8Array(0)
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
/** Characters of a request target (RFC 9112, 3.2): visible ASCII without "#". */
const TARGET = /^[!"$-~]*$/
/** Characters of a field value (RFC 9110 section 5.5): one byte each, and no control characters except tab. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Request fields that the gateway sets for each target. */
const OWN_REQUEST_FIELDS: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

function areFields(list: readonly string[]): boolean {
  return areTexts(list) && list.every((text, i) => (i % 2 === 0 ? NAME.test(text) : VALUE.test(text)))
}
