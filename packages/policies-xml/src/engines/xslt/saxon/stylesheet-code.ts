import type { XmlAttribute, XmlDocument, XmlElement } from 'libxml2-wasm'
import { XSL } from '../stylesheet.js'

/** Prefix of the namespaces through which SaxonJS calls JavaScript: globalJS and interactiveXSLT. */
const SAXONICA = 'http://saxonica.com/'
/** Functions that evaluate text as code, in any namespace. */
export const EVALUATING: ReadonlySet<string> = new Set([
  'function-lookup',
  'transform',
  'load-xquery-module',
  'compile-XPath',
  'parse-XPath',
])
/** Namespaces whose functions static expressions may call. */
const STATIC_NAMESPACES: ReadonlySet<string> = new Set([
  'http://www.w3.org/2005/xpath-functions',
  'http://www.w3.org/2005/xpath-functions/map',
  'http://www.w3.org/2005/xpath-functions/array',
  'http://www.w3.org/2005/xpath-functions/math',
  'http://www.w3.org/2001/XMLSchema',
])
/** A function call or reference, with its prefix or namespace. A comment may follow the name. */
const FUNCTION = /(?:([\p{L}_][\p{L}\p{N}_.-]*):|Q\{([^{}]*)\})?([\p{L}_][\p{L}\p{N}_.-]*)\s*(?:\(|#)/gu
/** XPath of the attributes that are evaluated during compilation. */
const STATIC_EXPRESSIONS =
  "//@*[local-name() = 'use-when'] | //*[@static]/@select | //xsl:*/@*[starts-with(name(), '_')]"

/**
 * Refuses an XSLT 2.0 or 3.0 stylesheet whose elements or static expressions call JavaScript or evaluate text as
 * code: these run during compilation. The compiled form is checked separately (sef-code.ts).
 * @throws Error that names the construct
 */
export function refuseCode(document: XmlDocument, what: string): void {
  const find = (path: string) => document.get(path, { xsl: XSL })
  if (
    find(`//*[namespace::*[contains(., '${SAXONICA}')]]`) !== null ||
    find(`//@*[contains(., '${SAXONICA}')]`) !== null
  )
    throw new Error(`${what} uses a namespace of ${SAXONICA}, which calls JavaScript; remove it`)
  if (find('//xsl:evaluate') !== null)
    throw new Error(`${what} has an element 'xsl:evaluate', which evaluates text as code; remove it`)
  const shadow = find("//xsl:*/@_use-when | //xsl:*[@static or @_static]/@*[starts-with(name(), '_')]")
  if (shadow !== null)
    throw new Error(
      `${what} computes a static expression, '${(shadow as XmlAttribute).name}'; use a fixed expression`,
    )
  for (const attribute of document.find(STATIC_EXPRESSIONS, { xsl: XSL }) as XmlAttribute[])
    refuseStaticCalls(attribute, what)
}

function refuseStaticCalls(attribute: XmlAttribute, what: string): void {
  const owner = attribute.parent as XmlElement
  // A comment between a name and its parenthesis begins with a parenthesis, so it matches too.
  for (const [, prefix, braced, name] of attribute.value.matchAll(FUNCTION)) {
    const namespace = braced?.trim() ?? (prefix === undefined ? '' : owner.namespaceForPrefix(prefix))
    const isKnown = namespace === '' || STATIC_NAMESPACES.has(namespace ?? '')
    if (isKnown && !EVALUATING.has(name!)) continue
    throw new Error(`${what} calls '${prefix === undefined ? '' : `${prefix}:`}${name}' while it is compiled`)
  }
}
