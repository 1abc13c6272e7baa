import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { childOf, childrenOf } from './child.js'
import { compileFilter } from './path-filter.js'
import { PathRun } from './path-run.js'

type Segment = JsonPathQuery['segments'][number]
type Selection = Segment['node']
type Selector = Extract<Selection, { type: 'BracketedSelection' }>['selectors'][number]
type Slice = Extract<Selector, { type: 'SliceSelector' }>

/** Returns the nodes that a query finds, starting at a node. */
type Query = (from: unknown, run: PathRun) => unknown[]
/** Appends the nodes that a segment selects from one node. */
type Select = (node: unknown, run: PathRun, found: unknown[]) => void

/**
 * Compiles a parsed JSON path. The library's own evaluation is not used: it parses the path again for each document,
 * and its regular expressions backtrack.
 * @throws Error for an unknown function or an invalid pattern.
 */
export function compileQuery({ segments }: JsonPathQuery): {
  first(root: unknown): unknown
  all(root: unknown): readonly unknown[]
} {
  const query = compileSegments(segments)
  const all = (root: unknown): unknown[] => query(root, new PathRun(root))
  return { all, first: (root) => all(root)[0] }
}

function compileSegments(segments: readonly Segment[]): Query {
  const steps = segments.map(compileSegment)
  return (from, run) => {
    let nodes = [from]
    for (const step of steps) {
      const found: unknown[] = []
      for (const node of nodes) step(node, run, found)
      nodes = found
    }
    return nodes
  }
}

function compileSegment({ type, node }: Segment): Select {
  const select = compileSelection(node)
  if (type === 'ChildSegment') return select
  const descend: Select = (from, run, found) => {
    run.visit()
    select(from, run, found)
    for (const child of childrenOf(from)) descend(child, run, found)
  }
  return descend
}

function compileSelection(node: Selection): Select {
  if (node.type === 'MemberNameShorthand') return child(node.value)
  if (node.type === 'WildcardSelector') return addChildren
  const selects = node.selectors.map(compileSelector)
  return (from, run, found) => {
    for (const select of selects) select(from, run, found)
  }
}

function compileSelector(selector: Selector): Select {
  switch (selector.type) {
    case 'NameSelector':
      return child(selector.value)
    case 'IndexSelector':
      return child(exact(selector.value))
    case 'WildcardSelector':
      return addChildren
    case 'SliceSelector':
      return slice(selector)
    case 'FilterSelector':
      return filter(compileFilter(selector.value, compileSegments))
  }
}

function child(step: string | number): Select {
  return (from, run, found) => {
    run.visit()
    const value = childOf(from, step)
    if (value !== undefined) found.push(value)
  }
}

function addChildren(from: unknown, run: PathRun, found: unknown[]): void {
  for (const value of childrenOf(from)) {
    run.visit()
    found.push(value)
  }
}

function filter(test: (node: unknown, run: PathRun) => boolean): Select {
  return (from, run, found) => {
    for (const value of childrenOf(from)) {
      run.visit()
      if (test(value, run)) found.push(value)
    }
  }
}

/** Compiles a slice (RFC 9535 section 2.3.4.2). */
function slice(written: Slice): Select {
  const [start, end] = [exactOrNull(written.start), exactOrNull(written.end)]
  const by = exactOrNull(written.step) ?? 1
  return (from, run, found) => {
    if (!Array.isArray(from) || by === 0) return
    const [first, last] = bounds(from.length, by, [start, end])
    for (let i = first; by > 0 ? i < last : i > last; i += by) {
      run.visit()
      found.push(from[i])
    }
  }
}

function bounds(
  length: number,
  by: number,
  [start, end]: readonly [number | null, number | null],
): [number, number] {
  const least = by > 0 ? 0 : -1
  const most = by > 0 ? length : length - 1
  const position = (at: number): number => Math.min(Math.max(at < 0 ? length + at : at, least), most)
  return by > 0
    ? [start === null ? least : position(start), end === null ? most : position(end)]
    : [start === null ? most : position(start), end === null ? least : position(end)]
}

function exactOrNull(number: number | null): number | null {
  return number === null ? null : exact(number)
}

/** Checks that a number is in the exact integer range of I-JSON (RFC 9535 section 2.1). */
function exact(number: number): number {
  if (Number.isSafeInteger(number)) return number
  throw new Error(`a position or step in the JSON path is larger than ${Number.MAX_SAFE_INTEGER}`)
}
