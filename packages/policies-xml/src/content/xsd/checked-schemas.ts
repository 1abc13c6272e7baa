import { UnreadableBody } from '@sluice/core'
import type { XmlAttribute } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { addressOf, libxml } from '../../engines/xml/libxml.js'
import { KNOWN_PREFIXES } from '../../engines/xml/namespaces.js'
import type { XmlView } from '../../engines/xml/view.js'
import { buildXml, element } from '../../engines/xml/xml-builder.js'
import { Diagnostics } from './diagnostics.js'
import { linkSchemas } from './linked-schemas.js'
import { type CheckedPattern, checkPattern, RefusedPattern } from './pattern-check.js'
import type { SchemaDocument, SchemaDocuments } from './schema-documents.js'
import { compileSchemas } from './schema-set.js'

/** Schemas whose patterns libxml2 interprets correctly. Can be cloned. */
export interface CheckedSchemas {
  readonly schemas: SchemaDocuments
  /** True if a pattern may match so slowly that validation must run on a thread. */
  readonly isSlow: boolean
}

/** Selects the patterns of facets. Those in annotations are examples. */
const PATTERNS = '//xs:pattern[not(ancestor::xs:annotation)]/@value'
/** Maximum number of characters of a pattern in a message. */
const MAX_SHOWN = 200

/** Links schemas and checks their patterns. @throws Error that says where a schema is invalid */
export function checkSchemas(written: SchemaDocuments): CheckedSchemas {
  const schemas = linkSchemas(written)
  const check = new SchemaCheck()
  const documents = schemas.documents.map((document) => check.checked(document))
  if (check.refusal !== null) {
    // libxml2 describes other errors better, such as invalid syntax.
    compileSchemas(schemas).close()
    throw check.refusal
  }
  return { schemas: { root: schemas.root, documents }, isSlow: check.isSlow }
}

class SchemaCheck {
  /** Error for the first pattern that is refused. */
  refusal: Error | null = null
  isSlow = false
  readonly #known = new Map<string, CheckedPattern>()
  readonly #blocks = new Set<string>()

  checked(document: SchemaDocument): SchemaDocument {
    const { systemId } = document
    const view = parsed(document)
    try {
      const values = view.document.find(PATTERNS, { xs: KNOWN_PREFIXES['xs']! }) as XmlAttribute[]
      let isChanged = false
      for (const attribute of values) {
        const pattern = attribute.value
        const { text, mayBacktrack } = this.#check(pattern, systemId, attribute.parent!.line)
        this.isSlow ||= mayBacktrack
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

  #check(pattern: string, systemId: string, line: number): CheckedPattern {
    let result = this.#known.get(pattern)
    if (result !== undefined) return result
    try {
      result = checkPattern(pattern)
      for (const [, block] of pattern.matchAll(/\\[pP]\{Is([^}]*)\}/g)) this.#checkBlock(block!)
    } catch (cause) {
      if (!(cause instanceof RefusedPattern)) throw cause
      const shown = pattern.length <= MAX_SHOWN ? pattern : `${pattern.slice(0, MAX_SHOWN)}…`
      this.refusal ??= new Error(
        `the schema '${systemId}', line ${line}: the pattern '${shown}' ${cause.message}`,
        { cause },
      )
      result = { text: pattern, mayBacktrack: false }
    }
    this.#known.set(pattern, result)
    return result
  }

  #checkBlock(name: string): void {
    if (this.#blocks.has(name)) return
    if (!/^[\w-]+$/.test(name) || !isBlock(name))
      throw new RefusedPattern(
        `uses the Unicode block '${name}', which libxml2 does not have: list its characters instead`,
      )
    this.#blocks.add(name)
  }
}

/** Returns true if libxml2 has a Unicode block. It notices a missing one only when it matches a value. */
function isBlock(name: string): boolean {
  const pattern = element('xs:pattern', [], { value: `\\p{Is${name}}` })
  const restriction = element('xs:restriction', [pattern], { base: 'xs:string' })
  const root = element('xs:element', [element('xs:simpleType', [restriction])], { name: 'a' })
  const text = buildXml(element('xs:schema', [root], { 'xmlns:xs': KNOWN_PREFIXES['xs']! }))
  const schema = compileSchemas({ root: '', documents: [{ systemId: '', bytes: Buffer.from(text) }] })
  const document = libxml().XmlDocument.fromString('<a>a</a>')
  const diagnostics = new Diagnostics(0, (message) => message)
  schema.validate(addressOf(document.root), diagnostics)
  document.dispose()
  schema.close()
  return !diagnostics.isUndecided
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
