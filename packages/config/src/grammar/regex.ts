import { compileRegex } from '@sluice/core'
import type { Flaw } from '../flaw.js'

/** Longest regular expression. */
const MAX_REGEX_LENGTH = 1000

/** What is wrong with a regular expression (JavaScript syntax, no flags, as far as RE2 has it), or null. */
export function examineRegex(source: string): Flaw | null {
  if (source.length > MAX_REGEX_LENGTH) {
    return {
      message: `the regular expression is longer than ${MAX_REGEX_LENGTH} characters`,
      remedy: 'shorten it',
    }
  }
  try {
    compileRegex(source).test('')
    return null
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'it cannot be compiled'
    // RE2 repeats the source in its reason.
    const reason = problem.replace(/^error parsing regexp: /, '').replace(/: `.*`$/s, '')
    return {
      message: `'${source}' is not a regular expression: ${reason}`,
      remedy: 'correct it; RE2 has no look-around and no back references',
    }
  }
}
