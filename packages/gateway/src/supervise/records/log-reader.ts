import type { LogElasticsearchPlan, LogPlan } from '@sluice/config'
import { messageOf } from '@sluice/core'
import { latestRecords, type RecordFilter, recordFilter } from '@sluice/logger'
import type { LoggedRecord, RecordQuery, RecordsAnswer } from './record-query.js'

/** Characters of files to read: for each second of the live log, at first, and for one request or trace. */
const LIVE_CHARS = 16 * 1024 ** 2
const FIRST_CHARS = 64 * 1024 ** 2
const LOOKUP_CHARS = 512 * 1024 ** 2
/**
 * Time between the start of a request and the moment at which Elasticsearch finds its record, in milliseconds. Later
 * records are missed by the live log.
 */
const INDEXING_MS = 30_000
const CLUSTER_TIMEOUT_MS = 10_000

/** Searches a log. Errors of the query and of the log are answers. */
export async function searchLog(log: LogPlan | null, query: RecordQuery): Promise<RecordsAnswer> {
  let filter: RecordFilter
  try {
    filter = filterOf(query)
  } catch (error) {
    return refused('invalid', messageOf(error))
  }
  try {
    for (const { sink, file, elasticsearch } of log === null ? [] : [log, ...log.outputs]) {
      if (sink === 'file') return await inFiles(file.dir, filter, query)
      if (sink === 'elasticsearch' && elasticsearch !== null)
        return await inCluster(elasticsearch, filter, query)
    }
  } catch (error) {
    return refused('unreadable', messageOf(error))
  }
  const remedy = 'add a target with sink: file or sink: elasticsearch'
  return refused('unreadable', `the gateway cannot read any target of the traffic log; ${remedy}`)
}

function filterOf({ minMs, sinceMs: _since, limit: _limit, ...request }: RecordQuery): RecordFilter {
  return recordFilter({ ...request, where: minMs === undefined ? [] : [`t.total>=${minMs}`] })
}

async function inFiles(dir: string, filter: RecordFilter, query: RecordQuery): Promise<RecordsAnswer> {
  const text = query.id ?? query.trace ?? ''
  const isLookup = /^[\w-]+$/.test(text)
  const { views, isComplete } = await latestRecords(dir, {
    filter,
    last: query.limit,
    endedSinceMs: query.sinceMs,
    text: isLookup ? text : '',
    maxChars: isLookup ? LOOKUP_CHARS : query.sinceMs === null ? FIRST_CHARS : LIVE_CHARS,
  })
  const records = views.map(({ record }) => record)
  return { ok: true, searched: { kind: 'file', where: dir, isComplete }, records }
}

async function inCluster(
  plan: LogElasticsearchPlan,
  filter: RecordFilter,
  { sinceMs, limit }: RecordQuery,
): Promise<RecordsAnswer> {
  // Only for this, because the client takes long to load.
  const { ElasticsearchSource } = await import('@sluice/logger/elasticsearch')
  const { nodes, dataStream, product, auth, tls, compress } = plan
  const access = { nodes, dataStream, auth, compress, ...tls, ...(product === undefined ? {} : { product }) }
  const source = new ElasticsearchSource({ ...access, onProblem: () => {} })
  const wanted = { ...filter, sinceMs: sinceMs === null ? null : sinceMs - INDEXING_MS }
  const signal = AbortSignal.timeout(CLUSTER_TIMEOUT_MS)
  const records: LoggedRecord[] = []
  try {
    for await (const { record } of source.search({ filter: wanted, last: limit, signal }))
      records.unshift(record)
  } finally {
    await source.close()
  }
  if (signal.aborted) return refused('unreadable', 'Elasticsearch did not answer in time')
  return { ok: true, searched: { kind: 'elasticsearch', where: dataStream, isComplete: true }, records }
}

function refused(fault: 'invalid' | 'unreadable', problem: string): RecordsAnswer {
  return { ok: false, fault, problem }
}
