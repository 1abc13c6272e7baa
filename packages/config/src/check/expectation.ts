import type { TSchema } from '@sinclair/typebox'
import { DURATION_PATTERN, RATE_PATTERN, RATIO_PATTERN, SIZE_PATTERN } from '@sluice/core'
import { GRAMMARS, type GrammarName } from '../grammar/grammars.js'
import type { Bounds } from '../schema/build.js'

/** Description and example of each kind of quantity, by pattern. */
export const QUANTITIES: Readonly<Record<string, { readonly noun: string; readonly example: string }>> = {
  [DURATION_PATTERN]: { noun: 'a duration', example: '5s' },
  [SIZE_PATTERN]: { noun: 'a size', example: '16kb' },
  [RATE_PATTERN]: { noun: 'a rate per s, m, h or d', example: '100/s' },
  [RATIO_PATTERN]: { noun: 'a percentage', example: '20%' },
}

/** Describes valid values as a noun phrase that completes "must be …". */
export function expectationOf(schema: TSchema): string {
  if (typeof schema['expects'] === 'string') return schema['expects']
  const words = wordsOf(schema)
  if (words !== null) return words.length === 1 ? words[0]! : `one of ${words.join(', ')}`
  if (typeof schema['grammar'] === 'string') return GRAMMARS[schema['grammar'] as GrammarName].expects
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(branches)) return [...new Set(branches.map(expectationOf))].join(' or ')
  return ofType(schema)
}

/** Returns the words or numbers that a schema allows, or null if it is not a fixed list. */
export function wordsOf(schema: TSchema): readonly string[] | null {
  if (Array.isArray(schema['enum'])) return schema['enum'].map(String)
  if ('const' in schema) return [String(schema['const'])]
  const branches: unknown = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(branches)) return null
  const words = branches.map((branch: TSchema) => wordsOf(branch))
  return words.every((some) => some !== null) ? words.flat() : null
}

/** Returns an example value as text, or null if there is none. */
export function exampleOf(schema: TSchema): string | null {
  const given: unknown = schema['examples']?.[0] ?? schema['default']
  if (['string', 'number', 'boolean'].includes(typeof given) && given !== '') return String(given)
  return QUANTITIES[String(schema['pattern'])]?.example ?? null
}

function ofType(schema: TSchema): string {
  switch (schema['type']) {
    case 'integer':
      return `a whole number${range(schema['minimum'], schema['maximum'])}`
    case 'number':
      return `a number${range(schema['minimum'], schema['maximum'])}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    case 'string':
      return ofString(schema)
    default:
      return 'something else'
  }
}

function ofString(schema: TSchema): string {
  const quantity = QUANTITIES[String(schema['pattern'])]
  const bounds = schema['bounds'] as Bounds | undefined
  if (quantity !== undefined && bounds !== undefined)
    return `${quantity.noun} from ${bounds.min} to ${bounds.max}`
  if (quantity !== undefined) return `${quantity.noun} such as ${quantity.example}`
  if (typeof schema['pattern'] === 'string') return `a string that matches ${schema['pattern']}`
  return 'a string'
}

function range(least: unknown, most: unknown): string {
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`
  if (least !== undefined) return ` of at least ${least}`
  return most === undefined ? '' : ` of at most ${most}`
}
