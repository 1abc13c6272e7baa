import { type RecordView, recordValues, type TrafficRecord } from './record-view.js'

/** Comparison operator for numbers. */
export type Comparison = '>' | '>=' | '<' | '<='

/** Condition on one field, or on several fields of which one must match. */
export type FieldCriterion =
  /** At least one field has this value, compared as text. */
  | { readonly kind: 'equals'; readonly fields: readonly string[]; readonly value: string }
  /** At least one field has a value that matches the pattern. */
  | { readonly kind: 'matches'; readonly fields: readonly string[]; readonly pattern: TextPattern }
  /** The field has no value that matches the pattern. */
  | { readonly kind: 'differs'; readonly field: string; readonly pattern: TextPattern }
  | { readonly kind: 'prefix'; readonly field: string; readonly value: string }
  /** Inclusive range. */
  | { readonly kind: 'range'; readonly field: string; readonly from: number; readonly to: number }
  /** Numeric comparison. Does not match records without a number in the field. */
  | { readonly kind: 'compares'; readonly field: string; readonly by: Comparison; readonly bound: number }

/** Condition on a record, in a form that can also be translated to a search engine query. */
export type Criterion = FieldCriterion | { readonly kind: 'any'; readonly of: readonly FieldCriterion[] }

/** Returns the fields that a criterion refers to. */
export function fieldsOf(criterion: Criterion): readonly string[] {
  if (criterion.kind === 'any') return criterion.of.flatMap(fieldsOf)
  return 'fields' in criterion ? criterion.fields : [criterion.field]
}

/** Returns true if a record meets a criterion. One matching item of a list is enough. */
export function meets(view: RecordView, criterion: Criterion): boolean {
  const { record } = view
  switch (criterion.kind) {
    case 'any':
      return criterion.of.some((one) => meets(view, one))
    case 'equals':
      return criterion.fields.some((field) => textsAt(record, field).includes(criterion.value))
    case 'matches':
      return criterion.fields.some((field) => isMatched(record, field, criterion.pattern))
    case 'differs':
      return !isMatched(record, criterion.field, criterion.pattern)
    case 'prefix':
      return textsAt(record, criterion.field).some((text) => text.startsWith(criterion.value))
    case 'range':
      return numbersAt(record, criterion.field).some(
        (number) => number >= criterion.from && number <= criterion.to,
      )
    case 'compares':
      return numbersAt(record, criterion.field).some((number) => holds(number, criterion.by, criterion.bound))
  }
}

function isMatched(record: TrafficRecord, field: string, pattern: TextPattern): boolean {
  return textsAt(record, field).some((text) => fitsPattern(pattern, text))
}

function holds(value: number, by: Comparison, bound: number): boolean {
  switch (by) {
    case '>':
      return value > bound
    case '>=':
      return value >= bound
    case '<':
      return value < bound
    case '<=':
      return value <= bound
  }
}

/** Returns the scalar values of a field as text. */
function textsAt(record: TrafficRecord, field: string): readonly string[] {
  const texts = recordValues(record, field).map(textOf)
  return texts.filter((text) => text !== null)
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

function numbersAt(record: TrafficRecord, field: string): readonly number[] {
  return recordValues(record, field).filter((value) => typeof value === 'number')
}

/**
 * Text pattern in which `*` matches any text. `\*` is a literal star, and `\\` before a star a literal
 * backslash.
 */
export interface TextPattern {
  /** Literal texts between the stars, in order. A single part is the whole text. */
  readonly parts: readonly string[]
}

/** Parses a pattern. */
export function textPattern(text: string): TextPattern {
  const parts: string[] = []
  let part = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    const next = text[i + 1]
    if (character === '\\' && (next === '*' || (next === '\\' && text[i + 2] === '*'))) {
      part += next
      i++
    } else if (character === '*') {
      parts.push(part)
      part = ''
    } else part += character
  }
  return { parts: [...parts, part] }
}

/** Returns true if the whole text matches the pattern. Takes linear time. */
export function fitsPattern({ parts }: TextPattern, text: string): boolean {
  const first = parts[0]!
  if (parts.length === 1) return text === first
  const last = parts.at(-1)!
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (let i = 1; i < parts.length - 1; i++) {
    const found = text.indexOf(parts[i]!, at)
    if (found === -1) return false
    at = found + parts[i]!.length
  }
  return at <= end
}
