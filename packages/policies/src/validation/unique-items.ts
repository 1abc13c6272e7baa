import { canonicalText } from '../json/canonical-text.js'

/**
 * The keyword `uniqueItems` in time linear in the document: the library compares every item with every other, which
 * for a megabyte of small objects takes minutes.
 */
export const UNIQUE_ITEMS = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  compile: (isAsked: boolean) => (isAsked ? areUnique : () => true),
} as const

/** Whether no two of these are the same JSON value. */
function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>()
  for (const item of items) seen.add(canonicalText(item))
  return seen.size === items.length
}
