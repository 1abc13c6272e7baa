import { visibleText } from '@sluice/core'
import { recordValue, type TrafficRecord } from '@sluice/logger'

/** A request in the live view. */
export interface RequestRow {
  /** Number since the start, from 1. */
  readonly number: number
  readonly record: TrafficRecord
  readonly id: string
  /** Time of day, `10:42:07.123`. */
  readonly time: string
  readonly method: string
  readonly path: string
  /** Empty if no route matches. */
  readonly route: string
  /** Policies with their verdicts, such as `auth ✓ limit ✗`. */
  readonly policies: string
  readonly status: number
  readonly ms: number
  /** True if a mock upstream responded. */
  readonly isMocked: boolean
  /** Error code and its reason; empty if the request succeeded. */
  readonly problem: string
}

/** Facts that a row needs besides the record. */
export interface RowContext {
  readonly number: number
  /** Addresses of the mock upstreams. */
  readonly mocks: readonly string[]
  policyName(id: string, route: string): string
}

/** Route of records without one. */
const NO_ROUTE = '-'
const MARKS: ReadonlyMap<string, string> = new Map([
  ['pass', '✓'],
  ['skip', '–'],
  ['error', '✗'],
])

/** Returns the row of a record. Control characters of clients are escaped. */
export function requestRow(record: TrafficRecord, { number, mocks, policyName }: RowContext): RequestRow {
  const text = (path: string): string => {
    const value = recordValue(record, path)
    return typeof value === 'string' || typeof value === 'number' ? visibleText(String(value)) : ''
  }
  const query = text('url.query')
  const route = text('route') === NO_ROUTE ? '' : text('route')
  const status = Number(text('res.status'))
  const runs = recordValue(record, 'policies')
  const policies = (Array.isArray(runs) ? (runs as readonly PolicyRun[]) : []).map(
    ({ id, out }) => `${policyName(id, route)} ${MARKS.get(out) ?? (status < 400 ? '→' : '✗')}`,
  )
  const address = text('up.addr')
  return {
    ...{ number, record, route, status },
    id: text('id'),
    time: timeOfDay(new Date(text('@timestamp'))),
    method: text('http.method'),
    path: `${text('url.path')}${query === '' ? '' : `?${query}`}`,
    policies: visibleText(policies.join(' ')),
    ms: Number(text('t.total')),
    isMocked: address !== '' && mocks.some((url) => url.endsWith(address)),
    problem: ['code', 'reason', 'msg']
      .map((name) => text(`error.${name}`))
      .filter((part) => part !== '')
      .join(' '),
  }
}

interface PolicyRun {
  readonly id: string
  readonly out: string
}

/** Formats the local time with milliseconds. */
export function timeOfDay(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`
}
