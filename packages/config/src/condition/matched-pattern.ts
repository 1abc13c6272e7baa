import { compileRegex, type Regex } from '@sluice/core'
import { ConditionError } from './condition-error.js'

/** Longest pattern of `matches()`, in characters. */
const MAX_PATTERN = 1000
/** Longest text that is matched, in characters: linear time is still time. */
const MAX_MATCHED = 65_536

/**
 * Compiles the pattern of `matches()`, RE2 as CEL wants it: its time grows with the text only, whatever callers send.
 * The test throws a ConditionError for a text of more than 65,536 characters.
 * @throws RangeError when it is no pattern, or has what RE2 cannot do: look-around and back references.
 */
export function compileMatch(source: string): (text: string) => boolean {
  if (source.length > MAX_PATTERN) {
    throw new RangeError(`the pattern of matches() is longer than ${MAX_PATTERN} characters`)
  }
  let regex: Regex
  try {
    regex = compileRegex(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RangeError(`matches() cannot use the pattern '${source}': ${reason}`)
  }
  return (text) => {
    if (text.length > MAX_MATCHED) throw new ConditionError('the text is too long for matches()')
    return regex.test(text)
  }
}
