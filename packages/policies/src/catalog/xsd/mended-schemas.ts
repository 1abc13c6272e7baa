import { UnreadableBody } from '@sluice/core'
import type { XmlAttribute } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { KNOWN_PREFIXES } from '../../engines/xml/namespaces.js'
import type { XmlView } from '../../engines/xml/view.js'
import { linkSchemas } from './linked-schemas.js'
import { mendedPattern } from './pattern/mended-pattern.js'
import { UnreadablePattern } from './pattern/pattern-parser.js'
import type { SchemaDocument, SchemaDocuments } from './schema-documents.js'
import { compileSchemas } from './schema-set.js'

/** Schemas whose patterns libxml2 takes for what they mean; can be cloned. */
export interface MendedSchemas {
  readonly schemas: SchemaDocuments
  /** The patterns that were written again, by what stands there now. */
  readonly patterns: Readonly<Record<string, string>>
  /** A pattern may take so long to match that no worker should wait. */
  readonly isSlow: boolean
}

/** A facet says what a pattern means; in an annotation it is an example. */
const PATTERNS = '//xs:pattern[not(ancestor::xs:annotation)]/@value'

/**
 * Writes patterns again that libxml2 takes for something else, and leaves the others as they are.
 * @throws Error that says where a schema is broken
 */
export function mendSchemas(written: SchemaDocuments): MendedSchemas {
  const schemas = linkSchemas(written)
  const mending = new Mending()
  const documents = schemas.documents.map((document) => mending.mended(document))
  // libxml2 reports what is wrong with a pattern, and has the lines as they were written.
  if (mending.isDue) compileSchemas(schemas).close()
  if (mending.unreadable !== null) throw mending.unreadable
  return {
    schemas: { root: schemas.root, documents },
    patterns: Object.fromEntries(mending.patterns),
    isSlow: mending.isSlow,
  }
}

class Mending {
  readonly patterns = new Map<string, string>()
  /** Of a pattern that libxml2 may understand, or not. */
  unreadable: Error | null = null
  isSlow = false
  readonly #mended = new Map<string, string>()

  get isDue(): boolean {
    return this.patterns.size > 0 || this.unreadable !== null
  }

  mended(document: SchemaDocument): SchemaDocument {
    const { systemId } = document
    const view = parsed(document)
    try {
      const values = view.document.find(PATTERNS, { xs: KNOWN_PREFIXES['xs']! }) as XmlAttribute[]
      let isChanged = false
      for (const attribute of values) {
        const pattern = attribute.value
        const text = this.#textOf(pattern, `the schema '${systemId}' has at line ${attribute.parent!.line}`)
        if (text === pattern) continue
        // libxml2 reads references in what it is given.
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
    let text = this.#mended.get(pattern)
    if (text !== undefined) return text
    try {
      const mended = mendedPattern(pattern)
      this.isSlow ||= mended.mayRunAway
      text = this.#unique(pattern, mended.text)
    } catch (cause) {
      if (!(cause instanceof UnreadablePattern)) throw cause
      const words = `${location} the pattern '${shortened(pattern)}', which ${cause.message}`
      this.unreadable ??= new Error(words, { cause })
      text = pattern
    }
    this.#mended.set(pattern, text)
    return text
  }

  /** No two patterns are written as the same one: a message has to say which of them it was. */
  #unique(pattern: string, mended: string): string {
    if (mended === pattern) return pattern
    let text = `(${mended})`
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
