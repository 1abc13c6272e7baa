import { createRequire } from 'node:module'
import type { AST, RegExpParser } from '@eslint-community/regexpp'
import { checkRepetitions } from '@sluice/core'

/** Longest pattern. */
const MAX_PATTERN_LENGTH = 4096
/** Longest pattern with its classes written out: `\p{L}` is 9,000 characters, and each takes memory while it is compiled. */
const MAX_WRITTEN_OUT = 500_000

const load = createRequire(import.meta.url)

/** A regular expression whose time grows with the text only, whatever its pattern is. */
export interface LinearRegex {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
}

/**
 * Compiles a pattern (JavaScript syntax) for an engine that does not backtrack.
 * @throws Error when it is no pattern, or has what such an engine cannot do: look-around and back references.
 */
export function compileLinearRegex(pattern: string): LinearRegex {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`)
  }
  checkRepetitions(pattern)
  // Loaded at the first use: most documents have no pattern.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  try {
    const plain = withPlainClasses(pattern)
    if (plain.length > MAX_WRITTEN_OUT) throw new Error('its classes have too many characters together')
    const regex = RE2JS.compile(RE2JS.translateRegExp(plain))
    return { test: (text) => regex.test(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `the pattern '${pattern}' cannot be matched in linear time (${reason}); write it without look-around and back references`,
      { cause },
    )
  }
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
  return plain + pattern.slice(at)
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
