/** Repetitions that all counts of a pattern may ask for together: each becomes states, which take time to make and to run. */
const MAX_REPETITIONS = 2000
const COUNT = /\{(\d{1,9})(?:,(\d{0,9}))?\}/g

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
