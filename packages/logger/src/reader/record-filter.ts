import { parseDuration } from '@sluice/core'
import { type Comparison, type Criterion, type FieldCriterion, meets } from './criterion.js'
import { checkField, checkValue } from './known-names.js'
import type { RecordView } from './record-view.js'
import { textPattern } from './text-pattern.js'

/** One value, or several of which one is enough. */
type Wanted = string | readonly string[] | undefined

/** What a person asks for; what is absent does not matter. `*` in a value stands for any text. */
export interface FilterRequest {
  /** `404`, `5xx` or `400-499`; several with commas. */
  readonly status?: Wanted
  readonly route?: Wanted
  readonly api?: Wanted
  /** Several with commas. */
  readonly method?: Wanted
  /** The beginning of the path; with a `*` the whole of it. */
  readonly path?: Wanted
  readonly host?: Wanted
  /** The client's address. */
  readonly client?: Wanted
  /** A consumer's id or name. */
  readonly consumer?: Wanted
  /** Several with commas. */
  readonly result?: Wanted
  /** An error code; several with commas. */
  readonly code?: Wanted
  /** The id of a request. */
  readonly id?: Wanted
  /** The id of a trace (W3C). */
  readonly trace?: Wanted
  /** How long ago, `1h`, or an ISO 8601 instant. */
  readonly since?: string | undefined
  /** As `since`; records that began then or later are left out. */
  readonly until?: string | undefined
  /** `key=value`, or another operator of WHERE, the key a dotted path; several with ` || `. All must hold. */
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
/** Without spaces around it, only before what reads as a condition: a value may hold it. */
const OR = /\s+\|\|\s+|\|\|(?=[@\w][\w.-]*(?:!=|[<>=]))/
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/
/** A date, or a date and time that says its zone: a time without one means something else on every machine. */
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * Builds a filter.
 * @param nowMs what `since` counts back from, ms since the epoch.
 * @throws RangeError for a value that cannot be understood, saying what to write; UnknownNameError for a field, method,
 * result or code that no record has.
 */
export function recordFilter(request: FilterRequest, nowMs = Date.now()): RecordFilter {
  const { route, api, path, host, client, consumer, id, trace, where = [] } = request
  const text = (...fields: readonly string[]) => {
    return (value: string): FieldCriterion => textCriterion(fields, value)
  }
  const criteria = [
    anyOf(listed(request.status), statusCriterion),
    anyOf(route, text('route')),
    anyOf(api, text('api')),
    anyOf(listed(request.method), (method) => textCriterion(['http.method'], method.toUpperCase())),
    anyOf(path, pathCriterion),
    anyOf(host, (name) => textCriterion(['url.host'], name.toLowerCase())),
    anyOf(client, text('client.ip')),
    anyOf(consumer, text('consumer.id', 'consumer.name')),
    anyOf(listed(request.result), text('result')),
    anyOf(listed(request.code), text('error.code')),
    anyOf(id, text('id')),
    anyOf(trace, text('trace.id')),
    ...where.map((condition) => anyOf(condition.split(OR), whereCriterion)),
  ]
  return { criteria: criteria.filter((criterion) => criterion !== null), ...timeOf(request, nowMs) }
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

/** Null when nothing is wanted. */
function anyOf(wanted: Wanted, criterionOf: (value: string) => FieldCriterion): Criterion | null {
  if (wanted === undefined) return null
  const [first, ...others] = [wanted].flat().map(criterionOf)
  if (first === undefined) return null
  return others.length === 0 ? first : { kind: 'any', of: [first, ...others] }
}

/** Of a field whose values have no commas. */
function listed(wanted: Wanted): Wanted {
  return wanted === undefined ? undefined : [wanted].flat().flatMap((text) => text.split(','))
}

function textCriterion(fields: readonly string[], text: string): FieldCriterion {
  const pattern = textPattern(text)
  if (pattern.parts.length > 1) return { kind: 'matches', fields, pattern }
  const value = pattern.parts[0]!
  for (const field of fields) checkValue(field, value)
  return { kind: 'equals', fields, value }
}

function pathCriterion(text: string): FieldCriterion {
  const pattern = textPattern(text)
  if (pattern.parts.length > 1) return { kind: 'matches', fields: ['url.path'], pattern }
  return { kind: 'prefix', field: 'url.path', value: pattern.parts[0]! }
}

function statusCriterion(text: string): FieldCriterion {
  const family = STATUS_CLASS.exec(text)
  if (family !== null) {
    const from = Number(family[1]) * 100
    return { kind: 'range', field: 'res.status', from, to: from + 99 }
  }
  const range = STATUS_RANGE.exec(text)
  if (range === null) throw new RangeError(`'${text}' is not a status; write for example 404, 5xx or 400-499`)
  const from = Number(range[1])
  const to = Number(range[2] ?? from)
  if (to < from) throw new RangeError(`no status is in '${text}'; write the smaller one first`)
  return { kind: 'range', field: 'res.status', from, to }
}

function whereCriterion(text: string): FieldCriterion {
  const match = WHERE.exec(text)
  if (match === null) {
    throw new RangeError(`'${text}' is not a condition; write field=value, for example up.name=orders`)
  }
  const field = match[1]!
  const operator = match[2]!
  const value = match[3]!
  checkField(field)
  if (operator === '=') return textCriterion([field], value)
  if (operator === '!=') {
    const pattern = textPattern(value)
    if (pattern.parts.length === 1) checkValue(field, pattern.parts[0]!)
    return { kind: 'differs', field, pattern }
  }
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
