import { ERRORS } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Outcome, Reply } from './reply.js'

/** Replies are built once and checked once. */
const checked = new WeakSet<Reply>()

/**
 * What a hook of a plugin has returned, which may be anything.
 * @throws TypeError when it is neither null nor a reply that can be sent.
 */
export function soundOutcome(value: unknown): Outcome {
  if (value === null) return null
  if (typeof value !== 'object') throw new TypeError(`it returned ${nameOf(value)}; return null or a reply`)
  const reply = value as Reply
  if (checked.has(reply)) return reply
  const flaw = flawOf(reply)
  if (flaw !== null) throw new TypeError(`it returned a reply ${flaw}`)
  checked.add(reply)
  return reply
}

function nameOf(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`
}

function flawOf({ status, headers, body, problem }: Reply): string | null {
  if (!Number.isInteger(status) || status < 200 || status > 599) return 'without a status from 200 to 599'
  if (!Array.isArray(headers)) return 'without a list of header fields'
  if (!areFields(headers)) return 'whose header fields are not names in lower case and values of one line'
  if (body !== null && !(body instanceof Uint8Array)) return 'whose body is no bytes'
  if (problem === null || problem === undefined) return problem === null ? null : 'without problem: null'
  if (typeof problem !== 'object' || !Object.hasOwn(ERRORS, problem.code))
    return 'with an error code that is not known'
  return typeof problem.detail === 'string' && typeof problem.title === 'string' ? null : 'without a detail'
}

/** What a hook may have put into an exchange. @throws TypeError when that cannot be sent. */
export function checkExchange(x: Exchange): void {
  if (!areTexts(x.headers)) throw new TypeError('it put something else than texts into headers')
  if (!areTexts(x.responseHeaders))
    throw new TypeError('it put something else than texts into responseHeaders')
  if (!isBody(x.body)) throw new TypeError('it put something else than bytes into body')
  if (!isBody(x.responseBody)) throw new TypeError('it put something else than bytes into responseBody')
}

function isBody(value: unknown): boolean {
  return value === null || value instanceof Uint8Array
}

function areTexts(list: readonly unknown[]): boolean {
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'string') return false
  return list.length % 2 === 0
}

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
/** What must not be in a value (RFC 9110, 5.5). */
const CONTROL = /[\0\r\n]/

function areFields(list: readonly string[]): boolean {
  return areTexts(list) && list.every((text, i) => (i % 2 === 0 ? NAME.test(text) : !CONTROL.test(text)))
}
