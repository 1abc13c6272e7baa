import type { XmlDocument } from 'libxml2-wasm'
import { asciiMarkup, checkEncoding } from './encoding.js'
import { type Libxml, libxml } from './libxml.js'
import { XML_LIMITS, type XmlLimits } from './limits.js'
import { giveBackMemory, takeMemory } from './memory.js'
import { hasDoctype, scanXml } from './scan.js'
import { malformedXml, unreadableXml } from './unreadable-xml.js'
import { XmlView } from './view.js'

/**
 * The one way from bytes to an XML document, for all policies. Size and shape are bounded by a scan of the bytes; the
 * parser then checks: strictly well-formed with namespaces, nothing but the bytes is read, no entities, no DOCTYPE.
 * Whoever parses closes the view; policies take `xmlOf`, which shares one view among them.
 *
 * @throws UnreadableBody for everything else than such a document, in words that do not quote it; with GW_OVERLOADED
 * when all documents under way take as much memory as they may.
 */
export function parseXml(body: Uint8Array, limits: XmlLimits = XML_LIMITS): XmlView {
  const library = libxml()
  if (body.length === 0) throw unreadableXml('is empty where an XML document is expected')
  if (body.length > limits.maxBytes) throw unreadableXml(`is larger than ${limits.maxBytes} bytes`)
  const shape = scanXml(asciiMarkup(body), limits)
  const taken = takeMemory(body.length, shape.nodes)
  let document: XmlDocument | null = null
  try {
    document = parse(library, body)
    check(document)
    return new XmlView(document, shape, () => giveBackMemory(taken))
  } catch (problem) {
    document?.dispose()
    giveBackMemory(taken)
    throw problem
  }
}

function parse({ XmlDocument, XmlParseError, ParseOption }: Libxml, body: Uint8Array): XmlDocument {
  const { XML_PARSE_NONET, XML_PARSE_NO_XXE, XML_PARSE_NO_SYS_CATALOG } = ParseOption
  const option = XML_PARSE_NONET | XML_PARSE_NO_XXE | XML_PARSE_NO_SYS_CATALOG
  try {
    return XmlDocument.fromBuffer(body, { option })
  } catch (problem) {
    if (!(problem instanceof XmlParseError)) throw problem
    throw malformedXml(problem.details[0] ?? { message: '', line: 1, col: 1 })
  }
}

/** What the scan has to be right about, asked of the parser: it decides. */
function check(document: XmlDocument): void {
  if (document.dtd !== null) throw hasDoctype()
  checkEncoding(document.encoding)
}
