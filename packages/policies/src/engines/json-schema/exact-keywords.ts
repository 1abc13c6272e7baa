import type { KeywordDefinition } from 'ajv'
import { canonicalText } from '../json/canonical-text.js'
import { countStep } from './step-budget.js'

/** Counts how often references are followed. */
export const STEP_KEYWORD = 'sluice:step'
/** A reference to a schema that is compiled by itself, by its key. */
export const LINK_KEYWORD = 'sluice:link'
/** `enum` and `const` with objects or arrays among their values. */
export const ENUM_KEYWORD = 'sluice:enum'

/**
 * Keywords that the library checks wrongly or slowly: `uniqueItems` compares every item with every other; equality
 * calls `valueOf` of a document that has such a member; `multipleOf` divides in binary, where 19.99 is no multiple of
 * 0.01, and refuses 1e22.
 */
export const EXACT_KEYWORDS: readonly KeywordDefinition[] = [
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    compile: (isAsked: boolean) => (isAsked ? areUnique : () => true),
  },
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schema }) => `must be multiple of ${schema}` },
    compile: (divisor: number) => (value: number) => isMultiple(value, divisor),
  },
  {
    keyword: ENUM_KEYWORD,
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile: (allowed: readonly unknown[]) => {
      const texts = new Set(allowed.map(canonicalText))
      return (value: unknown) => texts.has(canonicalText(value))
    },
  },
  { keyword: STEP_KEYWORD, before: '$ref', schemaType: 'boolean', compile: () => countStep },
]

/** Whether no two of these are the same JSON value. */
function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) seen.add(canonicalText(item))
  return seen.size === items.length
}

/** Whether a number is a multiple of another one, as both are written in decimal digits. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0
  if (!Number.isFinite(value)) return false
  const [dividend, by] = [decimal(value), decimal(divisor)]
  const exponent = Math.min(dividend.exponent, by.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return scaled(dividend) % scaled(by) === 0n
}

/** `digits` times ten to the `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

function decimal(value: number): Decimal {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
