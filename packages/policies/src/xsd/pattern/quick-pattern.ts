import { DFA, type Expression, NFA, type NoParent, TooManyNodesError } from 'refa'
import { MAX_CHAR } from './char-classes.js'
import { Effort } from './effort.js'
import { type ParsedPattern, parsePattern, UnreadablePattern } from './pattern-parser.js'
import { PatternWriter, UnwritablePattern } from './pattern-text.js'
import { widthOf } from './width.js'

/** A pattern that libxml2 is quick with. */
export interface QuickPattern {
  readonly text: string
  /** The ways in which it can match the beginning of a text, at most: the steps for each character. */
  readonly width: number
}

/** Ways that are no reason to write a pattern anew: a body of 32 KB takes some 20 ms. */
export const QUICK_WIDTH = 8
/** Most ways that are let pass. */
const MAX_WIDTH = 100
const MAX_NFA_STATES = 2000
const MAX_DFA_STATES = 500
/** Nodes of an expression that is made of an automaton. */
const MAX_NODES = 5000
/** Longest text that is written instead. */
const MAX_LENGTH = 60_000

/** Most alternatives that are written on their own. */
const MAX_ALTERNATIVES = 50
/** What it counts as to read one character, and to make an automaton. */
const STEPS_TO_READ = 50
const STEPS_TO_WRITE = 50_000

/** A pattern that may take more than linear time, and has no equal that does not. */
export class SlowPattern extends Error {}

/**
 * The pattern itself, or an equal one of which few ways to match have to be tried at any place of a text: libxml2 tries
 * all, one after the other. One that is made of a deterministic automaton has few.
 * @throws SlowPattern
 * @throws UnreadablePattern
 */
export function quickPattern(pattern: string, effort = new Effort()): QuickPattern {
  effort.spend(pattern.length * STEPS_TO_READ)
  const parsed = parsePattern(pattern)
  const original = { text: plainText(pattern, parsed), width: widthOf(parsed.expression, MAX_WIDTH, effort) }
  if (original.width <= QUICK_WIDTH) return original
  const anew = writtenAnew(pattern, parsed, effort)
  if (anew !== null && anew.width < original.width) return anew
  if (original.width <= MAX_WIDTH) return original
  throw new SlowPattern(
    'may take more than linear time to match; write it with fewer parts that repeat and can match the same text',
  )
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

/** Written anew as a whole, or each alternative on its own, which takes less text where they have little in common. */
function writtenAnew(pattern: string, { expression }: ParsedPattern, effort: Effort): QuickPattern | null {
  const { alternatives } = expression
  const whole = writtenFrom(pattern, [expression], effort)
  if (whole !== null || alternatives.length === 1 || alternatives.length > MAX_ALTERNATIVES) return whole
  return writtenFrom(
    pattern,
    alternatives.map((alternative) => ({ type: 'Expression', alternatives: [alternative] })),
    effort,
  )
}

function writtenFrom(
  pattern: string,
  expressions: readonly NoParent<Expression>[],
  effort: Effort,
): QuickPattern | null {
  effort.spend(expressions.length * STEPS_TO_WRITE)
  try {
    const writer = new PatternWriter(pattern)
    const text = writer.text({
      type: 'Expression',
      alternatives: expressions.flatMap((expression) => deterministic(expression).alternatives),
    })
    return text.length > MAX_LENGTH
      ? null
      : { text, width: widthOf(parsePattern(text).expression, MAX_WIDTH, effort) }
  } catch (problem) {
    const isTooMuch = [TooManyNodesError, UnwritablePattern, UnreadablePattern].some(
      (kind) => problem instanceof kind,
    )
    if (isTooMuch) return null
    throw problem
  }
}

function deterministic(expression: NoParent<Expression>): NoParent<Expression> {
  const options = { maxCharacter: MAX_CHAR }
  const nfa = NFA.fromRegex(expression, options, {}, new NFA.LimitedNodeFactory(MAX_NFA_STATES))
  const dfa = DFA.fromFA(nfa, new DFA.LimitedNodeFactory(MAX_DFA_STATES))
  dfa.minimize()
  return dfa.toRegex({ maxNodes: MAX_NODES })
}
