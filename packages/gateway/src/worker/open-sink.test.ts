import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogPlan, LogSpoolPlan, Plan, RoutePlan } from '@sluice/config'
import { assertIdentity } from '@sluice/core/testing'
import { sampleExchange } from '@sluice/logger/testing'
import { startGateway, until } from '../testing/gateway.js'
import { openSink } from './open-sink.js'

const TLS = { caFile: null, insecure: false }

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

/** Starts a gateway with this log and sends a request. Resolves when the record counts as delivered. */
async function callOnce(
  t: TestContext,
  log: (spool: LogSpoolPlan) => Pick<LogPlan, 'sink' | 'syslog' | 'webhook' | 'loki' | 'custom'>,
): Promise<void> {
  const spool: LogSpoolPlan = {
    dir: scratch(t),
    maxBytes: 8 * 1024 ** 2,
    minFreeBytes: 0,
    whenFull: 'drop-oldest',
  }
  const file = { dir: '', maxBytes: 0, segmentBytes: 0 }
  const gateway = await startGateway(t, {
    upstreams: [{ urls: ['http://127.0.0.1:1'] }],
    log: {
      fields: 'standard',
      file,
      elasticsearch: null,
      outputs: [],
      geo: null,
      slowMs: 1000,
      privacy: null,
      unknownRoutes: true,
      capture: null,
      ...log(spool),
    },
  })
  await (await fetch(`${gateway.url}/called`)).arrayBuffer()
  await until(() => gateway.plane.logIdentity().indexed === 1, 300_000)
  assertIdentity(gateway.plane.logIdentity())
}

test('plans with the sinks webhook and loki post the record of a call', async (t) => {
  let body = ''
  const server = createServer(async (request, response) => {
    for await (const chunk of request) body += chunk
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  await callOnce(t, (spool) => {
    const request = { headers: {}, auth: null, format: 'ndjson', compress: false, signature: null } as const
    return {
      sink: 'webhook',
      webhook: { url: `http://127.0.0.1:${port}/`, timeoutMs: 10_000, tls: TLS, spool, ...request },
    }
  })
  assert.equal(JSON.parse(body).url.path, '/called')
  body = ''
  await callOnce(t, (spool) => {
    const labels = { labels: { job: 'a' }, recordLabels: ['status'], structuredMetadata: false } as const
    const request = { tenant: null, auth: null, compress: false, timeoutMs: 10_000, tls: TLS, spool }
    return { sink: 'loki', loki: { url: `http://127.0.0.1:${port}`, ...labels, ...request } }
  })
  assert.deepEqual(JSON.parse(body).streams[0].stream, { job: 'a', status: '5xx' })
})

test('a plan with the sink syslog sends the record of a call', async (t) => {
  const socket = createSocket('udp4')
  const received: string[] = []
  socket.on('message', (message) => received.push(message.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  await callOnce(t, (spool) => ({
    sink: 'syslog',
    syslog: {
      ...{ address: `udp://127.0.0.1:${socket.address().port}`, facility: 'local7', appName: 'gw', spool },
      ...{ structuredDataId: 'traffic@32473', maxMessageBytes: 8192 },
      tls: { ...TLS, certFile: null, keyFile: null },
    },
  }))
  await until(() => received.length === 1)
  // An unreachable target makes the result an error: facility 23, severity 3.
  assert.match(received[0]!, /^<187>1 .* gw \d+ traffic \[traffic@32473 .*"path":"\/called"/)
})

test('a plan with the sink custom hands the record of a call to a module', async (t) => {
  const dir = scratch(t)
  const module = join(dir, 'target.mjs')
  writeFileSync(
    module,
    `import { writeFileSync } from 'node:fs'
     export default ({ file }) => ({
       async deliver(shipment) {
         writeFileSync(file, shipment.jsonOf(0))
         return { kind: 'answered', refused: [], again: [] }
       },
       async close() {},
     })`,
  )
  const file = join(dir, 'record.json')
  await callOnce(t, (spool) => ({ sink: 'custom', custom: { from: '/', module, options: { file }, spool } }))
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).url.path, '/called')
})

test('a plan with several targets gives each the calls and fields that it asks for', async (t) => {
  const dir = scratch(t)
  const posted: string[] = []
  const server = createServer(async (request, response) => {
    for await (const chunk of request) posted.push(String(chunk))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const spool: LogSpoolPlan = {
    ...{ dir: join(dir, 'spool'), maxBytes: 8 * 1024 ** 2, minFreeBytes: 0 },
    whenFull: 'drop-oldest',
  }
  const fileOf = (id: string) => ({ dir: join(dir, id), maxBytes: 1024 ** 2, segmentBytes: 256 * 1024 })
  const common = {
    ...({ fields: 'minimal', elasticsearch: null, privacy: null, file: fileOf('unused') } as const),
    ...{ when: null, share: null, capture: null },
  }
  const request = { headers: {}, auth: null, format: 'ndjson', compress: false, signature: null } as const
  const webhook = { url: `http://127.0.0.1:${port}/`, timeoutMs: 10_000, tls: TLS, spool, ...request }
  const answer = (id: string, status: number): Partial<RoutePlan> & { readonly id: string } => ({
    ...{ id, timeouts: null, action: { kind: 'respond', status, headers: [], body: '' } },
    match: {
      path: { text: `/${id}`, kind: 'exact', segments: [{ kind: 'literal', text: id }] },
      ...{ hosts: [], methods: [], headers: [], query: [], when: null },
    },
  })
  const gateway = await startGateway(t, {
    routes: [answer('fine', 200), answer('broken', 500)],
    log: {
      ...common,
      ...{ sink: 'file', file: fileOf('main'), geo: null, slowMs: 1000, unknownRoutes: true },
      outputs: [
        { ...common, id: 'errors', sink: 'webhook', webhook, when: 'res.status >= 500', fields: 'standard' },
        { ...common, id: 'nothing', sink: 'file', file: fileOf('nothing'), share: 0 },
        // A condition that fails to evaluate loses no record.
        { ...common, id: 'odd', sink: 'file', file: fileOf('odd'), when: '1 / (res.status - 200) > 1' },
      ],
    },
  })
  for (const path of ['/fine', '/broken', '/fine']) await (await fetch(gateway.url + path)).arrayBuffer()
  // A writer thread may take longer to start than the gateway waits at its end.
  await until(() => gateway.plane.logIdentity().inMemory === 0)
  await until(() => gateway.plane.logIdentity().targets!['errors']!.indexed === 1)
  await gateway.plane.drain(5000)
  assertIdentity(gateway.plane.logIdentity())
  const { targets, received } = gateway.plane.logIdentity()
  const counts = Object.entries(targets!).map(([id, { indexed }]) => [id, indexed])
  assert.deepEqual(counts, [
    ['main', 3],
    ['errors', 1],
    ['nothing', 0],
    ['odd', 2],
  ])
  assert.equal(received, 6)
  const [record, ...others] = posted
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([record.route, record.res.status, others], ['broken', 500, []])
  assert.ok('gw' in record)
})

test('if one of several targets fails to open, all are closed', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'in-the-way'), '')
  const fileOf = (id: string) => ({ dir: join(dir, id), maxBytes: 1024 ** 2, segmentBytes: 256 * 1024 })
  const common = {
    ...({ fields: 'minimal', elasticsearch: null, privacy: null, sink: 'file' } as const),
    ...{ when: null, share: null, capture: null },
  }
  const log: LogPlan = {
    ...{ ...common, file: fileOf('main'), geo: null, slowMs: 1000, unknownRoutes: true },
    outputs: [{ ...common, id: 'bad', file: fileOf('in-the-way') }],
  }
  await assert.rejects(startGateway(t, { log }), /in-the-way/)
})

test('targets with the same fields and capture share the work of writing a record', async (t) => {
  const dir = scratch(t)
  const target = (id: string) => ({
    ...({ id, sink: 'file', fields: 'standard', elasticsearch: null, privacy: null } as const),
    ...{ when: null, share: null, capture: null },
    file: { dir: join(dir, id), maxBytes: 1024 ** 2, segmentBytes: 256 * 1024 },
  })
  const log: LogPlan = {
    ...target('main'),
    ...{ outputs: [target('a'), target('b')], geo: null, slowMs: 1000, unknownRoutes: true },
  }
  const sink = openSink({ log } as Plan, { worker: 0, version: '1', configDigest: () => '' })
  t.after(() => sink.close(10_000))
  const x = sampleExchange()
  let writes = 0
  Object.defineProperty(x, 'result', { get: () => `written ${++writes} times` })
  sink.record(x)
  await sink.close(10_000)
  assert.equal(sink.identity().indexed, 3)
  assert.equal(writes, 1)
})
