import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '../../testing.js'
import { type FilterRequest, recordFilter } from '../record-filter.js'
import { ElasticsearchSource } from './source.js'

// A server with the responses of OpenSearch 2.19.6. It refuses what that version refuses.

const STREAM = 'logs-open-default'
const START_MS = Date.UTC(2026, 0, 31, 12)
const TYPES: Readonly<Record<string, string>> = {
  'res.status': 'short',
  'url.path': 'keyword',
  route: 'keyword',
  policies: 'nested',
  'policies.id': 'keyword',
}

/** Content of a response that is larger than the limit of the client. */
const TOO_LARGE = {}

interface KnownIds {
  readonly ids: { readonly values: readonly string[] }
}

interface Search {
  readonly query: { readonly bool: { readonly filter: object[]; readonly must_not?: KnownIds } }
  readonly size: number
  readonly pit: { readonly id: string }
  readonly sort: readonly Readonly<Record<string, { readonly format?: string }>>[]
  readonly search_after?: readonly [number, string, number]
}

interface OpenSearch {
  readonly node: string
  readonly records: { readonly id: string; readonly '@timestamp': string }[]
  readonly searches: Search[]
  /** IDs of the open points in time. */
  readonly open: Set<string>
  /** Page size from which responses are too large. */
  largestPage: number
}

async function startOpenSearch(t: TestContext): Promise<OpenSearch> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const [status, content] = answerOf(cluster, request, body)
    const type = { 'content-type': 'application/json; charset=UTF-8' }
    if (content === TOO_LARGE)
      response.writeHead(status, { ...type, 'content-length': 40 * 1024 ** 2 }).write('{')
    else response.writeHead(status, type).end(JSON.stringify(content))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cluster: OpenSearch = { node, records: [], searches: [], open: new Set(), largestPage: 1000 }
  return cluster
}

function answerOf(
  cluster: OpenSearch,
  { method, url = '', headers }: IncomingMessage,
  body: string,
): [number, object] {
  const type = headers['content-type'] ?? 'application/json'
  if (type !== 'application/json') return [406, { error: `Content-Type header [${type}] is not supported` }]
  const { pathname, searchParams } = new URL(url, cluster.node)
  const call = `${method} ${pathname}`
  if (call === `POST /${STREAM}/_search/point_in_time` && searchParams.has('keep_alive')) {
    const id = `pit-${cluster.searches.length}-${cluster.open.size}`
    cluster.open.add(id)
    return [200, { pit_id: id, _shards: { total: 1, successful: 1 }, creation_time: 1 }]
  }
  if (call === 'DELETE /_search/point_in_time') {
    const ids: string[] = JSON.parse(body).pit_id
    return [200, { pits: ids.map((pit_id) => ({ successful: cluster.open.delete(pit_id), pit_id })) }]
  }
  if (call === `GET /${STREAM}/_field_caps`) {
    const asked = searchParams.get('fields')!.split(',')
    const fields = asked.filter((field) => field in TYPES).map((field) => [field, capabilitiesOf(field)])
    return [200, { indices: ['i-1'], fields: Object.fromEntries(fields) }]
  }
  if (call !== 'POST /_search')
    return [400, { error: `no handler found for uri [${url}] and method [${method}]` }]
  const search: Search = JSON.parse(body)
  const isUnknown = search.sort.some(
    (by) => '_shard_doc' in by || Object.values(by).some((one) => one.format),
  )
  if (isUnknown || !cluster.open.has(search.pit.id))
    return [400, { error: { type: 'x_content_parse_exception', reason: 'unknown field [format]' } }]
  cluster.searches.push(search)
  if (search.size > cluster.largestPage) return [200, TOO_LARGE]
  const [afterMs, , afterDoc] = search.search_after ?? [0, '', -1]
  const known = search.query.bool.must_not?.ids.values ?? []
  const hits = cluster.records
    .map((record, doc) => ({
      _source: record,
      _id: record.id,
      sort: [timeOf(record), record.id, doc] as const,
    }))
    .filter(({ sort: [timeMs, , doc] }) => timeMs > afterMs || (timeMs === afterMs && doc > afterDoc))
    .filter(({ _id }) => !known.includes(_id))
    .slice(0, search.size)
  return [200, { pit_id: search.pit.id, hits: { hits } }]
}

function capabilitiesOf(field: string): object {
  const type = TYPES[field]!
  return { [type]: { type, searchable: type !== 'nested', aggregatable: type !== 'nested' } }
}

function timeOf(record: { readonly '@timestamp': string }): number {
  return Date.parse(record['@timestamp'])
}

/** Adds records with two per millisecond. */
function write({ records }: OpenSearch, count: number): void {
  for (let i = records.length, end = i + count; i < end; i++) {
    const time = new Date(START_MS + (i >> 1)).toISOString()
    records.push({ '@timestamp': time, id: `r${String(i).padStart(5, '0')}`, ...{ url: { path: `/${i}` } } })
  }
}

function sourceOf(t: TestContext, { node }: OpenSearch, product?: 'opensearch'): ElasticsearchSource {
  const source = new ElasticsearchSource({
    ...{ nodes: [node], auth: null, caFile: null, insecure: false, compress: false, dataStream: STREAM },
    ...(product === undefined ? {} : { product }),
    onProblem: () => {},
  })
  t.after(() => source.close())
  return source
}

const { signal } = new AbortController()

async function ids(source: ElasticsearchSource, request: FilterRequest = {}): Promise<unknown[]> {
  const found: unknown[] = []
  const filter = recordFilter(request, START_MS)
  for await (const { record } of source.search({ filter, last: Infinity, signal })) found.push(record['id'])
  return found
}

test('a search reads all pages of a point in time, and closes it', async (t) => {
  const cluster = await startOpenSearch(t)
  write(cluster, 2501)
  const found = await ids(sourceOf(t, cluster, 'opensearch'))
  assert.deepEqual(
    found,
    cluster.records.map(({ id }) => id),
  )
  assert.deepEqual([cluster.searches.length, cluster.open.size], [3, 0])
})

test('a page that is too large is read in pieces', async (t) => {
  const cluster = await startOpenSearch(t)
  write(cluster, 300)
  cluster.largestPage = 250
  assert.equal(new Set(await ids(sourceOf(t, cluster, 'opensearch'))).size, 300)
  assert.deepEqual(
    cluster.searches.map(({ size }) => size),
    [1000, 250, 250],
  )
})

test('a query also finds values that OpenSearch did not index, because it does not list them', async (t) => {
  const cluster = await startOpenSearch(t)
  const source = sourceOf(t, cluster, 'opensearch')
  const asked = async (request: FilterRequest): Promise<unknown> => {
    await ids(source, request)
    return cluster.searches.at(-1)!.query.bool.filter[0]
  }
  const any = (...should: object[]): object => ({ bool: { should, minimum_should_match: 1 } })
  const orAbsent = (query: object, field: string): object =>
    any(query, { bool: { must_not: { exists: { field } } } })
  const path = { prefix: { 'url.path': '/orders' } }
  assert.deepEqual(await asked({ path: '/orders' }), orAbsent(path, 'url.path'))
  const pattern = { wildcard: { route: { value: 'or*' } } }
  assert.deepEqual(await asked({ route: 'or*' }), any(orAbsent(pattern, 'route')))
  assert.deepEqual(await asked({ route: 'orders' }), any({ term: { route: 'orders' } }))
  const long = 'x'.repeat(2000)
  assert.deepEqual(await asked({ route: long }), any(orAbsent({ term: { route: long } }, 'route')))
  const nested = { nested: { path: 'policies', query: any({ term: { 'policies.id': 'auth' } }) } }
  assert.deepEqual(await asked({ where: ['policies.id=auth'] }), nested)
})

test('following shows new records', async (t) => {
  const cluster = await startOpenSearch(t)
  write(cluster, 3)
  const stop = new AbortController()
  const seen: unknown[] = []
  const reading = (async () => {
    const options = { filter: recordFilter({}), last: 0, follow: true, signal: stop.signal }
    for await (const { record } of sourceOf(t, cluster, 'opensearch').tail(options)) seen.push(record['id'])
  })()
  await until(() => cluster.searches.length > 0, 'the existing records are passed over')
  write(cluster, 1)
  await until(() => seen.length > 0, 'the new one is shown')
  stop.abort()
  await reading
  assert.deepEqual(seen, ['r00003'])
})

test('without the setting, the error names it', async (t) => {
  const cluster = await startOpenSearch(t)
  await assert.rejects(
    ids(sourceOf(t, cluster)),
    /for OpenSearch, set log\.elasticsearch\.product: opensearch/,
  )
})
