import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { checkRepetitions } from '@sluice/core'
import type { RE2JS } from 're2js'

/** Longest pattern. */
const MAX_PATTERN_LENGTH = 4096
/** What replacing all matches in one text may take: each is found in linear time, but there may be many. */
const MAX_MATCHES = 10_000
const MAX_REPLACE_MS = 100

const load = createRequire(import.meta.url)

/** A regular expression (RE2 syntax) whose time grows with the text only, whatever its pattern is. */
export interface Pattern {
  readonly source: string
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
  /** The text with each match replaced; null when there is none, or too many. */
  replaced(text: string, replacement: (match: string) => string): string | null
}

/**
 * Compiles a pattern for an engine that does not backtrack.
 * @throws Error when it is no pattern, or has what such an engine cannot do: look-around and back references.
 */
export function compilePattern(source: string, isCaseInsensitive: boolean): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`)
  }
  checkRepetitions(source)
  // Loaded at the first use: most documents have no pattern.
  const { RE2JS } = load('re2js') as typeof import('re2js')
  try {
    const regex = RE2JS.compile(source, isCaseInsensitive ? RE2JS.CASE_INSENSITIVE : 0)
    return {
      source,
      test: (text) => regex.test(text),
      replaced: (text, replacement) => replaceAll(regex, text, replacement),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const advice = 'write it in the syntax of RE2, without look-around and back references'
    throw new Error(`the pattern '${source}' cannot be matched in linear time (${reason}); ${advice}`, {
      cause,
    })
  }
}

function replaceAll(regex: RE2JS, text: string, replacement: (match: string) => string): string | null {
  if (!regex.test(text)) return null
  const startedMono = performance.now()
  const matcher = regex.matcher(text)
  let result = ''
  let from = 0
  for (let count = 0; matcher.find(); count++) {
    if (count === MAX_MATCHES || performance.now() - startedMono > MAX_REPLACE_MS) return null
    const start = matcher.start()
    const end = matcher.end()
    result += text.slice(from, start) + replacement(text.slice(start, end))
    from = end
  }
  return result + text.slice(from)
}
