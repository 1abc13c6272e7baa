import { type RecordView, recordValues, type TrafficRecord } from './record-view.js'

/** How two numbers are compared. */
export type Comparison = '>' | '>=' | '<' | '<='

/** One condition on a record, in a form that a search engine can be asked as well. */
export type Criterion =
  /** One of the fields has this value, compared as text. */
  | { readonly kind: 'equals'; readonly fields: readonly string[]; readonly value: string }
  /** The field has another value, or none. */
  | { readonly kind: 'differs'; readonly field: string; readonly value: string }
  | { readonly kind: 'prefix'; readonly field: string; readonly value: string }
  /** Both ends belong to it. */
  | { readonly kind: 'range'; readonly field: string; readonly from: number; readonly to: number }
  /** Only numbers can be compared; a record without one does not meet it. */
  | { readonly kind: 'compares'; readonly field: string; readonly by: Comparison; readonly bound: number }

/** Whether a record meets a criterion; of a list, one item is enough. */
export function meets({ record }: RecordView, criterion: Criterion): boolean {
  if (criterion.kind === 'equals') {
    return criterion.fields.some((field) => textsAt(record, field).includes(criterion.value))
  }
  const { field } = criterion
  switch (criterion.kind) {
    case 'differs':
      return !textsAt(record, field).includes(criterion.value)
    case 'prefix':
      return textsAt(record, field).some((text) => text.startsWith(criterion.value))
    case 'range':
      return numbersAt(record, field).some((number) => number >= criterion.from && number <= criterion.to)
    case 'compares':
      return numbersAt(record, field).some((number) => holds(number, criterion.by, criterion.bound))
  }
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
