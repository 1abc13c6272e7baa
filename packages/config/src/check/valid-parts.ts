import { type DocumentPath, isMapping, valueAt } from '../diagnostic/document-path.js'
import { type Document, documentSchema } from '../schema/document.js'
import { fillDefaults } from './defaults.js'
import { Origins } from './origins.js'
import { MAX_MISTAKES, schemaViolationsOf, type Violation } from './violation.js'

/** The parts of a document that satisfy the schema, with defaults filled in. */
interface ValidParts {
  readonly document: Document
  readonly origins: Origins
}

/**
 * Maximum number of passes. Removing a part can make its parent invalid; a document is less deep than this.
 */
const MAX_ROUNDS = 12

/**
 * Removes the parts of a document that violate the schema, in place, so that the rest can be checked further.
 * Returns null if nothing useful remains.
 */
export function validPartsOf(root: unknown): ValidParts | null {
  const origins = new Origins()
  if (!isMapping(root)) return null
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const violations = schemaViolationsOf(root).filter((violation) => !isHarmless(violation))
    if (violations.length === 0) {
      fillDefaults(documentSchema, root, root)
      return { document: root as unknown as Document, origins }
    }
    if (violations.length > MAX_MISTAKES) return null
    const invalid = violations.flatMap(invalidPaths)
    if (invalid.some((path) => path.length === 0)) return null
    for (const path of deepestFirst(invalid)) takeOut(root, path, origins)
  }
  return null
}

/** True for a missing version or action, after which the rest can still be checked. */
function isHarmless({ keyword, path, params }: Violation): boolean {
  if (keyword === 'required') return path.length === 0
  return keyword === 'choice' && (params['present'] as readonly unknown[]).length === 0
}

function invalidPaths({ path, keyword, params, key }: Violation): DocumentPath[] {
  if (key !== null) return [[...path, key]]
  if (keyword !== 'choice') return [path]
  return (params['present'] as readonly string[]).slice(1).map((surplus) => [...path, surplus])
}

/**
 * Returns distinct paths, deepest first. Within a list, later items come first so that removals do not shift
 * positions.
 */
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
