import { MASK } from '@sluice/core'
import { eachPlace, type JsonPlace, removePlaces, setAt, valueAt } from '../../engines/json/places.js'
import type { JsonView } from '../../engines/json/view.js'
import type { Redaction } from './redaction.js'
import type { Rule } from './rule.js'
import { redactedText } from './text.js'

/** The JSON of a body after the rules; null: nothing had to be changed. @throws TooMuch */
export function redactedJson(view: JsonView, rules: readonly Rule[]): string | null {
  const root: { value: unknown } = { value: view.copy() }
  // Of a name that stands twice we see one value only; the other one must not pass.
  let isChanged = view.hasDuplicateKeys
  for (const rule of rules) isChanged = applyRule(root, rule) || isChanged
  return isChanged ? JSON.stringify(root.value) : null
}

function applyRule(root: { value: unknown }, rule: Rule): boolean {
  const { redaction, keys, paths } = rule
  const gone: JsonPlace[] = []
  let isChanged = false
  const redact = (place: JsonPlace): void => {
    isChanged = redactValue(place, redaction, gone) || isChanged
  }
  for (const path of paths) path.all(root.value).forEach(redact)
  if (keys.size > 0) {
    eachPlace(root.value, (place) => {
      if (typeof place.key === 'string' && keys.has(place.key.toLowerCase())) redact(place)
    })
  }
  removePlaces(gone)
  // A string may be the whole body.
  if (rule.types.length + rule.patterns.length > 0) {
    eachPlace(root, (place, value) => {
      if (typeof value !== 'string' && typeof value !== 'number') return
      const text = String(value)
      const rest = redactedText(text, rule)
      if (rest === text) return
      setAt(place, rest)
      isChanged = true
    })
  }
  return isChanged
}

/** Whether there was something to redact. */
function redactValue(place: JsonPlace, redaction: Redaction, gone: JsonPlace[]): boolean {
  const value = valueAt(place)
  if (value === undefined || value === null) return false
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isScalar = typeof value === 'string' || typeof value === 'number'
  // Parts of an object are of no use, and would show its names.
  const rest = isScalar ? redaction(text) : wholly(redaction, text)
  if (rest === null) gone.push(place)
  else setAt(place, rest)
  return true
}

function wholly(redaction: Redaction, text: string): string | null {
  const rest = redaction(text)
  return rest === null || rest.startsWith('hmac-sha256:') ? rest : MASK
}
