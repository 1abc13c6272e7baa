import { posix } from 'node:path'
import type { XmlDocument, XmlElement } from 'libxml2-wasm'
import { libxml } from '../../engines/xml/libxml.js'
import { buildXml, element } from '../../engines/xml/xml-builder.js'
import type { SchemaDocument, SchemaDocuments } from './schema-documents.js'

const XS = 'http://www.w3.org/2001/XMLSchema'
const LINKS = '/xs:schema/xs:import | /xs:schema/xs:include | /xs:schema/xs:redefine'

/** An open schema document. */
interface OpenDocument {
  readonly source: SchemaDocument
  readonly document: XmlDocument
  /** Target namespace, or an empty string. */
  readonly namespace: string
  isChanged: boolean
}

/**
 * Rewrites references between schema documents so that libxml2 resolves them. It reads only one document per
 * namespace, none without a `schemaLocation`, and treats `./t.xsd` and `t.xsd` as different. DOCTYPEs are
 * resolved: entities and defaults of the internal subset are expanded within the limits of libxml2, and
 * nothing external is read.
 */
export function linkSchemas(schemas: SchemaDocuments): SchemaDocuments {
  const open: OpenDocument[] = []
  try {
    const documents = schemas.documents.map((source) => {
      const document = parsed(source)
      if (document === null) return () => source
      const one = {
        source,
        document,
        namespace: attribute(document.root, 'targetNamespace') ?? '',
        isChanged: false,
      }
      open.push(one)
      return () => written(one)
    })
    const made = new Linking(open, schemas.root).link()
    return { root: schemas.root, documents: [...documents.map((document) => document()), ...made] }
  } finally {
    for (const { document } of open) document.dispose()
  }
}

const DOCTYPE = '<!DOCTYPE'
/** Matches an external entity. */
const EXTERNAL_ENTITY = /<!ENTITY\s+(?:%\s+)?[^\s"'>]+\s+(?:SYSTEM|PUBLIC)\s/

/**
 * Parses a document. Returns null if it is not XML, which is reported later.
 * @throws Error for a DOCTYPE that cannot be resolved
 */
function parsed({ systemId, bytes }: SchemaDocument): XmlDocument | null {
  const text = Buffer.from(bytes).toString('latin1')
  if (EXTERNAL_ENTITY.test(text))
    throw new Error(`the schema '${systemId}' declares an external entity: put its text into the schema`)
  const { XmlDocument: Document, XmlError, ParseOption } = libxml()
  const { XML_PARSE_NONET, XML_PARSE_NO_XXE, XML_PARSE_NOENT, XML_PARSE_NO_SYS_CATALOG } = ParseOption
  const option = XML_PARSE_NONET | XML_PARSE_NO_XXE | XML_PARSE_NOENT | XML_PARSE_NO_SYS_CATALOG
  try {
    return Document.fromBuffer(bytes, { option })
  } catch (problem) {
    if (!(problem instanceof XmlError)) throw problem
    if (!text.includes(DOCTYPE)) return null
    throw new Error(
      `the schema '${systemId}' has a DOCTYPE that cannot be resolved: ${problem.message.trim()}`,
      { cause: problem },
    )
  }
}

function written({ source, document, isChanged }: OpenDocument): SchemaDocument {
  if (!isChanged && document.dtd === null) return source
  const { root } = document
  const text = '\n'.repeat(Math.max(0, root.line - 1)) + root.toString({ format: false })
  return { systemId: source.systemId, bytes: Buffer.from(text) }
}

class Linking {
  readonly #open: readonly OpenDocument[]
  readonly #rootNamespace: string
  readonly #byId: ReadonlyMap<string, OpenDocument>

  constructor(open: readonly OpenDocument[], root: string) {
    this.#open = open
    this.#byId = new Map(open.map((one) => [normalized(one.source.systemId), one]))
    this.#rootNamespace = open.find(({ source }) => source.systemId === root)?.namespace ?? ''
  }

  /**
   * Links the documents. Returns additional documents that each include all documents imported for one
   * namespace.
   */
  link(): SchemaDocument[] {
    const imports = new Map<string, { readonly from: OpenDocument; readonly element: XmlElement }[]>()
    for (const from of this.#open) {
      for (const element of from.document.find(LINKS, { xs: XS }) as XmlElement[]) {
        const namespace = attribute(element, 'namespace') ?? ''
        if (element.name === 'import' && namespace !== this.#rootNamespace)
          imports.set(namespace, [...(imports.get(namespace) ?? []), { from, element }])
        else point(from, element, this.#targetOf(from, element)?.source.systemId ?? null)
      }
    }
    const made: SchemaDocument[] = []
    for (const [namespace, uses] of imports) {
      const named = new Set(uses.map(({ from, element }) => this.#targetOf(from, element)))
      named.delete(null)
      const targets = named.size > 0 ? [...named] : this.#open.filter((one) => one.namespace === namespace)
      const [first = null, second] = targets
      const all = second === undefined ? null : `imports-${made.length + 1}-of-the-gateway.xsd`
      if (all !== null) made.push(includingAll(all, namespace, targets as readonly OpenDocument[]))
      const systemId = all ?? first?.source.systemId ?? null
      for (const { from, element } of uses) {
        // A location that matches no listed document stays, and is reported later.
        const isLost = attribute(element, 'schemaLocation') !== null && this.#targetOf(from, element) === null
        if (!isLost) point(from, element, systemId)
      }
    }
    return made
  }

  #targetOf({ source }: OpenDocument, element: XmlElement): OpenDocument | null {
    const location = attribute(element, 'schemaLocation')
    return location === null ? null : (this.#byId.get(resolved(source.systemId, location.trim())) ?? null)
  }
}

/** Sets the location of an import or include so that libxml2 resolves it to the system id. */
function point(from: OpenDocument, element: XmlElement, systemId: string | null): void {
  const base = from.source.systemId
  if (systemId === null || URL.canParse(base)) return
  const there = element.attrs.find((one) => one.name === 'schemaLocation' && one.namespaceUri === '')
  // libxml2 resolves relative folders itself, and uses a location without a folder as it is.
  if (there !== undefined && (base.includes('/') ? resolved(base, there.value) : there.value) === systemId)
    return
  const isUrl = URL.canParse(systemId) || systemId.startsWith('/')
  const up = isUrl ? 0 : posix.normalize(base).split('/').length - 1
  const location = '../'.repeat(up) + systemId
  if (there === undefined) element.setAttr('schemaLocation', location)
  else there.value = location.replaceAll('&', '&amp;')
  from.isChanged = true
}

function includingAll(systemId: string, namespace: string, targets: readonly OpenDocument[]): SchemaDocument {
  const includes = targets.map(({ source }) => element('xs:include', [], { schemaLocation: source.systemId }))
  const attributes = { 'xmlns:xs': XS, ...(namespace === '' ? {} : { targetNamespace: namespace }) }
  return { systemId, bytes: Buffer.from(buildXml(element('xs:schema', includes, attributes))) }
}

function attribute(element: XmlElement, name: string): string | null {
  return element.attrs.find((one) => one.name === name && one.namespaceUri === '')?.value ?? null
}

function normalized(systemId: string): string {
  return URL.canParse(systemId) ? new URL(systemId).href : posix.normalize(systemId)
}

function resolved(from: string, location: string): string {
  if (URL.canParse(location)) return new URL(location).href
  if (URL.canParse(from)) return new URL(location, from).href
  return location.startsWith('/') ? posix.normalize(location) : posix.join(posix.dirname(from), location)
}
