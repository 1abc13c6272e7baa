import { createRequire } from 'node:module'

/** Longest pattern. */
const MAX_PATTERN_LENGTH = 4096

const load = createRequire(import.meta.url)

/** A regular expression whose time grows with the text only, whatever its pattern is. */
export interface LinearRegex {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
}

/**
 * Compiles a pattern (JavaScript syntax) for an engine that does not backtrack.
 * @throws Error when it is no pattern, or has what such an engine cannot do: look-around and back references.
 */
export function compileLinearRegex(pattern: string): LinearRegex {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`)
  }
  // Loaded at the first use: most documents have no pattern.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  try {
    const regex = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text) => regex.test(text) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `the pattern '${pattern}' cannot be matched in linear time (${reason}); write it without look-around and back references`,
      { cause },
    )
  }
}
