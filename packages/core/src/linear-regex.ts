import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/** Repetitions that all counts of a pattern may ask for together: each becomes states, which take time to make and to run. */
const MAX_REPETITIONS = 2000
const COUNT = /\{(\d{1,9})(?:,(\d{0,9}))?\}/g

/** An expression of RE2: `test`, `matcher`, … */
export type Regex = RE2JS

const load = createRequire(import.meta.url)

/**
 * Compiles a regular expression (JavaScript syntax) for RE2, which does not backtrack: its time grows with the text
 * only, whatever callers send.
 * @throws Error when it is no expression, or has what RE2 cannot do: look-around and back references.
 */
export function compileRegex(source: string): Regex {
  checkRepetitions(source)
  // Loaded at the first use: most documents have no regular expression.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  return RE2JS.compile(RE2JS.translateRegExp(source))
}

/**
 * Checks the counts of a regular expression, such as `{0,1000}`, for an engine that does not backtrack.
 * @throws Error for a pattern whose counts make such an engine slow, whatever the text is.
 */
export function checkRepetitions(source: string): void {
  let sum = 0
  for (const [, least, most] of source.matchAll(COUNT)) sum += Math.max(Number(least), Number(most ?? 0))
  if (sum <= MAX_REPETITIONS) return
  throw new Error(
    `the counts of the pattern, such as {0,1000}, add up to more than ${MAX_REPETITIONS}; write * or +, or smaller ones`,
  )
}
