import type { BodyValue } from '@sluice/core'
import type { XmlDocument, XmlXPath } from 'libxml2-wasm'
import { addressOf, type Libxml, libxml } from './libxml.js'
import { KNOWN_PREFIXES } from './namespaces.js'
import { prefixesOf } from './xpath-words.js'

/** A compiled XPath 1.0 expression. */
export interface XPath {
  /** The expression selects nodes; otherwise it computes a text, a number or a boolean. */
  readonly selectsNodes: boolean
  /** What it says of a document: of nodes the text of the first in the document, null where there is none. */
  value(document: XmlDocument): BodyValue
  /** The address of the first node it selects; 0 where there is none. */
  node(document: XmlDocument): number
}

/**
 * Compiles an expression once; its context is the document, not the root element.
 * @param names what prefixes stand for, beside the known ones.
 * @throws Error that says what is wrong with it, or that the library was not loaded.
 */
export function compileXPath(path: string, names: Readonly<Record<string, string>>): XPath {
  const known = { ...KNOWN_PREFIXES, ...names }
  const prefixes = prefixesOf(path, known).map((prefix) => [prefix, known[prefix]!] as const)
  const library = libxml()
  const whole = compiled(library, path)
  const selectsNodes = isNodeSet(library, whole, prefixes)
  // libxml2 stops searching once it has the first node, and finds it in the order of the document.
  const program = selectsNodes ? compiled(library, `(${path})[1]`) : whole
  if (selectsNodes) whole.dispose()
  return {
    selectsNodes,
    value: (document) => evaluate(library, { program, prefixes, document, read: bodyValueOf }),
    node: (document) => evaluate(library, { program, prefixes, document, read: firstOf }),
  }
}

type Prefixes = readonly (readonly [prefix: string, uri: string])[]

function compiled({ XmlXPath, XmlError }: Libxml, path: string): XmlXPath {
  try {
    return XmlXPath.compile(path)
  } catch (problem) {
    if (!(problem instanceof XmlError)) throw problem
    throw new Error(`'${path}' is not an XPath 1.0 expression; look for brackets, quotes and names`)
  }
}

/** What an expression returns is a question of its text alone, so any document answers it. */
function isNodeSet(library: Libxml, program: XmlXPath, prefixes: Prefixes): boolean {
  const document = library.XmlDocument.fromString('<a/>')
  const { XmlXPathObjectStruct } = library.raw
  const read = (_: Libxml, object: number) =>
    XmlXPathObjectStruct.type(object) === XmlXPathObjectStruct.Type.XPATH_NODESET
  try {
    return evaluate(library, { program, prefixes, document, read })
  } finally {
    document.dispose()
  }
}

interface Evaluation<T> {
  readonly program: XmlXPath
  readonly prefixes: Prefixes
  readonly document: XmlDocument
  read(library: Libxml, object: number): T
}

/** Through libxml2's own functions: its classes would wrap each node that is found, and cannot begin at the document. */
function evaluate<T>(library: Libxml, { program, prefixes, document, read }: Evaluation<T>): T {
  const { raw } = library
  const address = addressOf(document)
  const context = raw.xmlXPathNewContext(address)
  let object = 0
  try {
    for (const [prefix, uri] of prefixes) raw.xmlXPathRegisterNs(context, prefix, uri)
    raw.xmlXPathSetContextNode(address, context)
    object = raw.xmlXPathCompiledEval(addressOf(program), context)
    if (object === 0)
      throw new Error(`the XPath '${program}' cannot be evaluated; give its functions what they need`)
    return read(library, object)
  } finally {
    if (object !== 0) raw.xmlXPathFreeObject(object)
    raw.xmlXPathFreeContext(context)
  }
}

/** A number that is none is nothing: `number()` of what is not there. */
function bodyValueOf(library: Libxml, object: number): BodyValue {
  const { XmlXPathObjectStruct: Result, xmlNodeGetContent } = library.raw
  const type = Result.type(object)
  if (type === Result.Type.XPATH_BOOLEAN) return Result.boolval(object) !== 0
  if (type === Result.Type.XPATH_STRING) return Result.stringval(object)
  if (type === Result.Type.XPATH_NUMBER) {
    const number = Result.floatval(object)
    return Number.isNaN(number) ? null : number
  }
  const node = firstOf(library, object)
  return node === 0 ? null : xmlNodeGetContent(node)
}

function firstOf({ raw }: Libxml, object: number): number {
  const nodes = raw.XmlXPathObjectStruct.nodesetval(object)
  if (nodes === 0 || raw.XmlNodeSetStruct.nodeCount(nodes) === 0) return 0
  return raw.XmlNodeSetStruct.nodeTable(nodes, 1)[0]!
}
