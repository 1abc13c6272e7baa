import { replacedSpans } from '@sluice/core'
import type { Rule } from './rule.js'

/** A text has too many matches to redact. */
export class TooMuch extends Error {}

/**
 * Redacts the values that a rule finds in a text. Returns the same text if there are none.
 * @throws TooMuch
 */
export function redactedText(text: string, { types, patterns, redaction }: Rule): string {
  let rest = text
  const left = (value: string): string => redaction(value) ?? ''
  for (const find of types) rest = replacedSpans(rest, find(rest, false), left)
  for (const pattern of patterns) {
    if (!pattern.test(rest)) continue
    const next = pattern.replaced(rest, left)
    if (next === null) throw new TooMuch()
    rest = next
  }
  return rest
}
