import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { compileFunction } from './path-function.js'
import type { PathRun } from './path-run.js'

type Segments = JsonPathQuery['segments']
type Selection = Segments[number]['node']
type Selector = Extract<Selection, { type: 'BracketedSelection' }>['selectors'][number]
type Expression = Extract<Selector, { type: 'FilterSelector' }>['value']
type Test = Extract<Expression, { type: 'TestExpr' }>
type Comparison = Extract<Expression, { type: 'ComparisonExpr' }>
type FilterQuery = Extract<Test['expression'], { type: 'FilterQuery' }>
type FunctionCall = Extract<Test['expression'], { type: 'FunctionExpr' }>
type Comparable = Comparison['left']
type SingularNode = Extract<Comparable, { type: 'RelSingularQuery' }>['segments'][number]['node']
type Argument = FunctionCall['arguments'][number]

type CompileSegments = (segments: Segments) => (from: unknown, run: PathRun) => unknown[]
type Condition = (node: unknown, run: PathRun) => boolean
/** Returns a value, or undefined for "Nothing" in RFC 9535. */
type Value = (node: unknown, run: PathRun) => unknown

/**
 * Compiles the condition of a filter.
 * @param segments compiles the queries in it.
 * @throws Error for an unknown function or an invalid pattern.
 */
export function compileFilter(expression: Expression, segments: CompileSegments): Condition {
  const compile = (inner: Expression): Condition => compileFilter(inner, segments)
  switch (expression.type) {
    case 'LogicalOrExpr': {
      const [left, right] = [compile(expression.left), compile(expression.right)]
      return (node, run) => left(node, run) || right(node, run)
    }
    case 'LogicalAndExpr': {
      const [left, right] = [compile(expression.left), compile(expression.right)]
      return (node, run) => left(node, run) && right(node, run)
    }
    case 'LogicalNotExpr': {
      const inner = compile(expression.expression)
      return (node, run) => !inner(node, run)
    }
    case 'ComparisonExpr':
      return compileComparison(expression, segments)
    case 'TestExpr':
      return compileTest(expression.expression, segments)
  }
}

function compileTest(expression: Test['expression'], segments: CompileSegments): Condition {
  if (expression.type === 'FunctionExpr') {
    const { call, isTest } = compileCall(expression, segments)
    if (!isTest) throw new Error(`${expression.name}() returns a value; compare it with another value`)
    return (node, run) => call(node, run) === true
  }
  const query = compileNodes(expression, segments)
  return (node, run) => query(node, run).length > 0
}

function compileComparison({ left, right, op }: Comparison, segments: CompileSegments): Condition {
  const [a, b] = [compileComparable(left, segments), compileComparable(right, segments)]
  switch (op) {
    case '==':
      return (node, run) => isEqual(a(node, run), b(node, run), run)
    case '!=':
      return (node, run) => !isEqual(a(node, run), b(node, run), run)
    case '<':
      return (node, run) => isLess(a(node, run), b(node, run))
    case '>':
      return (node, run) => isLess(b(node, run), a(node, run))
    case '<=':
      return (node, run) => isAtMost(a(node, run), b(node, run), run)
    case '>=':
      return (node, run) => isAtMost(b(node, run), a(node, run), run)
  }
}

function isAtMost(a: unknown, b: unknown, run: PathRun): boolean {
  return isLess(a, b) || isEqual(a, b, run)
}

function compileComparable(comparable: Comparable, segments: CompileSegments): Value {
  if (comparable.type === 'Literal') return () => comparable.value
  if (comparable.type === 'FunctionExpr') return compileValueCall(comparable, segments)
  const query = segments(comparable.segments.map(({ node }) => childSegment(node)))
  const isAbsolute = comparable.type === 'AbsSingularQuery'
  return (node, run) => query(isAbsolute ? run.root : node, run)[0]
}

function childSegment(node: SingularNode): Segments[number] {
  if (node.type === 'MemberNameShorthand') return { type: 'ChildSegment', node }
  // The parser wraps positions here one level deeper than its types say.
  const selector = (node as unknown as { readonly selector?: typeof node }).selector ?? node
  return { type: 'ChildSegment', node: { type: 'BracketedSelection', selectors: [selector] } }
}

function compileNodes({ value }: FilterQuery, segments: CompileSegments) {
  const query = segments(value.segments)
  const isAbsolute = value.type === 'JsonPathQuery'
  return (node: unknown, run: PathRun): unknown[] => query(isAbsolute ? run.root : node, run)
}

function compileValueCall(expression: FunctionCall, segments: CompileSegments): Value {
  const { call, isTest } = compileCall(expression, segments)
  if (isTest) throw new Error(`${expression.name}() returns true or false and cannot be compared`)
  return call
}

function compileCall(
  { name, arguments: written }: FunctionCall,
  segments: CompileSegments,
): { readonly call: Value; readonly isTest: boolean } {
  const literals = written.map((argument) => (argument.type === 'Literal' ? argument.value : undefined))
  const { takesNodes, isTest, apply } = compileFunction(name, literals)
  const args = written.map((argument) =>
    takesNodes ? compileNodesArgument(name, argument, segments) : compileArgument(name, argument, segments),
  )
  return { isTest, call: (node, run) => apply(...args.map((value) => value(node, run))) }
}

function compileNodesArgument(name: string, argument: Argument, segments: CompileSegments): Value {
  if (argument.type !== 'FilterQuery') throw new Error(`${name}() takes a query, such as @.items[*]`)
  return compileNodes(argument, segments)
}

function compileArgument(name: string, argument: Argument, segments: CompileSegments): Value {
  if (argument.type === 'Literal') return () => argument.value
  if (argument.type === 'FunctionExpr') return compileValueCall(argument, segments)
  if (argument.type !== 'FilterQuery' || !argument.value.segments.every(isSingular))
    throw new Error(`${name}() takes one value, such as @.id`)
  const query = compileNodes(argument, segments)
  return (node, run) => query(node, run)[0]
}

/** Returns true if a segment finds at most one node. */
function isSingular({ type, node }: Segments[number]): boolean {
  if (type !== 'ChildSegment') return false
  if (node.type !== 'BracketedSelection') return node.type === 'MemberNameShorthand'
  const [selector, ...more] = node.selectors
  return more.length === 0 && (selector?.type === 'NameSelector' || selector?.type === 'IndexSelector')
}

/** Returns true if two JSON values are equal (RFC 9535 section 2.3.5.2.2). Undefined equals only itself. */
function isEqual(a: unknown, b: unknown, run: PathRun): boolean {
  run.visit()
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && isEqualArray(a, b, run)
  return !Array.isArray(b) && isEqualObject(a, b, run)
}

/** Returns true if one JSON value sorts before another. Only numbers and strings have an order. */
function isLess(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  return typeof a === 'string' && typeof b === 'string' && a < b
}

function isEqualArray(a: readonly unknown[], b: readonly unknown[], run: PathRun): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (!isEqual(a[i], b[i], run)) return false
  }
  return true
}

function isEqualObject(a: object, b: object, run: PathRun): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  for (const name of names) {
    if (!Object.hasOwn(b, name)) return false
    if (!isEqual(a[name as keyof typeof a], b[name as keyof typeof b], run)) return false
  }
  return true
}
