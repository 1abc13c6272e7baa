import type { Reading } from './reading.js'
import { matchingSpans, NO_SPANS, type Spans, withCutEnd } from './spans.js'

/**
 * Matches a JWT. Every encoded header starts with `{"`. Lengths are bounded, so that text with many
 * candidates does not take quadratic time.
 */
const TOKEN = /(?<![A-Za-z0-9])eyJ[\w-]{5,2048}\.[\w-]{2,65536}(?:\.[\w-]*){1,3}/g
const CUT = /(?<![A-Za-z0-9])eyJ[\w-]{5,2048}(?:\.[\w-]*){0,4}$/

/** Finds JSON Web Tokens with a valid header, signed (RFC 7519) or encrypted (RFC 7516). */
export function findJwts({ text }: Reading, isCut: boolean): Spans {
  if (!text.includes('eyJ')) return NO_SPANS
  const spans = matchingSpans(text, TOKEN, hasHeader)
  return isCut ? withCutEnd(spans, text, CUT, 16_384) : spans
}

function hasHeader(token: string): boolean {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString(),
    )
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}
