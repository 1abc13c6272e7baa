import type { BodyValue } from '@sluice/core'
import type { XmlXPath } from 'libxml2-wasm'
import { addressOf, type Libxml, libxml } from './libxml.js'
import { KNOWN_PREFIXES } from './namespaces.js'
import { unreadableXml } from './unreadable-xml.js'
import type { XmlView } from './view.js'
import { nodeLimitOf } from './xpath-cost.js'
import { prefixesOf } from './xpath-words.js'

/**
 * Reads a value from a document: of nodes the text of the first, null where there is none.
 * @throws UnreadableBody when the document has more nodes than the expression is asked of
 */
export type ValueOf = (view: XmlView) => BodyValue

/** Addresses of the nodes that an expression selects, `most` at most, which live as long as the document. @throws UnreadableBody as well */
export type NodesOf = (view: XmlView, most: number) => readonly number[]

/**
 * Compiles an expression once; its context is the document, not the root element. What it may cost is bounded at
 * `nodeLimitOf`.
 * @param names what prefixes stand for, beside the known ones.
 * @throws Error that says what is wrong with it, or that the library was not loaded.
 */
export function compileValue(path: string, names: Readonly<Record<string, string>>): ValueOf {
  const expression = compile(path, names)
  if (!expression.selectsNodes) return (view) => evaluateOn(view, expression, bodyValueOf)
  // libxml2 stops searching once it has the first node, and finds it in the order of the document.
  const first = { ...expression, program: compiled(`(${path})[1]`) }
  expression.program.dispose()
  return (view) => evaluateOn(view, first, bodyValueOf)
}

/** The same for the nodes themselves. @throws Error also for an expression that selects none */
export function compileNodes(path: string, names: Readonly<Record<string, string>>): NodesOf {
  const expression = compile(path, names)
  if (!expression.selectsNodes)
    throw new Error(`the XPath '${path}' computes a value; write one that selects elements`)
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
  // What an expression returns is a question of its text alone, so any document answers it.
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
    throw new Error(`'${path}' is not an XPath 1.0 expression; look for brackets, quotes and names`)
  }
}

function evaluateOn<T>(
  { shape, document }: XmlView,
  expression: Expression,
  read: (library: Libxml, result: number) => T,
): T {
  const { maxNodes } = expression
  if (shape.nodes > maxNodes) {
    throw unreadableXml(`has more than ${maxNodes} elements and attributes, too many for what is asked of it`)
  }
  return evaluate(expression, document, read)
}

/** Through libxml2's own functions: its classes would wrap each node that is found, and cannot begin at the document. */
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
      throw new Error(`the XPath '${program}' cannot be evaluated; give its functions what they need`)
    return read(library, result)
  } finally {
    if (result !== 0) raw.xmlXPathFreeObject(result)
    raw.xmlXPathFreeContext(context)
  }
}

function isNodeSet({ raw }: Libxml, result: number): boolean {
  return raw.XmlXPathObjectStruct.type(result) === raw.XmlXPathObjectStruct.Type.XPATH_NODESET
}

/** A number that is none is nothing: `number()` of what is not there. */
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
