import { type RecordView, recordValue } from './record-view.js'

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

/** Whether a record meets a criterion. */
export function meets({ record }: RecordView, criterion: Criterion): boolean {
  switch (criterion.kind) {
    case 'equals':
      return criterion.fields.some((field) => textOf(recordValue(record, field)) === criterion.value)
    case 'differs':
      return textOf(recordValue(record, criterion.field)) !== criterion.value
    case 'prefix':
      return textOf(recordValue(record, criterion.field))?.startsWith(criterion.value) === true
    case 'range': {
      const value = recordValue(record, criterion.field)
      return typeof value === 'number' && value >= criterion.from && value <= criterion.to
    }
    case 'compares': {
      const value = recordValue(record, criterion.field)
      return typeof value === 'number' && holds(value, criterion.by, criterion.bound)
    }
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

/** Only single values can be compared; null stands for the rest. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}
