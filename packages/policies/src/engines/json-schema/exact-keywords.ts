import { _, type KeywordDefinition } from 'ajv'
import { canonicalText } from '../json/canonical-text.js'
import { countStep } from './step-budget.js'

/** Keyword that counts how often references are followed. */
export const STEP_KEYWORD = 'sluice:step'
/** Keyword for a reference, by key, to a separately compiled schema. */
export const LINK_KEYWORD = 'sluice:link'
/** Keyword for `enum` and `const` values that contain objects or arrays. */
export const ENUM_KEYWORD = 'sluice:enum'

/**
 * Replacements for keywords that Ajv checks incorrectly or slowly. Its `uniqueItems` compares every item with every
 * other. Its equality calls `valueOf` of a document with such a member. Its `multipleOf` divides in binary: 19.99 is
 * no multiple of 0.01, and 1e22 is refused.
 */
export const EXACT_KEYWORDS: readonly KeywordDefinition[] = [
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    compile: (isRequired: boolean) => (isRequired ? areUnique : () => true),
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
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    compile: (allowed: readonly unknown[]) => {
      const texts = new Set(allowed.map(canonicalText))
      return (value: unknown) => texts.has(canonicalText(value))
    },
  },
  { keyword: STEP_KEYWORD, before: '$ref', schemaType: 'boolean', compile: () => countStep },
]

/** Returns true if all items are distinct JSON values. */
function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) seen.add(canonicalText(item))
  return seen.size === items.length
}

/** Returns true if `value` is a multiple of `divisor` in decimal notation. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0
  if (!Number.isFinite(value)) return false
  const [dividend, by] = [decimal(value), decimal(divisor)]
  const exponent = Math.min(dividend.exponent, by.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return scaled(dividend) % scaled(by) === 0n
}

/** A decimal number: `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

function decimal(value: number): Decimal {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
