import type { IncomingMessage } from 'node:http'
import { mediaType } from '@sluice/core'
import { type AdminAnswer, problemAnswer } from './problem.js'

/** Text of a body, or the refusal. */
export type BodyText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly answer: AdminAnswer }

/**
 * Maximum number of body bytes discarded beyond the limit, so that a client that is still sending can read
 * its 413.
 */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024

/**
 * Reads a body of one of the given media types, up to `maxBytes`.
 * @throws Error if the client disconnects.
 */
export async function readBody(
  request: IncomingMessage,
  types: readonly string[],
  maxBytes: number,
): Promise<BodyText> {
  const type = mediaType(request.headers['content-type'] ?? '')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_DISCARDED_BYTES) break
    if (size <= maxBytes) chunks.push(chunk)
  }
  if (!types.includes(type)) return refused(wrongType(type, types))
  if (size > maxBytes) return refused(tooLarge(maxBytes))
  return decoded(Buffer.concat(chunks))
}

/** The parsed value of a JSON body, or the refusal. */
export type ParsedBody<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: AdminAnswer }

/** Members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>

/**
 * Reads a JSON object that has no members but these.
 * @param parse returns null for members that it does not accept.
 * @param usage tells the caller what to send.
 */
export async function readJson<T>(
  call: { body(types: readonly string[]): Promise<BodyText> },
  names: readonly string[],
  parse: (members: Members) => T | null,
  usage: string,
): Promise<ParsedBody<T>> {
  const body = await call.body(['application/json'])
  if (!body.ok) return body
  const members = membersOf(body.text)
  const isKnown = members !== null && Object.keys(members).every((name) => names.includes(name))
  const value = isKnown ? parse(members) : null
  return value === null ? refused(problemAnswer('GW_ADMIN_BAD_REQUEST', usage)) : { ok: true, value }
}

/** Returns the members of a JSON object; none for an empty text, and null for anything else. */
function membersOf(text: string): Members | null {
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value !== 'object' || value === null || Array.isArray(value) ? null : { ...value }
  } catch {
    return null
  }
}

function decoded(bytes: Buffer): BodyText {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return refused(problemAnswer('GW_ADMIN_BAD_REQUEST', 'the body is not valid UTF-8; send it as UTF-8'))
  }
}

function wrongType(type: string, types: readonly string[]): AdminAnswer {
  const given = type === '' ? 'the body has no Content-Type' : `'${type.slice(0, 100)}' is not supported`
  return problemAnswer('GW_ADMIN_TYPE_NOT_SUPPORTED', `${given}; send ${types.join(', ')}`)
}

function tooLarge(maxBytes: number): AdminAnswer {
  const detail = `the body is larger than ${maxBytes} bytes; send a smaller one`
  return problemAnswer('GW_ADMIN_BODY_TOO_LARGE', detail, { headers: { connection: 'close' } })
}

function refused(answer: AdminAnswer): { readonly ok: false; readonly answer: AdminAnswer } {
  return { ok: false, answer }
}
