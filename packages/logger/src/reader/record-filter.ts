import { parseDuration } from '@sluice/core'
import { type Comparison, type Criterion, type FieldCriterion, meets, textPattern } from './criterion.js'
import { checkValue, isNumberField } from './known-names.js'
import type { RecordView } from './record-view.js'

/** A value, or several alternatives. */
type Wanted = string | readonly string[] | undefined

/** Filter as entered by a user. Absent fields match everything. `*` in a value matches any text. */
export interface FilterRequest {
  /** Status such as `404`, `5xx` or `400-499`, or a comma-separated list. */
  readonly status?: Wanted
  readonly route?: Wanted
  readonly api?: Wanted
  /** Method or comma-separated list of methods. */
  readonly method?: Wanted
  /** Path prefix, or the whole path if it contains `*`. */
  readonly path?: Wanted
  readonly host?: Wanted
  /** Client address. */
  readonly client?: Wanted
  /** ID or name of a consumer. */
  readonly consumer?: Wanted
  /** Result or comma-separated list of results. */
  readonly result?: Wanted
  /** Error code or comma-separated list of error codes. */
  readonly code?: Wanted
  /** Request ID. */
  readonly id?: Wanted
  /** W3C trace ID. */
  readonly trace?: Wanted
  /** Start of the time range: an age such as `1h`, or an ISO 8601 instant. */
  readonly since?: string | undefined
  /** Exclusive end of the time range, in the same format as `since`. */
  readonly until?: string | undefined
  /**
   * Conditions that must all hold: `key=value` or another operator, where the key is a dotted path. ` || `
   * separates alternatives.
   */
  readonly where?: readonly string[] | undefined
}

/**
 * Compiled filter. A record must meet all criteria and have started at or after `sinceMs` and before
 * `untilMs`.
 */
export interface RecordFilter {
  readonly criteria: readonly Criterion[]
  /** Milliseconds since the epoch, or null for no limit. */
  readonly sinceMs: number | null
  /** Milliseconds since the epoch, or null for no limit. */
  readonly untilMs: number | null
}

const STATUS_CLASS = /^([1-5])xx$/i
const STATUS_RANGE = /^(\d{3})(?:-(\d{3}))?$/
const WHERE = /^([@\w-]+(?:\.[\w-]+)*)(!=|>=|<=|=|>|<)(.*)$/s
/**
 * Separator between alternatives. Without surrounding spaces it only counts before text that looks like a
 * condition, because a value may contain it.
 */
const OR = /\s+\|\|\s+|\|\|(?=[@\w][\w.-]*(?:!=|[<>=]))/
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/
/** A date, or a date and time with a time zone. Without a zone, a time would depend on the machine. */
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * Compiles a filter.
 * @param nowMs Reference time for ages such as `1h`, in milliseconds since the epoch.
 * @throws RangeError with a remedy if a value is invalid, or UnknownNameError if no record has a field,
 * method, result or code of this name.
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

/** Returns true if a record matches the filter. */
export function matchesFilter(filter: RecordFilter, view: RecordView): boolean {
  if (filter.sinceMs !== null && view.timeMs < filter.sinceMs) return false
  if (filter.untilMs !== null && view.timeMs >= filter.untilMs) return false
  return filter.criteria.every((criterion) => meets(view, criterion))
}

/** Returns the time range of a filter. */
function timeOf({ since, until }: FilterRequest, nowMs: number): Pick<RecordFilter, 'sinceMs' | 'untilMs'> {
  const sinceMs = since === undefined ? null : instantOf(since, nowMs)
  const untilMs = until === undefined ? null : instantOf(until, nowMs)
  if (sinceMs !== null && untilMs !== null && untilMs <= sinceMs) {
    throw new RangeError(`the time range from ${since} to ${until} is empty; the second time must be later`)
  }
  return { sinceMs, untilMs }
}

/** Combines alternatives. Returns null if the list is empty. */
function anyOf(wanted: Wanted, criterionOf: (value: string) => FieldCriterion): Criterion | null {
  if (wanted === undefined) return null
  const [first, ...others] = [wanted].flat().map(criterionOf)
  if (first === undefined) return null
  return others.length === 0 ? first : { kind: 'any', of: [first, ...others] }
}

/** Splits comma-separated lists. For fields whose values contain no commas. */
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
  const value = pattern.parts[0]!
  if (!/^($|[/*])/.test(value))
    throw new RangeError(`'${text}' is not a path; a path starts with /: --path /${text}`)
  return { kind: 'prefix', field: 'url.path', value }
}

function statusCriterion(text: string): FieldCriterion {
  const family = STATUS_CLASS.exec(text)
  if (family !== null) {
    const from = Number(family[1]) * 100
    return { kind: 'range', field: 'res.status', from, to: from + 99 }
  }
  const range = STATUS_RANGE.exec(text)
  if (range === null) throw new RangeError(`'${text}' is not a status; use for example 404, 5xx or 400-499`)
  const from = Number(range[1])
  const to = Number(range[2] ?? from)
  if (to < from) throw new RangeError(`the status range '${text}' is empty; put the smaller number first`)
  return { kind: 'range', field: 'res.status', from, to }
}

function whereCriterion(text: string): FieldCriterion {
  const match = WHERE.exec(text)
  if (match === null) {
    throw new RangeError(`'${text}' is not a condition; use field=value, for example up.name=orders`)
  }
  const field = match[1]!
  const operator = match[2]!
  const value = match[3]!
  const isEquality = operator === '=' || operator === '!='
  if (isNumberField(field) && isEquality && !NUMBER.test(value) && !value.includes('*')) {
    const hint = STATUS_CLASS.test(value)
      ? `for classes use --status ${value}`
      : `use for example ${field}=200`
    throw new RangeError(`'${text}' is not a condition: ${field} is a number; ${hint}`)
  }
  if (operator === '=') return textCriterion([field], value)
  if (operator === '!=') {
    const pattern = textPattern(value)
    if (pattern.parts.length === 1) checkValue(field, pattern.parts[0]!)
    return { kind: 'differs', field, pattern }
  }
  if (!NUMBER.test(value)) {
    throw new RangeError(
      `'${text}' compares with '${value}', which is not a number; use for example t.total>500`,
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
    throw new RangeError(`'${text}' is not a time; use for example 15m, 1h or 2026-01-31T08:00:00Z`)
  }
}
