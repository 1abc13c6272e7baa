import { compileRegex } from '@sluice/core'
import type { Issue } from '../diagnostic/issue.js'

/** Maximum length of a regular expression, in characters. */
const MAX_REGEX_LENGTH = 1000

/**
 * Returns the problem with a regular expression (JavaScript syntax without flags, as far as RE2 supports it),
 * or null.
 */
export function examineRegex(source: string): Issue | null {
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
    // RE2 repeats the source in its message.
    const reason = problem.replace(/^error parsing regexp: /, '').replace(/: `.*`$/s, '')
    return {
      message: `'${source}' is not a valid regular expression: ${reason}`,
      remedy: 'fix it; RE2 supports neither look-around nor backreferences',
    }
  }
}
