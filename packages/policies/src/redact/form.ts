import type { Rule } from './rule.js'
import { redactedText } from './text.js'

/**
 * A query or a form after a rule, in which parameters that were not touched are as they were written.
 * @param names in lower case.
 */
export function redactedForm(form: string, rule: Rule, names: ReadonlySet<string>): string {
  const kept: string[] = []
  for (const part of form.split('&')) {
    const rest = redactedPart(part, rule, names)
    if (rest !== null) kept.push(rest)
  }
  return kept.join('&')
}

function redactedPart(part: string, rule: Rule, names: ReadonlySet<string>): string | null {
  const equals = part.indexOf('=')
  const name = equals === -1 ? part : part.slice(0, equals)
  const value = equals === -1 ? '' : decoded(part.slice(equals + 1))
  const isNamed = names.has(decoded(name).toLowerCase())
  if (isNamed && value === '') return part
  const rest = isNamed ? rule.redaction(value) : redactedText(value, rule)
  if (rest === null) return null
  return rest === value ? part : `${name}=${encodeURIComponent(rest)}`
}

/** Broken escapes are read as what they are. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
}
