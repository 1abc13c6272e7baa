import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setUpCluster } from '../../elasticsearch/setup.js'
import { elasticsearchSkip } from '../../testing/elasticsearch.js'
import {
  connectionTo,
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '../../testing/shared-elasticsearch.js'
import { scratchDir } from '../../testing.js'
import { segmentFile } from '../../writer/segment-name.js'
import { FileSource } from '../file-source.js'
import { type FilterRequest, recordFilter } from '../record-filter.js'
import type { RecordSource } from '../record-source.js'
import type { GroupStats, StatsKey, TrafficStats } from '../record-stats.js'
import { ElasticsearchSource } from './source.js'

const skip = elasticsearchSkip
const START_MS = Date.UTC(2026, 0, 31, 12)
let node: SharedElasticsearch

before(async () => {
  if (skip === false) node = await sharedElasticsearch()
})
after(() => node?.release())

/** Returns records of two routes and none, with a long path, and a gap, which is no request. */
function someRecords(): string[] {
  const gap = {
    '@timestamp': new Date(START_MS).toISOString(),
    id: 'gap-1',
    event: { kind: 'gap' },
    route: '-',
  }
  const requests = Array.from({ length: 900 }, (_, i) => ({
    '@timestamp': new Date(START_MS + i * 100).toISOString(),
    id: `r${i}`,
    route: ['orders', 'items', undefined][i % 3],
    ...(i % 2 === 0 ? { consumer: { id: 'c', name: `acme-${i % 4}` } } : {}),
    url: { path: i === 7 ? `/${'x'.repeat(1500)}` : `/${i % 10}` },
    res: { status: i % 9 === 0 ? 503 : 200 },
    t: { total: (i + 1) * 0.75 },
    result: i % 9 === 0 ? 'error' : i % 10 === 0 ? 'blocked' : 'success',
  }))
  return [gap, ...requests].map((record) => JSON.stringify(record))
}

/** Requests of both sources: translated ones, and those that are checked against the records. */
const REQUESTS: readonly (readonly [StatsKey, FilterRequest])[] = [
  ['route', {}],
  ['status', {}],
  ['consumer', {}],
  ['code', {}],
  ['route', { status: '5xx' }],
  ['route', { consumer: 'acme-2' }],
  ['route', { since: '2026-01-31T12:00:30Z', until: '2026-01-31T12:01:00Z' }],
  ['status', { where: ['t.total>300', 'res.status>200'] }],
  ['status', { where: ['route!=orders'] }],
  ['route', { path: '/xx' }],
  ['route', { route: 'nothing' }],
]

async function stats(source: RecordSource, by: StatsKey, request: FilterRequest): Promise<TrafficStats> {
  const { signal } = new AbortController()
  return source.stats({ filter: recordFilter(request), by, top: 10, signal })
}

function counts({ total, groups, others, histogram, firstMs, lastMs }: TrafficStats): unknown {
  const brief = ({ count, errors, blocked }: GroupStats) => [count, errors, blocked]
  return {
    total: brief(total),
    groups: groups.map((group) => [group.key, ...brief(group)]),
    others,
    histogram,
    firstMs,
    lastMs,
  }
}

test('files give exact counts, percentiles within 1 %, and a histogram', async () => {
  const dir = scratchDir()
  writeFileSync(
    join(dir, segmentFile({ worker: 0, startMs: START_MS, seq: 0 })),
    `${someRecords().join('\n')}\n`,
  )
  const { total, groups, others, histogram } = await stats(new FileSource(dir), 'route', {})
  assert.deepEqual([total.count, total.errors, total.blocked, total.max], [900, 100, 80, 675])
  for (const [part, ms] of [
    [0.5, total.p50],
    [0.9, total.p90],
    [0.99, total.p99],
  ] as const)
    assert.ok(Math.abs(ms! / (900 * part * 0.75) - 1) < 0.011, `${part}: ${ms}`)
  assert.deepEqual(
    groups.map(({ key, count }) => [key, count]),
    [
      ['-', 300],
      ['items', 300],
      ['orders', 300],
    ],
  )
  assert.equal(others, 0)
  assert.equal(histogram[0], 1)
  assert.equal(
    histogram.reduce((sum, count) => sum + count, 0),
    900,
  )
})

test('both sources give the same statistics', { skip }, async (t) => {
  const dir = scratchDir()
  const dataStream = freshDataStream()
  const access = connectionTo(node, node.url)
  await setUpCluster({ ...access, dataStream, retentionDays: null, replicas: 0 })
  const all = someRecords()
  writeFileSync(join(dir, segmentFile({ worker: 0, startMs: START_MS, seq: 0 })), `${all.join('\n')}\n`)
  const body = all.map((line, i) => `{"create":{"_id":"${i}"}}\n${line}\n`).join('')
  await node.request('POST', `/${dataStream}/_bulk?refresh=true`, body)
  const cluster = new ElasticsearchSource({ ...access, dataStream, onProblem: () => {} })
  t.after(() => cluster.close())
  for (const [by, request] of REQUESTS) {
    const expected = await stats(new FileSource(dir), by, request)
    const found = await stats(cluster, by, request)
    assert.deepEqual(counts(found), counts(expected), JSON.stringify([by, request]))
    for (const name of ['p50', 'p90', 'p99', 'max'] as const) {
      const [a, b] = [found.total[name], expected.total[name]]
      assert.ok(a === b || Math.abs(a! / b! - 1) < 0.03, `${name} ${a} ${b} ${JSON.stringify(request)}`)
    }
  }
})
