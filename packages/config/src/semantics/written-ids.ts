import { isMapping, valueAt } from '../diagnostic/document-path.js'

/** Returns the ids in a list at the root of the document, including those of invalid items. */
export function writtenIds(whole: unknown, list: 'routes' | 'policies'): ReadonlySet<string> {
  const items = valueAt(whole, [list])
  if (!Array.isArray(items)) return new Set()
  return new Set(
    items.flatMap((item) => (isMapping(item) && typeof item['id'] === 'string' ? [item['id']] : [])),
  )
}
