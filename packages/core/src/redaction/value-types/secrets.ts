import type { Reading } from './reading.js'
import { matchingSpans, NO_SPANS, type Spans, withCutEnd } from './spans.js'

const KEY_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g
const CUT_KEY_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{2,15}$/

/** Finds AWS access key IDs. Secret keys have no recognizable format and must be masked by name. */
export function findAwsKeys({ text }: Reading, isCut: boolean): Spans {
  const spans = matchingSpans(text, KEY_ID)
  return isCut ? withCutEnd(spans, text, CUT_KEY_ID, 24) : spans
}

/**
 * Matches a JWT. Every encoded header starts with `{"`. Lengths are bounded, so that text with many
 * candidates does not take quadratic time.
 */
const TOKEN = /(?<![A-Za-z0-9])eyJ[\w-]{5,2048}\.[\w-]{2,65536}(?:\.[\w-]*){1,3}/g
const CUT_TOKEN = /(?<![A-Za-z0-9])eyJ[\w-]{5,2048}(?:\.[\w-]*){0,4}$/

/** Finds JSON Web Tokens with a valid header, signed (RFC 7519) or encrypted (RFC 7516). */
export function findJwts({ text }: Reading, isCut: boolean): Spans {
  if (!text.includes('eyJ')) return NO_SPANS
  const spans = matchingSpans(text, TOKEN, hasHeader)
  return isCut ? withCutEnd(spans, text, CUT_TOKEN, 16_384) : spans
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

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

/** Finds private keys in PEM or OpenPGP armour. A key without an end line extends to the end of the text. */
export function findPrivateKeys({ text }: Reading): Spans {
  if (!text.includes('PRIVATE KEY')) return NO_SPANS
  const spans: number[] = []
  BEGIN.lastIndex = 0
  for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
    END.lastIndex = BEGIN.lastIndex
    const isEnded = END.exec(text) !== null
    const end = isEnded ? END.lastIndex : text.length
    spans.push(begin.index, end)
    BEGIN.lastIndex = end
  }
  return spans
}
