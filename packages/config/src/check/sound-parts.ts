import { type DocumentPath, isMapping, valueAt } from '../document-path.js'
import { type Document, documentSchema } from '../schema/document.js'
import { fillDefaults } from './defaults.js'
import { Origins } from './origins.js'
import { MAX_MISTAKES, schemaViolationsOf, type Violation } from './violation.js'

/** What of a document satisfies the schema, with defaults filled. */
interface SoundParts {
  readonly document: Document
  readonly origins: Origins
}

/** Taking a part out can leave what held it incomplete, so it is done again; a document is less deep than this. */
const MAX_ROUNDS = 12

/**
 * Takes out of a document, in place, what does not satisfy the schema, so that what is left can be checked further.
 * Null when nothing useful is left.
 */
export function soundPartsOf(root: unknown): SoundParts | null {
  const origins = new Origins()
  if (!isMapping(root)) return null
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const violations = schemaViolationsOf(root).filter((violation) => !isHarmless(violation))
    if (violations.length === 0) {
      fillDefaults(documentSchema, root, root)
      return { document: root as unknown as Document, origins }
    }
    if (violations.length > MAX_MISTAKES) return null
    const unsound = violations.flatMap(unsoundPaths)
    if (unsound.some((path) => path.length === 0)) return null
    for (const path of deepestFirst(unsound)) takeOut(root, path, origins)
  }
  return null
}

/** Neither a missing version nor a missing action keeps the rest from being checked. */
function isHarmless({ keyword, path, params }: Violation): boolean {
  if (keyword === 'required') return path.length === 0
  return keyword === 'choice' && (params['present'] as readonly unknown[]).length === 0
}

function unsoundPaths({ path, keyword, params, key }: Violation): DocumentPath[] {
  if (key !== null) return [[...path, key]]
  if (keyword !== 'choice') return [path]
  return (params['present'] as readonly string[]).slice(1).map((surplus) => [...path, surplus])
}

/** Each path once; in a list the last items first, so that positions stay true while items are taken out. */
function deepestFirst(paths: readonly DocumentPath[]): readonly DocumentPath[] {
  const distinct = new Map(paths.map((path) => [JSON.stringify(path), path]))
  return [...distinct.values()].sort((a, b) => b.length - a.length || positionOf(b) - positionOf(a))
}

function positionOf(path: DocumentPath): number {
  const last = path.at(-1)
  return typeof last === 'number' ? last : 0
}

function takeOut(root: unknown, path: DocumentPath, origins: Origins): void {
  const holder = valueAt(root, path.slice(0, -1))
  const last = path.at(-1)!
  if (Array.isArray(holder) && typeof last === 'number') origins.remove(holder, last)
  else if (isMapping(holder)) delete holder[last]
}
