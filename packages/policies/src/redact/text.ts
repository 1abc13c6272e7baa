import type { FindValues } from '@sluice/core'
import type { Redaction } from './redaction.js'
import type { Rule } from './rule.js'

/** More than that in one text, and it is given up. */
export class TooMuch extends Error {}

/** A text without the values that a rule finds in it; the same text when there are none. @throws TooMuch */
export function redactedText(text: string, { types, patterns, redaction }: Rule): string {
  let rest = text
  for (let i = 0; i < types.length; i++) rest = withoutType(rest, types[i]!, redaction)
  for (const pattern of patterns) {
    if (!pattern.test(rest)) continue
    const next = pattern.replaced(rest, (match) => redaction(match) ?? '')
    if (next === null) throw new TooMuch()
    rest = next
  }
  return rest
}

function withoutType(text: string, find: FindValues, redaction: Redaction): string {
  const spans = find(text, false)
  if (spans.length === 0) return text
  let result = ''
  let from = 0
  for (let i = 0; i < spans.length; i += 2) {
    result += text.slice(from, spans[i]!) + (redaction(text.slice(spans[i]!, spans[i + 1]!)) ?? '')
    from = spans[i + 1]!
  }
  return result + text.slice(from)
}
