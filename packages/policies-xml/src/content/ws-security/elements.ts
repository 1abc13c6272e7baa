import { XmlCData, XmlElement, type XmlNode, XmlText, XmlTreeNode, XmlXPath } from 'libxml2-wasm'
import { type FaultCode, SecurityFault } from './fault.js'
import { NS } from './names.js'

// A union of two paths would take quadratic time.
const COMMENT_OR_INSTRUCTION = XmlXPath.compile(
  'descendant::node()[self::comment() or self::processing-instruction()][1]',
)

/**
 * Returns true if an element contains a comment or a processing instruction, which parsers treat differently.
 */
export function hasCommentOrInstruction(element: XmlElement): boolean {
  return element.get(COMMENT_OR_INSTRUCTION) !== null
}

/** Maximum number of children of a Header and of WS-Security elements. */
const MAX_CHILDREN = 256

/**
 * Returns the child elements.
 * @throws SecurityFault for too many children or a processing instruction. SOAP has none, and the library
 * hides the nodes behind one.
 */
export function childElements(parent: XmlElement, max = MAX_CHILDREN): XmlElement[] {
  const children: XmlElement[] = []
  for (let node = parent.firstChild; node !== null; node = node.next) {
    refuseInstruction(node)
    if (!(node instanceof XmlElement)) continue
    if (children.length === max)
      throw new SecurityFault('InvalidSecurity', `too many elements in ${parent.name}`)
    children.push(node)
  }
  return children
}

function refuseInstruction(node: XmlNode): void {
  if (!(node instanceof XmlTreeNode)) throw new SecurityFault('InvalidSecurity', 'a processing instruction')
}

/** Returns the only child element, or null if there is not exactly one. */
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

/** True if an element has this name and namespace. */
export function isElement(element: XmlElement, namespace: string, name: string): boolean {
  return element.name === name && element.namespaceUri === namespace
}

/** Returns the child elements with that name. */
export function childrenNamed(
  parent: XmlElement,
  namespace: string,
  name: string,
  max = MAX_CHILDREN,
): XmlElement[] {
  return childElements(parent, max).filter((child) => isElement(child, namespace, name))
}

/**
 * Returns the only child element with that name, or null if there is none.
 * @throws SecurityFault for several
 */
export function optionalChild(parent: XmlElement, namespace: string, name: string): XmlElement | null {
  const [first = null, second] = childrenNamed(parent, namespace, name)
  if (second !== undefined) throw new SecurityFault('InvalidSecurity', `more than one ${name}`)
  return first
}

/** Returns the only child element with that name. @throws SecurityFault for none or several */
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

/** Returns the value of an attribute without a namespace. */
export function attributeOf(element: XmlElement, name: string): string | null {
  return element.attrs.find((attr) => attr.name === name && attr.namespaceUri === '')?.value ?? null
}

/** Returns the value of an attribute in a namespace. */
export function attributeIn(element: XmlElement, namespace: string, name: string): string | null {
  return element.attrs.find((attr) => attr.name === name && attr.namespaceUri === namespace)?.value ?? null
}

/**
 * Returns the text of an element, including CDATA sections (XML 1.0, 2.7). Comments, instructions and child
 * elements are refused, because some parsers see only the text before them.
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

/** Returns the base64 text of an element (xsd:base64Binary) without white space. */
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

/** Returns the bytes of an element with base64 text. */
export function base64Bytes(
  element: XmlElement,
  maxLength: number,
  code: FaultCode = 'InvalidSecurity',
): Buffer {
  return Buffer.from(base64Text(element, maxLength, code), 'base64')
}

/** Returns the id of an element: wsu:Id, or the Id of the signature and encryption standards. */
export function idOf(element: XmlElement): string | null {
  const id = attributeIn(element, NS.wsu, 'Id')
  if (id !== null) return id
  const hasOwnId = element.namespaceUri === NS.ds || element.namespaceUri === NS.xenc
  return hasOwnId ? attributeOf(element, 'Id') : null
}

/** Returns the id after `#`. References out of the document are never followed. */
export function localReference(uri: string | null, code: FaultCode): string {
  if (uri === null || uri.length < 2 || uri.length > 256 || !uri.startsWith('#'))
    throw new SecurityFault(code, 'a reference is not of the form #id')
  const id = uri.slice(1)
  if (!/^[\w.:-]+$/.test(id)) throw new SecurityFault(code, 'a reference is not a valid id')
  return id
}

/** True if a node is the element or inside it. */
export function isInside(node: XmlNode, ancestor: XmlElement): boolean {
  for (let at: XmlNode | null = node; at !== null; at = at.parent) if (at.isSameNode(ancestor)) return true
  return false
}
