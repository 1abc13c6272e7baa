import { mayBacktrack } from './ambiguity.js'
import { type ParsedPattern, parsePattern, UnreadablePattern } from './pattern-parser.js'
import { PatternWriter, UnwritablePattern } from './pattern-text.js'

/** A pattern that libxml2 interprets correctly. */
export interface PatchedPattern {
  readonly text: string
  /** True if matching may take long, so that it needs a thread with a time limit. */
  readonly mayBacktrack: boolean
}

/** Maximum length of a rewritten pattern in characters. */
const MAX_LENGTH = 60_000

/** Returns the pattern, or an equivalent one if libxml2 misinterprets it. @throws UnreadablePattern */
export function patchedPattern(pattern: string): PatchedPattern {
  const parsed = parsePattern(pattern)
  return { text: plainText(pattern, parsed), mayBacktrack: mayBacktrack(parsed.expression) }
}

/**
 * Match inverse classes, repetitions and counts. libxml2 misreads an inverse class beside a repetition, and a
 * count beside an alternative.
 */
const INVERSE = /\\[PSDWIC]|\[\^/
const REPEATED = /[|*+?{]/
const COUNT = /\{\d/
/** Matches counts that are too high to be written as repetitions. */
const HIGH_COUNT = /\{\d*(?:,\d*)?(?:[6-9]\d|\d{3})/

/**
 * Returns the pattern, or a form with ranges and repetitions in place of classes and counts if libxml2 may
 * misread it.
 */
function plainText(pattern: string, { text, expression }: ParsedPattern): string {
  const isMisread = (INVERSE.test(text) && REPEATED.test(text)) || (COUNT.test(text) && text.includes('|'))
  if (!isMisread || HIGH_COUNT.test(text)) return text
  try {
    const plain = new PatternWriter(pattern).text(expression)
    // libxml2 cannot parse deep nesting, such as counts above 50.
    if (plain.length <= MAX_LENGTH) parsePattern(plain)
    return plain.length <= MAX_LENGTH ? plain : text
  } catch (problem) {
    if (problem instanceof UnwritablePattern || problem instanceof UnreadablePattern) return text
    throw problem
  }
}
