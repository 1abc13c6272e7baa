import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity, scratchDir, until } from '@sluice/logger/testing'
import {
  type ElasticsearchNode,
  elasticsearchSkip,
  startElasticsearch,
} from '@sluice/logger/testing/elasticsearch'
import { documentFor, gw, origin, type RunningGateway, startGateway, statusOf } from './testing.js'

// The traffic log of the whole gateway in a real Elasticsearch, with security on.

const skip = elasticsearchSkip
const home = scratchDir()
let node: ElasticsearchNode
before(async () => {
  if (skip === false) node = await startElasticsearch({ dir: home, security: true })
})
after(() => node?.stop())

async function identityOf(admin: string): Promise<LogIdentity> {
  const identity = (await (await fetch(`${admin}/v1/log`)).json()) as LogIdentity
  assertIdentity(identity)
  return identity
}

async function countIn(stream: string): Promise<number> {
  await node.request('POST', `/${stream}/_refresh`)
  const { body } = await node.request('GET', `/${stream}/_count`)
  return (body as { count: number }).count
}

function documentTo(target: string, stream: string, changes: object = {}): string {
  const settings = {
    nodes: [node.url],
    dataStream: stream,
    auth: { username: node.username, password: node.password },
    tls: { caFile: node.caFile },
    replicas: 0,
    spool: { dir: join(scratchDir(), 'spool') },
    ...changes,
  }
  return documentFor(target).replace(
    'log: { sink: none }',
    `log: { sink: elasticsearch, elasticsearch: ${JSON.stringify(settings)} }`,
  )
}

async function call(gateway: RunningGateway, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await (await fetch(`${gateway.url}/a/${i}`)).text()
}

function isSettledAt(gateway: RunningGateway, received: number): () => Promise<boolean> {
  return async () => {
    const identity = await identityOf(gateway.admin)
    return identity.received === received && identity.indexed === received
  }
}

async function started(t: TestContext, stream: string, changes: object = {}): Promise<RunningGateway> {
  const target = await origin(t, (_, res) => res.end('ok'))
  return startGateway(t, documentTo(target, stream, changes))
}

/** The header of an API key that may do this with the stream. */
async function keyFor(stream: string, privileges: readonly string[]): Promise<string> {
  const { body } = await node.request('POST', '/_security/api_key?refresh=wait_for', {
    name: stream,
    role_descriptors: { traffic: { index: [{ names: [`${stream}*`], privileges }] } },
  })
  return (body as { encoded: string }).encoded
}

async function lagOf(gateway: RunningGateway): Promise<number> {
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  return Number(/^gw_log_lag_seconds (\S+)$/m.exec(metrics)?.[1])
}

test('every call is in the data stream, with the credentials of the document and none of them in the log', {
  skip,
}, async (t) => {
  const gateway = await started(t, 'logs-e2e')
  await call(gateway, 50)
  await until(isSettledAt(gateway, 50), 'all calls are indexed', 60_000)
  assert.equal(await countIn('logs-e2e'), 50)
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  assert.match(metrics, /^gw_log_received_total 50$/m)
  assert.match(metrics, /^gw_log_dropped_total\{reason="queue_full"\} 0$/m)
  assert.match(metrics, /^gw_log_indexed_total 50$/m)
  assert.ok(!gateway.logText().includes(node.password!))
  assert.ok(!(await (await fetch(`${gateway.admin}/v1/plan`)).text()).includes(node.password!))
})

test('wrong credentials are told, and records wait until a deploy brings the right ones', {
  skip,
}, async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const auth = { username: node.username, password: 'wrong' }
  const text = documentTo(target, 'logs-credentials', { auth })
  const gateway = await startGateway(t, text)
  await call(gateway, 20)
  await until(() => gateway.logText().includes('check log.elasticsearch.auth'), 'the mistake is told', 60_000)
  await until(async () => (await identityOf(gateway.admin)).onDisk === 20, 'they wait on disk')
  await until(async () => (await lagOf(gateway)) > 1, 'the age of the oldest is told')
  const { stdout } = await gw(['status', '--server', gateway.admin])
  assert.match(stdout, /, 20 waiting \(the oldest for \d+s\), 0 refused, 0 lost\n/)
  const put = await fetch(`${gateway.admin}/v1/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/yaml' },
    body: text.replace('"wrong"', JSON.stringify(node.password)),
  })
  assert.equal(put.status, 200, await put.text())
  await call(gateway, 5)
  await until(async () => (await countIn('logs-credentials')) === 25, 'all calls are there', 90_000)
  await until(isSettledAt(gateway, 25), 'nothing is counted twice', 30_000)
  await until(async () => (await lagOf(gateway)) === 0, 'none waits')
})

test('a key that may create documents and nothing else ships what somebody else has set up', {
  skip,
}, async (t) => {
  const stream = 'logs-key'
  const administrator = await started(t, stream)
  await call(administrator, 1)
  await until(isSettledAt(administrator, 1), 'the stream is there', 60_000)
  const auth = { apiKey: await keyFor(stream, ['create_doc', 'auto_configure']) }
  const gateway = await started(t, stream, { auth, manage: false })
  await call(gateway, 30)
  await until(isSettledAt(gateway, 30), 'all calls are indexed', 60_000)
  assert.equal(await countIn(stream), 31)
  assert.doesNotMatch(gateway.logText(), /log_problem/)
})

test('whoever may not set up is told so, and ships all the same', { skip }, async (t) => {
  const stream = 'logs-unmanaged'
  const administrator = await started(t, stream)
  await call(administrator, 1)
  await until(isSettledAt(administrator, 1), 'the stream is there', 60_000)
  const auth = { apiKey: await keyFor(stream, ['create_doc', 'auto_configure']) }
  const gateway = await started(t, stream, { auth })
  await call(gateway, 30)
  await until(isSettledAt(gateway, 30), 'all calls are indexed', 60_000)
  assert.match(gateway.logText(), /"event":"log_problem".*403/)
  assert.doesNotMatch(gateway.logText(), new RegExp(auth.apiKey.slice(0, 20)))
})

test('a certificate that nobody vouches for is refused, unless the document says that it need not be checked', {
  skip,
}, async (t) => {
  const checking = await started(t, 'logs-unknown', { tls: {} })
  await call(checking, 3)
  await until(() => /log_problem.*certificate/.test(checking.logText()), 'the certificate is told', 60_000)
  assert.equal((await identityOf(checking.admin)).indexed, 0)
  const trusting = await started(t, 'logs-insecure', { tls: { insecure: true } })
  await call(trusting, 3)
  await until(isSettledAt(trusting, 3), 'all calls are indexed', 60_000)
})

/** Ends a gateway whose last 40 calls Elasticsearch has not seen; returns the one that comes after it. */
async function successor(
  t: TestContext,
  stream: string,
  end: (gateway: RunningGateway) => Promise<void>,
): Promise<RunningGateway> {
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = documentTo(target, stream)
  const first = await startGateway(t, text)
  await call(first, 10)
  await until(isSettledAt(first, 10), 'the first are indexed', 60_000)
  const { port } = node
  await node.kill()
  try {
    await call(first, 40)
    await end(first)
  } finally {
    node = await startElasticsearch({ dir: home, port, security: true })
  }
  const second = await startGateway(t, text)
  await until(isSettledAt(second, 40), 'what was left is shipped', 90_000)
  assert.equal(await countIn(stream), 50)
  return second
}

test('a gateway that ends while Elasticsearch is away loses nothing: the next one ships it', {
  skip,
}, async (t) => {
  await successor(t, 'logs-restart', async (first) => {
    first.process.kill('SIGTERM')
    assert.equal(await first.exited, 0)
  })
})

test('a gateway that is killed while Elasticsearch is away has lost nothing that was on disk', {
  skip,
}, async (t) => {
  const second = await successor(t, 'logs-all-killed', async (first) => {
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
  const stream = 'logs-load-killed'
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = documentTo(target, stream)
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
  const { port } = node
  await node.kill()
  try {
    const loads = Array.from({ length: 16 }, () => load().catch(() => {}))
    await until(() => answered > 3000, 'thousands are answered')
    const { workers } = await statusOf(first.admin)
    for (const pid of [first.process.pid!, ...workers.map((worker) => worker.pid!)])
      process.kill(pid, 'SIGKILL')
    await Promise.all([first.exited, ...loads])
  } finally {
    node = await startElasticsearch({ dir: home, security: true, port })
  }
  const second = await startGateway(t, text)
  // What each worker left is taken over in its turn.
  // 50 ms of what this test can ask for in a second, and as many again for those whose answer came and whose count did not.
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
  assert.equal(await countIn(stream), 10 + indexed)
  assert.equal(dropped, droppedBy['process_lost'] ?? 0)
  assert.ok(indexed > allButOneWindow, `${answered} were answered, ${indexed} are there`)
  t.diagnostic(`${answered} answered, ${10 + indexed} indexed, ${dropped} counted as lost`)
})

test('workers that are killed leave their records to the others', { skip }, async (t) => {
  const gateway = await started(t, 'logs-killed')
  node.pause()
  try {
    await call(gateway, 60)
    await until(async () => (await identityOf(gateway.admin)).onDisk === 60, 'all wait on disk', 30_000)
    const { workers } = await statusOf(gateway.admin)
    process.kill(workers[0]!.pid!, 'SIGKILL')
    await until(async () => {
      const status = await statusOf(gateway.admin)
      return status.workers.every(({ state, pid }) => state === 'ready' && pid !== workers[0]!.pid)
    }, 'it is replaced')
    await call(gateway, 10)
  } finally {
    node.resume()
  }
  await until(async () => (await countIn('logs-killed')) === 70, 'all calls are there', 90_000)
  await until(isSettledAt(gateway, 70), 'the account is whole', 30_000)
})
