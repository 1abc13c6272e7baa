import { createRequire } from 'node:module'
import type { AST, RegExpParser } from '@eslint-community/regexpp'
import { compilePattern, type Regex } from '@sluice/core'

/** Longest pattern with its classes written out: `\p{L}` is 9,000 characters, and each takes memory while it is compiled. */
const MAX_WRITTEN_OUT = 500_000

const load = createRequire(import.meta.url)

/**
 * Compiles a pattern (JavaScript syntax) for an engine that does not backtrack, with the classes of ECMAScript.
 * @throws Error when it is no pattern, or has what such an engine cannot do: look-around and back references.
 */
export function compileLinearRegex(pattern: string): Regex {
  return compilePattern(pattern, { rewritten: withPlainClasses })
}

/** Classes that the engine reads in another way than ECMAScript (section 22.2), or not at all: `\s`, `.`, `\p{Letter}`. */
const OTHERWISE = /\\[sSpP]|\./

/** The pattern with those classes written as ranges of characters. */
function withPlainClasses(pattern: string): string {
  if (!OTHERWISE.test(pattern)) return pattern
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
    plain += OTHERWISE.test(raw)
      ? rangesOf(JS.Parser.fromLiteral({ source: raw, flags: unicode ? 'u' : '' }))
      : raw
    at = end
  }
  plain += pattern.slice(at)
  if (plain.length > MAX_WRITTEN_OUT) throw new Error('its classes have too many characters together')
  return plain
}

/** JSON Schema wants the grammar with `u`; patterns that only the older one allows are read by that. */
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
  // A class without characters matches nothing.
  return ranges.length === 0 ? '[^\\x{0}-\\x{10ffff}]' : `[${ranges.join('')}]`
}

function hex(char: number): string {
  return `\\x{${char.toString(16)}}`
}
