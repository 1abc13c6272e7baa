import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway } from '../contestant/gateway.js'
import type { LogCount } from './log-balance.js'

/** Where to count. */
export interface LogPlaces {
  readonly node: ElasticsearchNode
  readonly stream: string
  readonly spoolDir: string
  readonly gateway: RunningGateway
}

/** Ids that are there more than once, and so many of them are told. */
const REPEATED = 1000
/** What the log says of its gaps is no record of a request. */
const GAPS = { term: { 'event.kind': 'gap' } }
/** Ids in one question. */
const BATCH = 10_000

/** Counts what is in the index and among the dead letters, and asks the log. */
export async function countLog(places: LogPlaces, calls: number): Promise<LogCount> {
  const { node, stream, spoolDir, gateway } = places
  const { documents, repeated } = await documentsOf(node, stream)
  const letters = deadLettersOf(spoolDir)
  return {
    ...{ calls, documents },
    letters: letters.length,
    repeated:
      repeated + letters.length - new Set(letters).size + (await documentsAmong(node, stream, letters)),
    identity: await logIdentity(gateway.admin),
  }
}

interface SearchAnswer {
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations: { readonly ids: { readonly buckets: readonly { readonly doc_count: number }[] } }
}

/** The index of a study has one shard, so that its counts are exact. */
async function documentsOf(
  node: ElasticsearchNode,
  stream: string,
): Promise<Pick<LogCount, 'documents' | 'repeated'>> {
  await node.request('POST', `/${stream}/_refresh`)
  const { status, body } = await node.request('POST', `/${stream}/_search`, {
    size: 0,
    track_total_hits: true,
    query: { bool: { must_not: GAPS } },
    aggs: { ids: { terms: { field: 'id', min_doc_count: 2, size: REPEATED } } },
  })
  if (status !== 200) throw new Error(`the documents could not be counted: status ${status}`)
  const { hits, aggregations } = body as SearchAnswer
  const repeated = aggregations.ids.buckets.reduce((sum, { doc_count }) => sum + doc_count - 1, 0)
  return { documents: hits.total.value, repeated }
}

/** How many documents there are of requests for these paths, once all is counted. */
export async function documentsFor(
  { node, stream }: Pick<LogPlaces, 'node' | 'stream'>,
  paths: readonly string[],
): Promise<number> {
  const query = { bool: { filter: { terms: { 'url.path': paths } }, must_not: GAPS } }
  const { status, body } = await node.request('POST', `/${stream}/_count`, { query })
  if (status !== 200) throw new Error(`the documents of paths could not be counted: status ${status}`)
  return (body as { readonly count: number }).count
}

/** How many of the records with these ids are documents as well. Record ids are unique, so each has at most one. */
async function documentsAmong(
  node: ElasticsearchNode,
  stream: string,
  ids: readonly string[],
): Promise<number> {
  let found = 0
  for (let i = 0; i < ids.length; i += BATCH) {
    const query = { terms: { id: ids.slice(i, i + BATCH) } }
    const { status, body } = await node.request('POST', `/${stream}/_count`, { query })
    if (status !== 200) throw new Error(`the dead letters could not be looked for: status ${status}`)
    found += (body as { readonly count: number }).count
  }
  return found
}

/** The ids of the calls. */
function deadLettersOf(spoolDir: string): string[] {
  const dir = join(spoolDir, 'dead')
  if (!existsSync(dir)) return []
  const lines = readdirSync(dir).flatMap((file) =>
    readFileSync(join(dir, file), 'utf8').trimEnd().split('\n'),
  )
  return lines.map((line) => (JSON.parse(line) as { readonly record: { readonly id: string } }).record.id)
}
