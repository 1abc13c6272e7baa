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

/** Returns the members of a JSON object; null for anything else. */
export function readMembers(text: string): Readonly<Record<string, unknown>> | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return typeof value !== 'object' || value === null || Array.isArray(value) ? null : { ...value }
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

function refused(answer: AdminAnswer): BodyText {
  return { ok: false, answer }
}
