import {
  type Consumer,
  consumerOf,
  errorKind,
  type HttpAnswer,
  headerJoined,
  headerValue,
  isFieldValue,
  type Reply,
} from '@sluice/core'
import { fieldName } from '../../shared/message/field-name.js'
import type { Side } from '../../shared/message/side.js'
import type { ForwardAuthConfig } from './schema.js'

/** Decision of the authorization server about a request. */
export interface Decision {
  /** Response to the client, or null if the request is allowed. */
  readonly refusal: Reply | null
  /** Header lines for the upstream, as a flat list. */
  readonly upstreamFields: readonly string[]
  /** Header lines for the client, as a flat list. */
  readonly clientFields: readonly string[]
  readonly consumer: Consumer | null
}

/** Thrown when a response of the server is not a decision. */
export class NoDecision extends Error {
  override readonly name = 'NoDecision'
}

const NO_FIELDS: readonly string[] = []
const NOT_MODIFIED = 304
const REQUEST_TIMEOUT = 408
const EMPTY = new Uint8Array(0)

/** Compiles a function that reads decisions. @throws Error if a field must not be passed on. */
export function compileReader(config: ForwardAuthConfig): (answer: HttpAnswer) => Decision {
  const names = (list: readonly string[], side: Side = 'response'): ReadonlySet<string> =>
    new Set(list.map((name) => fieldName(side, name)))
  const upstream = names(config.upstreamHeaders, 'request')
  const client = names(config.clientHeaders)
  // The content coding must be passed on together with the body.
  const deny = names(['content-encoding', ...config.denyHeaders])
  return (answer) => {
    if (isRefusal(answer.status)) return refused(answer, linesOf(answer, deny))
    if (answer.status < 200 || answer.status > 299)
      throw new NoDecision(`the server responded with ${answer.status}`)
    return {
      refusal: null,
      upstreamFields: linesOf(answer, upstream),
      clientFields: linesOf(answer, client),
      consumer: config.consumer === undefined ? null : consumerIn(answer, config.consumer),
    }
  }
}

function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== NOT_MODIFIED && status !== REQUEST_TIMEOUT
}

/**
 * Builds the response to a refused request. A redirect is passed on as it is. An error response without a
 * body gets the standard error body.
 */
function refused({ status, body }: HttpAnswer, fields: readonly string[]): Decision {
  const code = 'GW_ACCESS_DENIED'
  const detail = 'the authorization server does not allow this request'
  const isBare = body.length === 0 && status >= 400
  const refusal: Reply = {
    status,
    headers: ['x-gw-error', code, ...(isBare ? withoutType(fields) : fields)],
    body: isBare ? null : body.length === 0 ? EMPTY : body,
    problem: { code, title: errorKind(code).title, detail },
    isSubstitute: false,
  }
  return { refusal, upstreamFields: NO_FIELDS, clientFields: NO_FIELDS, consumer: null }
}

function withoutType(fields: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i] !== 'content-type' && fields[i] !== 'content-encoding')
      kept.push(fields[i]!, fields[i + 1]!)
  }
  return kept
}

/** Returns the selected header lines, without those that are not valid in a header. */
function linesOf({ headers }: HttpAnswer, names: ReadonlySet<string>): readonly string[] {
  if (names.size === 0) return NO_FIELDS
  const lines: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    if (names.has(name) && isFieldValue(value)) lines.push(name, value)
  }
  return lines
}

type ConsumerFields = NonNullable<ForwardAuthConfig['consumer']>

/** Reads the consumer. @throws NoDecision if the response has no consumer id. */
function consumerIn({ headers }: HttpAnswer, fields: ConsumerFields): Consumer {
  const id = headerValue(headers, fields.id.toLowerCase()) ?? ''
  if (id === '' || !isFieldValue(id)) throw new NoDecision(`the response of the server has no '${fields.id}'`)
  const name = fields.name === undefined ? null : headerValue(headers, fields.name.toLowerCase())
  const listIn = (field: string | undefined, separator: string): string[] | null =>
    field === undefined ? null : wordsOf(headerJoined(headers, field.toLowerCase()) ?? '', separator)
  return consumerOf('forward-auth', id, {
    ...(name !== null && name !== '' && { name }),
    groups: listIn(fields.groups, ',') ?? [],
    roles: listIn(fields.roles, ','),
    scopes: listIn(fields.scopes, ' '),
  })
}

function wordsOf(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
