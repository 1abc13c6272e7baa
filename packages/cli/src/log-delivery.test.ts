import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { kafkaFor, kafkaSkip } from '@sluice/logger/testing/kafka-broker'
import { lokiServer } from '@sluice/logger/testing/loki-server'
import { readTopic } from '@sluice/logger/testing/read-topic'
import { identityOf } from './testing/elasticsearch-fixture.js'
import { scratch, startGateway, until } from './testing.js'

// Documents whose traffic log goes to Kafka and Loki.

const CALLS = 40

interface CallRecord {
  readonly url: { readonly path: string }
  readonly route: string
  readonly res: { readonly status: number }
}

/** Starts two workers with this log, and calls two routes. Resolves when all records are delivered. */
async function callWith(t: TestContext, sink: string, settings: object): Promise<void> {
  const log = { sink, [sink]: { ...settings, spool: { dir: join(scratch(t), 'spool') } } }
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
routes:
  - { id: fine, match: { path: /fine/* }, respond: { status: 200 } }
  - { id: broken, match: { path: /broken/* }, respond: { status: 500 } }
log: ${JSON.stringify(log)}
`,
  )
  const paths = Array.from({ length: CALLS }, (_, i) => `/${i % 4 === 0 ? 'broken' : 'fine'}/${i}`)
  await Promise.all(paths.map(async (path) => (await fetch(gateway.url + path)).arrayBuffer()))
  await until(async () => {
    const { indexed, dead } = await identityOf(gateway.admin)
    assert.equal(dead, 0, gateway.logText())
    return indexed === CALLS
  }, gateway.logText)
}

/** Checks that records are those of the calls, each exactly once. */
function assertComplete(records: readonly object[]): void {
  const calls = records.map((record) => {
    const { url, route, res } = record as CallRecord
    return `${url.path} ${route} ${res.status}`
  })
  const expected = Array.from({ length: CALLS }, (_, i) =>
    i % 4 === 0 ? `/broken/${i} broken 500` : `/fine/${i} fine 200`,
  )
  assert.deepEqual(calls.sort(), expected.sort())
}

test('the records of a document with the sink kafka are in the topic', { skip: kafkaSkip }, async (t) => {
  const broker = await kafkaFor(t)
  const file = (name: string): string => join(broker.certificates, name)
  const tls = { caFile: file('ca.pem'), certFile: file('node.pem'), keyFile: file('node.key') }
  await callWith(t, 'kafka', { brokers: [broker.tls], topic: 'traffic', key: 'route', tls })
  const messages = await readTopic(broker.plain, 'traffic')
  assertComplete(messages.map(({ record }) => record))
  assert.ok(messages.every(({ key, record }) => key === record['route']))
})

test('the records of a document with the sink loki are entries of streams', async (t) => {
  // The server refuses everything but the push format of Loki, with entries in order of time.
  const server = await lokiServer(t, { hasTenants: true })
  const url = `${server.url}/loki/api/v1/push`
  const settings = { tenant: 'acme', labels: { job: 'gateway' }, recordLabels: ['worker', 'status'] }
  await callWith(t, 'loki', { url, ...settings, structuredMetadata: true })
  const records = server.entries.map(({ line }) => JSON.parse(line))
  assertComplete(records)
  for (const [i, { labels, timeMs, metadata }] of server.entries.entries()) {
    const { gw, res, id, '@timestamp': time } = records[i]
    const status = res.status === 200 ? '2xx' : '5xx'
    assert.deepEqual(labels, { job: 'gateway', worker: String(gw.worker), status })
    assert.deepEqual([timeMs, metadata], [Date.parse(time), { request_id: id }])
  }
  assert.ok(server.requests.every((headers) => headers['x-scope-orgid'] === 'acme'))
})
