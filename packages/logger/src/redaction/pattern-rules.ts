import type { Regex, Spans } from '@sluice/core'
import type { Findings } from './findings.js'
import { openPiece, type Piece, textOf } from './pieces.js'
import type { AreaRules, Found, RegexRule, TypeRule } from './rules.js'

/** Context for redacting a text. */
export interface TextContext {
  readonly rules: AreaRules
  readonly findings: Findings
  /** True if the text was truncated. */
  readonly isCut: boolean
  /** Number of enclosing texts. JSON, for example, may contain a string with JSON. */
  readonly depth: number
  /** Encodes text at this level as it appears in the outermost text. */
  wrap(written: string): string
}

/** Redacts values of the types that rules look for. Returns the same array if nothing matches. */
export function applyTypes(pieces: readonly Piece[], context: TextContext): readonly Piece[] {
  let result = pieces
  for (const rule of context.rules.types) result = withoutType(result, rule, context)
  return result
}

function withoutType(pieces: readonly Piece[], rule: TypeRule, context: TextContext): readonly Piece[] {
  let changed: Piece[] | null = null
  for (const [i, piece] of pieces.entries()) {
    const isLast = i === pieces.length - 1
    const spans = piece.isOpaque ? [] : rule.find(piece.text, context.isCut && isLast)
    if (spans.length > 0) context.findings.addType(rule)
    if (spans.length > 0 && rule.action !== 'detect') {
      changed ??= pieces.slice(0, i)
      changed.push(...withoutSpans(piece.text, spans, rule, context))
    } else changed?.push(piece)
  }
  return changed ?? pieces
}

/**
 * Redacts the matches of regular expression rules. They match against the whole text, but do not change
 * replacements made by other rules.
 */
export function applyRegex(pieces: readonly Piece[], context: TextContext): readonly Piece[] {
  let result = pieces
  for (const rule of context.rules.regexes) result = withoutMatches(result, rule, context)
  return result
}

function withoutMatches(pieces: readonly Piece[], rule: RegexRule, context: TextContext): readonly Piece[] {
  const text = textOf(pieces)
  const spans = regexSpans(text, rule.regex)
  if (spans.length === 0) return pieces
  const result: Piece[] = []
  let next = 0
  let at = 0
  for (const piece of pieces) {
    const end = at + piece.text.length
    const within: number[] = []
    for (; next < spans.length && spans[next]! < end; next += 2) {
      // A match that extends into a replacement is limited to the text outside of it.
      within.push(Math.max(spans[next]!, at) - at, Math.min(spans[next + 1]!, end) - at)
      if (spans[next + 1]! > end) break
    }
    if (within.length > 0) context.findings.add(rule)
    if (within.length === 0 || piece.isOpaque || rule.action === 'detect') result.push(piece)
    else result.push(...withoutSpans(piece.text, within, rule, context))
    at = end
  }
  return result
}

function regexSpans(text: string, regex: Regex): Spans {
  const spans: number[] = []
  const matcher = regex.matcher(text)
  const value = matcher.groupCount() > 0 ? 1 : 0
  while (matcher.find()) {
    // If the group did not take part in the match, the whole match is the value.
    const group = matcher.group(value) === null ? 0 : value
    const start = matcher.start(group)
    const end = matcher.end(group)
    if (end > start) spans.push(start, end)
  }
  return spans
}

function withoutSpans(
  text: string,
  spans: Spans,
  { action }: TypeRule | RegexRule,
  { wrap }: TextContext,
): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (let i = 0; i < spans.length; i += 2) {
    const [start, end] = [spans[i]!, spans[i + 1]!]
    if (start > at) pieces.push(openPiece(text.slice(at, start)))
    if (typeof action !== 'string') pieces.push(action(foundOf(text.slice(start, end), wrap)))
    at = end
  }
  if (at < text.length) pieces.push(openPiece(text.slice(at)))
  return pieces
}

function foundOf(text: string, wrap: (written: string) => string): Found {
  return { text, written: wrap(text), isUnquoted: false, isContainer: false }
}
