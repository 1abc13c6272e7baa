import type { XmlDocument } from 'libxml2-wasm'
import { addressOf, libxml } from '../../engines/xml/libxml.js'
import { Diagnostics, withDiagnostics } from './diagnostics.js'
import type { SchemaDocuments } from './schema-documents.js'
import { SchemaProvider } from './schema-provider.js'

/** A compiled schema. */
export class SchemaSet {
  /** Source document, which the compiled schema points into. */
  readonly #document: XmlDocument
  #schema: number

  constructor(document: XmlDocument, schema: number) {
    this.#document = document
    this.#schema = schema
  }

  /**
   * Validates an element with its content.
   * @param element address of the element
   * @param diagnostics receives the problems
   */
  validate(element: number, diagnostics: Diagnostics): void {
    const { raw } = libxml()
    const context = raw.xmlSchemaNewValidCtxt(this.#schema)
    try {
      const result = withDiagnostics(diagnostics, (handler) => {
        raw.xmlSchemaSetValidStructuredErrors(context, handler, 0)
        return raw.xmlSchemaValidateOneElement(context, element)
      })
      // libxml2 gives up if a pattern takes ten million steps for one value.
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
 * Compiles a schema. Included and imported schemas come only from the documents.
 * @throws Error for an invalid, missing or unused schema.
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
    return withDiagnostics(diagnostics, (handler) => {
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
  return new Error(`the schema '${file}' is invalid at line ${first.line} (${first.path}): ${first.message}`)
}
