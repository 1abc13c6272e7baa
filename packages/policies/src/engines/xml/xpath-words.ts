/** The functions of XPath 1.0, all there are; `document()` and extensions are not among them. */
const FUNCTIONS = new Set(
  (
    'last position count id local-name namespace-uri name string concat starts-with contains substring-before ' +
    'substring-after substring string-length normalize-space translate boolean not true false lang number sum ' +
    'floor ceiling round'
  ).split(' '),
)

/** Words that may stand before a parenthesis and are no functions. */
const OTHERS = new Set('comment text processing-instruction node and or div mod'.split(' '))

const MAX_LENGTH = 2000

/** What an expression names, beside elements and attributes. */
export interface XPathWords {
  /** Functions that it calls, as they are written: `concat`, `math:max`. */
  readonly functions: ReadonlySet<string>
  /** Variables, without `$`. */
  readonly variables: ReadonlySet<string>
  /** Prefixes of all names. */
  readonly prefixes: ReadonlySet<string>
}

/** The words of an expression whose syntax is right. */
export function wordsOf(path: string): XPathWords {
  const bare = path.replace(/"[^"]*"|'[^']*'/g, '""')
  const called = [...bare.matchAll(/([\p{L}_][\p{L}\p{N}_.:-]*)\s*\(/gu)].map(([, word]) =>
    word!.slice(word!.lastIndexOf('::') + 1).replace(/^:/, ''),
  )
  const variables = bare.matchAll(/\$\s*([\p{L}_][\p{L}\p{N}_.-]*(?::[\p{L}_][\p{L}\p{N}_.-]*)?)/gu)
  const prefixes = bare.matchAll(/([\p{L}_][\p{L}\p{N}_.-]*):(?=[\p{L}_*])/gu)
  return {
    functions: new Set(called.filter((name) => !OTHERS.has(name))),
    variables: new Set([...variables].map(([, name]) => name!)),
    prefixes: new Set([...prefixes].map(([, prefix]) => prefix!)),
  }
}

/** Whether a function is one of XPath 1.0. */
export function isXPathFunction(name: string): boolean {
  return FUNCTIONS.has(name)
}

/**
 * The prefixes that an expression uses, all of which are known.
 * @throws Error for words that libxml2 would only stumble over while requests run.
 */
export function prefixesOf(path: string, known: Readonly<Record<string, string>>): string[] {
  if (path.length > MAX_LENGTH) throw new Error(`the XPath is longer than ${MAX_LENGTH} characters`)
  const { functions, variables, prefixes } = wordsOf(path)
  if (variables.size > 0) throw new Error(`the XPath '${path}' uses a variable, and there are none`)
  for (const name of functions) {
    if (isXPathFunction(name)) continue
    throw new Error(`the XPath '${path}' calls '${name}()', which is no function of XPath 1.0`)
  }
  for (const prefix of prefixes) {
    if (Object.hasOwn(known, prefix) && known[prefix] !== '') continue
    throw new Error(
      `the XPath '${path}' uses the prefix '${prefix}'; say under 'namespaces' what it stands for`,
    )
  }
  return [...prefixes]
}
