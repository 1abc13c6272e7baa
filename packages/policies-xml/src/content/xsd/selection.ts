import { libxml } from '../../engines/xml/libxml.js'
import type { XmlView } from '../../engines/xml/view.js'
import { compileNodes } from '../../engines/xml/xpath.js'

/** Addresses of the elements to validate, or the reason why there are none. */
export type Selected = { readonly elements: readonly number[] } | { readonly mistake: string }

/** Selects the elements to validate in a document. */
export type Selection = (view: XmlView) => Selected

/** Maximum number of elements to validate per document. */
const MAX_SELECTED = 1000

/**
 * Compiles a selection.
 * @param select `soap-body`, an XPath, or undefined for the root element.
 * @throws Error for an invalid XPath, or one that selects no nodes.
 */
export function compileSelection(
  select: string | undefined,
  names: Readonly<Record<string, string>>,
): Selection {
  if (select === 'soap-body') return soapBody()
  const nodes = compileNodes(select ?? '/*', names)
  return (view) => {
    const elements = nodes(view, MAX_SELECTED + 1)
    if (elements.length === 0) return { mistake: `no element matches ${select}` }
    if (elements.length > MAX_SELECTED)
      return { mistake: `more than ${MAX_SELECTED} elements match ${select}` }
    return elements.every(isElement) ? { elements } : { mistake: `a match of ${select} is not an element` }
  }
}

/** Selects the single element in a SOAP body. Additional elements would reach the upstream unchecked. */
function soapBody(): Selection {
  const bodies = ['soap', 'soap12'].map((soap) => compileNodes(`/${soap}:Envelope/${soap}:Body`, {}))
  const children = ['soap', 'soap12'].map((soap) => compileNodes(`/${soap}:Envelope/${soap}:Body/*`, {}))
  return (view) => {
    const found = bodies.flatMap((nodes) => nodes(view, 2))
    if (found.length !== 1) return { mistake: 'it is not a SOAP envelope with one body' }
    const elements = children.flatMap((nodes) => nodes(view, 2))
    return elements.length === 1 ? { elements } : { mistake: 'the SOAP body must have exactly one element' }
  }
}

function isElement(node: number): boolean {
  const { XmlTreeCommonStruct, XmlNodeType } = libxml().raw
  return XmlTreeCommonStruct.type(node) === XmlNodeType.XML_ELEMENT_NODE
}
