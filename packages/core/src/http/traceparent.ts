/** Context of a caller's span, as propagated by W3C Trace Context. */
export interface CallerSpan {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string
  /** 16 hexadecimal digits in lower case. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Length of version 00. Later versions may add fields after the flags. */
const LENGTH = 55
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
const DASH = 45

/** Parses a traceparent field (W3C Trace Context level 1, section 3.2). Returns null if it is invalid. */
export function readTraceparent(text: string): CallerSpan | null {
  if (text.length < LENGTH || !hasShape(text)) return null
  if (text.startsWith('ff')) return null
  if (text.length > LENGTH && (text.startsWith('00') || text.charCodeAt(LENGTH) !== DASH)) return null
  const traceId = text.slice(3, 35)
  const spanId = text.slice(36, 52)
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null
  return { traceId, spanId, isSampled: (Number.parseInt(text.slice(53, LENGTH), 16) & 1) === 1 }
}

function hasShape(text: string): boolean {
  if (text.charCodeAt(2) !== DASH || text.charCodeAt(35) !== DASH || text.charCodeAt(52) !== DASH)
    return false
  return (
    isLowerHex(text, 0, 2) && isLowerHex(text, 3, 35) && isLowerHex(text, 36, 52) && isLowerHex(text, 53, 55)
  )
}

/** Returns true if a part of a text consists of hexadecimal digits in lower case. */
export function isLowerHex(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 48 && code <= 57
    const isLetter = code >= 97 && code <= 102
    if (!isDigit && !isLetter) return false
  }
  return true
}
