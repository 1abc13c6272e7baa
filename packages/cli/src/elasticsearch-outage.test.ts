import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { elasticsearchSkip as skip } from '@sluice/logger/testing/elasticsearch'
import { freshDataStream } from '@sluice/logger/testing/shared-elasticsearch'
import { call, ElasticsearchFixture, identityOf, isSettledAt } from './testing/elasticsearch-fixture.js'
import { origin, type RunningGateway, startGateway, statusOf } from './testing.js'

// What becomes of the traffic log when gateways, workers and Elasticsearch end.

const fixture = new ElasticsearchFixture()

/** Ends a gateway whose last 40 calls Elasticsearch has not seen; returns the one that comes after it. */
async function successor(
  t: TestContext,
  end: (gateway: RunningGateway) => Promise<void>,
): Promise<RunningGateway> {
  const stream = freshDataStream()
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = fixture.documentTo(target, stream)
  const first = await startGateway(t, text)
  await call(first, 10)
  await until(isSettledAt(first, 10), 'the first are indexed', 60_000)
  await fixture.outage(async () => {
    await call(first, 40)
    await end(first)
  })
  const second = await startGateway(t, text)
  await until(isSettledAt(second, 40), 'what was left is shipped', 90_000)
  assert.equal(await fixture.countIn(stream), 50)
  return second
}

test('a gateway that ends while Elasticsearch is away loses nothing: the next one ships it', {
  skip,
}, async (t) => {
  await successor(t, async (first) => {
    first.process.kill('SIGTERM')
    assert.equal(await first.exited, 0)
  })
})

test('a gateway that is killed while Elasticsearch is away has lost nothing that was on disk', {
  skip,
}, async (t) => {
  const second = await successor(t, async (first) => {
    await until(async () => (await identityOf(first.admin)).onDisk === 40, 'all wait on disk', 30_000)
    const { workers } = await statusOf(first.admin)
    for (const pid of [first.process.pid!, ...workers.map((worker) => worker.pid!)])
      process.kill(pid, 'SIGKILL')
    await first.exited
  })
  assert.equal((await identityOf(second.admin)).dropped, 0)
})

test('a gateway that is killed under load loses what its workers had not handed over, and the next one counts it', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = fixture.documentTo(target, stream)
  const first = await startGateway(t, text)
  await call(first, 10)
  await until(isSettledAt(first, 10), 'the first are indexed', 60_000)
  let answered = 10
  const load = async (): Promise<void> => {
    for (;;) {
      await (await fetch(`${first.url}/a`)).text()
      answered++
    }
  }
  await fixture.outage(async () => {
    const loads = Array.from({ length: 16 }, () => load().catch(() => {}))
    await until(() => answered > 3000, 'thousands are answered')
    const { workers } = await statusOf(first.admin)
    for (const pid of [first.process.pid!, ...workers.map((worker) => worker.pid!)])
      process.kill(pid, 'SIGKILL')
    await Promise.all([first.exited, ...loads])
  })
  const second = await startGateway(t, text)
  // What each worker left is taken over in its turn. 50 ms of what this test can ask for in a second, and as many again
  // for those whose answer came and whose count did not.
  const allButOneWindow = answered - 10 - 500
  await until(
    async () => {
      const { received, onDisk, inMemory } = await identityOf(second.admin)
      return received > allButOneWindow && onDisk + inMemory === 0
    },
    `what was left is shipped: ${answered} were answered`,
    90_000,
  )
  const { indexed, dropped, droppedBy } = await identityOf(second.admin)
  assert.equal(await fixture.countIn(stream), 10 + indexed)
  assert.equal(dropped, droppedBy['process_lost'] ?? 0)
  assert.ok(indexed > allButOneWindow, `${answered} were answered, ${indexed} are there`)
  t.diagnostic(`${answered} answered, ${10 + indexed} indexed, ${dropped} counted as lost`)
})

test('workers that are killed leave their records to the others', { skip }, async (t) => {
  const stream = freshDataStream()
  const gateway = await fixture.started(t, stream)
  await fixture.silence(async () => {
    await call(gateway, 60)
    await until(async () => (await identityOf(gateway.admin)).onDisk === 60, 'all wait on disk', 30_000)
    const { workers } = await statusOf(gateway.admin)
    process.kill(workers[0]!.pid!, 'SIGKILL')
    await until(async () => {
      const status = await statusOf(gateway.admin)
      return status.workers.every(({ state, pid }) => state === 'ready' && pid !== workers[0]!.pid)
    }, 'it is replaced')
    await call(gateway, 10)
  })
  await until(async () => (await fixture.countIn(stream)) === 70, 'all calls are there', 90_000)
  await until(isSettledAt(gateway, 70), 'the account is whole', 30_000)
})
