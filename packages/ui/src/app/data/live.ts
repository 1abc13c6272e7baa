import { type Rates, ratesBetween } from '@sluice/core/traffic-rates'
import { useEffect, useState } from 'preact/hooks'
import type { Metrics, Status } from './admin-api.js'
import { Refused, request } from './request.js'

/** Figures at a point in time, for the charts. */
export interface Point extends Rates {
  readonly atMs: number
}

/** Latest answers, and the figures of the last minutes. */
interface Live {
  readonly status: Status | null
  readonly metrics: Metrics | null
  readonly points: readonly Point[]
  /** Reason why the figures are not current, or null. */
  readonly problem: string | null
}

const POLL_MS = 2000
/** Ten minutes. */
const MAX_POINTS = 300
/** Number of answers kept to compute rates: a window of ten seconds. */
const MAX_ANSWERS = 6

/** Polls the admin API while the page is visible. */
class LiveFigures {
  live: Live = { status: null, metrics: null, points: [], problem: null }
  #answers: Metrics[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #listeners = new Set<() => void>()

  start(): void {
    clearTimeout(this.#timer)
    void this.#poll()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#answers = []
    this.live = { status: null, metrics: null, points: [], problem: null }
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Answer at the start of the window. */
  get first(): Metrics | null {
    return this.#answers[0] ?? null
  }

  async #poll(): Promise<void> {
    if (!document.hidden) {
      try {
        const [metrics, status] = await Promise.all([
          request<Metrics>('GET', '/v1/metrics'),
          request<Status>('GET', '/v1/status'),
        ])
        this.#take(metrics, status)
      } catch (error) {
        if (error instanceof Refused && error.status === 401) return
        this.live = { ...this.live, problem: (error as Error).message }
      }
      for (const listener of this.#listeners) listener()
    }
    this.#timer = setTimeout(() => void this.#poll(), POLL_MS)
  }

  #take(metrics: Metrics, status: Status): void {
    this.#answers = [...this.#answers, metrics].slice(-MAX_ANSWERS)
    const { points } = this.live
    const previous = this.#answers.at(-2)
    const next = previous === undefined ? [] : [this.#pointAt(previous, metrics)]
    this.live = { status, metrics, points: [...points, ...next].slice(-MAX_POINTS), problem: null }
  }

  #pointAt(previous: Metrics, metrics: Metrics): Point {
    const bounds = metrics.boundsSeconds
    const rates = ratesBetween(previous.total, metrics.total, {
      seconds: secondsBetween(previous, metrics),
      bounds,
    })
    return { atMs: Date.parse(metrics.at), ...rates }
  }
}

/** The figures, shared by all pages. */
export const liveFigures = new LiveFigures()

/** Returns the latest figures, and renders again when they change. */
export function useLive(): Live {
  const [, setLive] = useState(liveFigures.live)
  useEffect(() => liveFigures.subscribe(() => setLive(liveFigures.live)), [])
  return liveFigures.live
}

/** Returns the figures of the last ten seconds, of all routes and by route. */
export function currentRates(metrics: Metrics): {
  readonly total: Rates
  readonly routes: ReadonlyMap<string, Rates>
} {
  const first = liveFigures.first ?? metrics
  const window = { seconds: secondsBetween(first, metrics), bounds: metrics.boundsSeconds }
  const before = new Map(first.routes.map((route) => [route.id, route]))
  const routes = metrics.routes.map(
    (route) => [route.id, ratesBetween(before.get(route.id), route, window)] as const,
  )
  return { total: ratesBetween(first.total, metrics.total, window), routes: new Map(routes) }
}

function secondsBetween(before: Metrics, now: Metrics): number {
  return (Date.parse(now.at) - Date.parse(before.at)) / 1000
}
