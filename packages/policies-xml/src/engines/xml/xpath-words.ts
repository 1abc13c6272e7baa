/** Functions of XPath 1.0. `document()` and extensions are not among them. */
const FUNCTIONS = new Set(
  (
    'last position count id local-name namespace-uri name string concat starts-with contains substring-before ' +
    'substring-after substring string-length normalize-space translate boolean not true false lang number sum ' +
    'floor ceiling round'
  ).split(' '),
)

/** Words before a parenthesis that are not functions. */
const NON_FUNCTIONS = new Set('comment text processing-instruction node and or div mod'.split(' '))

const MAX_LENGTH = 2000

/** Names in an expression other than elements and attributes. */
export interface XPathWords {
  /** Called functions as written: `concat`, `math:max`. */
  readonly functions: ReadonlySet<string>
  /** Variables, without `$`. */
  readonly variables: ReadonlySet<string>
  /** Prefixes of all names. */
  readonly prefixes: ReadonlySet<string>
}

/** Returns the names in an expression with valid syntax. */
export function wordsOf(path: string): XPathWords {
  const bare = path.replace(/"[^"]*"|'[^']*'/g, '""')
  const called = [...bare.matchAll(/([\p{L}_][\p{L}\p{N}_.:-]*)\s*\(/gu)].map(([, word]) =>
    word!.slice(word!.lastIndexOf('::') + 1).replace(/^:/, ''),
  )
  const variables = bare.matchAll(/\$\s*([\p{L}_][\p{L}\p{N}_.-]*(?::[\p{L}_][\p{L}\p{N}_.-]*)?)/gu)
  const prefixes = bare.matchAll(/([\p{L}_][\p{L}\p{N}_.-]*):(?=[\p{L}_*])/gu)
  return {
    functions: new Set(called.filter((name) => !NON_FUNCTIONS.has(name))),
    variables: new Set([...variables].map(([, name]) => name!)),
    prefixes: new Set([...prefixes].map(([, prefix]) => prefix!)),
  }
}

/** Returns true for a function of XPath 1.0. */
export function isXPathFunction(name: string): boolean {
  return FUNCTIONS.has(name)
}

/**
 * Returns the prefixes that an expression uses, after checking that all its names are known.
 * @throws Error for names that libxml2 would reject only at run time.
 */
export function prefixesOf(path: string, known: Readonly<Record<string, string>>): string[] {
  if (path.length > MAX_LENGTH) throw new Error(`the XPath is longer than ${MAX_LENGTH} characters`)
  const { functions, variables, prefixes } = wordsOf(path)
  if (variables.size > 0) throw new Error(`the XPath '${path}' uses a variable; variables are not supported`)
  for (const name of functions) {
    if (isXPathFunction(name)) continue
    throw new Error(`the XPath '${path}' calls '${name}()', which is not an XPath 1.0 function`)
  }
  for (const prefix of prefixes) {
    if (Object.hasOwn(known, prefix) && known[prefix] !== '') continue
    throw new Error(`the XPath '${path}' uses the prefix '${prefix}'; declare it under 'namespaces'`)
  }
  return [...prefixes]
}
