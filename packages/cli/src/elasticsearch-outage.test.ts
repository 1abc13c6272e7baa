import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { elasticsearchSkip as skip } from '@sluice/logger/testing/elasticsearch'
import { freshDataStream } from '@sluice/logger/testing/shared-elasticsearch'
import { call, ElasticsearchFixture, identityOf, isSettledAt } from './testing/elasticsearch-fixture.js'
import { killGroup, origin, startGateway, statusOf } from './testing.js'

// What becomes of the traffic log when gateways, workers and Elasticsearch end.

const fixture = new ElasticsearchFixture()

test('records on disk survive a stop or kill during an Elasticsearch outage, and the next gateway delivers them', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const text = fixture.documentTo(await origin(t, (_, res) => res.end('ok')), stream)
  const ended = await startGateway(t, text)
  await call(ended, 10)
  await until(isSettledAt(ended, 10), 'the first are indexed', 300_000)
  await fixture.outage(async () => {
    await call(ended, 40)
    ended.process.kill('SIGTERM')
    assert.equal(await ended.exited, 0)
  })
  const killed = await startGateway(t, text)
  await until(isSettledAt(killed, 40), 'what was left is shipped', 90_000)
  assert.equal(await fixture.countIn(stream), 50)
  await fixture.outage(async () => {
    await call(killed, 40)
    await until(async () => (await identityOf(killed.admin)).onDisk === 40, 'all wait on disk', 300_000)
    killGroup(killed.process)
    await killed.exited
  })
  const last = await startGateway(t, text)
  await until(isSettledAt(last, 40), 'what was left is shipped', 90_000)
  assert.equal(await fixture.countIn(stream), 90)
  assert.equal((await identityOf(last.admin)).dropped, 0)
})

test('a gateway killed under load loses only unsent worker records, and the next one counts them', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = fixture.documentTo(target, stream, {}, 2)
  const first = await startGateway(t, text)
  await call(first, 10)
  await until(isSettledAt(first, 10), 'the first are indexed', 300_000)
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
    killGroup(first.process)
    await Promise.all([first.exited, ...loads])
  })
  const second = await startGateway(t, text)
  // What each worker left is taken over in its turn.
  const left = answered - 10
  await until(
    async () => {
      const { received, onDisk, inMemory } = await identityOf(second.admin)
      return received >= left && onDisk + inMemory === 0
    },
    `what was left is shipped: ${answered} were answered`,
    90_000,
  )
  const { indexed, dropped, droppedBy } = await identityOf(second.admin)
  assert.equal(await fixture.countIn(stream), 10 + indexed)
  assert.equal(dropped, droppedBy['process_lost'] ?? 0)
  assert.ok(indexed > 0 && indexed + dropped >= left, `${answered} were answered, ${indexed} are there`)
  t.diagnostic(`${answered} answered, ${10 + indexed} indexed, ${dropped} counted as lost`)
})

test('other workers deliver the records of killed workers', { skip }, async (t) => {
  const stream = freshDataStream()
  const target = await origin(t, (_, res) => res.end('ok'))
  const gateway = await startGateway(t, fixture.documentTo(target, stream, {}, 2))
  await fixture.silence(async () => {
    await call(gateway, 60)
    await until(async () => (await identityOf(gateway.admin)).onDisk === 60, 'all wait on disk', 300_000)
    const { workers } = await statusOf(gateway.admin)
    process.kill(workers[0]!.pid!, 'SIGKILL')
    await until(async () => {
      const status = await statusOf(gateway.admin)
      return status.workers.every(({ state, pid }) => state === 'ready' && pid !== workers[0]!.pid)
    }, 'it is replaced')
    await call(gateway, 10)
  })
  await until(isSettledAt(gateway, 70), 'the account is whole', 90_000)
  assert.equal(await fixture.countIn(stream), 70)
})
