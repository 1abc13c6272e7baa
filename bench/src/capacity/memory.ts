import type { Point } from '../model/summary.js'
import { groupedBy } from '../report/scenario-relation.js'
import { mean } from '../statistics.js'

/** What connections take of the memory of a gateway, as resident memory at saturation grew with them. */
export interface ConnectionMemory {
  /** Bytes for each thousand. */
  readonly perThousandBytes: number
  /** Bytes without any. */
  readonly baseBytes: number
  /** The scenario that it was seen in, with the fewest and the most connections. */
  readonly seen: { readonly title: string; readonly from: number; readonly to: number }
}

/** From the scenario whose numbers of connections lie furthest apart, by least squares; null: no two were measured. */
export function connectionMemory(points: readonly Point[]): ConnectionMemory | null {
  const groups = [...groupedBy(points, ({ suite, scenario }) => `${suite} ${scenario}`).values()]
  const widest = groups.map(lineOf).filter((line) => line !== null)
  return widest.toSorted((a, b) => b.seen.to - b.seen.from - (a.seen.to - a.seen.from))[0] ?? null
}

function lineOf(points: readonly Point[]): ConnectionMemory | null {
  const counts = points.map(({ connections }) => connections)
  const sizes = points.map(({ rssBytes }) => rssBytes)
  const [meanCount, meanSize] = [mean(counts), mean(sizes)]
  const spread = counts.reduce((sum, count) => sum + (count - meanCount) ** 2, 0)
  if (spread === 0) return null
  const slope =
    points.reduce(
      (sum, { connections, rssBytes }) => sum + (connections - meanCount) * (rssBytes - meanSize),
      0,
    ) / spread
  return {
    perThousandBytes: Math.max(0, slope * 1000),
    baseBytes: Math.max(0, meanSize - Math.max(0, slope) * meanCount),
    seen: { title: points[0]!.title, from: Math.min(...counts), to: Math.max(...counts) },
  }
}
