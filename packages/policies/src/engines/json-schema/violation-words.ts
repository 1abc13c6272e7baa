import { visibleText } from '@sluice/core/visible-text'
import type { ErrorObject } from 'ajv'

/** Maximum length of a name or value in a message, in characters. */
const MAX_WORD = 64
/** Maximum number of allowed values in a message. */
const MAX_VALUES = 20
/** Maximum number of mistakes in a schema that are reported. */
const MAX_MISTAKES = 3
/** Keywords whose errors only say that none of their branches accepts the value. */
const COMBINATIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'if', '$ref'])

/** Describes a violation with the name or the allowed values that the library leaves out, as "must be …". */
export function violationWords({ keyword, params, message }: ErrorObject): string {
  const unknown: unknown = params['additionalProperty'] ?? params['unevaluatedProperty']
  if (typeof unknown === 'string') return `must not have the property ${quoted(unknown)}`
  const allowed: unknown = params['allowedValues']
  if (Array.isArray(allowed)) return `must be one of ${listOf(allowed)}`
  if (keyword === 'const') return `must be ${quoted(params['allowedValue'])}`
  if (keyword === 'propertyNames')
    return `must not have a property with the name ${quoted(params['propertyName'])}`
  return message ?? 'is not valid'
}

/**
 * Describes the mistakes in a schema or description by JSON pointer, with the value and what is allowed. Errors of
 * branches are summed up at the value.
 */
export function mistakesText(errors: readonly ErrorObject[], root: unknown): string {
  const byPlace = new Map<string, ErrorObject[]>()
  for (const error of errors)
    byPlace.set(error.instancePath, [...(byPlace.get(error.instancePath) ?? []), error])
  const places = [...byPlace].filter(([, found]) => found.some(({ keyword }) => !COMBINATIONS.has(keyword)))
  const shown = (places.length > 0 ? places : [...byPlace]).map(([pointer, found]) => {
    const specific = found.filter(({ keyword }) => !COMBINATIONS.has(keyword))
    const list = specific.find(({ keyword }) => keyword === 'enum' || keyword === 'const')
    const words = (list !== undefined ? [list] : specific.length > 0 ? specific : found).map(violationWords)
    const value = valueAt(root, pointer)
    const not =
      list !== undefined || specific.some(({ keyword }) => keyword === 'type') ? `, not ${quoted(value)}` : ''
    return `${pointer === '' ? 'the document' : short(pointer, 256)} ${[...new Set(words)].slice(0, 2).join(' or ')}${not}`
  })
  return shown.slice(0, MAX_MISTAKES).join('; ')
}

function listOf(values: readonly unknown[]): string {
  const rest = values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : ''
  return values.slice(0, MAX_VALUES).map(quoted).join(', ') + rest
}

/** Returns a value as it may be shown: bounded, with control characters escaped. */
function quoted(value: unknown): string {
  if (typeof value === 'string') return `'${short(visibleText(value), MAX_WORD)}'`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return value
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}
