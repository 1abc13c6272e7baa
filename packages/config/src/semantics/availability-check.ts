import { UNAVAILABLE, type Unavailable } from '../availability.js'
import { type DocumentPath, isMapping } from '../document-path.js'
import type { Inspection } from './inspection.js'

/** Names everything that stands in the document and does not run yet. */
export function checkAvailability({ whole, report }: Inspection): void {
  for (const row of UNAVAILABLE) {
    for (const path of foundAt(whole, row, [])) {
      report.add({ path, at: row.values === undefined ? 'key' : 'value', ...sentence(row) })
    }
  }
}

function sentence({ what, remedy }: Unavailable) {
  const verb = what.includes("' and '") ? 'are' : 'is'
  return { message: `${what} ${verb} not available yet`, remedy }
}

function foundAt(value: unknown, row: Unavailable, path: DocumentPath): DocumentPath[] {
  const part = row.path[path.length]
  if (part === undefined) {
    const isMeant =
      row.values === undefined ? value !== undefined && value !== null : row.values.includes(String(value))
    return isMeant ? [path] : []
  }
  return childrenOf(value, part).flatMap(([key, child]) => foundAt(child, row, [...path, key]))
}

function childrenOf(value: unknown, part: string): [string | number, unknown][] {
  if (Array.isArray(value)) return part === '*' ? [...value.entries()] : []
  if (!isMapping(value)) return []
  if (part === '*') return Object.entries(value)
  return Object.hasOwn(value, part) ? [[part, value[part]]] : []
}
