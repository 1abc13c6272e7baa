import { isMapping, valueAt } from '../document-path.js'

/** The ids of the items of a list at the root of the document, those of unsound items included. */
export function writtenIds(whole: unknown, list: 'routes' | 'policies'): ReadonlySet<string> {
  const items = valueAt(whole, [list])
  if (!Array.isArray(items)) return new Set()
  return new Set(
    items.flatMap((item) => (isMapping(item) && typeof item['id'] === 'string' ? [item['id']] : [])),
  )
}
