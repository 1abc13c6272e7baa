import { UnreadableBody } from '@sluice/core'
import type { XmlAttribute } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { KNOWN_PREFIXES } from '../../engines/xml/namespaces.js'
import type { XmlView } from '../../engines/xml/view.js'
import { linkSchemas } from './linked-schemas.js'
import { patchedPattern } from './pattern/patched-pattern.js'
import { UnreadablePattern } from './pattern/pattern-parser.js'
import type { SchemaDocument, SchemaDocuments } from './schema-documents.js'
import { compileSchemas } from './schema-set.js'

/** Schemas whose patterns libxml2 interprets correctly. Can be cloned. */
export interface PatchedSchemas {
  readonly schemas: SchemaDocuments
  /** Original patterns by their rewritten form. */
  readonly patterns: Readonly<Record<string, string>>
  /** True if a pattern may match so slowly that validation must run on a thread. */
  readonly isSlow: boolean
}

/** Selects the patterns of facets. Those in annotations are examples. */
const PATTERNS = '//xs:pattern[not(ancestor::xs:annotation)]/@value'

/**
 * Rewrites patterns that libxml2 misinterprets, and keeps the others.
 * @throws Error that says where a schema is invalid
 */
export function patchSchemas(written: SchemaDocuments): PatchedSchemas {
  const schemas = linkSchemas(written)
  const patching = new Patching()
  const documents = schemas.documents.map((document) => patching.patched(document))
  // Compiles the original first, so that libxml2 reports errors with the original patterns and lines.
  if (patching.needsCheck) compileSchemas(schemas).close()
  if (patching.unreadable !== null) throw patching.unreadable
  return {
    schemas: { root: schemas.root, documents },
    patterns: Object.fromEntries(patching.patterns),
    isSlow: patching.isSlow,
  }
}

class Patching {
  readonly patterns = new Map<string, string>()
  /** Error for the first pattern that the parser cannot read. libxml2 may still accept it. */
  unreadable: Error | null = null
  isSlow = false
  readonly #patched = new Map<string, string>()

  get needsCheck(): boolean {
    return this.patterns.size > 0 || this.unreadable !== null
  }

  patched(document: SchemaDocument): SchemaDocument {
    const { systemId } = document
    const view = parsed(document)
    try {
      const values = view.document.find(PATTERNS, { xs: KNOWN_PREFIXES['xs']! }) as XmlAttribute[]
      let isChanged = false
      for (const attribute of values) {
        const pattern = attribute.value
        const text = this.#textOf(pattern, `the schema '${systemId}' has at line ${attribute.parent!.line}`)
        if (text === pattern) continue
        // libxml2 resolves references in the value.
        attribute.value = text.replaceAll('&', '&amp;')
        isChanged = true
      }
      return isChanged
        ? { systemId, bytes: Buffer.from(view.document.toString({ format: false })) }
        : document
    } finally {
      view.close()
    }
  }

  #textOf(pattern: string, location: string): string {
    let text = this.#patched.get(pattern)
    if (text !== undefined) return text
    try {
      const patched = patchedPattern(pattern)
      this.isSlow ||= patched.mayBacktrack
      text = this.#unique(pattern, patched.text)
    } catch (cause) {
      if (!(cause instanceof UnreadablePattern)) throw cause
      const words = `${location} the pattern '${shortened(pattern)}', which ${cause.message}`
      this.unreadable ??= new Error(words, { cause })
      text = pattern
    }
    this.#patched.set(pattern, text)
    return text
  }

  /** Gives each pattern a unique rewritten form, so that messages can show the original. */
  #unique(pattern: string, patched: string): string {
    if (patched === pattern) return pattern
    let text = `(${patched})`
    while (this.patterns.has(text)) text = `(${text})`
    this.patterns.set(text, pattern)
    return text
  }
}

function parsed({ systemId, bytes }: SchemaDocument): XmlView {
  try {
    return parseXml(bytes)
  } catch (problem) {
    if (!(problem instanceof UnreadableBody)) throw problem
    const reason = problem.message.replace(/^the body /, '')
    throw new Error(`the schema '${systemId}' ${reason}`, { cause: problem })
  }
}

const MAX_SHOWN = 200

function shortened(pattern: string): string {
  return pattern.length <= MAX_SHOWN ? pattern : `${pattern.slice(0, MAX_SHOWN)}…`
}
