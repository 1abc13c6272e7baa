import { createHash } from 'node:crypto'
import { XmlC14NMode, type XmlDocument, type XmlElement, type XmlOutputBufferHandler } from 'libxml2-wasm'
import {
  XmlTreeCommonStruct,
  xmlAddChild,
  xmlAddNextSibling,
  xmlAddPrevSibling,
  xmlDocSetRootElement,
  xmlUnlinkNode,
} from 'libxml2-wasm/lib/libxml2.mjs'
import { attributeOf, childElements, isElement } from './elements.js'
import { SecurityFault } from './fault.js'
import { NS } from './names.js'

/** Parameters of a canonicalization. */
export interface Canonicalization {
  readonly mode: (typeof XmlC14NMode)[keyof typeof XmlC14NMode]
  /** Prefixes in InclusiveNamespaces, which are rendered even if they are not visibly used. */
  readonly prefixes: readonly string[]
}

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'

/** Supported canonicalizations, all without comments, so comments are never signed. */
const MODES: ReadonlyMap<string, Canonicalization['mode']> = new Map([
  [EXCLUSIVE, XmlC14NMode.XML_C14N_EXCLUSIVE_1_0],
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', XmlC14NMode.XML_C14N_1_0],
  ['http://www.w3.org/2006/12/xml-c14n11', XmlC14NMode.XML_C14N_1_1],
])
const MAX_PREFIXES = 64

/** Canonicalization of our own signatures. */
export const EXCLUSIVE_C14N: Canonicalization = { mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, prefixes: [] }

/** Reads ds:CanonicalizationMethod or ds:Transform. @throws SecurityFault if it is not supported */
export function canonicalizationOf(method: XmlElement): Canonicalization {
  const mode = MODES.get(attributeOf(method, 'Algorithm') ?? '')
  if (mode === undefined) throw new SecurityFault('UnsupportedAlgorithm', 'unknown transform')
  const children = childElements(method)
  if (children.length === 0) return { mode, prefixes: [] }
  const [list] = children
  const isPrefixList = isElement(list!, NS.ec, 'InclusiveNamespaces') && mode === MODES.get(EXCLUSIVE)
  if (!isPrefixList || children.length > 1)
    throw new SecurityFault('UnsupportedAlgorithm', 'the transform has unsupported parameters')
  const prefixes = (attributeOf(list!, 'PrefixList') ?? '')
    .split(/[ \t\r\n]+/)
    .filter((prefix) => prefix !== '')
  if (prefixes.length > MAX_PREFIXES) throw new SecurityFault('InvalidSecurity', 'too many prefixes')
  return { mode, prefixes }
}

/** Returns the base64 digest of an element in canonical form. */
export function canonicalDigest(element: XmlElement, how: Canonicalization, hash: string): string {
  const digest = createHash(hash)
  canonicalize(element, how, (part) => digest.update(part))
  return digest.digest('base64')
}

/** Returns an element in canonical form. */
export function canonicalBytes(element: XmlElement, how: Canonicalization): Buffer {
  const parts: Buffer[] = []
  // Copies each part, because the library reuses its memory.
  canonicalize(element, how, (part) => parts.push(Buffer.from(part)))
  return Buffer.concat(parts)
}

function canonicalize(element: XmlElement, how: Canonicalization, take: (part: Uint8Array) => void): void {
  const { mode, prefixes } = how
  const isExclusive = mode === XmlC14NMode.XML_C14N_EXCLUSIVE_1_0
  const options = { mode, ...(prefixes.length === 0 ? {} : { inclusiveNamespacePrefixes: prefixes.slice() }) }
  const sink: XmlOutputBufferHandler = {
    write(part) {
      take(part)
      return part.length
    },
    close: () => true,
  }
  if (!isExclusive && inheritsXmlAttributes(element)) {
    element.canonicalize(sink, options)
    return
  }
  if (!isExclusive) declareInherited(element, null)
  else if (prefixes.length > 0) declareInherited(element, prefixes)
  asRoot(element, (document) => document.canonicalize(sink, options))
}

/**
 * Returns true if an ancestor has xml: attributes such as xml:lang. Inclusive forms inherit them, which only
 * the library's slow method supports.
 */
function inheritsXmlAttributes(element: XmlElement): boolean {
  for (let at = element.parent; at !== null; at = at.parent) {
    if (at.attrs.some((attr) => attr.prefix === 'xml')) return true
  }
  return false
}

/**
 * Repeats inherited namespace declarations on an element, which it would lose as the root of its document.
 * They are in scope anyway, so neither the document nor its canonical form changes.
 */
function declareInherited(element: XmlElement, prefixes: readonly string[] | null): void {
  const own = new Set(Object.keys(element.nsDeclarations))
  for (const [prefix, uri] of Object.entries(element.namespaces)) {
    if (own.has(prefix) || uri === '') continue
    if (prefixes !== null && !prefixes.includes(prefix === '' ? '#default' : prefix)) continue
    if (prefix === '') element.addNsDeclaration(uri)
    else element.addNsDeclaration(uri, prefix)
  }
}

type NodePointer = Parameters<typeof xmlUnlinkNode>[0]
type DocumentPointer = Parameters<typeof xmlDocSetRootElement>[0]

/**
 * Runs the callback with the element as the root of its document, then restores the position. The library's
 * own method for part of a document visits every node, and takes more than ten times as long.
 */
function asRoot(element: XmlElement, use: (document: XmlDocument) => void): void {
  const document = element.doc
  const root = pointer(document.root)
  const node = pointer(element)
  if (node === root) {
    use(document)
    return
  }
  const parent = XmlTreeCommonStruct.parent(node)
  const next = XmlTreeCommonStruct.next(node)
  const prev = XmlTreeCommonStruct.prev(node)
  const doc = (document as unknown as { readonly _ptr: DocumentPointer })._ptr
  xmlUnlinkNode(node)
  xmlDocSetRootElement(doc, node)
  try {
    use(document)
  } finally {
    xmlDocSetRootElement(doc, root)
    if (next !== 0) xmlAddPrevSibling(next, node)
    else if (prev !== 0) xmlAddNextSibling(prev, node)
    else xmlAddChild(parent, node)
  }
}

function pointer(element: XmlElement): NodePointer {
  return (element as unknown as { readonly _nodePtr: NodePointer })._nodePtr
}
