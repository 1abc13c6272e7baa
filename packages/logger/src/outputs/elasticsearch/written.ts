import type { Client } from '@elastic/elasticsearch'
import { ANSWER_BOUNDS } from '../../elasticsearch/client.js'
import { reasonOf } from '../../elasticsearch/cluster-error.js'
import type { Delivery, Shipment } from '../output.js'

type Answered = Extract<Delivery, { readonly kind: 'answered' }>

interface FoundAnswer {
  readonly hits?: { readonly hits?: readonly { readonly _id: string }[] }
}

/** A data stream to search, and a callback for problems. */
export interface AskedStream {
  readonly client: Client
  readonly dataStream: string
  readonly signal: AbortSignal
  readonly report: (problem: string) => void
}

/**
 * Removes refusals of records that an earlier attempt has written. If the mapping changed in between, a
 * repeated record may be refused although it is in the index. It counts as delivered, because otherwise it
 * would be both a dead letter and a document. If the data stream cannot be searched, it stays a dead letter:
 * a duplicate is better than a loss.
 */
export async function withoutWritten(
  asked: AskedStream,
  shipment: Shipment,
  delivery: Answered,
): Promise<Answered> {
  const { refused } = delivery
  if (refused.length === 0) return delivery
  const ids = refused.map(({ index }) => shipment.idOf(index))
  try {
    const written = await idsWritten(asked, ids)
    if (written.size === 0) return delivery
    return { ...delivery, refused: refused.filter((_, i) => !written.has(ids[i]!)) }
  } catch (error) {
    asked.report(`refused records may also be in the index, which cannot be searched: ${reasonOf(error)}`)
    return delivery
  }
}

/**
 * Returns the IDs that exist as documents. Refreshes first, because a search only finds documents written
 * before the last refresh.
 */
async function idsWritten(
  { client, dataStream, signal }: AskedStream,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const stream = `/${encodeURIComponent(dataStream)}`
  await client.transport.request({ method: 'POST', path: `${stream}/_refresh` }, { signal })
  const { hits } = await client.transport.request<FoundAnswer>(
    {
      method: 'POST',
      path: `${stream}/_search`,
      // With partial results, a written record might look missing.
      querystring: { filter_path: 'hits.hits._id', allow_partial_search_results: 'false' },
      body: { size: ids.length, _source: false, query: { ids: { values: ids } } },
    },
    { signal, ...ANSWER_BOUNDS },
  )
  return new Set(hits?.hits?.map(({ _id }) => _id))
}
