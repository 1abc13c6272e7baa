import { parseDuration } from '@sluice/core'
import { type Comparison, type Criterion, meets } from './criterion.js'
import type { RecordView } from './record-view.js'

/** What a person asks for; what is absent does not matter. */
export interface FilterRequest {
  /** `404`, `5xx` or `400-499`. */
  readonly status?: string | undefined
  readonly route?: string | undefined
  readonly api?: string | undefined
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
  /** As `since`; records that began then or later are left out. */
  readonly until?: string | undefined
  /** `key=value`, or another operator of WHERE, the key a dotted path; all must hold. */
  readonly where?: readonly string[] | undefined
}

/** Which records are wanted: those that meet every criterion and began at `sinceMs` or later, but before `untilMs`. */
export interface RecordFilter {
  readonly criteria: readonly Criterion[]
  /** ms since the epoch, or null for any time. */
  readonly sinceMs: number | null
  /** ms since the epoch, or null for any time. */
  readonly untilMs: number | null
}

const STATUS_CLASS = /^([1-5])xx$/i
const STATUS_RANGE = /^(\d{3})(?:-(\d{3}))?$/
const WHERE = /^([@\w-]+(?:\.[\w-]+)*)(!=|>=|<=|=|>|<)(.*)$/s
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/
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
  equals(criteria, ['api'], request.api)
  equals(criteria, ['http.method'], request.method?.toUpperCase())
  if (request.path !== undefined) criteria.push({ kind: 'prefix', field: 'url.path', value: request.path })
  equals(criteria, ['url.host'], request.host?.toLowerCase())
  equals(criteria, ['client.ip'], request.client)
  equals(criteria, ['consumer.id', 'consumer.name'], request.consumer)
  equals(criteria, ['result'], request.result)
  equals(criteria, ['error.code'], request.code)
  for (const text of request.where ?? []) criteria.push(whereCriterion(text))
  return { criteria, ...timeOf(request, nowMs) }
}

/** Whether a record is wanted. */
export function matchesFilter(filter: RecordFilter, view: RecordView): boolean {
  if (filter.sinceMs !== null && view.timeMs < filter.sinceMs) return false
  if (filter.untilMs !== null && view.timeMs >= filter.untilMs) return false
  return filter.criteria.every((criterion) => meets(view, criterion))
}

/** When the records began. */
function timeOf({ since, until }: FilterRequest, nowMs: number): Pick<RecordFilter, 'sinceMs' | 'untilMs'> {
  const sinceMs = since === undefined ? null : instantOf(since, nowMs)
  const untilMs = until === undefined ? null : instantOf(until, nowMs)
  if (sinceMs !== null && untilMs !== null && untilMs <= sinceMs) {
    throw new RangeError(`nothing is between ${since} and ${until}; the second has to be the later time`)
  }
  return { sinceMs, untilMs }
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
  const field = match[1]!
  const operator = match[2]!
  const value = match[3]!
  if (operator === '=') return { kind: 'equals', fields: [field], value }
  if (operator === '!=') return { kind: 'differs', field, value }
  if (!NUMBER.test(value)) {
    throw new RangeError(
      `'${text}' compares with '${value}', which is no number; write for example t.total>500`,
    )
  }
  return { kind: 'compares', field, by: operator as Comparison, bound: Number(value) }
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
