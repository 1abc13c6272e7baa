import type { Exchange, HeaderList } from '@sluice/core'
import { redactedForm } from './form.js'
import type { Rule } from './rule.js'

/** Redacts header lines in place. */
export function redactHeaders(list: HeaderList, rules: readonly Rule[]): void {
  let kept = 0
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!
    const value = redactedLine(name, list[i + 1]!, rules)
    if (value === null) continue
    list[kept] = name
    list[kept + 1] = value
    kept += 2
  }
  if (kept !== list.length) list.length = kept
}

function redactedLine(name: string, value: string, rules: readonly Rule[]): string | null {
  let rest: string | null = value
  for (const { headers, redaction } of rules) {
    if (rest !== null && headers.has(name)) rest = redaction(rest)
  }
  return rest
}

/** Redacts query parameters; kinds of values and patterns are for bodies. */
export function redactQuery(x: Exchange, rules: readonly Rule[]): void {
  for (const rule of rules) {
    if (rule.query.size > 0 && x.query !== '') {
      x.query = redactedForm(x.query, { ...rule, types: [], patterns: [] }, rule.query)
    }
  }
}
