import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/** Longest pattern. */
const MAX_PATTERN_LENGTH = 4096
/** Repetitions that all counts of a pattern may ask for together: each becomes states, which take time to make and to run. */
const MAX_REPETITIONS = 2000
const COUNT = /\{(\d{1,9})(?:,(\d{0,9}))?\}/g

/** An expression of RE2: `test`, `matcher`, … */
export type Regex = RE2JS

const load = createRequire(import.meta.url)

/** How an expression is written. */
export interface RegexOptions {
  /** `i`, `m` and `s`, as in JavaScript. */
  readonly flags?: string
  /** JavaScript unless it says otherwise. */
  readonly syntax?: 'javascript' | 're2'
  /** What is compiled in the place of the source once its counts were checked. */
  readonly rewritten?: (source: string) => string
}

/**
 * Compiles a regular expression for RE2, which does not backtrack: its time grows with the text only, whatever callers
 * send.
 * @throws Error when it is no expression, or has what RE2 cannot do: look-around and back references.
 */
export function compileRegex(source: string, { flags = '', syntax, rewritten }: RegexOptions = {}): Regex {
  checkRepetitions(source)
  // Loaded at the first use: most documents have no regular expression.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  let mode = 0
  if (flags.includes('i')) mode |= RE2JS.CASE_INSENSITIVE
  if (flags.includes('m')) mode |= RE2JS.MULTILINE
  if (flags.includes('s')) mode |= RE2JS.DOTALL
  const text = rewritten?.(source) ?? source
  return RE2JS.compile(syntax === 're2' ? text : RE2JS.translateRegExp(text), mode)
}

/** The same for a pattern of a bounded length. @throws Error that names the pattern and says what to do. */
export function compilePattern(source: string, options: RegexOptions = {}): Regex {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`)
  }
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
 * Checks the counts of a regular expression, such as `{0,1000}`, for an engine that does not backtrack.
 * @throws Error for a pattern whose counts make such an engine slow, whatever the text is.
 */
function checkRepetitions(source: string): void {
  let sum = 0
  for (const [, least, most] of source.matchAll(COUNT)) sum += Math.max(Number(least), Number(most ?? 0))
  if (sum <= MAX_REPETITIONS) return
  throw new Error(
    `the counts of the pattern, such as {0,1000}, add up to more than ${MAX_REPETITIONS}; write * or +, or smaller ones`,
  )
}
