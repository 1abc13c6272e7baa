import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { elasticsearchSkip } from '../testing/elasticsearch.js'
import { connectionTo, freshDataStream, sharedElasticsearch } from '../testing/shared-elasticsearch.js'
import { TcpBridge } from '../testing/tcp-bridge.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

const WARM_UP = 10_000
const DURING = 150_000
const MIB = 1024 ** 2

test('records of a long outage are kept on disk, not in memory, and shipped afterwards', {
  skip: elasticsearchSkip,
}, async (t) => {
  const node = await sharedElasticsearch()
  const bridge = await TcpBridge.to(node.port)
  const dataStream = freshDataStream()
  t.after(async () => {
    await bridge.cut()
    await node.request('DELETE', `/_data_stream/${dataStream}`)
    await node.release()
  })
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: scratchDir(), maxBytes: 1024 * MIB, whenFull: 'drop-oldest' },
    output: {
      ...{ ...connectionTo(node, `https://127.0.0.1:${bridge.port}`), kind: 'elasticsearch' },
      ...{ dataStream, retentionDays: null, replicas: 0, manage: true },
    },
  })
  t.after(() => closeWhole(sink, 0))
  /** Sends records no faster than the log accepts them, so that nothing is dropped on a slow machine. */
  const log = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) {
      sink.record(sampleExchange({ id: `r-${i}` }))
      if (i % 100 === 99) await until(() => sink.identity().inMemory < 2000, 'it is spooled')
      if (i % 100 === 99) await sleep(2)
    }
    assertIdentity(sink.identity())
  }
  await log(0, WARM_UP)
  await until(() => sink.identity().indexed === WARM_UP, 'the first are indexed', 300_000)
  const { rss } = process.memoryUsage()
  bridge.pause()
  let grownBytes = 0
  try {
    await log(WARM_UP, WARM_UP + DURING)
    await until(() => sink.identity().onDisk === DURING, 'they wait on disk', 300_000)
    grownBytes = process.memoryUsage.rss() - rss
  } finally {
    bridge.resume()
  }
  await until(() => sink.identity().indexed === WARM_UP + DURING, 'all are indexed', 300_000)
  await node.request('POST', `/${dataStream}/_refresh`)
  const { body } = await node.request('GET', `/${dataStream}/_count`)
  assert.equal((body as { count: number }).count, WARM_UP + DURING)
  assert.equal(sink.identity().dropped, 0)
  t.diagnostic(`memory grew by ${(grownBytes / MIB).toFixed(1)} MB during the outage`)
  assert.ok(grownBytes < 72 * MIB, `${grownBytes} bytes`)
})
