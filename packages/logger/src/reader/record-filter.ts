import { parseDuration } from '@sluice/core'
import { type RecordView, recordValue } from './record-view.js'

/** What a person asks for; what is absent does not matter. */
export interface FilterRequest {
  /** `404`, `5xx` or `400-499`. */
  readonly status?: string | undefined
  readonly route?: string | undefined
  readonly method?: string | undefined
  /** The beginning of the path. */
  readonly path?: string | undefined
  readonly host?: string | undefined
  /** The client's address. */
  readonly client?: string | undefined
  /** A consumer's id or name. */
  readonly consumer?: string | undefined
  readonly result?: string | undefined
  /** An error code. */
  readonly code?: string | undefined
  /** How long ago, `1h`, or an ISO 8601 instant. */
  readonly since?: string | undefined
  /** `key=value` each, the key a dotted path; all must hold. */
  readonly where?: readonly string[] | undefined
}

/** One condition on a record, in a form that a search engine can be asked as well. */
export type Criterion =
  /** One of the fields has this value, compared as text. */
  | { readonly kind: 'equals'; readonly fields: readonly string[]; readonly value: string }
  | { readonly kind: 'prefix'; readonly field: string; readonly value: string }
  /** Both ends belong to it. */
  | { readonly kind: 'range'; readonly field: string; readonly from: number; readonly to: number }

/** Which records are wanted: those that meet every criterion and began at `sinceMs` or later. */
export interface RecordFilter {
  readonly criteria: readonly Criterion[]
  /** ms since the epoch, or null for any time. */
  readonly sinceMs: number | null
}

const STATUS_CLASS = /^([1-5])xx$/i
const STATUS_RANGE = /^(\d{3})(?:-(\d{3}))?$/
const WHERE = /^([@\w-]+(?:\.[\w-]+)*)=(.*)$/s
/** A date, or a date and time that says its zone: a time without one means something else on every machine. */
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * Builds a filter.
 * @param nowMs what `since` counts back from, ms since the epoch.
 * @throws RangeError for a value that cannot be understood, saying what to write.
 */
export function recordFilter(request: FilterRequest, nowMs = Date.now()): RecordFilter {
  const criteria: Criterion[] = []
  if (request.status !== undefined) criteria.push(statusCriterion(request.status))
  equals(criteria, ['route'], request.route)
  equals(criteria, ['http.method'], request.method?.toUpperCase())
  if (request.path !== undefined) criteria.push({ kind: 'prefix', field: 'url.path', value: request.path })
  equals(criteria, ['url.host'], request.host?.toLowerCase())
  equals(criteria, ['client.ip'], request.client)
  equals(criteria, ['consumer.id', 'consumer.name'], request.consumer)
  equals(criteria, ['result'], request.result)
  equals(criteria, ['error.code'], request.code)
  for (const text of request.where ?? []) criteria.push(whereCriterion(text))
  return { criteria, sinceMs: request.since === undefined ? null : instantOf(request.since, nowMs) }
}

/** Whether a record is wanted. */
export function matchesFilter(filter: RecordFilter, view: RecordView): boolean {
  if (filter.sinceMs !== null && view.timeMs < filter.sinceMs) return false
  return filter.criteria.every((criterion) => meets(view, criterion))
}

function meets({ record }: RecordView, criterion: Criterion): boolean {
  switch (criterion.kind) {
    case 'equals':
      return criterion.fields.some((field) => textOf(recordValue(record, field)) === criterion.value)
    case 'prefix':
      return textOf(recordValue(record, criterion.field))?.startsWith(criterion.value) === true
    case 'range': {
      const value = recordValue(record, criterion.field)
      return typeof value === 'number' && value >= criterion.from && value <= criterion.to
    }
  }
}

/** Only single values can be compared; null stands for the rest. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

function equals(criteria: Criterion[], fields: readonly string[], value: string | undefined): void {
  if (value !== undefined) criteria.push({ kind: 'equals', fields, value })
}

function statusCriterion(text: string): Criterion {
  const family = STATUS_CLASS.exec(text)
  if (family !== null) {
    const from = Number(family[1]) * 100
    return { kind: 'range', field: 'res.status', from, to: from + 99 }
  }
  const range = STATUS_RANGE.exec(text)
  if (range === null) throw new RangeError(`'${text}' is not a status; write for example 404, 5xx or 400-499`)
  const from = Number(range[1])
  return { kind: 'range', field: 'res.status', from, to: Number(range[2] ?? from) }
}

function whereCriterion(text: string): Criterion {
  const match = WHERE.exec(text)
  if (match === null) {
    throw new RangeError(`'${text}' is not a condition; write field=value, for example up.name=orders`)
  }
  return { kind: 'equals', fields: [match[1]!], value: match[2]! }
}

function instantOf(text: string, nowMs: number): number {
  if (INSTANT.test(text)) {
    const instant = Date.parse(text)
    if (!Number.isNaN(instant)) return instant
  }
  try {
    return nowMs - parseDuration(text)
  } catch {
    throw new RangeError(`'${text}' is not a time; write for example 15m, 1h or 2026-01-31T08:00:00Z`)
  }
}
