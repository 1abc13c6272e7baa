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

/**
 * The prefixes that an expression uses, all of which are known.
 * @throws Error for words that libxml2 would only stumble over while requests run.
 */
export function prefixesOf(path: string, known: Readonly<Record<string, string>>): string[] {
  if (path.length > MAX_LENGTH) throw new Error(`the XPath is longer than ${MAX_LENGTH} characters`)
  const bare = path.replace(/"[^"]*"|'[^']*'/g, '""')
  if (bare.includes('$')) throw new Error(`the XPath '${path}' uses a variable, and there are none`)
  for (const [, word] of bare.matchAll(/([\p{L}_][\p{L}\p{N}_.:-]*)\s*\(/gu)) {
    const name = word!.slice(word!.lastIndexOf('::') + 1).replace(/^:/, '')
    if (!FUNCTIONS.has(name) && !OTHERS.has(name)) {
      throw new Error(`the XPath '${path}' calls '${name}()', which is no function of XPath 1.0`)
    }
  }
  const used = new Set<string>()
  for (const [, prefix] of bare.matchAll(/([\p{L}_][\p{L}\p{N}_.-]*):(?=[\p{L}_*])/gu)) used.add(prefix!)
  for (const prefix of used) {
    if (Object.hasOwn(known, prefix) && known[prefix] !== '') continue
    throw new Error(
      `the XPath '${path}' uses the prefix '${prefix}'; say under 'namespaces' what it stands for`,
    )
  }
  return [...used]
}
