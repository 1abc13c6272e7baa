import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { AttemptTrace, consumerOf } from '@sluice/core'
import { setUpCluster } from '../../elasticsearch/setup.js'
import { SourceError } from '../../lib/source-error.js'
import { recordEnv } from '../../record/record-env.js'
import { elasticsearchSkip } from '../../testing/elasticsearch.js'
import { valueAt } from '../../testing/elasticsearch-endpoint.js'
import {
  connectionTo,
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '../../testing/shared-elasticsearch.js'
import { TcpBridge } from '../../testing/tcp-bridge.js'
import { encodeRecord, sampleExchange, scratchDir, until } from '../../testing.js'
import { segmentFile } from '../../writer/segment-name.js'
import { FileSource } from '../file-source.js'
import { endedMs } from '../newest-records.js'
import { type FilterRequest, recordFilter } from '../record-filter.js'
import type { RecordSource } from '../record-source.js'
import { parseRecord } from '../record-view.js'
import { ElasticsearchSource } from './source.js'

const skip = elasticsearchSkip
const START_MS = Date.UTC(2026, 0, 31, 12)
const { signal } = new AbortController()
let node: SharedElasticsearch

before(async () => {
  if (skip === false) node = await sharedElasticsearch()
})
after(() => node?.release())

function access() {
  return connectionTo(node, node.url)
}

/** The name of a fresh data stream. */
async function stream(): Promise<string> {
  const dataStream = freshDataStream()
  await setUpCluster({ ...access(), dataStream, retentionDays: null, replicas: 0 })
  return dataStream
}

function sourceOf(t: TestContext, dataStream: string, problems: string[] = []): ElasticsearchSource {
  const onProblem = (problem: string) => void problems.push(problem)
  const source = new ElasticsearchSource({ ...access(), dataStream, onProblem })
  t.after(() => source.close())
  return source
}

/** Writes lines as a shipper does, and makes them searchable. */
async function index(dataStream: string, lines: readonly string[], prefix = ''): Promise<void> {
  const body = lines.map((line, i) => `{"create":{"_id":"${prefix}${i}"}}\n${line}\n`).join('')
  const answer = await node.request('POST', `/${dataStream}/_bulk?refresh=true`, body)
  assert.equal(valueAt(answer.body, 'errors'), false)
}

function brief(second: number, more: object = {}): string {
  return JSON.stringify({
    '@timestamp': new Date(START_MS + second * 1000).toISOString(),
    id: `r${second}`,
    ...more,
  })
}

async function lines(source: RecordSource, request: FilterRequest, last: number): Promise<string[]> {
  const found: string[] = []
  const filter = recordFilter(request, START_MS + 60_000)
  for await (const { line } of source.search({ filter, last, signal })) found.push(line)
  return found
}

/** Searches for a field that our records do not have but other streams may. */
async function linesWith(source: RecordSource, field: string, value: string): Promise<string[]> {
  const found: string[] = []
  const filter = {
    criteria: [{ kind: 'equals', fields: [field], value } as const],
    sinceMs: null,
    untilMs: null,
  }
  for await (const { line } of source.search({ filter, last: 100, signal })) found.push(line)
  return found
}

function traceOf(i: number): AttemptTrace {
  const trace = new AttemptTrace(true)
  trace.begin('auth', 0).end(0, i / 10, 'pass')
  trace.begin(`limit-${i % 4}`, 0).end(0, 1, 'stop', 'GW_POLICY_REFUSED')
  return trace
}

/** Returns records of a gateway, and values that are hard to search for. */
function manyRecords(): string[] {
  const env = recordEnv({ fields: 'full', worker: 2, node: 'n', version: '1', configDigest: () => 'abc' })
  const paths = [
    '/orders/1',
    '/orders/*',
    '/\u00e7ay \u{1f375}',
    '/"\\\n\t\u007f',
    `/${'x'.repeat(1500)}`,
    '/a\ud800',
  ]
  const clients = ['203.0.113.7', '2001:db8::1', 'fe80::1%eth0', 'unix', '']
  const statuses = [200, 204, 404, 429, 500, 503]
  return Array.from({ length: 600 }, (_, i) =>
    encodeRecord(
      sampleExchange({
        id: `req-${String((i * 7919) % 600).padStart(4, '0')}`,
        startedAt: START_MS + (i % 60) * 1000,
        startedMono: performance.now() - i * 2.003,
        path: paths[i % paths.length]!,
        clientIp: clients[i % clients.length]!,
        status: statuses[i % statuses.length]!,
        method: i % 3 === 0 ? 'GET' : 'POST',
        route: { id: i % 4 === 0 ? 'orders' : 'a*b' },
        consumer: i % 2 === 0 ? null : consumerOf('basic-auth', 'c-1', { name: 'acme' }),
        result: i % 5 === 0 ? 'blocked' : 'success',
        errorCode: i % 5 === 0 ? 'GW_POLICY_REFUSED' : '',
        responseHeaders: [
          'content-type',
          'text/plain',
          '__proto__',
          `p${i % 3}`,
          'x-long',
          'y'.repeat(i * 3),
        ],
        query: i % 7 === 0 ? 'page=2&a>=b' : '',
        record: { trace: i % 6 === 0 ? traceOf(i) : null },
      }),
      env,
    ),
  )
}

/** Orders records by end time, as a worker writes them. */
function byEnd(a: string, b: string): number {
  return endedMs(parseRecord(a)!) - endedMs(parseRecord(b)!)
}

const REQUESTS: readonly FilterRequest[] = [
  {},
  { status: '5xx' },
  { status: '404' },
  { status: '200-299', route: 'orders', method: 'get' },
  { route: 'a*b' },
  { route: 'a*' },
  { path: '/orders/' },
  { path: '/orders/*' },
  { path: '/\u00e7ay' },
  { path: '/"\\\n' },
  { path: `/${'x'.repeat(1400)}` },
  { host: 'API.example.com', result: 'blocked' },
  { client: '203.0.113.7' },
  { client: '203.0.113.0/24' },
  { client: '2001:db8:0::1' },
  { client: '2001:db8::1' },
  { client: 'fe80::1%eth0' },
  { client: 'unix' },
  { client: '' },
  { consumer: 'acme' },
  { consumer: 'c-1', code: 'GW_POLICY_REFUSED' },
  { since: '50s', until: '20s' },
  { since: '2026-01-31T12:00:30Z', status: '4xx' },
  { where: ['t.total>500'] },
  { where: ['t.total<=500', 't.total>=200.5'] },
  { where: ['res.status>=429', 'res.status<503.5'] },
  { where: ['res.status>99999'] },
  { where: ['res.status=404'] },
  { where: ['res.status=404.0'] },
  { where: ['res.status=404.5'] },
  { where: ['gw.worker=2', 'route!=orders'] },
  { where: ['consumer.id!=c-1'] },
  { where: ['hdr.res_out.__proto__=p1'] },
  { where: ['hdr.res_out.x-long=yyy'] },
  { where: [`hdr.res_out.x-long=${'y'.repeat(1500)}`] },
  { where: ['hdr.res_out.x-long=y*'] },
  { where: ['hdr.res_out.x-long=yyy || res.status=404'] },
  { where: ['url.query=page=2&a>=b'] },
  { where: ['policies.id=limit-2'] },
  { where: ['policies.id=limit-2', 'policies.ms>30'] },
  { where: ['policies.id!=limit-2', 'policies.note=GW_POLICY_REFUSED'] },
  { where: ['policies.id=limit-*'] },
  { where: ['policies.id=limit-1 || t.total>800'] },
  { where: ['policies.id!=limit-*'] },
  { where: ['route=orders || res.status>=500', 'http.method=GET'] },
  { where: ['url.path=/orders/\\*'] },
  { where: ['route!=a*'] },
  { route: ['orders', 'zz'] },
  { route: '*b' },
  { route: ['or*s', 'a\\*b'] },
  { path: '/*\u00e7a*' },
  { path: ['/"\\\n\t*', '/orders/*'] },
  { path: '*x' },
  { status: ['404,5xx', '204'] },
  { method: 'get,put' },
  { result: 'error,blocked' },
  { id: 'req-00*' },
  { id: ['req-0001', 'req-0002'] },
  { trace: '*' },
  { client: ['203.*', 'unix'] },
  { consumer: 'ac*' },
  { where: ['@timestamp=2026-01-31T12:00:30.000Z'] },
]

test('both sources give the same lines in the same order for every filter', { skip }, async (t) => {
  const all = manyRecords()
  const dir = scratchDir()
  const dataStream = await stream()
  for (const worker of [0, 1]) {
    const own = all.filter((_, i) => i % 2 === worker).sort(byEnd)
    const file = segmentFile({ worker, startMs: START_MS, seq: 0 })
    writeFileSync(join(dir, file), own.map((line) => `${line}\n`).join(''))
  }
  await index(dataStream, all)
  const source = sourceOf(t, dataStream)
  let found = 0
  for (const request of REQUESTS) {
    for (const last of [7, Number.POSITIVE_INFINITY]) {
      const fromFiles = await lines(new FileSource(dir), request, last)
      assert.deepEqual(await lines(source, request, last), fromFiles, JSON.stringify([request, last]))
      found += fromFiles.length
    }
  }
  assert.equal((await lines(source, {}, Number.POSITIVE_INFINITY)).length, all.length)
  assert.ok(found > 3000, `only ${found} lines were compared`)
})

test('concurrent writes do not affect a search, and a page that is too large is split', {
  skip,
}, async (t) => {
  const dataStream = await stream()
  const text = 'x'.repeat(64_000)
  for (let part = 0; part < 10; part++) {
    const some = Array.from({ length: 60 }, (_, i) => brief(part * 60 + i, { body: { req_in: { text } } }))
    await index(dataStream, some, `${part}-`)
  }
  const source = sourceOf(t, dataStream)
  const seen: unknown[] = []
  for await (const { record } of source.search({ filter: recordFilter({}), last: Infinity, signal })) {
    if (seen.push(record['id']) === 10) await index(dataStream, [brief(500), brief(9999)], 'late-')
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 600 }, (_, i) => `r${i}`),
  )
})

test('a field that one part of a stream does not index is still found there', { skip }, async (t) => {
  const dataStream = await stream()
  await index(dataStream, [brief(1, { cache: { status: 'hit' } }), brief(2, { cache: { status: 'miss' } })])
  await node.request('POST', `/${dataStream}/_rollover`, {
    mappings: { properties: { cache: { properties: { status: { type: 'keyword' } } } } },
  })
  await index(
    dataStream,
    [brief(3, { cache: { status: 'hit' } }), brief(4, { cache: { status: 'miss' } })],
    'b',
  )
  const found = await linesWith(sourceOf(t, dataStream), 'cache.status', 'hit')
  assert.deepEqual(
    found.map((line) => JSON.parse(line).id),
    ['r1', 'r3'],
  )
})

test('lists that are nested in newer indices only are found in all indices', {
  skip,
}, async (t) => {
  const dataStream = await stream()
  const policies = [{ id: 'auth' }, { id: 'limit' }]
  await index(dataStream, [brief(1, { list: policies }), brief(2, { list: [{ id: 'other' }] })])
  await node.request('POST', `/${dataStream}/_rollover`, {
    mappings: { properties: { list: { type: 'nested', properties: { id: { type: 'keyword' } } } } },
  })
  await index(dataStream, [brief(3, { list: policies }), brief(4, {})], 'b')
  const found = await linesWith(sourceOf(t, dataStream), 'list.id', 'limit')
  assert.deepEqual(
    found.map((line) => JSON.parse(line).id),
    ['r1', 'r3'],
  )
})

/** Follows a stream in the background. */
function follow(t: TestContext, source: RecordSource, last: number, request: FilterRequest = {}) {
  const stop = new AbortController()
  const seen: unknown[] = []
  const options = { filter: recordFilter(request), last, follow: true, signal: stop.signal }
  const reading = (async () => {
    for await (const { record } of source.tail(options)) seen.push(record['id'])
  })()
  t.after(async () => {
    stop.abort()
    await reading
  })
  return { seen, stop, reading }
}

test('following shows each record once, also those that come later than younger ones', {
  skip,
}, async (t) => {
  const dataStream = await stream()
  await index(dataStream, [brief(100), brief(200), brief(300)], 'a')
  const { seen } = follow(t, sourceOf(t, dataStream), 2)
  await until(() => seen.length === 2, 'the newest are shown')
  await index(dataStream, [brief(400), brief(150)], 'b')
  await until(() => seen.length === 4, 'one between those that were there, and a new one')
  await index(dataStream, [brief(390), brief(395), brief(400), brief(401)], 'c')
  await until(() => seen.length === 8, 'those around the newest')
  assert.deepEqual(seen, ['r200', 'r300', 'r150', 'r400', 'r390', 'r395', 'r400', 'r401'])
  await index(dataStream, [brief(1), brief(402)], 'd')
  await until(() => seen.includes('r402'), 'one that is far too late is left out')
  assert.ok(!seen.includes('r1'))
})

test('a gateway whose clock is ahead does not hide the calls of others', { skip }, async (t) => {
  const dataStream = await stream()
  const { seen } = follow(t, sourceOf(t, dataStream), 0)
  const second = Math.floor((Date.now() - START_MS) / 1000)
  // Records that exist when following starts are not shown.
  let ahead = second + 86_400
  await until(async () => {
    if (seen.length === 0) await index(dataStream, [brief(ahead++)], `a${ahead}`)
    return seen.length > 0
  }, 'one from the future is shown')
  await index(dataStream, [brief(second)], 'b')
  await until(() => seen.includes(`r${second}`), 'the one of now is shown')
})

test('records without an id are paged through as well', { skip }, async (t) => {
  const dataStream = await stream()
  const some = Array.from({ length: 2100 }, (_, i) => brief(i % 3, { id: undefined, n: i }))
  await index(dataStream, some)
  const found = await lines(sourceOf(t, dataStream), {}, Number.POSITIVE_INFINITY)
  assert.equal(new Set(found).size, some.length)
})

test('following an empty stream shows the first records, and filters', { skip }, async (t) => {
  const dataStream = await stream()
  const { seen, stop, reading } = follow(t, sourceOf(t, dataStream), 10, { where: ['res.status=500'] })
  await index(dataStream, [brief(5, { res: { status: 500 } }), brief(3, { res: { status: 200 } })], 'a')
  await until(() => seen.length === 1, 'the one that fits is shown')
  await index(dataStream, [brief(2, { res: { status: 500 } })], 'b')
  await until(() => seen.length === 2, 'an older one is shown')
  stop.abort()
  await reading
  assert.deepEqual(seen, ['r5', 'r2'])
})

test('following more records than ids are kept still shows each once', { skip }, async (t) => {
  const dataStream = await stream()
  const { seen } = follow(t, sourceOf(t, dataStream), 0)
  let written = 0
  for (let part = 0; part < 6; part++) {
    const some = Array.from({ length: 6000 }, (_, i) => brief((part * 6000 + i) / 1000))
    await index(dataStream, some, `${part}-`)
    written += some.length
    await until(() => seen.length === written, `${written} are shown`, 300_000)
  }
  assert.equal(new Set(seen).size, written)
})

test('following survives an outage, reports it once, and skips no record', {
  skip,
}, async (t) => {
  const dataStream = await stream()
  const problems: string[] = []
  const way = await TcpBridge.to(node.port)
  t.after(() => way.cut())
  const onProblem = (problem: string) => void problems.push(problem)
  const source = new ElasticsearchSource({
    ...access(),
    nodes: [`https://127.0.0.1:${way.port}`],
    dataStream,
    onProblem,
  })
  t.after(() => source.close())
  await index(dataStream, [brief(1)], 'a')
  const { seen } = follow(t, source, 10)
  await until(() => seen.length === 1, 'the first is shown')
  await way.cut()
  await index(dataStream, [brief(2)], 'b')
  await until(() => problems.length === 1, 'the problem is reported')
  await assert.rejects(lines(source, {}, 1), (error) => {
    return error instanceof SourceError && error.fault === 'unreachable'
  })
  await index(dataStream, [brief(3)], 'c')
  await way.mend()
  await until(() => seen.length === 3, 'what came meanwhile is shown')
  assert.deepEqual([seen, problems.length], [['r1', 'r2', 'r3'], 1])
  assert.match(
    problems[0]!,
    /^Elasticsearch at http.* does not respond: .*; retrying, no records are skipped$/,
  )
})

test('a stream that is not there is reported with the remedy', { skip }, async (t) => {
  await assert.rejects(
    lines(sourceOf(t, 'nowhere'), { route: 'a' }, 1),
    (error) =>
      error instanceof SourceError &&
      error.fault === 'missing' &&
      /^data stream nowhere does not exist in .*; create it with gw log-setup, or specify another one$/.test(
        error.message,
      ),
  )
})
