import type { Reading } from './reading.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const LONGEST_LOCAL = 64
const LONGEST_DOMAIN = 255
const LOCAL = /[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]/
const DOMAIN = /[A-Za-z0-9.-]|[^\u0000-\u00a0]/
const SOUND_DOMAIN = /^[^.-][^.]*(?:\.[^.]+)*\.(?:[^.\d]{2,}|xn--[^.]+)$/
/** An address in the place of a domain (RFC 5321 section 4.1.3). */
const LITERAL = /\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-f:.]{2,45})\]/iy
const CUT =
  /(?:(?:[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]){1,64}|"[^"\r\n]{1,64}")@(?:(?:[A-Za-z0-9.-]|[^\u0000-\u00a0])*|\[[0-9A-Za-z:.]{0,50})$/

/** E-mail addresses with a domain of two labels or more, or an IP address in brackets. It goes from each `@` outwards, so that the time stays linear. */
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
  return isCut ? withCutEnd(found, text, CUT, LONGEST_LOCAL + LONGEST_DOMAIN) : found
}

function localStart(text: string, at: number, least: number): number {
  const bound = Math.max(least, at - LONGEST_LOCAL)
  if (text[at - 1] === '"') return quotedStart(text, at, bound)
  let start = at
  while (start > bound && LOCAL.test(text[start - 1]!)) start--
  return start
}

/** Where the quotes open that close before the `@`; `at` when they do not. In JSON both have a backslash before them. */
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
  while (end < text.length && end - from < LONGEST_DOMAIN && DOMAIN.test(text[end]!)) end++
  // What follows an address may look like one more label: a full stop, `a@b.example.2`.
  for (; end > from; end = text.lastIndexOf('.', end - 1)) {
    if (SOUND_DOMAIN.test(text.slice(from, end))) return end
  }
  return -1
}
