import { createRequire } from 'node:module'
import type { AST, RegExpParser } from '@eslint-community/regexpp'
import { compilePattern, type Regex } from '@sluice/core'

/**
 * Maximum length of a pattern with expanded classes. `\p{L}` expands to 9,000 characters, and each takes memory
 * during compilation.
 */
const MAX_WRITTEN_OUT = 500_000

const load = createRequire(import.meta.url)

/**
 * Compiles a JavaScript pattern for an engine that does not backtrack, with the character classes of ECMAScript.
 * @throws Error for an invalid pattern, or one with look-around or back references, which the engine does not
 * support.
 */
export function compileLinearRegex(pattern: string): Regex {
  return compilePattern(pattern, { rewritten: withPlainClasses })
}

/**
 * Classes that the engine interprets differently from ECMAScript (section 22.2) or does not support: `\s`, `.`,
 * `\p{Letter}`.
 */
const REWRITTEN_CLASSES = /\\[sSpP]|\./

/** Returns the pattern with those classes expanded to character ranges. */
function withPlainClasses(pattern: string): string {
  if (!REWRITTEN_CLASSES.test(pattern)) return pattern
  const { JS } = load('refa') as typeof import('refa')
  const { RegExpParser, visitRegExpAST } = load(
    '@eslint-community/regexpp',
  ) as typeof import('@eslint-community/regexpp')
  const { tree, unicode } = parsed(pattern, new RegExpParser({ ecmaVersion: 2024 }))
  const classes: (AST.CharacterClass | AST.CharacterSet)[] = []
  visitRegExpAST(tree, {
    onCharacterClassEnter: (node) => classes.push(node),
    onCharacterSetEnter: (node) => node.parent.type !== 'CharacterClass' && classes.push(node),
  })
  let plain = ''
  let at = 0
  for (const { start, end, raw } of classes) {
    plain += pattern.slice(at, start)
    plain += REWRITTEN_CLASSES.test(raw)
      ? rangesOf(JS.Parser.fromLiteral({ source: raw, flags: unicode ? 'u' : '' }))
      : raw
    at = end
  }
  plain += pattern.slice(at)
  if (plain.length > MAX_WRITTEN_OUT)
    throw new Error('the character classes of the pattern expand to too many characters')
  return plain
}

/**
 * Parses a pattern in Unicode mode, as JSON Schema requires. Falls back to the older grammar for patterns that only
 * that one allows.
 */
function parsed(pattern: string, parser: RegExpParser): { tree: AST.Pattern; unicode: boolean } {
  try {
    return { tree: parser.parsePattern(pattern, 0, pattern.length, { unicode: true }), unicode: true }
  } catch {
    return { tree: parser.parsePattern(pattern, 0, pattern.length, {}), unicode: false }
  }
}

function rangesOf(parser: {
  parse(): { expression: { alternatives: readonly { elements: readonly unknown[] }[] } }
}): string {
  const [element] = parser.parse().expression.alternatives[0]!.elements as {
    characters: { ranges: readonly { min: number; max: number }[] }
  }[]
  const ranges = element!.characters.ranges.map(({ min, max }) => `${hex(min)}-${hex(max)}`)
  // An empty class matches nothing.
  return ranges.length === 0 ? '[^\\x{0}-\\x{10ffff}]' : `[${ranges.join('')}]`
}

function hex(char: number): string {
  return `\\x{${char.toString(16)}}`
}
