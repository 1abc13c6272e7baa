import { XML_LIMITS } from './limits.js'

/**
 * Returns the maximum number of nodes of a document on which an expression is evaluated. The limit depends on how its
 * time grows with the nodes:
 *
 *     //a/b[c = 'x']                      linear                   100,000 nodes
 *     /a/b//c   //a[.//b]   //a = //b     nodes times depth, or    10,000 nodes
 *                                         quadratic by comparing
 *     //a[following::b]   //a[. = //b]    quadratic                1,000 nodes
 *     //a//b   //a/ancestor::b            worse                    refused
 *
 * The last row is worse than it looks, because libxml2 compares each new node with all nodes found before.
 *
 * @param path expression that libxml2 has compiled, so its syntax is valid.
 * @throws Error for an expression that takes more than quadratic time.
 */
export function nodeLimitOf(path: string): number {
  const degree = degreeOf(path)
  if (degree <= 1) return XML_LIMITS.maxNodes
  if (degree <= 1.5) return 10_000
  if (degree <= 2) return 1000
  throw new Error(
    `the XPath '${path}' may take cubic time on large bodies; start the path at the root, or use // only once and a predicate: //b[ancestor::a] instead of //a//b`,
  )
}

/** Axes that may visit all nodes from one node, but only nodes times depth from all nodes together. */
const WIDE = new Set(['descendant', 'descendant-or-self', 'ancestor', 'ancestor-or-self'])
/** Axes that may visit all nodes from each node. */
const OVERLAPPING = new Set(['following', 'preceding', 'following-sibling', 'preceding-sibling'])

const OPERATORS = new Set(['|', '+', '-', '=', '!=', '<', '<=', '>', '>=', ','])
const OPERATOR_WORDS = new Set(['and', 'or', 'div', 'mod', '*'])
/** Operators that compare each node of one side with each node of the other. */
const PAIRING = new Set(['|', '=', '!=', '<', '<=', '>', '>='])

const TOKEN = /"[^"]*"|'[^']*'|\/\/|::|!=|<=|>=|\.\.|\d+(?:\.\d*)?|\.\d+|[\p{L}_][\p{L}\p{N}_.-]*|\S/gu

const NODE_TYPES = new Set(['comment', 'text', 'processing-instruction', 'node'])

/** State of the path or value that is being read. */
interface Path {
  /** True if it may select several nodes. */
  isMany: boolean
  /** True if it is the value of a function instead of nodes. */
  isValue: boolean
  /** True after a wide step. */
  isWide: boolean
  degree: number
  /** Exponent of the number of nodes that it may select during the whole evaluation. */
  reach: number
  /** True if a node test must follow, after `/`, `//`, `::` and `@`. */
  awaitsStep: boolean
  axis: string
}

/** State of a bracketed part or of the whole expression, including the results of its finished paths. */
interface Frame {
  readonly isPredicate: boolean
  /** Reach of a path that begins here: 0 in a predicate, which applies to one node, otherwise 1. */
  readonly reach: 0 | 1
  path: Path | null
  degree: number
  manyPaths: number
  isWide: boolean
  isPairing: boolean
}

/** Returns the exponent of the time of an expression: 1 is linear, and 0.5 is a factor of the depth. */
function degreeOf(path: string): number {
  const tokens = path.match(TOKEN) ?? []
  const frames: Frame[] = [newFrame(false, 1)]
  tokens.forEach((token, i) => {
    const frame = frames.at(-1)!
    if (token === '(' || token === '[') frames.push(open(frame, token))
    else if (token === ')' || token === ']') close(frames.pop()!, frames.at(-1)!)
    else if (isOperator(token, frame)) endPath(frame, token)
    else readPath(frame, token, tokens[i + 1] ?? '')
  })
  return finish(frames[0]!)
}

function newFrame(isPredicate: boolean, reach: 0 | 1): Frame {
  return { isPredicate, reach, path: null, degree: 0, manyPaths: 0, isWide: false, isPairing: false }
}

function pathOf(frame: Frame): Path {
  frame.path ??= {
    isMany: false,
    isValue: false,
    isWide: false,
    degree: 0,
    reach: frame.reach,
    awaitsStep: false,
    axis: 'child',
  }
  return frame.path
}

/** Returns true if a token is an operator. `*`, `and`, `or`, `div` and `mod` are names where a name must follow. */
function isOperator(token: string, { path }: Frame): boolean {
  if (OPERATORS.has(token)) return true
  return OPERATOR_WORDS.has(token) && path !== null && !path.awaitsStep
}

function open(frame: Frame, token: string): Frame {
  pathOf(frame).awaitsStep = false
  return token === '[' ? newFrame(true, 0) : newFrame(false, frame.reach)
}

/** Ends a bracketed part. A predicate is evaluated at each node of the path; a path continues after parentheses. */
function close(inner: Frame, outer: Frame): void {
  const degree = finish(inner)
  const path = pathOf(outer)
  if (inner.isPredicate) {
    path.degree = Math.max(path.degree, (path.isMany ? path.reach : 0) + degree)
    return
  }
  path.degree = Math.max(path.degree, degree)
  if (path.isValue) return
  path.isMany ||= inner.manyPaths > 0
  path.reach = Math.max(path.reach, Math.min(1, degree))
  path.isWide ||= inner.isWide
}

function endPath(frame: Frame, operator: string): void {
  if (PAIRING.has(operator)) frame.isPairing = true
  const { path } = frame
  if (path === null) return
  frame.degree = Math.max(frame.degree, path.degree)
  if (path.isMany) frame.manyPaths++
  frame.isWide ||= path.isWide
  frame.path = null
}

function finish(frame: Frame): number {
  endPath(frame, '')
  return frame.isPairing && frame.manyPaths > 1 ? frame.degree + 0.5 : frame.degree
}

function readPath(frame: Frame, token: string, next: string): void {
  if (token === '/' || token === '//') {
    // In a predicate, a path from the root is evaluated once for each node that the predicate tests.
    const path = frame.path ?? Object.assign(pathOf(frame), { degree: 1, reach: 1 })
    if (token === '//') widen(path, 'descendant')
    expect(path, 'child')
  } else if (token === '@') expect(pathOf(frame), 'attribute')
  else if (next === '::') expect(pathOf(frame), token)
  else if (token === '.') step(pathOf(frame), 'self')
  else if (token === '..') step(pathOf(frame), 'parent')
  else if (/^[\p{L}_*]/u.test(token) && next !== ':') readName(pathOf(frame), token, next)
}

function readName(path: Path, name: string, next: string): void {
  if (next !== '(' || NODE_TYPES.has(name)) step(path, path.axis)
  else path.isValue = name !== 'id'
}

function expect(path: Path, axis: string): void {
  path.awaitsStep = true
  path.axis = axis
}

function step(path: Path, axis: string): void {
  if (axis === 'parent') path.degree = Math.max(path.degree, path.isMany ? 1.5 : 0)
  else if (WIDE.has(axis) || OVERLAPPING.has(axis)) widen(path, axis)
  else if (axis !== 'self') path.isMany = true
  path.awaitsStep = false
  path.axis = 'child'
}

function widen(path: Path, axis: string): void {
  path.degree = Math.max(path.degree, widened(path, axis))
  path.reach = Math.max(path.reach, OVERLAPPING.has(axis) ? 1 : 0.5)
  path.isWide = true
  path.isMany = true
}

function widened({ isMany, isWide }: Path, axis: string): number {
  if (isWide) return 3
  if (OVERLAPPING.has(axis)) return isMany ? 3 : 1
  return isMany ? 1.5 : 0.5
}
