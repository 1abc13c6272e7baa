import type { Client } from '@elastic/elasticsearch'
import type { Delivery, Shipment } from '../output.js'
import { ANSWER_BOUNDS } from './client.js'
import { reasonOf } from './failure.js'

type Answered = Extract<Delivery, { readonly kind: 'answered' }>

interface FoundAnswer {
  readonly hits?: { readonly hits?: readonly { readonly _id: string }[] }
}

/** A data stream, and who hears when it cannot be asked. */
export interface AskedStream {
  readonly client: Client
  readonly dataStream: string
  readonly signal: AbortSignal
  readonly report: (problem: string) => void
}

/**
 * The outcome of a shipment of which an earlier attempt may have written records. A mapping that changed in between
 * refuses what was written before it: a record that is refused and is a document nevertheless is delivered, or it would
 * be counted as a dead letter and found in the index as well. Where the stream may not be read, it remains a dead
 * letter: twice is better than never.
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
    asked.report(`refused records may be in the index as well, which cannot be searched: ${reasonOf(error)}`)
    return delivery
  }
}

/** Those of the ids that documents have. A search finds only what was written before the last refresh. */
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
      // A part of the answer would let what is written look as if it were not.
      querystring: { filter_path: 'hits.hits._id', allow_partial_search_results: 'false' },
      body: { size: ids.length, _source: false, query: { ids: { values: ids } } },
    },
    { signal, ...ANSWER_BOUNDS },
  )
  return new Set(hits?.hits?.map(({ _id }) => _id))
}
