import { createRequire } from 'node:module'
import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { childOf } from './child.js'
import { compileQuery } from './path-query.js'

/** Pattern of a step of a simple path: `.name`, `['name']`, `["name"]` or `[3]`. */
const STEP =
  /\.([A-Za-z_]\w*)|\[(0|-?[1-9]\d{0,13})\]|\['([^'\\\u0000-\u001f]*)'\]|\["([^"\\\u0000-\u001f]*)"\]/y

/** Returns the names and positions of a simple JSON path, or null for any other path or text. */
export function simpleSteps(path: string): readonly (string | number)[] | null {
  if (!path.startsWith('$')) return null
  const steps: (string | number)[] = []
  let at = 1
  while (at < path.length) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (match === null) return null
    steps.push(match[2] === undefined ? (match[1] ?? match[3] ?? match[4]!) : Number(match[2]))
    at = STEP.lastIndex
  }
  return steps
}

/** Maximum length of a path in characters. */
const MAX_PATH_LENGTH = 2048

const load = createRequire(import.meta.url)

/** A compiled JSON path (RFC 9535). */
export interface JsonPath {
  /** Returns the first match, or undefined. */
  first(root: unknown): unknown
  /** Returns all matches in document order. */
  all(root: unknown): readonly unknown[]
}

/**
 * Compiles a JSON path. Simple paths of names and positions are followed directly, without a query.
 * @throws Error that says what is wrong with the path.
 */
export function compileJsonPath(path: string): JsonPath {
  if (path.length > MAX_PATH_LENGTH)
    throw new Error(`the JSON path is longer than ${MAX_PATH_LENGTH} characters; shorten it`)
  const steps = simpleSteps(path)
  if (steps === null) return compileQuery(parseQuery(path))
  const first = walk(steps)
  return {
    first,
    all(root) {
      const found = first(root)
      return found === undefined ? [] : [found]
    },
  }
}

function walk(steps: readonly (string | number)[]): (root: unknown) => unknown {
  return (root) => {
    let value = root
    for (let i = 0; i < steps.length; i++) {
      value = childOf(value, steps[i]!)
      if (value === undefined) return undefined
    }
    return value
  }
}

/** Parses a JSON path. @throws Error with the position of the syntax error. */
export function parseQuery(path: string): JsonPathQuery {
  // Loaded on first use, because most paths are simple.
  const { default: parse } = load('jsonpath-rfc9535/parser') as typeof import('jsonpath-rfc9535/parser')
  try {
    return parse(path)
  } catch (cause) {
    throw new Error(
      `'${path}' is not a JSON path (RFC 9535)${locationOf(cause)}; use a path such as $.order.items[0].id`,
      { cause },
    )
  }
}

function locationOf(cause: unknown): string {
  const offset = (cause as { location?: { start?: { offset?: unknown } } }).location?.start?.offset
  return typeof offset === 'number' ? `: syntax error at character ${offset + 1}` : ''
}
