import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { elasticsearchSkip } from '../testing/elasticsearch.js'
import { connectionTo, freshDataStream, sharedElasticsearch } from '../testing/shared-elasticsearch.js'
import { TcpBridge } from '../testing/tcp-bridge.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

test('a node that fails under load loses no records and is used again when it is back', {
  skip: elasticsearchSkip,
}, async (t) => {
  const node = await sharedElasticsearch()
  t.after(() => node.release())
  // Two addresses of a cluster. Requests in progress to a node that dies may or may not have been carried out.
  const [first, second] = [await TcpBridge.to(node.port), await TcpBridge.to(node.port)]
  t.after(() => Promise.all([first.cut(), second.cut()]))
  const nodes = [first, second].map(({ port }) => `https://127.0.0.1:${port}`)
  const dataStream = freshDataStream()
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: scratchDir(), maxBytes: 256 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: {
      ...{ ...connectionTo(node, ''), kind: 'elasticsearch', nodes },
      ...{ dataStream, retentionDays: null, replicas: 0, manage: true },
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
  const allArrive = () => until(() => sink.identity().indexed === made, 'all are indexed', 300_000)
  await log(1000)
  await allArrive()
  for (const [dying, other] of [
    [first, second],
    [second, first],
  ] as const) {
    const dead = log(4000)
    await dying.cut()
    await dead
    await allArrive()
    await dying.mend()
    // There is no other node.
    await other.cut()
    await log(500)
    await allArrive()
    await other.mend()
  }
  await node.request('POST', `/${dataStream}/_refresh`)
  const { body } = await node.request('GET', `/${dataStream}/_count`)
  assert.equal((body as { count: number }).count, made)
  assert.deepEqual([sink.identity().dropped, sink.identity().dead], [0, 0])
})
