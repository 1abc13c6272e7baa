import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity } from '../servers/gateway.js'
import type { TrialSetup } from './setup.js'

/** Where the records of requests are, counted at each by itself. */
export interface LogCount {
  readonly documents: number
  /** Documents of a request that has one already. */
  readonly repeated: number
  readonly dead: number
  readonly dropped: number
}

/** Ids that are there more than once, and so many of them are reported. */
const REPEATED = 1000
/** What the log says of its gaps is no record of a request. */
const GAPS = { term: { 'event.kind': 'gap' } }

interface SearchAnswer {
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations: { readonly ids: { readonly buckets: readonly { readonly doc_count: number }[] } }
}

/** Counts what is in the index, and asks the log. The index has one shard: counts are exact. */
export async function countLog(
  node: ElasticsearchNode,
  { gateway, dataStream }: TrialSetup,
): Promise<LogCount> {
  await node.request('POST', `/${dataStream}/_refresh`)
  const { status, body } = await node.request('POST', `/${dataStream}/_search`, {
    size: 0,
    track_total_hits: true,
    query: { bool: { must_not: GAPS } },
    aggs: { ids: { terms: { field: 'id', min_doc_count: 2, size: REPEATED } } },
  })
  if (status !== 200) throw new Error(`the documents could not be counted: status ${status}`)
  const { hits, aggregations } = body as SearchAnswer
  const again = aggregations.ids.buckets.reduce((sum, { doc_count }) => sum + doc_count - 1, 0)
  const { dead, dropped } = await logIdentity(gateway.admin)
  return { documents: hits.total.value, repeated: again, dead, dropped }
}
