import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closedPort } from '@sluice/core/testing'
import { openShippingSink } from './shipping-sink.js'
import {
  type ElasticsearchNode,
  elasticsearchFor,
  elasticsearchSkip,
  startElasticsearch,
} from './testing/elasticsearch.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from './testing.js'

const STREAM = 'logs-nodes'

/** A cluster of two: one keeps the records, the other only takes requests, so that it can go at any moment. */
async function startCluster(t: TestContext) {
  const [port, transport, frontPort] = [await closedPort(), await closedPort(), await closedPort()]
  const keeper = await elasticsearchFor(t, {
    ...{ dir: scratchDir(), port },
    settings: {
      'discovery.type': 'multi-node',
      'cluster.initial_master_nodes': `node-${port}`,
      'transport.port': transport,
    },
  })
  const frontDir = scratchDir()
  const startFront = (): Promise<ElasticsearchNode> =>
    startElasticsearch({
      ...{ dir: frontDir, port: frontPort },
      settings: {
        'discovery.type': 'multi-node',
        'discovery.seed_hosts': `127.0.0.1:${transport}`,
        'node.roles': 'ingest',
      },
    })
  return { keeper, front: await startFront(), startFront }
}

test('a node that dies under load costs nothing, and is asked again when it is back', {
  skip: elasticsearchSkip,
}, async (t) => {
  const { keeper, front, startFront } = await startCluster(t)
  let serving = front
  t.after(() => serving.stop())
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: scratchDir(), maxBytes: 256 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: {
      ...{ kind: 'elasticsearch', nodes: [front.url, keeper.url], auth: null, caFile: null, insecure: false },
      ...{ compress: false, dataStream: STREAM, retentionDays: null, replicas: 0, manage: true },
    },
  })
  t.after(() => closeWhole(sink, 0))
  let made = 0
  const log = async (records: number): Promise<void> => {
    for (let i = 0; i < records; i++) {
      sink.record(sampleExchange({ id: `r-${made++}` }))
      if (i % 50 === 49) await sleep(5)
    }
    assertIdentity(sink.identity())
  }
  const allArrive = () => until(() => sink.identity().indexed === made, 'all are indexed', 120_000)
  await log(1000)
  await allArrive()
  const killed = log(4000)
  await front.kill()
  await killed
  await allArrive()
  serving = await startFront()
  const before = await bulksOf(serving)
  await until(
    async () => {
      await log(50)
      return (await bulksOf(serving)) > before
    },
    'the node that is back gets records',
    120_000,
  )
  await allArrive()
  await keeper.request('POST', `/${STREAM}/_refresh`)
  const { body } = await keeper.request('GET', `/${STREAM}/_count`)
  assert.equal((body as { count: number }).count, made)
  assert.deepEqual([sink.identity().dropped, sink.identity().dead], [0, 0])
})

/** Bulk requests that a node has coordinated since its start. */
async function bulksOf(node: ElasticsearchNode): Promise<number> {
  const { body } = await node.request('GET', '/_nodes/_local/stats/http?filter_path=nodes.*.http.routes')
  const [stats] = Object.values((body as { nodes: Record<string, { http: HttpStats }> }).nodes)
  return Object.entries(stats!.http.routes)
    .filter(([route]) => route.endsWith('_bulk'))
    .reduce((sum, [, { requests }]) => sum + requests.count, 0)
}

interface HttpStats {
  readonly routes: Readonly<Record<string, { readonly requests: { readonly count: number } }>>
}
