import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { JS } from 'refa'
import { findPathIssue, TOO_LARGE } from './match-paths.js'
import { SYNTAX_ERROR, type TranslatedPattern, translatePattern } from './pattern-translation.js'

/** A pattern that libxml2 interprets correctly. */
export interface CheckedPattern {
  /** The pattern, with the letters that libxml2 lacks. */
  readonly text: string
  /** True if matching may take long, so that it needs a thread with a time limit. */
  readonly mayBacktrack: boolean
}

/** A pattern that libxml2 does not match correctly. The message says why, and what to write instead. */
export class RefusedPattern extends Error {}

const parser = new RegExpParser({ ecmaVersion: 2024 })
/** Maximum count in libxml2. */
const MAX_COUNT = 2 ** 31 - 1

/** Checks a pattern (XML Schema part 2, appendix F). @throws RefusedPattern */
export function checkPattern(pattern: string): CheckedPattern {
  const translated = translation(pattern, false)
  const literal = parsed(translated)
  visitRegExpAST(literal, { onQuantifierEnter: checkQuantifier })
  const expression = expressionOf(literal)
  const { issue, hasCountClash, mayBacktrack } = findPathIssue(expression, translated)
  if (issue !== null) throw new RefusedPattern(issue)
  const { completed } = hasCountClash ? translation(pattern, true) : translated
  return { text: completed, mayBacktrack }
}

function translation(pattern: string, groupsCounts: boolean): TranslatedPattern {
  const translated = translatePattern(pattern, groupsCounts)
  if ('issue' in translated) throw new RefusedPattern(translated.issue)
  return translated
}

function parsed({ source }: TranslatedPattern): AST.RegExpLiteral {
  try {
    return parser.parseLiteral(`/${source}/v`)
  } catch (cause) {
    throw new RefusedPattern(SYNTAX_ERROR, { cause })
  }
}

function expressionOf(literal: AST.RegExpLiteral) {
  try {
    return JS.Parser.fromAst(literal as never).parse().expression
  } catch (cause) {
    // The pattern is valid, so it has more nodes than the library accepts.
    throw new RefusedPattern(TOO_LARGE, { cause })
  }
}

/** Refuses counts that libxml2 misreads. */
function checkQuantifier({ min, max, element, raw }: AST.Quantifier): void {
  if (!raw.endsWith('}')) return
  if (min > MAX_COUNT || (max > MAX_COUNT && Number.isFinite(max))) throw new RefusedPattern(SYNTAX_ERROR)
  if (max === 0) throw new RefusedPattern('has an item with the count 0: remove the item')
  if (min > 0 && canBeEmpty(element))
    throw new RefusedPattern('repeats an item that can be empty: set the minimum to 0, as in (a?){0,3}')
}

function canBeEmpty(element: AST.QuantifiableElement | AST.Element): boolean {
  if (element.type === 'Quantifier') return element.min === 0 || canBeEmpty(element.element)
  return element.type === 'Group' && element.alternatives.some(({ elements }) => elements.every(canBeEmpty))
}
