import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type FilterRequest, matchesFilter, recordFilter } from '../record-filter.js'
import { type GroupStats, recordStats, type StatsKey, type TrafficStats } from '../record-stats.js'
import { parseRecord, type RecordView, recordValue } from '../record-view.js'
import { ElasticsearchSource } from './source.js'

// A server that evaluates the query and the aggregations as OpenSearch 2.19 does. It refuses what that version refuses:
// media types of Elasticsearch, unknown parameters, and unknown members of a search, a query or an aggregation.

const STREAM = 'logs-open-default'
const START_MS = Date.UTC(2026, 0, 31, 12)
const PARAMETERS = ['allow_partial_search_results', 'ignore_unavailable', 'timeout']
const MEMBERS = ['query', 'aggs', 'aggregations', 'size', 'from', 'sort', 'track_total_hits']
const TYPES: Readonly<Record<string, string>> = {
  'res.status': 'short',
  't.total': 'float',
  route: 'keyword',
}

type Doc = Readonly<Record<string, unknown>>
type Clause = Readonly<Record<string, Readonly<Record<string, unknown>>>>
type Aggs = Readonly<Record<string, Clause>>

function refuse(reason: string): never {
  throw new Error(reason)
}

/** Returns the only member of an object, as OpenSearch requires it of queries and aggregations. */
function only(clause: object, except = ''): [string, Readonly<Record<string, unknown>>] {
  const members = Object.entries(clause).filter(([name]) => name !== except)
  return members.length === 1
    ? members[0]!
    : refuse(`[${JSON.stringify(clause)}] malformed, expected one member`)
}

function known(options: object, ...names: string[]): void {
  for (const name of Object.keys(options)) if (!names.includes(name)) refuse(`unknown field [${name}]`)
}

function fieldOf(doc: Doc, field: string): unknown {
  if (field === '@timestamp') return Date.parse(String(doc['@timestamp']))
  return recordValue(doc, field)
}

function matches(doc: Doc, query: object): boolean {
  const [kind, options] = only(query)
  if (kind === 'bool') return matchesBool(doc, options)
  if (kind === 'exists') return (fieldOf(doc, String(options['field'])) ?? null) !== null
  const [field, wanted] = only(options) as [string, unknown]
  const value = fieldOf(doc, field)
  if (kind === 'term') return field !== '_ignored' && value === wanted
  if (kind === 'terms') return (wanted as unknown[]).includes(value)
  if (kind === 'match') return String(value) === (wanted as { readonly query: string }).query
  if (kind !== 'range') return refuse(`unknown query [${kind}]`)
  const { gte, gt, lte, lt } = wanted as Readonly<Record<string, number>>
  known(wanted as object, 'gte', 'gt', 'lte', 'lt', 'format')
  if (typeof value !== 'number') return false
  return (
    value >= (gte ?? -Infinity) &&
    value > (gt ?? -Infinity) &&
    value <= (lte ?? Infinity) &&
    value < (lt ?? Infinity)
  )
}

function matchesBool(doc: Doc, options: Readonly<Record<string, unknown>>): boolean {
  known(options, 'filter', 'must_not', 'should', 'minimum_should_match')
  const part = (name: string): object[] => [options[name] ?? []].flat() as object[]
  const should = part('should').filter((query) => matches(doc, query)).length
  return (
    part('filter').every((query) => matches(doc, query)) &&
    !part('must_not').some((query) => matches(doc, query)) &&
    should >= Number(options['minimum_should_match'] ?? 0)
  )
}

function aggregate(docs: readonly Doc[], aggs: Aggs): object {
  return Object.fromEntries(Object.entries(aggs).map(([name, agg]) => [name, aggregation(docs, agg)]))
}

function aggregation(docs: readonly Doc[], agg: Clause): object {
  const [kind, options] = only(agg, 'aggs')
  const bucket = (inside: readonly Doc[]): object => ({
    doc_count: inside.length,
    ...aggregate(inside, (agg['aggs'] ?? {}) as unknown as Aggs),
  })
  if (kind === 'filter') return bucket(docs.filter((doc) => matches(doc, options)))
  const field = String(options['field'])
  const present = docs.filter((doc) => fieldOf(doc, field) !== undefined)
  if (kind === 'missing') return bucket(docs.filter((doc) => !present.includes(doc)))
  const values = present.map((doc) => Number(fieldOf(doc, field)))
  if (kind === 'max') return { value: values.length === 0 ? null : Math.max(...values) }
  if (kind === 'min') return { value: values.length === 0 ? null : Math.min(...values) }
  if (kind === 'percentiles') {
    known(options, 'field', 'percents', 'hdr')
    known(options['hdr'] as object, 'number_of_significant_value_digits')
    values.sort((a, b) => a - b)
    const at = (percent: number): number | null =>
      values[Math.ceil((values.length * percent) / 100) - 1] ?? null
    const percents = options['percents'] as number[]
    return { values: Object.fromEntries(percents.map((percent) => [percent.toFixed(1), at(percent)])) }
  }
  if (kind === 'range') {
    known(options, 'field', 'ranges')
    const ranges = options['ranges'] as { from?: number; to?: number }[]
    return {
      buckets: ranges.map(({ from = -Infinity, to = Infinity }) =>
        bucket(
          present.filter((doc) => Number(fieldOf(doc, field)) >= from && Number(fieldOf(doc, field)) < to),
        ),
      ),
    }
  }
  if (kind !== 'terms') return refuse(`Unknown aggregation type [${kind}]`)
  known(options, 'field', 'size')
  const keys = [...new Set(present.map((doc) => fieldOf(doc, field)))]
  const buckets = keys.map((key) => ({ key, inside: present.filter((doc) => fieldOf(doc, field) === key) }))
  buckets.sort((a, b) => b.inside.length - a.inside.length || (String(a.key) < String(b.key) ? -1 : 1))
  const listed = buckets.slice(0, Number(options['size']))
  return {
    doc_count_error_upper_bound: 0,
    sum_other_doc_count: present.length - listed.reduce((sum, { inside }) => sum + inside.length, 0),
    buckets: listed.map(({ key, inside }) => ({ key, ...bucket(inside) })),
  }
}

/** Answers a call as OpenSearch does. @throws Error for what it refuses with 400. */
function answerOf(docs: readonly Doc[], call: string, parameters: URLSearchParams, body: string): object {
  if (call === `GET /${STREAM}/_field_caps`) {
    const fields = parameters
      .get('fields')!
      .split(',')
      .filter((field) => field in TYPES)
    const capable = (type: string): object => ({ [type]: { type, searchable: true, aggregatable: true } })
    return {
      indices: ['i-1'],
      fields: Object.fromEntries(fields.map((field) => [field, capable(TYPES[field]!)])),
    }
  }
  if (call !== `POST /${STREAM}/_search`) return refuse(`no handler found for uri [${call}]`)
  for (const name of parameters.keys())
    if (!PARAMETERS.includes(name))
      refuse(`request [/${STREAM}/_search] contains unrecognized parameter: [${name}]`)
  const search = JSON.parse(body) as { readonly query: object; readonly aggs: Aggs; readonly size: number }
  known(search, ...MEMBERS)
  const found = docs.filter((doc) => matches(doc, search.query))
  const hits = { total: { value: found.length, relation: 'eq' }, max_score: null, hits: [] }
  return { took: 1, timed_out: false, hits, aggregations: aggregate(found, search.aggs) }
}

async function startOpenSearch(t: TestContext, docs: readonly Doc[]): Promise<ElasticsearchSource> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const type = request.headers['content-type'] ?? 'application/json'
    let [status, content] = [200, {}]
    try {
      if (type !== 'application/json') refuse(`Content-Type header [${type}] is not supported`)
      content = answerOf(docs, `${request.method} ${pathname}`, searchParams, body)
    } catch (error) {
      status = 400
      content = { error: { type: 'parsing_exception', reason: (error as Error).message }, status }
    }
    response
      .writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
      .end(JSON.stringify(content))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const source = new ElasticsearchSource({
    nodes: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    ...{
      auth: null,
      caFile: null,
      insecure: false,
      compress: false,
      dataStream: STREAM,
      product: 'opensearch',
    },
    onProblem: () => {},
  })
  t.after(() => source.close())
  return source
}

function someDocs(): Doc[] {
  const gap = { '@timestamp': new Date(START_MS).toISOString(), event: { kind: 'gap' }, route: '-' }
  const requests = Array.from({ length: 300 }, (_, i) => ({
    '@timestamp': new Date(START_MS + i * 100).toISOString(),
    id: `r${i}`,
    ...(i % 3 === 2 ? {} : { route: ['orders', 'items'][i % 3] }),
    res: { status: i % 9 === 0 ? 503 : 200 },
    t: { total: (i + 1) * 0.75 },
    result: i % 9 === 0 ? 'error' : i % 10 === 0 ? 'blocked' : 'success',
  }))
  return [gap, ...requests]
}

const REQUESTS: readonly (readonly [StatsKey, FilterRequest])[] = [
  ['route', {}],
  ['status', {}],
  ['code', {}],
  ['route', { route: 'orders' }],
  ['route', { status: '5xx' }],
  ['status', { since: '2026-01-31T12:00:10Z', until: '2026-01-31T12:00:20Z' }],
  ['route', { where: ['t.total>100'] }],
  ['route', { route: 'nothing' }],
]

/** Returns everything but the percentiles, which differ by up to 1 %. */
function counts({ total, groups, ...rest }: TrafficStats): object {
  const brief = ({ count, errors, blocked, max }: GroupStats): unknown[] => [count, errors, blocked, max]
  return { ...rest, total: brief(total), groups: groups.map((group) => [group.key, ...brief(group)]) }
}

async function* viewsOf(
  docs: readonly Doc[],
  wanted: (view: RecordView) => boolean,
): AsyncGenerator<RecordView> {
  for (const doc of docs) {
    const view = parseRecord(JSON.stringify(doc))!
    if (wanted(view)) yield view
  }
}

test('OpenSearch accepts the query, and computes the statistics of the records', async (t) => {
  const docs = someDocs()
  const source = await startOpenSearch(t, docs)
  const { signal } = new AbortController()
  for (const [by, request] of REQUESTS) {
    const filter = recordFilter(request)
    const asked = JSON.stringify([by, request])
    const found = await source.stats({ filter, by, top: 10, signal })
    const expected = await recordStats(
      viewsOf(docs, (view) => matchesFilter(filter, view)),
      { by, top: 10 },
    )
    assert.deepEqual(counts(found), counts(expected), asked)
    for (const name of ['p50', 'p90', 'p99'] as const) {
      const [a, b] = [found.total[name], expected.total[name]]
      assert.ok(a === b || Math.abs(a! / b! - 1) < 0.03, `${name} ${a} ${b} ${asked}`)
    }
  }
})
