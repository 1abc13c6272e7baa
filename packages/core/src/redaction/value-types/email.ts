import type { Reading } from './reading.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const MAX_LOCAL_LENGTH = 64
const MAX_DOMAIN_LENGTH = 255
const LOCAL = /[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]/
const DOMAIN = /[A-Za-z0-9.-]|[^\u0000-\u00a0]/
const VALID_DOMAIN = /^[^.-][^.]*(?:\.[^.]+)*\.(?:[^.\d]{2,}|xn--[^.]+)$/
/** Address literal in place of a domain (RFC 5321 section 4.1.3). */
const LITERAL = /\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-f:.]{2,45})\]/iy
const CUT =
  /(?:(?:[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]){1,64}|"[^"\r\n]{1,64}")@(?:(?:[A-Za-z0-9.-]|[^\u0000-\u00a0])*|\[[0-9A-Za-z:.]{0,50})$/

/**
 * Finds email addresses whose domain has at least two labels or is an IP address in brackets. Searches
 * outwards from each `@`, so that the time is linear.
 */
export function findEmails({ text }: Reading, isCut: boolean): Spans {
  let spans: number[] | null = null
  let after = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, at, after)
    const end = domainEnd(text, at + 1)
    if (start === at || end === -1) continue
    spans ??= []
    spans.push(start, end)
    after = end
  }
  const found = spans ?? NO_SPANS
  return isCut ? withCutEnd(found, text, CUT, MAX_LOCAL_LENGTH + MAX_DOMAIN_LENGTH) : found
}

function localStart(text: string, at: number, least: number): number {
  const bound = Math.max(least, at - MAX_LOCAL_LENGTH)
  if (text[at - 1] === '"') return quotedStart(text, at, bound)
  let start = at
  while (start > bound && LOCAL.test(text[start - 1]!)) start--
  return start
}

/**
 * Returns the position of the opening quote of a quoted local part, or `at` if the local part is not
 * quoted. In JSON, both quotes are preceded by a backslash.
 */
function quotedStart(text: string, at: number, bound: number): number {
  const isEscaped = text[at - 2] === '\\'
  for (let i = at - 2; i >= bound; i--) {
    const one = text[i]!
    if (one === '\n' || one === '\r') break
    if (one !== '"' || (text[i - 1] === '\\') !== isEscaped) continue
    const isEmpty = i === at - (isEscaped ? 3 : 2)
    return isEmpty ? at : i
  }
  return at
}

function domainEnd(text: string, from: number): number {
  if (text[from] === '[') {
    LITERAL.lastIndex = from
    return LITERAL.test(text) ? LITERAL.lastIndex : -1
  }
  let end = from
  while (end < text.length && end - from < MAX_DOMAIN_LENGTH && DOMAIN.test(text[end]!)) end++
  // Text after the address may look like another label, such as the end of a sentence in `a@b.example.2`.
  for (; end > from; end = text.lastIndexOf('.', end - 1)) {
    if (VALID_DOMAIN.test(text.slice(from, end))) return end
  }
  return -1
}
