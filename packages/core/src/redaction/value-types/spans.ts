/** Positions of values in a text as start and end pairs, sorted and disjoint. */
export type Spans = readonly number[]

/** Empty list of spans. */
export const NO_SPANS: Spans = []

/** Hyphens and dashes between the groups of a number, for a character class. */
export const DASHES = '\\-\\u2010-\\u2015'
/** Invisible characters for a character class: soft hyphens, joiners and zero-width spaces. */
export const INVISIBLE = '\\u00ad\\u200b-\\u200d\\u2060\\ufeff'

/** Returns all matches of a global expression that pass a check. */
export function matchingSpans(text: string, pattern: RegExp, isValid?: (match: string) => boolean): Spans {
  pattern.lastIndex = 0
  let spans: number[] | null = null
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (isValid?.(match[0]) === false) continue
    spans ??= []
    spans.push(match.index, match.index + match[0].length)
  }
  return spans ?? NO_SPANS
}

/**
 * Appends the match of an expression ending in `$` in the last characters of a text, after all other spans.
 */
export function withCutEnd(spans: Spans, text: string, pattern: RegExp, characters: number): Spans {
  const from = Math.max(0, text.length - characters, spans.at(-1) ?? 0)
  const match = pattern.exec(text.slice(from))
  return match === null ? spans : [...spans, from + match.index, text.length]
}

/** Merges two lists of spans. */
export function united(one: Spans, other: Spans): Spans {
  if (one.length === 0) return other
  const pairs: (readonly [number, number])[] = []
  for (const spans of [one, other])
    for (let i = 0; i < spans.length; i += 2) pairs.push([spans[i]!, spans[i + 1]!])
  pairs.sort((a, b) => a[0] - b[0])
  const all: number[] = []
  for (const [start, end] of pairs) {
    if (all.length === 0 || start >= all.at(-1)!) all.push(start, end)
    else if (end > all.at(-1)!) all[all.length - 1] = end
  }
  return all
}

/** Replaces each span of a text. */
export function replacedSpans(text: string, spans: Spans, replacement: (found: string) => string): string {
  let result = ''
  let from = 0
  for (let i = 0; i < spans.length; i += 2) {
    result += text.slice(from, spans[i]!) + replacement(text.slice(spans[i]!, spans[i + 1]!))
    from = spans[i + 1]!
  }
  return result + text.slice(from)
}
