import { formatSize } from '@sluice/core'
import type { Point } from '../model/summary.js'
import { groupedBy } from '../report/scenario-relation.js'
import type { Evidence, WholeWish } from './evidence.js'

/** Sizes this near to each other are the same: 1 KB is 1,000 bytes to some. */
const SAME_SIZE = 0.05

/**
 * What it costs to pass on a request with such a body: measured, between two measured sizes, or beyond them along the
 * line of the last two. `logged` are the points with the wished log, `plain` those with any.
 */
export function costOfBody(logged: readonly Point[], plain: readonly Point[], wish: WholeWish): Evidence {
  const sizes = dearestOfSizes(logged)
  if (sizes.length === 0) return nothing(missingPoint(plain, wish))
  const wanted = wish.method === 'GET' ? sizes[0]!.bodyBytes : wish.bodyBytes
  const exact = sizes.find(({ bodyBytes }) => Math.abs(bodyBytes - wanted) <= bodyBytes * SAME_SIZE)
  if (exact !== undefined) return found(exact.cpuMicrosPerRequest.mean, [exact], answerNotes(wish))
  const above = sizes.findIndex(({ bodyBytes }) => bodyBytes > wanted)
  if (above === 0) {
    const note = `a body of ${formatSize(wanted)} is taken to cost as much as one of ${formatSize(sizes[0]!.bodyBytes)}`
    return found(sizes[0]!.cpuMicrosPerRequest.mean, [sizes[0]!], [note])
  }
  if (above > 0) return along(sizes[above - 1]!, sizes[above]!, wanted, 'interpolated')
  if (sizes.length < 2)
    return nothing(
      `a ${wish.method} of ${formatSize(wanted)}, or two smaller sizes; measured is ${formatSize(sizes[0]!.bodyBytes)} only: gw bench run apinizer --tier W1`,
    )
  return along(sizes.at(-2)!, sizes.at(-1)!, wanted, 'EXTRAPOLATED')
}

function along(small: Point, large: Point, bytes: number, how: string): Evidence {
  const [from, to] = [small.cpuMicrosPerRequest.mean, large.cpuMicrosPerRequest.mean]
  const slope = Math.max(0, (to - from) / (large.bodyBytes - small.bodyBytes))
  const note = `the cost of ${formatSize(bytes)} is ${how} from ${formatSize(small.bodyBytes)} and ${formatSize(large.bodyBytes)}`
  return found(from + slope * (bytes - small.bodyBytes), [small, large], [note])
}

/** Of each size, ascending, the dearest of the points with the best throughput of each scenario. */
function dearestOfSizes(points: readonly Point[]): Point[] {
  const sizes = new Map<number, Point>()
  for (const point of bestOfScenarios(points)) {
    const known = sizes.get(point.bodyBytes)
    if (known === undefined || known.cpuMicrosPerRequest.mean < point.cpuMicrosPerRequest.mean)
      sizes.set(point.bodyBytes, point)
  }
  return [...sizes.values()].toSorted((a, b) => a.bodyBytes - b.bodyBytes)
}

/** The point with the best throughput of each scenario. */
function bestOfScenarios(points: readonly Point[]): Point[] {
  const best = new Map<string, Point>()
  for (const point of points) {
    const key = `${point.suite} ${point.scenario}`
    const known = best.get(key)
    if (known === undefined || known.perSecond.mean < point.perSecond.mean) best.set(key, point)
  }
  return [...best.values()]
}

/** Of each kind of request the dearest, as an answer takes it, the cheapest kind first. */
export function cheapestFirst(points: readonly Point[]): Point[] {
  const groups = groupedBy(points, ({ method, log }) => `${method === 'GET'} ${log}`)
  return [...groups.values()]
    .flatMap(dearestOfSizes)
    .toSorted((a, b) => a.cpuMicrosPerRequest.mean - b.cpuMicrosPerRequest.mean)
}

function missingPoint(plain: readonly Point[], { method, log }: WholeWish): string {
  const request = method === 'GET' ? 'a GET' : 'a request with a body'
  const logged = log === 'none' ? 'with the traffic log off' : 'with the traffic log in Elasticsearch'
  const other = plain.length > 0 ? ' (measured the other way only)' : ''
  return `${request} without policies ${logged}${other}: gw bench run apinizer --tier W1`
}

function answerNotes({ method, bodyBytes }: WholeWish): string[] {
  if (method !== 'GET' || bodyBytes === 0) return []
  return [`a GET has no body: that answers have ${formatSize(bodyBytes)} is not in this figure`]
}

function found(micros: number, usedPoints: readonly Point[], notes: readonly string[]): Evidence {
  return { shares: [{ what: 'passing the request on', micros }], usedPoints, notes, missing: [] }
}

function nothing(missing: string): Evidence {
  return { shares: [], usedPoints: [], notes: [], missing: [missing] }
}
