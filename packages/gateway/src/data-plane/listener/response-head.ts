import { STATUS_CODES } from 'node:http'
import { isToken } from '@sluice/core'

/** "200 OK" for every status from 100 to 599; a status without a name gets its class's. */
export const STATUS_LINES: readonly string[] = Array.from({ length: 600 }, (_, status) => {
  const generic = ['', 'Informational', 'Success', 'Redirect', 'Client Error', 'Server Error'][
    Math.floor(status / 100)
  ]
  return `${status} ${STATUS_CODES[status] ?? generic ?? ''}`
})

/** Whether responses of this status have no body, whatever their fields say (RFC 9110 section 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200
}

/** How a field may go onto the wire. */
export const PLAIN = 0
export const NEEDS_LATIN1 = 1
export const REFUSED = 2

/**
 * Checks a response field: ASCII goes out as it is, values with bytes from 0x80 on must be written as latin1, and
 * anything that could end the line is refused, wherever it came from (response splitting).
 */
export function checkField(name: string, value: string): typeof PLAIN | typeof NEEDS_LATIN1 | typeof REFUSED {
  if (!isToken(name)) return REFUSED
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

/** The line of a response field behind the line before it; empty when the field is refused, null when it needs latin1. */
export function formLine(name: string, value: string): string | null {
  const verdict = checkField(name, value)
  if (verdict === NEEDS_LATIN1) return null
  return verdict === PLAIN ? `\r\n${name}: ${value}` : ''
}

/** The same where values may have bytes from 0x80 on. */
export function formLatin1Line(name: string, value: string): string {
  return checkField(name, value) === REFUSED ? '' : `\r\n${name}: ${value}`
}
