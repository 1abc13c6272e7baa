import { type RecordView, recordValues, type TrafficRecord } from './record-view.js'
import { fitsPattern, type TextPattern } from './text-pattern.js'

/** How two numbers are compared. */
export type Comparison = '>' | '>=' | '<' | '<='

/** A condition on the values of one field, or of several of which one is enough. */
export type FieldCriterion =
  /** One of the fields has this value, compared as text. */
  | { readonly kind: 'equals'; readonly fields: readonly string[]; readonly value: string }
  /** One of the fields has a value of this pattern. */
  | { readonly kind: 'matches'; readonly fields: readonly string[]; readonly pattern: TextPattern }
  /** The field has another value, or none. */
  | { readonly kind: 'differs'; readonly field: string; readonly pattern: TextPattern }
  | { readonly kind: 'prefix'; readonly field: string; readonly value: string }
  /** Both ends belong to it. */
  | { readonly kind: 'range'; readonly field: string; readonly from: number; readonly to: number }
  /** Only numbers can be compared; a record without one does not meet it. */
  | { readonly kind: 'compares'; readonly field: string; readonly by: Comparison; readonly bound: number }

/** One condition on a record, in a form that a search engine can be asked as well. */
export type Criterion = FieldCriterion | { readonly kind: 'any'; readonly of: readonly FieldCriterion[] }

/** The fields that a criterion is about. */
export function fieldsOf(criterion: Criterion): readonly string[] {
  if (criterion.kind === 'any') return criterion.of.flatMap(fieldsOf)
  return 'fields' in criterion ? criterion.fields : [criterion.field]
}

/** Whether a record meets a criterion; of a list, one item is enough. */
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

/** Only single values can be compared. */
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
