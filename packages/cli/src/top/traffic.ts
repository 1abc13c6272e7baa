import { ratesBetween, type Traffic } from '@sluice/core/traffic-rates'
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
  const after = trafficOf(to)
  const before = from === null ? undefined : trafficOf(from)
  const { requests, errors, clientErrors, p50, p90, p99 } = ratesBetween(before, after, { seconds, bounds })
  const total = Object.values(after.requests).reduce((sum, count) => sum + count, 0)
  return { route, rate: requests, clientErrors, serverErrors: errors, p50, p90, p99, total }
}

function trafficOf(part: AnswerPart): Traffic {
  const requests = part.part('requests')
  const counts = Object.keys(requests.value).map((status) => [status, requests.number(status)] as const)
  return { requests: Object.fromEntries(counts), buckets: numbers(part.value['buckets']) }
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : []
}
