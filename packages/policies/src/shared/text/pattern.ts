import { performance } from 'node:perf_hooks'
import { compilePattern as compileRe2, type Regex, replacedSpans } from '@sluice/core'

/** Limits for replacing all matches in one text. Each match takes linear time, but there may be many. */
const MAX_MATCHES = 10_000
const MAX_REPLACE_MS = 100

/** A regular expression (RE2 syntax) that takes linear time for every pattern. */
export interface Pattern {
  readonly source: string
  /** Returns true if the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Replaces each match. Returns null if there is none, or too many. */
  replaced(text: string, replacement: (match: string) => string): string | null
}

/**
 * Compiles a pattern for an engine that does not backtrack.
 * @throws Error for an invalid pattern, or one with look-around or back references, which the engine does not
 * support.
 */
export function compilePattern(source: string, isCaseInsensitive: boolean): Pattern {
  const regex = compileRe2(source, { syntax: 're2', flags: isCaseInsensitive ? 'i' : '' })
  return {
    source,
    test: (text) => regex.test(text),
    replaced: (text, replacement) => replaceAll(regex, text, replacement),
  }
}

function replaceAll(regex: Regex, text: string, replacement: (match: string) => string): string | null {
  if (!regex.test(text)) return null
  const startedMono = performance.now()
  const matcher = regex.matcher(text)
  const spans: number[] = []
  while (matcher.find()) {
    if (spans.length === 2 * MAX_MATCHES || performance.now() - startedMono > MAX_REPLACE_MS) return null
    spans.push(matcher.start(), matcher.end())
  }
  return replacedSpans(text, spans, replacement)
}
