import { libxml } from '../../engines/xml/libxml.js'
import type { XmlView } from '../../engines/xml/view.js'
import { compileNodes } from '../../engines/xml/xpath.js'

/** The addresses of the elements to validate, or what is wrong with the document. */
export type Selected = { readonly elements: readonly number[] } | { readonly mistake: string }

/** Finds in a document what is validated. */
export type Selection = (view: XmlView) => Selected

/** Most elements that one document has validated. */
const MAX_SELECTED = 1000

/**
 * @param select `soap-body`, an XPath, or undefined for the root element.
 * @throws Error for an XPath that is none or selects no nodes.
 */
export function compileSelection(
  select: string | undefined,
  names: Readonly<Record<string, string>>,
): Selection {
  if (select === 'soap-body') return soapBody()
  const nodes = compileNodes(select ?? '/*', names)
  return (view) => {
    const elements = nodes(view, MAX_SELECTED + 1)
    if (elements.length === 0) return { mistake: `nothing is at ${select}` }
    if (elements.length > MAX_SELECTED)
      return { mistake: `more than ${MAX_SELECTED} elements are at ${select}` }
    return elements.every(isElement) ? { elements } : { mistake: `what is at ${select} is not an element` }
  }
}

/** One element and no more: what stands beside a valid one would reach the upstream unseen. */
function soapBody(): Selection {
  const bodies = ['soap', 'soap12'].map((soap) => compileNodes(`/${soap}:Envelope/${soap}:Body`, {}))
  const children = ['soap', 'soap12'].map((soap) => compileNodes(`/${soap}:Envelope/${soap}:Body/*`, {}))
  return (view) => {
    const found = bodies.flatMap((nodes) => nodes(view, 2))
    if (found.length !== 1) return { mistake: 'it is not a SOAP envelope with one body' }
    const elements = children.flatMap((nodes) => nodes(view, 2))
    return elements.length === 1 ? { elements } : { mistake: 'the SOAP body has to have one element' }
  }
}

function isElement(node: number): boolean {
  const { XmlTreeCommonStruct, XmlNodeType } = libxml().raw
  return XmlTreeCommonStruct.type(node) === XmlNodeType.XML_ELEMENT_NODE
}
