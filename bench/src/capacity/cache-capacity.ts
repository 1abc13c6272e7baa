import { formatSize } from '@sluice/core'
import type { Point, Summary } from '../model/summary.js'
import { countText, significant } from '../report/figures.js'
import { groupedBy } from '../report/relations.js'
import { type CapacityQuery, fittingTier, guideLines, tierGuide } from './capacity.js'
import { measurementsOf } from './measurements.js'

type CacheQuery = Pick<CapacityQuery, 'perSecond' | 'bodyBytes'>

/** Returns the capacity of `gw cache-server` for reads and for writes. @throws Error if the runs cannot be combined */
export function cacheCapacity(summaries: readonly Summary[], { perSecond, bodyBytes }: CacheQuery) {
  const { points, host } = measurementsOf(summaries)
  const fitting = points.filter((point) => point.suite === 'apinizer-cache' && valueBytes(point) >= bodyBytes)
  // The next larger measured size is on the safe side, and so is the highest cost.
  const bytes = Math.min(...fitting.map(valueBytes))
  const alike = fitting.filter((point) => valueBytes(point) === bytes)
  const operations = groupedBy(alike, ({ method }) => method).map((group) => {
    const microsPerRequest = Math.max(...group.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest.mean))
    const guide = tierGuide(group, microsPerRequest)
    const { tier, replicas } = fittingTier(guide, perSecond)
    return { method: group[0]!.method, microsPerRequest, tier, replicas, guide }
  })
  return { valueBytes: alike.length === 0 ? null : bytes, operations, host }
}

/** The size of a value is in the name of a scenario only, because a GET has no body. */
function valueBytes({ scenario }: Point): number {
  return Number(/-(\d+)kb$/.exec(scenario)?.[1] ?? 1) * 1024
}

/** Formats the capacity for a terminal. */
export function cacheCapacityLines(
  { perSecond, bodyBytes }: CacheQuery,
  { valueBytes: bytes, operations, host }: ReturnType<typeof cacheCapacity>,
): string[] {
  if (bytes === null)
    return [
      `no answer: values of ${formatSize(bodyBytes)} are not measured; gw bench run apinizer-cache --tier W1`,
    ]
  return [
    ...operations.flatMap(({ method, microsPerRequest, tier, replicas, guide }) => [
      `${countText(perSecond)} ${method}/s of ${formatSize(bytes)}: ${tier} × ${replicas}, ${significant(microsPerRequest)} µs of CPU each`,
      ...guideLines(guide, `${method}/s`),
    ]),
    'note: 30 % of each tier is kept free, and the values must fit into its memory',
    `note: measured on ${host.cpuModel} with CPU score ${significant(host.cpuScore)}. For another machine, scale by the CPU score in its reports`,
  ]
}
