import { mayRunAway } from './ambiguity.js'
import { type ParsedPattern, parsePattern, UnreadablePattern } from './pattern-parser.js'
import { PatternWriter, UnwritablePattern } from './pattern-text.js'

/** A pattern in words that libxml2 takes for what they mean. */
export interface MendedPattern {
  readonly text: string
  /** Matching it may take long: it needs a thread with a time limit. */
  readonly mayRunAway: boolean
}

/** Longest text that is written instead. */
const MAX_LENGTH = 60_000

/** The pattern itself, or an equal one where libxml2 takes it for something else. @throws UnreadablePattern */
export function mendedPattern(pattern: string): MendedPattern {
  const parsed = parsePattern(pattern)
  return { text: plainText(pattern, parsed), mayRunAway: mayRunAway(parsed.expression) }
}

/** Inverse classes beside something that repeats, and counts beside alternatives, which libxml2 mistakes for others. */
const INVERSE = /\\[PSDWIC]|\[\^/
const REPEATED = /[|*+?{]/
const COUNT = /\{\d/
/** Counts that take too much to be written as repetitions. */
const HIGH_COUNT = /\{\d*(?:,\d*)?(?:[6-9]\d|\d{3})/

/** The pattern itself, or with its classes as ranges and its counts as repetitions where libxml2 might misread it. */
function plainText(pattern: string, { text, expression }: ParsedPattern): string {
  const isMisread = (INVERSE.test(text) && REPEATED.test(text)) || (COUNT.test(text) && text.includes('|'))
  if (!isMisread || HIGH_COUNT.test(text)) return text
  try {
    const plain = new PatternWriter(pattern).text(expression)
    // One that libxml2 cannot read back is nested too deep, as counts above 50 are.
    if (plain.length <= MAX_LENGTH) parsePattern(plain)
    return plain.length <= MAX_LENGTH ? plain : text
  } catch (problem) {
    if (problem instanceof UnwritablePattern || problem instanceof UnreadablePattern) return text
    throw problem
  }
}
