import { performance } from 'node:perf_hooks'
import { compilePattern as compileRe2, type Regex, replacedSpans } from '@sluice/core'

/** What replacing all matches in one text may take: each is found in linear time, but there may be many. */
const MAX_MATCHES = 10_000
const MAX_REPLACE_MS = 100

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
