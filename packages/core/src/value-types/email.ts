import type { Reading } from './reading.js'
import { NO_SPANS, type Spans, withCutEnd } from './spans.js'

const LONGEST_LOCAL = 64
const LONGEST_DOMAIN = 255
const LOCAL = /[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]/
const DOMAIN = /[A-Za-z0-9.-]|[^\u0000-\u00a0]/
const SOUND_DOMAIN = /^[^.-][^.]*(?:\.[^.]+)*\.(?:[^.\d]{2,}|xn--[^.]+)$/
const CUT = /(?:[A-Za-z0-9._%+'-]|[^\u0000-\u00a0]){1,64}@(?:[A-Za-z0-9.-]|[^\u0000-\u00a0])*$/

/** E-mail addresses with a domain of two labels or more. It goes from each `@` outwards, so that the time stays linear. */
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
  let start = at
  while (start > bound && LOCAL.test(text[start - 1]!)) start--
  return start
}

function domainEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && end - from < LONGEST_DOMAIN && DOMAIN.test(text[end]!)) end++
  // What follows an address may look like one more label: a full stop, `a@b.example.2`.
  for (; end > from; end = text.lastIndexOf('.', end - 1)) {
    if (SOUND_DOMAIN.test(text.slice(from, end))) return end
  }
  return -1
}
