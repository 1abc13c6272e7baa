import type { AnswerPart } from '../admin/answer-part.js'

/** Traffic of a route, or of the whole gateway, between two answers of `GET /v1/metrics`. */
export interface TrafficRow {
  readonly route: string
  /** Requests per second. */
  readonly rate: number
  /** Responses per second with a status of 400 to 499, and of 500 and more. */
  readonly clientErrors: number
  readonly serverErrors: number
  /** Latency percentiles in milliseconds, or null without requests. */
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
  /** Number of requests since the gateway started. */
  readonly total: number
}

/** Columns to sort by, the largest first; names from A. */
export const SORT_KEYS = ['rate', 'serverErrors', 'clientErrors', 'p99', 'p50', 'total', 'route'] as const

/** A column to sort by. */
export type SortKey = (typeof SORT_KEYS)[number]

/** Computes the traffic between two answers. Without an earlier one, it is that since the gateway started. */
export class TrafficRates {
  readonly total: TrafficRow
  readonly routes: readonly TrafficRow[]

  /** @param seconds Time between the answers, or since the start. */
  constructor(before: AnswerPart | null, after: AnswerPart, seconds: number) {
    const bounds = numbers(after.value['boundsSeconds'])
    const earlier = new Map(before?.parts('routes').map((route) => [route.text('id'), route]))
    const row = (route: string, from: AnswerPart | null, to: AnswerPart): TrafficRow =>
      rowOf(route, { from, to, bounds, seconds: Math.max(seconds, 0.001) })
    this.total = row('total', before?.part('total') ?? null, after.part('total'))
    this.routes = after.parts('routes').map((route) => {
      const id = route.text('id')
      return row(id, earlier.get(id) ?? null, route)
    })
  }
}

/** Sorts rows; routes with the same value by name. */
export function sorted(rows: readonly TrafficRow[], by: SortKey): TrafficRow[] {
  const byName = (a: TrafficRow, b: TrafficRow): number => a.route.localeCompare(b.route)
  if (by === 'route') return [...rows].sort(byName)
  return [...rows].sort((a, b) => (b[by] ?? -1) - (a[by] ?? -1) || byName(a, b))
}

interface Change {
  readonly from: AnswerPart | null
  readonly to: AnswerPart
  readonly bounds: readonly number[]
  readonly seconds: number
}

function rowOf(route: string, { from, to, bounds, seconds }: Change): TrafficRow {
  const before = from === null ? [] : numbers(from.value['buckets'])
  const after = numbers(to.value['buckets'])
  const buckets = after.map((count, i) => Math.max(0, count - (before[i] ?? 0)))
  const rateOf = (status: string): number => {
    const earlier = from?.part('requests').numberOrNull(status) ?? 0
    return Math.max(0, (to.part('requests').numberOrNull(status) ?? 0) - earlier) / seconds
  }
  return {
    route,
    rate: sum(buckets) / seconds,
    clientErrors: rateOf('4xx'),
    serverErrors: rateOf('5xx'),
    p50: percentile(buckets, bounds, 0.5),
    p90: percentile(buckets, bounds, 0.9),
    p99: percentile(buckets, bounds, 0.99),
    total: sum(after),
  }
}

/** Estimates a percentile in milliseconds. Values are assumed to be evenly spread within their bucket. */
function percentile(buckets: readonly number[], bounds: readonly number[], part: number): number | null {
  const count = sum(buckets)
  if (count === 0) return null
  let rank = part * count
  for (const [i, inBucket] of buckets.entries()) {
    if (rank > inBucket || inBucket === 0) {
      rank -= inBucket
      continue
    }
    const lower = bounds[i - 1] ?? 0
    const upper = bounds[i] ?? lower
    return (lower + (upper - lower) * (rank / inBucket)) * 1000
  }
  return (bounds.at(-1) ?? 0) * 1000
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : []
}
