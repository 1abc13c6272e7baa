import { XmlCData, XmlElement, type XmlNode, XmlText, XmlTreeNode, XmlXPath } from 'libxml2-wasm'
import { type FaultCode, SecurityFault } from './fault.js'
import { NS } from './names.js'

// A union of both would look for each among all that were found before.
const STRANGERS = XmlXPath.compile('descendant::node()[self::comment() or self::processing-instruction()][1]')

/** Whether a comment or a processing instruction stands anywhere in an element: readers differ in what they make of it. */
export function hasStrangers(element: XmlElement): boolean {
  return element.get(STRANGERS) !== null
}

/** Neither a Header nor what WS-Security puts into it has more children than this. */
const MAX_CHILDREN = 256

/**
 * The elements directly below one. @throws SecurityFault when there are too many, and for a processing instruction among
 * them: SOAP has none, and the library does not say what comes behind one.
 */
export function childElements(parent: XmlElement, max = MAX_CHILDREN): XmlElement[] {
  const children: XmlElement[] = []
  for (let node = parent.firstChild; node !== null; node = node.next) {
    refuseInstruction(node)
    if (!(node instanceof XmlElement)) continue
    if (children.length === max) throw new SecurityFault('InvalidSecurity', `too much in ${parent.name}`)
    children.push(node)
  }
  return children
}

function refuseInstruction(node: XmlNode): void {
  if (!(node instanceof XmlTreeNode)) throw new SecurityFault('InvalidSecurity', 'a processing instruction')
}

/** The element directly below one, when there is exactly one. */
export function onlyElement(parent: XmlElement): XmlElement | null {
  let only: XmlElement | null = null
  for (let node = parent.firstChild; node !== null; node = node.next) {
    refuseInstruction(node)
    if (!(node instanceof XmlElement)) continue
    if (only !== null) return null
    only = node
  }
  return only
}

/** Whether an element has this name in this namespace. */
export function isElement(element: XmlElement, namespace: string, name: string): boolean {
  return element.name === name && element.namespaceUri === namespace
}

/** The children of that name. */
export function childrenNamed(
  parent: XmlElement,
  namespace: string,
  name: string,
  max = MAX_CHILDREN,
): XmlElement[] {
  return childElements(parent, max).filter((child) => isElement(child, namespace, name))
}

/** The only child of that name; null when there is none. @throws SecurityFault when there are several */
export function optionalChild(parent: XmlElement, namespace: string, name: string): XmlElement | null {
  const [first = null, second] = childrenNamed(parent, namespace, name)
  if (second !== undefined) throw new SecurityFault('InvalidSecurity', `more than one ${name}`)
  return first
}

/** The only child of that name. @throws SecurityFault when there is none or several */
export function requiredChild(
  parent: XmlElement,
  namespace: string,
  name: string,
  code: FaultCode = 'InvalidSecurity',
): XmlElement {
  const child = optionalChild(parent, namespace, name)
  if (child === null) throw new SecurityFault(code, `no ${name} in ${parent.name}`)
  return child
}

/** The value of an attribute without a namespace. */
export function attributeOf(element: XmlElement, name: string): string | null {
  return element.attrs.find((attr) => attr.name === name && attr.namespaceUri === '')?.value ?? null
}

/** The value of an attribute in a namespace, whatever its prefix. */
export function attributeIn(element: XmlElement, namespace: string, name: string): string | null {
  return element.attrs.find((attr) => attr.name === name && attr.namespaceUri === namespace)?.value ?? null
}

/**
 * Returns the text of an element: all runs of characters and CDATA sections in it (XML 1.0, 2.7), from the first to the
 * last. A comment, an instruction or an element among them is refused, because some readers see only what stands before it.
 */
export function plainText(element: XmlElement, code: FaultCode = 'InvalidSecurity'): string {
  let text: string | null = null
  for (let node = element.firstChild; node !== null; node = node.next) {
    if (!(node instanceof XmlText || node instanceof XmlCData)) {
      text = null
      break
    }
    text = (text ?? '') + node.content
  }
  if (text === null) throw new SecurityFault(code, `${element.name} is not plain text`)
  return text
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The Base64 that an element holds (xsd:base64Binary), without the whitespace that may stand in it. */
export function base64Text(
  element: XmlElement,
  maxLength: number,
  code: FaultCode = 'InvalidSecurity',
): string {
  const text = plainText(element, code)
  if (text.length > maxLength) throw new SecurityFault(code, `${element.name} is too long`)
  const packed = text.replaceAll(/[ \t\r\n]+/g, '')
  if (packed.length % 4 !== 0 || !BASE64.test(packed)) throw new SecurityFault(code, 'not Base64')
  return packed
}

/** The bytes that an element holds in Base64. */
export function base64Bytes(
  element: XmlElement,
  maxLength: number,
  code: FaultCode = 'InvalidSecurity',
): Buffer {
  return Buffer.from(base64Text(element, maxLength, code), 'base64')
}

/** The id by which references name an element: wsu:Id, or the Id that the signature and encryption standards have. */
export function idOf(element: XmlElement): string | null {
  const id = attributeIn(element, NS.wsu, 'Id')
  if (id !== null) return id
  const hasOwnId = element.namespaceUri === NS.ds || element.namespaceUri === NS.xenc
  return hasOwnId ? attributeOf(element, 'Id') : null
}

/** The id after `#`: references out of the document are never followed. */
export function localReference(uri: string | null, code: FaultCode): string {
  if (uri === null || uri.length < 2 || uri.length > 256 || !uri.startsWith('#')) {
    throw new SecurityFault(code, 'a reference that is not #id')
  }
  const id = uri.slice(1)
  if (!/^[\w.:-]+$/.test(id)) throw new SecurityFault(code, 'a reference that is not an id')
  return id
}

/** Whether a node is inside an element, or is it. */
export function isInside(node: XmlNode, ancestor: XmlElement): boolean {
  for (let at: XmlNode | null = node; at !== null; at = at.parent) if (at.isSameNode(ancestor)) return true
  return false
}
