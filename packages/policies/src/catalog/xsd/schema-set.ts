import type { XmlDocument } from 'libxml2-wasm'
import { addressOf, libxml } from '../../engines/xml/libxml.js'
import { Diagnostics, listen } from './diagnostics.js'
import type { SchemaDocuments } from './schema-documents.js'
import { SchemaProvider } from './schema-provider.js'

/** A compiled schema. */
export class SchemaSet {
  /** What the schema was made of, and points into. */
  readonly #document: XmlDocument
  #schema: number

  constructor(document: XmlDocument, schema: number) {
    this.#document = document
    this.#schema = schema
  }

  /** Adds what is wrong with an element and all in it. @param element its address */
  validate(element: number, diagnostics: Diagnostics): void {
    const { raw } = libxml()
    const context = raw.xmlSchemaNewValidCtxt(this.#schema)
    try {
      const result = listen(diagnostics, (handler) => {
        raw.xmlSchemaSetValidStructuredErrors(context, handler, 0)
        return raw.xmlSchemaValidateOneElement(context, element)
      })
      // It gives up on a value for which a pattern takes ten million steps.
      if (result < 0) diagnostics.isUndecided = true
      else if (result > 0 && diagnostics.count === 0) diagnostics.count = 1
    } finally {
      raw.xmlSchemaFreeValidCtxt(context)
    }
  }

  close(): void {
    if (this.#schema === 0) return
    libxml().raw.xmlSchemaFree(this.#schema)
    this.#schema = 0
    this.#document.dispose()
  }
}

/**
 * Compiles a schema; what it includes and imports comes from the documents alone.
 * @throws Error that says where a schema is broken, which one is missing and which one nobody names.
 */
export function compileSchemas({ root, documents }: SchemaDocuments): SchemaSet {
  const library = libxml()
  const first = documents.find(({ systemId }) => systemId === root)!
  const document = library.XmlDocument.fromBuffer(first.bytes, { url: root })
  const provider = new SchemaProvider(documents)
  const diagnostics = new Diagnostics(1, (message) => message)
  let schema = 0
  try {
    schema = provider.during(() => parseSchema(document, diagnostics))
    provider.checkMissing()
    if (schema === 0) throw brokenSchema(root, diagnostics)
    provider.checkUnused(root)
    return new SchemaSet(document, schema)
  } catch (problem) {
    if (schema !== 0) library.raw.xmlSchemaFree(schema)
    document.dispose()
    throw problem
  }
}

function parseSchema(document: XmlDocument, diagnostics: Diagnostics): number {
  const { raw } = libxml()
  const context = raw.xmlSchemaNewDocParserCtxt(addressOf(document))
  try {
    return listen(diagnostics, (handler) => {
      raw.xmlSchemaSetParserStructuredErrors(context, handler, 0)
      return raw.xmlSchemaParse(context)
    })
  } finally {
    raw.xmlSchemaFreeParserCtxt(context)
  }
}

function brokenSchema(root: string, { violations }: Diagnostics): Error {
  const [first] = violations
  if (first === undefined) return new Error(`the schema '${root}' cannot be compiled`)
  const file = first.file ?? root
  return new Error(`the schema '${file}' is broken at line ${first.line} (${first.path}): ${first.message}`)
}
