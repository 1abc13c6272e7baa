import { isFieldValue } from '@sluice/core'
import { ScriptFault } from '../../engines/script/engine.js'
import { fieldName } from '../../shared/message/field-name.js'
import type { Side } from '../../shared/message/side.js'

/** Maximum number of header, query or variable changes per call. */
const MAX_CHANGES = 200
const MAX_VALUE_CHARS = 8192
const MAX_NAME_CHARS = 256
/** Maximum length of a call's result without the body, in characters. */
const MAX_HEAD_CHARS = 1024 * 1024

/** Change of a name-value list. */
export interface FieldChange {
  readonly operation: 'set' | 'append' | 'remove'
  readonly name: string
  readonly value: string
}

/** A response created by the script. */
export interface ScriptReply {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Uint8Array | null
}

/** Validated changes of a script. */
export interface Changes {
  readonly headers: readonly FieldChange[]
  readonly query: readonly FieldChange[]
  /** Variables to set. Null removes one. */
  readonly vars: readonly (readonly [string, string | null])[]
  readonly status: number | null
  readonly body: Uint8Array | null
  readonly reply: ScriptReply | null
  readonly log: readonly string[]
}

/**
 * Parses the result of a sandbox like client input: everything is validated.
 * @throws ScriptFault for values that may not be sent.
 */
export function changesOf(text: string, side: Side, maxBodyBytes: number): Changes {
  const end = text.indexOf('\n')
  if (end === -1 || end > MAX_HEAD_CHARS) throw fault('the changes of the script are too large')
  const head = record(JSON.parse(text.slice(0, end)) as unknown)
  const body = bytesOf(text.slice(end + 1), maxBodyBytes)
  const reply = head['reply'] === undefined ? null : replyOf(record(head['reply']), body)
  return {
    headers: fieldChanges(head['headers'], (name) => checkedName(side, name), checkedValue),
    query: fieldChanges(head['query'], shortName, shortValue),
    vars: variables(head['vars']),
    status: head['status'] === undefined ? null : statusWithBody(head['status']),
    body: head['hasBody'] === true && reply === null ? body : null,
    reply,
    log: strings(head['log']),
  }
}

function fieldChanges(
  value: unknown,
  nameOf: (name: string) => string,
  textOf: (value: string, name: string) => string,
): FieldChange[] {
  const texts = strings(value)
  const changes: FieldChange[] = []
  for (let i = 0; i + 2 < texts.length; i += 3) {
    const [operation, name, text] = [texts[i], nameOf(texts[i + 1]!), texts[i + 2]!]
    if (operation !== 'set' && operation !== 'append' && operation !== 'remove') throw malformed()
    changes.push({ operation, name, value: textOf(text, name) })
  }
  if (changes.length > MAX_CHANGES)
    throw fault(`the script makes more than ${MAX_CHANGES} changes of one kind`)
  return changes
}

function replyOf(value: Record<string, unknown>, body: Uint8Array): ScriptReply {
  const { status, hasBody } = value
  const list = strings(value['headers'])
  const headers: string[] = []
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = checkedName('response', list[i]!)
    headers.push(name, checkedValue(list[i + 1]!, name))
  }
  if (headers.length > 2 * MAX_CHANGES) throw fault('the response of the script has too many header fields')
  if (hasBody === true) return { status: statusWithBody(status), headers, body }
  return { status: anyStatus(status), headers, body: null }
}

function variables(value: unknown): [string, string | null][] {
  if (value === undefined) return []
  const entries = Object.entries(record(value))
  if (entries.length > MAX_CHANGES) throw fault(`the script sets more than ${MAX_CHANGES} variables`)
  return entries.map(([name, text]) => {
    if (text !== null && typeof text !== 'string') throw malformed()
    return [shortName(name), text === null ? null : shortValue(text)]
  })
}

/** Validates a header name that scripts may change. */
function checkedName(side: Side, name: string): string {
  try {
    return fieldName(side, shortName(name))
  } catch (error) {
    throw error instanceof ScriptFault ? error : fault((error as Error).message)
  }
}

function checkedValue(value: string, name: string): string {
  if (isFieldValue(shortValue(value))) return value
  throw fault(`the value of '${name}' has a character that is not allowed in headers`)
}

function shortName(name: string): string {
  if (name !== '' && name.length <= MAX_NAME_CHARS) return name
  throw fault(`the script uses a name that is empty or longer than ${MAX_NAME_CHARS} characters`)
}

function shortValue(value: string): string {
  if (value.length <= MAX_VALUE_CHARS) return value
  throw fault(`the script sets a value longer than ${MAX_VALUE_CHARS} characters`)
}

function statusWithBody(status: unknown): number {
  const number = anyStatus(status)
  if (number !== 204 && number !== 205 && number !== 304) return number
  throw fault(`the status ${number} has no body: use ctx.respond(${number})`)
}

function anyStatus(status: unknown): number {
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) return status
  throw fault(`'${String(status)}' is not a valid response status: use 200 to 599`)
}

function bytesOf(text: string, maxBytes: number): Uint8Array {
  if (text.length <= maxBytes) {
    const bytes = Buffer.from(text)
    if (bytes.length <= maxBytes) return bytes
  }
  throw fault(`the script sets a body larger than ${maxBytes} bytes`)
}

function strings(value: unknown): string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value
  throw malformed()
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw malformed()
}

function malformed(): ScriptFault {
  return fault('the sandbox returned an invalid result')
}

function fault(message: string): ScriptFault {
  return new ScriptFault('answer', message)
}
