import { bytewiseUrl, QueryCursor } from '@sluice/core'
import type { Rule } from './rule.js'
import { redactedText } from './text.js'

/**
 * Applies a rule to a query or a form. Other parameters keep their exact text.
 * @param names parameter names in lower case.
 */
export function redactedForm(form: string, rule: Rule, names: ReadonlySet<string>): string {
  const kept: string[] = []
  const cursor = new QueryCursor()
  cursor.read(form)
  while (cursor.advance()) {
    const rest = redactedValue(cursor, rule, names)
    if (rest === null) continue
    kept.push(rest === undefined ? form.slice(cursor.start, cursor.end) : `${cursor.rawName}=${rest}`)
  }
  return kept.join('&')
}

/** Returns the redacted value, null to delete the parameter, or undefined to keep it. */
function redactedValue(
  { rawName, rawValue }: QueryCursor,
  rule: Rule,
  names: ReadonlySet<string>,
): string | null | undefined {
  const value = decoded(rawValue)
  const isNamed = names.has(decoded(rawName).toLowerCase())
  if (isNamed && value === '') return undefined
  const rest = isNamed ? rule.redaction(value) : redactedText(value, rule)
  if (rest === null || rest === value) return rest === null ? null : undefined
  return encodeURIComponent(rest)
}

function decoded(text: string): string {
  return bytewiseUrl(text.replaceAll('+', ' '))
}
