import { UnreadableBody } from '@sluice/core'
import type { XmlAttribute } from 'libxml2-wasm'
import { parseXml } from '../xml/gate.js'
import { KNOWN_PREFIXES } from '../xml/namespaces.js'
import type { XmlView } from '../xml/view.js'
import { knownPattern } from './pattern/pattern-cache.js'
import { UnreadablePattern } from './pattern/pattern-parser.js'
import { QUICK_WIDTH, SlowPattern } from './pattern/quick-pattern.js'
import type { SchemaDocument, SchemaDocuments } from './schema-documents.js'
import { compileSchemas } from './schema-set.js'

/** Schemas of which no pattern takes more than linear time, whatever it is matched with; can be cloned. */
export interface QuickSchemas {
  readonly schemas: SchemaDocuments
  /** The patterns that were written anew, by what stands there now. */
  readonly patterns: Readonly<Record<string, string>>
  /** A pattern takes so many steps for each character that no worker should wait. */
  readonly isSlow: boolean
}

/** Most steps for all patterns together: 2 to 7 s, in which nothing else runs. */
const MAX_STEPS = 5_000_000

/** What a pattern means is told by a facet; in an annotation it is an example. */
const PATTERNS = '//xs:pattern[not(ancestor::xs:annotation)]/@value'

/**
 * Writes patterns anew that libxml2 would take long for, and leaves the others as they are.
 * @throws Error that says where a schema is broken, or which pattern has to be written otherwise
 */
export function quickSchemas(schemas: SchemaDocuments): QuickSchemas {
  const rewriting = new Rewriting()
  const documents = schemas.documents.map((document) => rewriting.quick(document))
  // libxml2 tells what is wrong with a pattern, and has the lines as they were written.
  if (rewriting.isDue) compileSchemas(schemas).close()
  if (rewriting.unreadable !== null) throw rewriting.unreadable
  return {
    schemas: { root: schemas.root, documents },
    patterns: Object.fromEntries(rewriting.patterns),
    isSlow: rewriting.width > QUICK_WIDTH,
  }
}

class Rewriting {
  readonly patterns = new Map<string, string>()
  /** Of a pattern that libxml2 may understand, or not. */
  unreadable: Error | null = null
  /** Of the widest pattern. */
  width = 0
  readonly #quick = new Map<string, string>()
  #steps = 0

  get isDue(): boolean {
    return this.patterns.size > 0 || this.unreadable !== null
  }

  quick(document: SchemaDocument): SchemaDocument {
    const { systemId } = document
    const view = parsed(document)
    try {
      const values = view.document.find(PATTERNS, { xs: KNOWN_PREFIXES['xs']! }) as XmlAttribute[]
      let isChanged = false
      for (const attribute of values) {
        const pattern = attribute.value
        const quick = this.#quickOf(pattern, `the schema '${systemId}' has at line ${attribute.parent!.line}`)
        if (quick === pattern) continue
        // libxml2 reads references in what it is given.
        attribute.value = quick.replaceAll('&', '&amp;')
        isChanged = true
      }
      return isChanged
        ? { systemId, bytes: Buffer.from(view.document.toString({ format: false })) }
        : document
    } finally {
      view.close()
    }
  }

  #quickOf(pattern: string, place: string): string {
    let quick = this.#quick.get(pattern)
    if (quick !== undefined) return quick
    const { found, steps } = knownPattern(pattern)
    const words = `${place} the pattern '${shortened(pattern)}', which`
    this.#steps += steps
    if (found instanceof UnreadablePattern) {
      this.unreadable ??= new Error(`${words} ${found.message}`, { cause: found })
      quick = pattern
    } else if (found instanceof SlowPattern) {
      throw new Error(`${words} ${found.message}`, { cause: found })
    } else if (found instanceof Error) {
      throw found
    } else {
      this.width = Math.max(this.width, found.width)
      quick = this.#unique(pattern, found.text)
    }
    if (this.#steps > MAX_STEPS) {
      throw new Error(
        `${words} is one too many of those that take long to look into; write some with fewer parts`,
      )
    }
    this.#quick.set(pattern, quick)
    return quick
  }

  /** No two patterns are written as the same one: a message has to say which of them it was. */
  #unique(pattern: string, quick: string): string {
    if (quick === pattern) return pattern
    let text = `(${quick})`
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
