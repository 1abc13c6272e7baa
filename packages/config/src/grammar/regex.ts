import type { Flaw } from '../flaw.js'
import { findRiskyLoop } from './regex-loops.js'

/** Longest regular expression. */
const MAX_REGEX_LENGTH = 1000

/**
 * What is wrong with a regular expression (JavaScript syntax, no flags), or null. An expression with a loop inside a
 * loop is refused where the two can share the same text in many ways: matching would take time exponential in the
 * length of what a client sends. Alternatives that overlap, such as `(a|a)*`, are not found.
 */
export function examineRegex(source: string): Flaw | null {
  if (source.length > MAX_REGEX_LENGTH) {
    return {
      message: `the regular expression is longer than ${MAX_REGEX_LENGTH} characters`,
      remedy: 'shorten it',
    }
  }
  try {
    // The engine compiles at the first match, and only then finds that an expression is too big.
    new RegExp(source).test('')
  } catch (cause) {
    return { message: `'${source}' is not a regular expression: ${reasonOf(cause)}`, remedy: 'correct it' }
  }
  const loop = findRiskyLoop(source)
  if (loop === null) return null
  return {
    message: `the regular expression repeats '${loop}', which repeats within itself`,
    remedy: 'begin the repeated part with a character that cannot occur inside it, or repeat only once',
  }
}

/** The engine's reason without its repetition of the source. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : 'it cannot be compiled'
  const reason = text.slice(text.lastIndexOf(': ') + 1).trim()
  return reason.slice(0, 1).toLowerCase() + reason.slice(1)
}
