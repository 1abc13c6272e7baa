import type { BodyValue } from '@sluice/core'
import type { XmlXPath } from 'libxml2-wasm'
import { addressOf, type Libxml, libxml } from './libxml.js'
import { KNOWN_PREFIXES } from './namespaces.js'
import { unreadableXml } from './unreadable-xml.js'
import type { XmlView } from './view.js'
import { nodeLimitOf } from './xpath-cost.js'
import { prefixesOf } from './xpath-words.js'

/**
 * Reads a value from a document: the text of the first node, or null if no node matches.
 * @throws UnreadableBody if the document has too many nodes for the expression
 */
export type ValueOf = (view: XmlView) => BodyValue

/**
 * Returns the addresses of at most `most` nodes that an expression selects. They are valid as long as the document.
 * @throws UnreadableBody if the document has too many nodes for the expression
 */
export type NodesOf = (view: XmlView, most: number) => readonly number[]

/**
 * Compiles an expression for repeated use. Its context is the document, not the root element. `nodeLimitOf` limits
 * its cost.
 * @param names namespaces of prefixes, in addition to the predefined ones.
 * @throws Error for an invalid expression, or if the library is not loaded.
 */
export function compileValue(path: string, names: Readonly<Record<string, string>>): ValueOf {
  const expression = compile(path, names)
  if (!expression.selectsNodes) return (view) => evaluateOn(view, expression, bodyValueOf)
  // libxml2 stops searching after the first node, and visits nodes in document order.
  const first = { ...expression, program: compiled(`(${path})[1]`) }
  expression.program.dispose()
  return (view) => evaluateOn(view, first, bodyValueOf)
}

/** Compiles an expression that selects nodes. @throws Error also for an expression that computes a value */
export function compileNodes(path: string, names: Readonly<Record<string, string>>): NodesOf {
  const expression = compile(path, names)
  if (!expression.selectsNodes)
    throw new Error(`the XPath '${path}' computes a value; use one that selects elements`)
  return (view, most) => evaluateOn(view, expression, (library, result) => nodesOf(library, result, most))
}

interface Expression {
  readonly program: XmlXPath
  readonly prefixes: Prefixes
  readonly selectsNodes: boolean
  readonly maxNodes: number
}

function compile(path: string, names: Readonly<Record<string, string>>): Expression {
  const known = { ...KNOWN_PREFIXES, ...names }
  const prefixes = prefixesOf(path, known).map((prefix) => [prefix, known[prefix]!] as const)
  const program = compiled(path)
  // The result type depends only on the expression, so any document will do.
  const document = libxml().XmlDocument.fromString('<a/>')
  try {
    const selectsNodes = evaluate({ program, prefixes }, document, isNodeSet)
    return { program, prefixes, selectsNodes, maxNodes: nodeLimitOf(path) }
  } finally {
    document.dispose()
  }
}

type Prefixes = readonly (readonly [prefix: string, uri: string])[]

function compiled(path: string): XmlXPath {
  const { XmlXPath, XmlError } = libxml()
  try {
    return XmlXPath.compile(path)
  } catch (problem) {
    if (!(problem instanceof XmlError)) throw problem
    throw new Error(`'${path}' is not an XPath 1.0 expression; check brackets, quotes and names`)
  }
}

function evaluateOn<T>(
  { shape, document }: XmlView,
  expression: Expression,
  read: (library: Libxml, result: number) => T,
): T {
  const { maxNodes } = expression
  if (shape.nodes > maxNodes)
    throw unreadableXml(
      `has more than ${maxNodes} elements and attributes, too many for this XPath expression`,
    )
  return evaluate(expression, document, read)
}

/** Evaluates with libxml2's own functions: its classes would wrap each found node, and cannot start at the document. */
function evaluate<T>(
  { program, prefixes }: Pick<Expression, 'program' | 'prefixes'>,
  document: object,
  read: (library: Libxml, result: number) => T,
): T {
  const library = libxml()
  const { raw } = library
  const address = addressOf(document)
  const context = raw.xmlXPathNewContext(address)
  let result = 0
  try {
    for (const [prefix, uri] of prefixes) raw.xmlXPathRegisterNs(context, prefix, uri)
    raw.xmlXPathSetContextNode(address, context)
    result = raw.xmlXPathCompiledEval(addressOf(program), context)
    if (result === 0)
      throw new Error(`the XPath '${program}' cannot be evaluated; check the arguments of its functions`)
    return read(library, result)
  } finally {
    if (result !== 0) raw.xmlXPathFreeObject(result)
    raw.xmlXPathFreeContext(context)
  }
}

function isNodeSet({ raw }: Libxml, result: number): boolean {
  return raw.XmlXPathObjectStruct.type(result) === raw.XmlXPathObjectStruct.Type.XPATH_NODESET
}

/** Converts a result to a value. NaN becomes null: it is the `number()` of a missing node. */
function bodyValueOf(library: Libxml, result: number): BodyValue {
  const { XmlXPathObjectStruct: Result, xmlNodeGetContent } = library.raw
  const type = Result.type(result)
  if (type === Result.Type.XPATH_BOOLEAN) return Result.boolval(result) !== 0
  if (type === Result.Type.XPATH_STRING) return Result.stringval(result)
  if (type === Result.Type.XPATH_NUMBER) {
    const number = Result.floatval(result)
    return Number.isNaN(number) ? null : number
  }
  const [node] = nodesOf(library, result, 1)
  return node === undefined ? null : xmlNodeGetContent(node)
}

function nodesOf({ raw }: Libxml, result: number, most: number): number[] {
  const nodes = raw.XmlXPathObjectStruct.nodesetval(result)
  const count = nodes === 0 ? 0 : Math.min(raw.XmlNodeSetStruct.nodeCount(nodes), most)
  return count === 0 ? [] : Array.from(raw.XmlNodeSetStruct.nodeTable(nodes, count))
}
