import { type ValueSource, valueOfSource } from '../../shared/options/text-source.js'
import { asNode } from './node.js'
import { compilePathItem, pathsOf } from './operation.js'
import { SchemaRewriter, type SchemaUse } from './rewrite.js'

/**
 * Returns the JSON pointers of patterns that `onUnsupported: skip` omits. Empty for an unreadable
 * description.
 */
export function skippedPatterns(source: ValueSource): string[] {
  const uses = new Map<string, SchemaUse>()
  const linkTo = (use: SchemaUse): string => {
    const key = JSON.stringify(use)
    if (!uses.has(key)) uses.set(key, use)
    return key
  }
  try {
    const root = asNode(valueOfSource(source))
    const rewriter = new SchemaRewriter(root, { skipsUnsupported: true, linkTo })
    const schemas = {
      at: (pointer: string, direction: SchemaUse['direction']) => {
        linkTo({ pointer, direction, optional: [] })
        return null
      },
      check: () => [],
      parse: () => ({ value: null }),
    }
    for (const [, entry] of pathsOf(root)) compilePathItem(root, entry, { schemas, checksResponses: true })
    // `rewrite` adds more uses during this loop.
    for (const use of uses.values()) rewriter.rewrite(use)
    return [...rewriter.skipped]
  } catch {
    // The compilation of the policy reports the error.
    return []
  }
}
