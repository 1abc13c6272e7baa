import { compileLinearRegex } from './linear-regex.js'

/** A function of JSON paths (RFC 9535 section 2.4), compiled with its literal arguments. */
export interface PathFunction {
  /** True if its argument is the list of nodes of a query instead of a value. */
  readonly takesNodes: boolean
  /** True if it returns a logical result, which cannot be compared. */
  readonly isTest: boolean
  apply(...args: readonly unknown[]): unknown
}

const PLAIN: Readonly<Record<string, PathFunction>> = {
  length: { takesNodes: false, isTest: false, apply: lengthOf },
  count: { takesNodes: true, isTest: false, apply: (nodes) => (nodes as readonly unknown[]).length },
  value: { takesNodes: true, isTest: false, apply: (nodes) => onlyOf(nodes as readonly unknown[]) },
}

/**
 * Compiles a function call of a JSON path.
 * @param literals the literal arguments; undefined for arguments that come from the document.
 * @throws Error for an unknown function, and for a pattern that is not a literal.
 */
export function compileFunction(name: string, literals: readonly unknown[]): PathFunction {
  const plain = Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined
  if (plain !== undefined && literals.length === 1) return plain
  if ((name === 'match' || name === 'search') && literals.length === 2) return matching(name, literals[1])
  throw new Error(
    `'${name}' with ${literals.length} arguments is not a JSON path function; use length, count, value, match or search`,
  )
}

function matching(name: 'match' | 'search', pattern: unknown): PathFunction {
  if (typeof pattern !== 'string')
    throw new Error(`the pattern of ${name}() must be a string in the path, not a value of the document`)
  const source = lineDots(pattern)
  const regex = compileLinearRegex(name === 'match' ? `^(?:${source})$` : source)
  return { takesNodes: false, isTest: true, apply: (text) => typeof text === 'string' && regex.test(text) }
}

/** Replaces dots: in RFC 9485 they match neither a line feed nor a carriage return. */
function lineDots(pattern: string): string {
  let out = ''
  let isInClass = false
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    if (char === '\\') out += char + (pattern[++i] ?? '')
    else {
      if (char === '[') isInClass = true
      if (char === ']') isInClass = false
      out += char === '.' && !isInClass ? '[^\\n\\r]' : char
    }
  }
  return out
}

/** Returns the number of characters of a string, elements of an array or members of an object. */
function lengthOf(value: unknown): unknown {
  if (typeof value === 'string') {
    let count = 0
    for (const _ of value) count++
    return count
  }
  if (typeof value !== 'object' || value === null) return undefined
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

function onlyOf(nodes: readonly unknown[]): unknown {
  return nodes.length === 1 ? nodes[0] : undefined
}
