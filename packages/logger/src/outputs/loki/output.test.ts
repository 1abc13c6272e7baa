import assert from 'node:assert/strict'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { assertIdentity, until } from '../../testing.js'
import { deadLetters } from '../testing/dead-letters.js'
import { type LokiServer, lokiServer } from '../testing/loki-server.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { type Shipping, shipTo } from '../testing/shipping.js'
import type { LokiOptions } from './options.js'
import { LokiOutput } from './output.js'

const OPTIONS: Omit<LokiOptions, 'url'> = {
  ...{ tenant: null, labels: { job: 'sluice' }, recordLabels: ['pod', 'worker'], structuredMetadata: false },
  ...{ auth: null, compress: false, timeoutMs: 20_000, tls: { caFile: null, insecure: false } },
}

function shipToLoki(t: TestContext, url: string, changes: Partial<LokiOptions> = {}): Shipping {
  return shipTo(t, { kind: 'loki', ...OPTIONS, url, ...changes })
}

function openLoki(t: TestContext, url: string, changes: Partial<LokiOptions> = {}): LokiOutput {
  const output = new LokiOutput({ ...OPTIONS, url, ...changes })
  t.after(() => output.close())
  return output
}

/** Returns a record with a start time in seconds before now. */
function record(id: string, agoSeconds: number, more: object = {}): string {
  const time = new Date(Date.now() - agoSeconds * 1000).toISOString()
  return JSON.stringify({ '@timestamp': time, id, gw: { pod: 'p', worker: 1 }, ...more })
}

function storedIds({ entries }: LokiServer): string[] {
  return entries.map(({ line }) => JSON.parse(line).id)
}

test('records are stored once, with their start time, in the stream of their worker', async (t) => {
  const server = await lokiServer(t)
  const { sink, log } = shipToLoki(t, server.url)
  const ids = log(1000)
  await until(() => sink.identity().indexed === 1000, 'all are delivered')
  assert.deepEqual(storedIds(server).sort(), ids.sort())
  const { labels, line, timeMs } = server.entries[0]!
  const { gw, '@timestamp': time } = JSON.parse(line)
  assert.deepEqual(labels, { job: 'sluice', pod: gw.pod, worker: '1' })
  assert.equal(timeMs, Date.parse(time))
  assertIdentity(sink.identity())
})

test('entries are sorted by time within the stream that their labels name', async (t) => {
  const server = await lokiServer(t)
  const output = openLoki(t, server.url, {
    labels: { app: 'gäte "1"' },
    recordLabels: ['route', 'api', 'group', 'env', 'status', 'result', 'worker'],
    structuredMetadata: true,
  })
  const shared = { route: 'a', api: 'o', group: 'g', env: 'e', result: 'success' }
  const records = [
    record('late', 1, { ...shared, res: { status: 204 } }),
    record('early', 2, { ...shared, res: { status: 200 } }),
    record('other', 3, { ...shared, res: { status: 503 } }),
    record('bare', 4, { gw: null, res: { status: 'x' } }),
  ]
  assert.equal((await output.deliver(sampleShipment(records))).kind, 'answered')
  assert.deepEqual(storedIds(server), ['early', 'late', 'other', 'bare'])
  const app = 'gäte "1"'
  const labels = { app, route: 'a', api: 'o', group: 'g', env: 'e', status: '2xx', result: 'success' }
  assert.deepEqual(
    server.entries.map((entry) => entry.labels),
    [
      { ...labels, worker: '1' },
      { ...labels, worker: '1' },
      { ...labels, status: '5xx', worker: '1' },
      { app },
    ],
  )
  assert.deepEqual(server.entries[0]!.metadata, { request_id: 'early' })
  assert.equal(server.entries[2]!.line, records[2])
})

test('requests have the tenant, the credentials and the compression', async (t) => {
  const server = await lokiServer(t, { hasTenants: true })
  const changes = { tenant: 'acme', auth: { token: 't0k' }, compress: true }
  const output = openLoki(t, `${server.url}/loki/api/v1/push`, changes)
  assert.equal((await output.deliver(sampleShipment([record('a', 0)]))).kind, 'answered')
  const [headers] = server.requests
  assert.deepEqual(
    [headers!['x-scope-orgid'], headers!['authorization'], headers!['content-encoding']],
    ['acme', 'Bearer t0k', 'gzip'],
  )
  const nobody = await openLoki(t, server.url).deliver(sampleShipment([record('a', 0)]))
  assert.ok(nobody.kind === 'failed' && /401: no org id; check log.loki.auth/.test(nobody.reason))
})

test('only the entries that Loki refuses become dead letters, with its reason', async (t) => {
  const server = await lokiServer(t, { maxLineBytes: 2000 })
  const { sink, dir, log, logExchange } = shipToLoki(t, server.url)
  const good = log(40)
  logExchange({ id: 'old', startedAt: Date.now() - 8 * 86_400_000 })
  logExchange({ id: 'long', path: `/${'x'.repeat(3000)}` })
  good.push(...log(40))
  await until(() => sink.identity().indexed + sink.identity().dead === 82, 'all are settled')
  assert.deepEqual(storedIds(server).sort(), good.sort())
  const letters = deadLetters(dir).map(({ record: { id }, status, reason }) => [id, status, reason])
  assert.deepEqual(letters.map(([id, status]) => [id, status]).sort(), [
    ['long', 400],
    ['old', 400],
  ])
  const reasons = letters.map(([, , reason]) => reason).join()
  assert.match(reasons, /Loki responded with 400: entry for stream .* timestamp too old/)
  assert.match(reasons, /Max entry size '2000' bytes exceeded/)
  assertIdentity(sink.identity())
})

test('a body that is too large is sent in parts', async (t) => {
  const server = await lokiServer(t, { maxBodyBytes: 20_000 })
  const { sink, log } = shipToLoki(t, server.url)
  const ids = log(200)
  await until(() => sink.identity().indexed === 200, 'all are delivered')
  assert.deepEqual(storedIds(server).sort(), ids.sort())
})

for (const status of [429, 500, 503, 401, 404, 302, 200, 260]) {
  test(`after ${status} the records are sent again`, async (t) => {
    const server = await lokiServer(t)
    server.next.push((response) => response.writeHead(status).end('not now'))
    const { sink, log, problems } = shipToLoki(t, server.url)
    const ids = log(30)
    await until(() => sink.identity().indexed === 30, `all are delivered; ${problems.join('; ')}`)
    assert.deepEqual(storedIds(server).sort(), ids.sort())
    assert.match(problems[0]!, new RegExp(`Loki responded with ${status}: not now`))
  })
}

test('a response that was lost leaves no duplicates', async (t) => {
  const server = await lokiServer(t)
  const output = openLoki(t, server.url)
  const shipment = sampleShipment([record('a', 1), record('b', 0)])
  await output.deliver(shipment)
  assert.equal((await output.deliver(shipment)).kind, 'answered')
  assert.deepEqual(storedIds(server), ['a', 'b'])
})

test('Retry-After is passed on', async (t) => {
  const server = await lokiServer(t)
  server.next.push((response) => response.writeHead(429, { 'retry-after': '7' }).end())
  const delivery = await openLoki(t, server.url).deliver(sampleShipment([record('a', 0)]))
  assert.ok(delivery.kind === 'failed' && delivery.overload)
  assert.equal(delivery.afterMs, 7000)
})

test('records that are not JSON are sent with the current time', async (t) => {
  const server = await lokiServer(t)
  const lines = ['{"@timestamp":"x"', '7', 'null', '{"@timestamp":"1969-01-01T00:00:00Z"}']
  await openLoki(t, server.url).deliver(sampleShipment(lines))
  assert.deepEqual(server.entries.map(({ line }) => line).sort(), lines.sort())
})

test('nonsense, endless bodies and silence never count as delivered, and end in time', async (t) => {
  const block = Buffer.alloc(256 * 1024, 'x')
  let sent = 0
  const endless = (response: ServerResponse): void => {
    if (response.destroyed) return
    sent += block.length
    response.write(block, () => endless(response))
  }
  const shipment = sampleShipment([record('a', 0)])
  const outcomeOf = async (respond: (response: ServerResponse) => void): Promise<string> => {
    const server = createHttpServer((request, response) =>
      request.on('end', () => respond(response)).resume(),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return (await openLoki(t, url, { timeoutMs: 300 }).deliver(shipment)).kind
  }
  assert.equal(await outcomeOf((response) => endless(response.writeHead(200))), 'failed')
  assert.equal(await outcomeOf((response) => endless(response.writeHead(400))), 'unfit')
  assert.ok(sent < 64 * 1024 ** 2, `${sent} bytes`)
  assert.equal(await outcomeOf((response) => response.end('<html>log in</html>')), 'failed')
  assert.equal(await outcomeOf((response) => response.writeHead(200).write('{')), 'failed')
  assert.equal(await outcomeOf(() => {}), 'failed')
  for (const bytes of [
    '',
    'hello\r\n\r\n',
    'HTTP/1.1 999 ?\r\n\r\n',
    'HTTP/1.1 204\r\n\0: \n\r\n',
    '\0\xff',
  ]) {
    const server = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(Buffer.from(bytes, 'latin1')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { kind } = await openLoki(t, url, { timeoutMs: 300 }).deliver(shipment)
    assert.equal(kind, 'failed', JSON.stringify(bytes))
  }
})

test('a response that repeats the request shows operators neither credentials nor records', async (t) => {
  const server = await lokiServer(t)
  const auth = { username: 'ann', password: 'word-of-ours' }
  const quoted = JSON.stringify(record('secret-id', 0))
  server.next.push((response) => response.writeHead(500).end(`word-of-ours cannot parse [${quoted}]`))
  const delivery = await openLoki(t, server.url, { auth }).deliver(sampleShipment([record('a', 0)]))
  assert.ok(delivery.kind === 'failed')
  assert.equal(delivery.reason, 'Loki responded with 500: *** cannot parse ["…')
})
