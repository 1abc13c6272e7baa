import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUpCluster } from '@sluice/logger/elasticsearch'
import { until } from '@sluice/logger/testing'
import { elasticsearchSkip as skip } from '@sluice/logger/testing/elasticsearch'
import { connectionTo, freshDataStream } from '@sluice/logger/testing/shared-elasticsearch'
import { call, ElasticsearchFixture, identityOf, isSettledAt } from './testing/elasticsearch-fixture.js'
import { gw, origin, type RunningGateway, startGateway } from './testing.js'

// The traffic log of the whole gateway in a real Elasticsearch, with security on.

const fixture = new ElasticsearchFixture()

/** The header of an API key that may do this with the stream. */
async function keyFor(stream: string, privileges: readonly string[]): Promise<string> {
  const { body } = await fixture.node.request('POST', '/_security/api_key?refresh=wait_for', {
    name: stream,
    role_descriptors: { traffic: { index: [{ names: [`${stream}*`], privileges }] } },
  })
  return (body as { encoded: string }).encoded
}

async function lagOf(gateway: RunningGateway): Promise<number> {
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  return Number(/^gw_log_lag_seconds\{target="main"\} (\S+)$/m.exec(metrics)?.[1])
}

test('every request is in the data stream, and no credentials are in the log', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const gateway = await fixture.started(t, stream)
  await call(gateway, 50)
  await until(isSettledAt(gateway, 50), 'all calls are indexed', 300_000)
  assert.equal(await fixture.countIn(stream), 50)
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  assert.match(metrics, /^gw_log_received_total\{target="main"\} 50$/m)
  assert.match(metrics, /^gw_log_dropped_total\{target="main",reason="queue_full"\} 0$/m)
  assert.match(metrics, /^gw_log_indexed_total\{target="main"\} 50$/m)
  assert.ok(!gateway.logText().includes(fixture.node.password))
  assert.ok(!(await (await fetch(`${gateway.admin}/v1/plan`)).text()).includes(fixture.node.password))
})

test('wrong credentials are reported, and records wait for a deployment with the right ones', {
  skip,
}, async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const stream = freshDataStream()
  const auth = { username: fixture.node.username, password: 'wrong' }
  const text = fixture.documentTo(target, stream, { auth })
  const gateway = await startGateway(t, text)
  await call(gateway, 20)
  await until(
    () => gateway.logText().includes('check log.elasticsearch.auth'),
    'the mistake is reported',
    60_000,
  )
  await until(async () => (await identityOf(gateway.admin)).onDisk === 20, 'they wait on disk')
  await until(async () => (await lagOf(gateway)) > 1, 'the age of the oldest is reported')
  const { stdout } = await gw(['status', '--server', gateway.admin])
  assert.match(stdout, /, 20 waiting \(the oldest for \d+s\), 0 refused, 0 lost\n/)
  const put = await fetch(`${gateway.admin}/v1/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/yaml' },
    body: text.replace('"wrong"', JSON.stringify(fixture.node.password)),
  })
  assert.equal(put.status, 200, await put.text())
  await call(gateway, 5)
  await until(isSettledAt(gateway, 25), 'all calls are delivered, and none is counted twice', 90_000)
  assert.equal(await fixture.countIn(stream), 25)
  await until(async () => (await lagOf(gateway)) === 0, 'none waits')
})

test('a key that may only create documents can write to an existing data stream', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const { url, username, password, caFile } = fixture.node
  await setUpCluster({
    ...connectionTo({ username, password, caFile }, url),
    ...{ dataStream: stream, retentionDays: null, replicas: 0 },
  })
  const auth = { apiKey: await keyFor(stream, ['create_doc', 'auto_configure']) }
  for (const manage of [false, true]) {
    const gateway = await fixture.started(t, stream, { auth, manage })
    await call(gateway, 30)
    await until(isSettledAt(gateway, 30), 'all calls are indexed', 300_000)
    assert.equal(/"event":"log_problem".*403/.test(gateway.logText()), manage, gateway.logText())
    assert.ok(!gateway.logText().includes(auth.apiKey.slice(0, 20)))
  }
  assert.equal(await fixture.countIn(stream), 60)
})

test('an untrusted certificate is rejected, unless the document disables verification', {
  skip,
}, async (t) => {
  const checking = await fixture.started(t, freshDataStream(), { tls: {} })
  await call(checking, 3)
  await until(
    () => /log_problem.*certificate/.test(checking.logText()),
    'the certificate is reported',
    60_000,
  )
  assert.equal((await identityOf(checking.admin)).indexed, 0)
  const trusting = await fixture.started(t, freshDataStream(), { tls: { insecure: true } })
  await call(trusting, 3)
  await until(isSettledAt(trusting, 3), 'all calls are indexed', 300_000)
})
