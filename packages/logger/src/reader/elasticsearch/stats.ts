import type { Client, estypes } from '@elastic/elasticsearch'
import { fieldsOf } from '../criterion.js'
import {
  byCount,
  type GroupStats,
  HISTOGRAM_BOUNDS_MS,
  NO_KEY,
  rounded,
  STATS_FIELDS,
  type StatsOptions,
  type TrafficStats,
} from '../record-stats.js'
import { fieldTypes, isTranslatable, notIndexed, queryOf } from './query.js'
import type { SnapshotOptions } from './snapshot.js'

type Aggregations = Record<string, estypes.AggregationsAggregationContainer>

/** Aggregations of a group. Percentiles have 2 significant digits, which is about 1 %. */
const FIGURES: Aggregations = {
  errors: { filter: { term: { result: 'error' } } },
  blocked: { filter: { terms: { result: ['blocked', 'shed'] } } },
  max: { max: { field: 't.total' } },
  ms: {
    percentiles: {
      field: 't.total',
      percents: [50, 90, 99],
      hdr: { number_of_significant_value_digits: 2 },
    },
  },
}

interface Group {
  readonly doc_count: number
  readonly errors: { readonly doc_count: number }
  readonly blocked: { readonly doc_count: number }
  readonly max: { readonly value: number | null }
  readonly ms: { readonly values: Readonly<Record<string, number | null>> }
}
interface Answer extends Group {
  readonly first: { readonly value: number | null }
  readonly last: { readonly value: number | null }
  readonly uncertain: { readonly doc_count: number }
  readonly histogram: { readonly buckets: readonly { readonly doc_count: number }[] }
  readonly groups: { readonly buckets: readonly (Group & { readonly key: string | number })[] }
  readonly without: Group
}

/**
 * Computes statistics in the cluster. Returns null if the filter must be checked against the records, because a
 * criterion cannot be translated or a field of a matching record has no index.
 */
export async function clusterStats(
  client: Client,
  location: SnapshotOptions,
  { filter, by, top, signal }: StatsOptions,
): Promise<TrafficStats | null> {
  const { criteria } = filter
  const types = await fieldTypes(client, location, { criteria, signal })
  if (!criteria.every((criterion) => isTranslatable(criterion, types))) return null
  const field = STATS_FIELDS[by]
  const uncertain = [...new Set(criteria.flatMap(fieldsOf))].map((name) => notIndexed(name, types))
  const answer = await client.search(
    {
      index: location.dataStream,
      size: 0,
      track_total_hits: true,
      allow_partial_search_results: false,
      query: { bool: { filter: [queryOf(filter, types)], must_not: [{ term: { 'event.kind': 'gap' } }] } },
      aggs: {
        ...FIGURES,
        first: { min: { field: '@timestamp' } },
        last: { max: { field: '@timestamp' } },
        uncertain: {
          filter: { bool: { should: uncertain, minimum_should_match: Math.min(1, uncertain.length) } },
        },
        histogram: { range: { field: 't.total', ranges: histogramRanges() } },
        groups: { terms: { field, size: top }, aggs: FIGURES },
        without: { missing: { field }, aggs: FIGURES },
      },
    },
    { signal },
  )
  const count = totalOf(answer.hits.total)
  const figures = { ...(answer.aggregations as unknown as Answer), doc_count: count }
  if (uncertain.length > 0 && figures.uncertain.doc_count > 0) return null
  return statsOf(figures, top)
}

function statsOf(answer: Answer, top: number): TrafficStats {
  const { first, last, groups, without, histogram, doc_count } = answer
  const listed = [
    ...groups.buckets.map((group) => ({ key: String(group.key), ...groupStats(group) })),
    ...(without.doc_count === 0 ? [] : [{ key: NO_KEY, ...groupStats(without) }]),
  ]
    .sort(byCount)
    .slice(0, top)
  return {
    firstMs: first.value,
    lastMs: last.value,
    total: groupStats(answer),
    groups: listed,
    others: doc_count - listed.reduce((sum, { count }) => sum + count, 0),
    histogram: histogram.buckets.map((bucket) => bucket.doc_count),
  }
}

function groupStats({ doc_count, errors, blocked, max, ms }: Group): GroupStats {
  const at = (percentile: string): number | null => {
    const value = ms.values[percentile] ?? null
    return value === null || Number.isNaN(value) ? null : rounded(Math.min(value, max.value ?? value))
  }
  return {
    count: doc_count,
    errors: errors.doc_count,
    blocked: blocked.doc_count,
    p50: at('50.0'),
    p90: at('90.0'),
    p99: at('99.0'),
    max: max.value === null ? null : rounded(max.value),
  }
}

function histogramRanges(): estypes.AggregationsAggregationRange[] {
  const bounds = HISTOGRAM_BOUNDS_MS
  return [...bounds, null].map((to, i) => ({
    ...(i === 0 ? {} : { from: bounds[i - 1]! }),
    ...(to === null ? {} : { to }),
  }))
}

function totalOf(total: estypes.SearchHitsMetadata['total']): number {
  return typeof total === 'number' ? total : (total?.value ?? 0)
}
