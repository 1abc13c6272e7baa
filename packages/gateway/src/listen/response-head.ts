import { STATUS_CODES } from 'node:http'
import { isToken } from '@sluice/core'

/**
 * Status code and reason, such as "200 OK", for every status from 100 to 599. Unknown ones get the name of their class.
 */
export const STATUS_LINES: readonly string[] = Array.from({ length: 600 }, (_, status) => {
  const generic = ['', 'Informational', 'Success', 'Redirect', 'Client Error', 'Server Error'][
    Math.floor(status / 100)
  ]
  return `${status} ${STATUS_CODES[status] ?? generic ?? ''}`
})

/** Returns true if responses of this status have no body, whatever their fields say (RFC 9110 section 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200
}

/** Result of `checkField`: the value is ASCII. */
export const PLAIN = 0
/** Result of `checkField`: the value must be written as Latin-1. */
export const NEEDS_LATIN1 = 1
/** Result of `checkField`: the field must not be sent. */
export const REFUSED = 2

/** Fields that only the listeners set. Another Content-Length would let clients read a body as the next response. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
])

/**
 * Validates a response field. ASCII is sent unchanged. Values with bytes from 0x80 on must be written as Latin-1.
 * Anything that could end the line (response splitting) or frame the body is refused.
 */
export function checkField(name: string, value: string): typeof PLAIN | typeof NEEDS_LATIN1 | typeof REFUSED {
  if (!isToken(name) || OWN_FIELDS.has(name.toLowerCase())) return REFUSED
  let verdict: typeof PLAIN | typeof NEEDS_LATIN1 = PLAIN
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code >= 32 && code < 127) continue
    if (code === 9) continue
    if (code < 32 || code === 127 || code > 255) return REFUSED
    verdict = NEEDS_LATIN1
  }
  return verdict
}

/**
 * Formats a response field with the preceding line break. Returns an empty string if the field is refused, or null if
 * it needs Latin-1.
 */
export function formLine(name: string, value: string): string | null {
  const verdict = checkField(name, value)
  if (verdict === NEEDS_LATIN1) return null
  return verdict === PLAIN ? `\r\n${name}: ${value}` : ''
}

/** Formats a response field like `formLine`, but allows bytes from 0x80 on. */
export function formLatin1Line(name: string, value: string): string {
  return checkField(name, value) === REFUSED ? '' : `\r\n${name}: ${value}`
}
