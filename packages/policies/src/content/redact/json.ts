import { MASK } from '@sluice/core'
import {
  eachLocation,
  type JsonLocation,
  removeLocations,
  setAt,
  valueAt,
} from '../../engines/json/locations.js'
import type { JsonView } from '../../shared/json/view.js'
import type { Redaction } from './redaction.js'
import type { Rule } from './rule.js'
import { redactedText } from './text.js'

/** Returns the redacted JSON of a body, or null if nothing changed. @throws TooMuch */
export function redactedJson(view: JsonView, rules: readonly Rule[]): string | null {
  const root: { value: unknown } = { value: view.copy() }
  // Only one value of a duplicate name is visible here. Rewriting the JSON drops the others.
  let isChanged = view.hasDuplicateKeys
  for (const rule of rules) isChanged = applyRule(root, rule) || isChanged
  return isChanged ? JSON.stringify(root.value) : null
}

function applyRule(root: { value: unknown }, rule: Rule): boolean {
  const { redaction, keys, paths } = rule
  const gone: JsonLocation[] = []
  let isChanged = false
  const redact = (location: JsonLocation): void => {
    isChanged = redactValue(location, redaction, gone) || isChanged
  }
  for (const path of paths) path.all(root.value).forEach(redact)
  if (keys.size > 0) {
    eachLocation(root.value, (location) => {
      if (typeof location.key === 'string' && keys.has(location.key.toLowerCase())) redact(location)
    })
  }
  removeLocations(gone)
  // The whole body may be a string.
  if (rule.types.length + rule.patterns.length > 0) {
    eachLocation(root, (location, value) => {
      if (typeof value !== 'string' && typeof value !== 'number') return
      const text = String(value)
      const rest = redactedText(text, rule)
      if (rest === text) return
      setAt(location, rest)
      isChanged = true
    })
  }
  return isChanged
}

/** Returns true if there was a value to redact. */
function redactValue(location: JsonLocation, redaction: Redaction, gone: JsonLocation[]): boolean {
  const value = valueAt(location)
  if (value === undefined || value === null) return false
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isScalar = typeof value === 'string' || typeof value === 'number'
  // A partly masked object is useless, and would reveal its names.
  const rest = isScalar ? redaction(text) : redactWhole(redaction, text)
  if (rest === null) gone.push(location)
  else setAt(location, rest)
  return true
}

function redactWhole(redaction: Redaction, text: string): string | null {
  const rest = redaction(text)
  return rest === null || rest.startsWith('hmac-sha256:') ? rest : MASK
}
