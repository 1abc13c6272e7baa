import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogSink } from '@sluice/core'
import { ElasticsearchOutput } from '../outputs/elasticsearch/output.js'
import { sampleShipment } from '../outputs/testing/sample-shipment.js'
import { type ElasticsearchNode, elasticsearchSkip, startElasticsearch } from '../testing/elasticsearch.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// Tests with a real node that refuses records partly or temporarily.

const skip = elasticsearchSkip
let node: ElasticsearchNode

before(async () => {
  if (skip !== false) return
  // The limit for requests is so small that a segment of one megabyte is refused with 429.
  node = await startElasticsearch({
    dir: scratchDir(),
    settings: { 'indexing_pressure.memory.limit': '400kb' },
  })
})
after(() => node?.stop())

function access() {
  return { nodes: [node.url], auth: null, caFile: null, insecure: false, compress: false }
}

function streamed(dataStream: string, manage: boolean) {
  return { dataStream, retentionDays: null, replicas: 0, manage }
}

interface Bench {
  readonly sink: LogSink
  readonly spoolDir: string
  readonly problems: readonly string[]
}

function open(
  t: TestContext,
  dataStream: string,
  changes: { manage?: boolean; maxBytes?: number } = {},
): Bench {
  const { manage = true, maxBytes = 256 * 1024 ** 2 } = changes
  const spoolDir = scratchDir()
  const problems: string[] = []
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    onProblem: (problem) => problems.push(problem),
    spool: { dir: spoolDir, maxBytes, whenFull: 'drop-oldest' },
    output: { kind: 'elasticsearch', ...access(), ...streamed(dataStream, manage) },
  })
  t.after(() => closeWhole(sink, 0))
  return { sink, spoolDir, problems }
}

async function log(
  sink: LogSink,
  records: number,
  pathOf: (i: number) => string = () => '/a',
): Promise<void> {
  for (let i = 0; i < records; i++) {
    sink.record(sampleExchange({ id: `r-${i}`, path: pathOf(i) }))
    if (i % 200 !== 199) continue
    await sleep(2)
    assertIdentity(sink.identity())
  }
}

async function countIn(stream: string, query: object = { match_all: {} }): Promise<number> {
  await node.request('POST', `/${stream}/_refresh`)
  const { body } = await node.request('POST', `/${stream}/_count`, { query })
  return (body as { count: number }).count
}

test('a node that answers 429 gets less at a time, and all in the end', { skip }, async (t) => {
  const { sink, problems } = open(t, 'logs-429')
  await log(sink, 8000)
  await until(() => sink.identity().indexed === 8000, 'all are indexed', 300_000)
  assertIdentity(sink.identity())
  assert.equal(await countIn('logs-429'), 8000)
  assert.ok(
    problems.some((problem) => /429|no room/.test(problem)),
    problems.join('\n'),
  )
})

test('when half of the records are refused for good, the other half is indexed, and all are kept', {
  skip,
}, async (t) => {
  await node.request('PUT', '/_index_template/logs-half-template', {
    index_patterns: ['logs-half'],
    data_stream: {},
    priority: 500,
    // A path that is not a number does not match the mapping.
    template: {
      settings: { 'index.number_of_replicas': 0 },
      mappings: { properties: { url: { properties: { path: { type: 'long' } } } } },
    },
  })
  const { sink, spoolDir } = open(t, 'logs-half', { manage: false })
  await log(sink, 2000, (i) => (i % 2 === 0 ? '42' : '/a'))
  await until(() => sink.identity().indexed + sink.identity().dead === 2000, 'all are settled', 300_000)
  const { indexed, dead, dropped } = sink.identity()
  assert.deepEqual([indexed, dead, dropped], [1000, 1000, 0])
  assert.equal(await countIn('logs-half'), 1000)
  const letters = readdirSync(join(spoolDir, 'dead')).flatMap((file) =>
    readFileSync(join(spoolDir, 'dead', file), 'utf8')
      .trimEnd()
      .split('\n'),
  )
  assert.equal(letters.length, 1000)
  assert.equal(new Set(letters.map((letter) => JSON.parse(letter).record.id)).size, 1000)
  assert.equal(JSON.parse(letters[0]!).type, 'document_parsing_exception')
})

test('an index that is read-only makes records wait until it is not', { skip }, async (t) => {
  const { sink, problems } = open(t, 'logs-blocked')
  await log(sink, 100)
  await until(() => sink.identity().indexed === 100, 'the first are indexed', 300_000)
  await node.request('PUT', '/logs-blocked/_settings', { 'index.blocks.write': true })
  await log(sink, 1000)
  await until(() => sink.identity().onDisk === 1000, 'they wait on disk', 300_000)
  await until(() => problems.some((problem) => problem.includes('no room')), 'it is reported', 300_000)
  await node.request('PUT', '/logs-blocked/_settings', { 'index.blocks.write': false })
  await until(() => sink.identity().indexed === 1100, 'all are indexed', 300_000)
  assert.equal(await countIn('logs-blocked'), 1100)
})

interface IndexFault {
  readonly name: string
  readonly cause: RegExp
  begin(stream: string): Promise<unknown>
  end(stream: string): Promise<unknown>
}

const settings = (persistent: object) => node.request('PUT', '/_cluster/settings', { persistent })

const INDEX_FAULTS: readonly IndexFault[] = [
  {
    name: 'closed',
    cause: /400 index_closed_exception/,
    begin: (stream) => node.request('POST', `/${stream}/_close`),
    end: (stream) => node.request('POST', `/${stream}/_open`),
  },
  {
    name: 'missing',
    cause: /404 index_not_found_exception/,
    begin: async (stream) => {
      await settings({ 'action.auto_create_index': 'false' })
      await node.request('DELETE', `/${stream}`)
    },
    end: () => settings({ 'action.auto_create_index': null }),
  },
  {
    name: 'beyond the limit of shards',
    cause: /400 validation_exception: .*maximum .*shards/,
    begin: async (stream) => {
      await settings({ 'cluster.max_shards_per_node': 1 })
      await node.request('DELETE', `/${stream}`)
    },
    end: () => settings({ 'cluster.max_shards_per_node': null }),
  },
]

for (const [n, { name, cause, begin, end }] of INDEX_FAULTS.entries()) {
  test(`records wait and do not become dead letters while their index is ${name}`, { skip }, async (t) => {
    const stream = `logs-index-fault-${n}`
    const { sink, problems } = open(t, stream, { manage: false })
    await log(sink, 1)
    await until(() => sink.identity().indexed === 1, 'the index is there', 300_000)
    await begin(stream)
    t.after(() => end(stream))
    await log(sink, 20)
    await until(() => problems.some((problem) => cause.test(problem)), 'it is reported', 300_000)
    const { onDisk, dead } = sink.identity()
    assert.deepEqual([onDisk, dead], [20, 0], problems.join('\n'))
    await end(stream)
    await until(() => sink.identity().indexed === 21, 'all are indexed', 300_000)
  })
}

test('a spool at its bound drops the oldest, and the account says how many', { skip }, async (t) => {
  const { sink } = open(t, 'logs-full', { maxBytes: 4 * 1024 ** 2 })
  await log(sink, 10)
  await until(() => sink.identity().indexed === 10, 'the first are indexed', 300_000)
  node.pause()
  try {
    await log(sink, 20_000)
    await until(() => sink.identity().inMemory === 0, 'all are spooled or dropped')
  } finally {
    node.resume()
  }
  const gaps = async (): Promise<number> => countIn('logs-full', { term: { 'event.kind': 'gap' } })
  await until(
    async () => (await gaps()) === 1,
    'what is left is shipped, and a record reports what was lost',
    120_000,
  )
  await until(() => sink.identity().onDisk === 0, 'the account is settled')
  const { received, indexed, dropped, droppedBy } = sink.identity()
  assertIdentity(sink.identity())
  assert.equal(received, 20_011)
  assert.ok(dropped > 1000, `${dropped} dropped`)
  assert.equal(droppedBy['spool_full'], dropped)
  assert.equal(await countIn('logs-full'), indexed)
})

test('a shipment too large for a node is split', { skip }, async (t) => {
  const output = new ElasticsearchOutput({ ...access(), ...streamed('logs-room', true) }, () => {})
  t.after(() => output.close())
  const text = JSON.stringify({ '@timestamp': '2026-01-31T12:00:00Z', ua: 'x'.repeat(1000) })
  const texts = Array.from({ length: 500 }, () => text)
  const refused = await output.deliver(sampleShipment(texts))
  assert.equal(refused.kind === 'failed' && refused.overload, true, JSON.stringify(refused))
  const delivery = await output.deliver(sampleShipment(texts.slice(0, 50)))
  assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [] })
})
