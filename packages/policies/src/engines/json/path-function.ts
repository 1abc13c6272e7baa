import { compileLinearRegex } from './linear-regex.js'

/** A function of JSON paths (RFC 9535 section 2.4) with the arguments that are known at load. */
export interface PathFunction {
  /** Its argument is all the nodes that a query finds, in place of a value. */
  readonly takesNodes: boolean
  /** It answers whether something holds, which is no value to compare. */
  readonly isTest: boolean
  apply(...args: readonly unknown[]): unknown
}

const PLAIN: Readonly<Record<string, PathFunction>> = {
  length: { takesNodes: false, isTest: false, apply: lengthOf },
  count: { takesNodes: true, isTest: false, apply: (nodes) => (nodes as readonly unknown[]).length },
  value: { takesNodes: true, isTest: false, apply: (nodes) => onlyOf(nodes as readonly unknown[]) },
}

/**
 * @param literals the arguments; undefined for what only the document has.
 * @throws Error for a function that there is not, and for a pattern that is not in the path.
 */
export function compileFunction(name: string, literals: readonly unknown[]): PathFunction {
  const plain = Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined
  if (plain !== undefined && literals.length === 1) return plain
  if ((name === 'match' || name === 'search') && literals.length === 2) return matching(name, literals[1])
  throw new Error(
    `'${name}' with ${literals.length} arguments is not a function of JSON paths; there are length, count, value, match and search`,
  )
}

function matching(name: 'match' | 'search', pattern: unknown): PathFunction {
  if (typeof pattern !== 'string') {
    throw new Error(`the pattern of ${name}() must stand in the path, not in the document`)
  }
  const source = lineDots(pattern)
  const regex = compileLinearRegex(name === 'match' ? `^(?:${source})$` : source)
  return { takesNodes: false, isTest: true, apply: (text) => typeof text === 'string' && regex.test(text) }
}

/** The dot of RFC 9485 stands for neither of the two line ends. */
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

/** Characters of a text, elements of an array, members of an object. */
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
