import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/** Maximum length of a pattern. */
const MAX_PATTERN_LENGTH = 4096
/**
 * Maximum sum of all repetition counts in a pattern. Each repetition adds automaton states, which cost time
 * to build and run.
 */
const MAX_REPETITIONS = 2000
const COUNT = /\{(\d{1,9})(?:,(\d{0,9}))?\}/g

/** A compiled RE2 expression. */
export type Regex = RE2JS

const load = createRequire(import.meta.url)

interface RegexOptions {
  /** Flags `i`, `m` and `s`, as in JavaScript. */
  readonly flags?: string
  /** Syntax of the source; default `javascript`. */
  readonly syntax?: 'javascript' | 're2'
  /** Rewrites the source before compilation, after its repetition counts were checked. */
  readonly rewritten?: (source: string) => string
}

/**
 * Compiles a regular expression with RE2, which does not backtrack. Matching time is linear in the text,
 * whatever clients send.
 * @throws Error if the expression is invalid or needs features that RE2 lacks: look-around and
 * back-references.
 */
export function compileRegex(source: string, { flags = '', syntax, rewritten }: RegexOptions = {}): Regex {
  checkRepetitions(source)
  // Loaded on first use, because most configurations have no regular expression.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  let mode = 0
  if (flags.includes('i')) mode |= RE2JS.CASE_INSENSITIVE
  if (flags.includes('m')) mode |= RE2JS.MULTILINE
  if (flags.includes('s')) mode |= RE2JS.DOTALL
  const text = rewritten?.(source) ?? source
  return RE2JS.compile(syntax === 're2' ? text : RE2JS.translateRegExp(text), mode)
}

/** Compiles a regular expression and limits its length. @throws Error that names the pattern and a remedy. */
export function compilePattern(source: string, options: RegexOptions = {}): Regex {
  if (source.length > MAX_PATTERN_LENGTH)
    throw new Error(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`)
  checkRepetitions(source)
  try {
    return compileRegex(source, options)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const written = options.syntax === 're2' ? 'in the syntax of RE2, ' : ''
    throw new Error(
      `the pattern '${source}' cannot be matched in linear time (${reason}); write it ${written}without look-around and back references`,
      { cause },
    )
  }
}

/**
 * Checks the repetition counts of a regular expression, such as `{0,1000}`.
 * @throws Error if the counts would make a non-backtracking engine slow for any text.
 */
function checkRepetitions(source: string): void {
  let sum = 0
  for (const [, least, most] of source.matchAll(COUNT)) sum += Math.max(Number(least), Number(most ?? 0))
  if (sum <= MAX_REPETITIONS) return
  throw new Error(
    `the repetition counts of the pattern, such as {0,1000}, add up to more than ${MAX_REPETITIONS}; use * or +, or smaller counts`,
  )
}
