import type { XmlDocument } from 'libxml2-wasm'
import { asciiMarkup, checkEncoding } from './encoding.js'
import { type Libxml, libxml } from './libxml.js'
import { XML_LIMITS, type XmlLimits } from './limits.js'
import { releaseMemory, reserveMemory } from './memory.js'
import { hasDoctype, scanXml } from './scan.js'
import { malformedXml, unreadableXml } from './unreadable-xml.js'
import { XmlView } from './view.js'

/**
 * Parses bytes as an XML document. All policies use this function. A scan of the bytes limits size and structure
 * first. The parser then requires well-formed XML with namespaces and reads nothing but the bytes. Entities and
 * DOCTYPE are refused. The caller must close the view; policies use `xmlOf`, which shares one view.
 *
 * @throws UnreadableBody for any other document, without quoting it; with GW_OVERLOADED if the open documents use all
 * the memory that they may.
 */
export function parseXml(body: Uint8Array, limits: XmlLimits = XML_LIMITS): XmlView {
  const library = libxml()
  if (body.length === 0) throw unreadableXml('is empty where an XML document is expected')
  if (body.length > limits.maxBytes) throw unreadableXml(`is larger than ${limits.maxBytes} bytes`)
  const shape = scanXml(asciiMarkup(body), limits)
  const taken = reserveMemory(body.length, shape.nodes)
  let document: XmlDocument | null = null
  try {
    document = parse(library, body)
    check(document)
    return new XmlView(document, shape, () => releaseMemory(taken))
  } catch (problem) {
    document?.dispose()
    releaseMemory(taken)
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

/** Checks the security-critical results of the scan against the parser, which decides. */
function check(document: XmlDocument): void {
  if (document.dtd !== null) throw hasDoctype()
  checkEncoding(document.encoding)
}
