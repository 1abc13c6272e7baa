import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity } from '../servers/gateway.js'
import type { TrialSetup } from './setup.js'

/** Records of requests by location, counted independently. */
export interface LogCount {
  readonly documents: number
  /** Documents of requests that already have one. */
  readonly repeated: number
  readonly dead: number
  readonly dropped: number
}

/** Maximum number of repeated ids to report. */
const REPEATED = 1000
/** Gap records, which do not belong to a request. */
const GAPS = { term: { 'event.kind': 'gap' } }

interface SearchAnswer {
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations: { readonly ids: { readonly buckets: readonly { readonly doc_count: number }[] } }
}

/** Counts the documents in the index and asks the log. The index has one shard, so counts are exact. */
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
