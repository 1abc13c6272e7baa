import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { type PlanOverrides, type TestGateway, until } from '../testing/gateway.js'
import { echoOrigin, httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw, type RawConnection } from '../testing/raw-connection.js'
import { startOver, type TransportName, testOver } from '../testing/transports.js'

// As many slow clients as the upstream has connections: other clients are answered meanwhile.

const CONNECTIONS = 256
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
const GET_LARGE = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n'
const BUFFER_BYTES = 64 * 1024
/** More than the socket buffers of both sides and the response buffer hold. */
const LARGE_BYTES = 12 * 1024 * 1024
/** Longer than a busy machine needs to fill all buffers. No client is cut meanwhile. */
const PATIENT = { connectMs: 300_000, headersMs: 300_000, idleMs: 300_000, totalMs: 0 }

for (const transport of ['wire', 'undici'] as const) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  const upstreamOf = (url: string): PlanOverrides => ({
    upstreams: [{ urls: [url], connections: CONNECTIONS, maxPending: 1024, timeouts: PATIENT }],
    listener: { limits: { bodyIdleMs: 300_000 } },
  })

  const BEGINNINGS: Readonly<Record<string, string>> = {
    'a body of known length of which a byte came': `${POST}Content-Length: 100000\r\n\r\nx`,
    'a body in chunks of which a byte came': `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`,
  }
  for (const [name, beginning] of Object.entries(BEGINNINGS)) {
    test(`${CONNECTIONS} clients that hold back ${name} use no connection to the upstream`, async (t) => {
      const origin = await echoOrigin(t)
      const gateway = await startGateway(t, upstreamOf(origin.url))
      await crowd(t, gateway, beginning)
      await until(() => gateway.plane.inFlight === CONNECTIONS)
      assert.equal(origin.connections(), 0)
      await assertServed(t, gateway)
      assert.equal(gateway.plane.inFlight, CONNECTIONS)
    })
  }

  test(`${CONNECTIONS} clients that stop in the middle of a large body leave connections for others`, async (t) => {
    const origin = await echoOrigin(t)
    const gateway = await startGateway(t, upstreamOf(origin.url))
    const beginning = `${POST}Content-Length: 100000\r\n\r\n${'x'.repeat(BUFFER_BYTES)}`
    const clients = await crowd(t, gateway, beginning)
    await until(() => active(gateway) + answered(clients, 503) === CONNECTIONS)
    await until(() => gateway.plane.inFlight === active(gateway))
    await assertServed(t, gateway)
    const refused = answered(clients, 503)
    assert.ok(refused > 0 && refused <= CONNECTIONS / 4, `${refused} of them were refused`)
  })

  test(`${CONNECTIONS} clients that never read a response that fits into the buffer hold no connection`, async (t) => {
    const origin = await httpOrigin(t, mixed(4 * 1024 * 1024))
    const gateway = await startGateway(t, {
      ...upstreamOf(origin.url),
      upstreams: [{ ...upstreamOf(origin.url).upstreams![0]!, responseBufferBytes: 8 * 1024 * 1024 }],
    })
    // Together they have 64 MB, and the sockets as much again.
    const clients = await crowd(t, gateway, GET_LARGE, { size: 8 })
    await until(() => gateway.plane.inFlight <= 8 && active(gateway) === 0)
    await assertServed(t, gateway)
    for (const client of clients) client.resume()
    await until(() => clients.every((client) => client.receivedBytes > 4 * 1024 * 1024))
    assert.equal(answered(clients, 200), 8)
    await until(() => gateway.plane.inFlight === 0)
  })

  test(`${CONNECTIONS} clients that never read a large response leave connections for others`, async (t) => {
    const origin = await httpOrigin(t, mixed(LARGE_BYTES))
    const gateway = await startGateway(t, upstreamOf(origin.url))
    const clients = await crowd(t, gateway, GET_LARGE)
    await until(() => origin.connections() >= CONNECTIONS && active(gateway) <= (CONNECTIONS * 7) / 8)
    await assertServed(t, gateway)
    assert.ok(gateway.plane.inFlight > CONNECTIONS / 2)
    assert.equal(clients.length, CONNECTIONS)
  })

  const SLOW: Readonly<Record<string, string>> = {
    'stop in the middle of a large body': `${POST}Content-Length: 100000\r\n\r\n${'x'.repeat(BUFFER_BYTES)}`,
    'never read a large response': GET_LARGE,
  }
  for (const [name, beginning] of Object.entries(SLOW)) {
    test(`${CONNECTIONS} clients of as many addresses that ${name} leave connections for others`, async (t) => {
      const origin = await httpOrigin(t, mixed(LARGE_BYTES))
      const gateway = await startGateway(t, upstreamOf(origin.url))
      await crowd(t, gateway, beginning, { addressOf: (i) => `127.0.1.${i % 250}` })
      const most = (CONNECTIONS * 15) / 16
      await until(() => gateway.plane.inFlight === most && active(gateway) === most)
      for (let i = 0; i < 20; i++) assert.equal((await fetch(gateway.url)).status, 200)
      assert.equal((await fetch(gateway.url, { method: 'POST', body: 'x'.repeat(60_000) })).status, 200)
    })
  }
}

test('a client that sends less than limits.minBodyRate gets 408 before its upstream hears of it', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startOver('wire')(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyIdleMs: 1000, minBodyRate: 1000 } },
  })
  const client = await connectRaw(t, gateway.port)
  client.send(`${POST}Content-Length: 100000\r\n\r\n`)
  const dripping = setInterval(() => client.isClosed || client.send('x'), 50)
  t.after(() => clearInterval(dripping))
  await until(() => client.isClosed)
  assert.deepEqual(statusesOf(client.text), [408])
  assert.equal(origin.connections(), 0)
})

test('a client that sends as fast as limits.minBodyRate asks may take longer than limits.bodyIdle', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startOver('wire')(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyIdleMs: 1000, minBodyRate: 100 } },
  })
  const client = await connectRaw(t, gateway.port)
  client.send(`${POST}Content-Length: 3000\r\n\r\n${'x'.repeat(1500)}`)
  let left = 15
  const startedMono = performance.now()
  const sending = setInterval(() => left-- > 0 && client.send('x'.repeat(100)), 100)
  t.after(() => clearInterval(sending))
  await until(() => client.text.includes('"bytes":3000'))
  assert.ok(performance.now() - startedMono > 1000)
})

test('a client that reads slower than limits.minReadRate is cut', async (t) => {
  const origin = await httpOrigin(t, mixed(4 * LARGE_BYTES))
  const timeouts = { connectMs: 60_000, headersMs: 60_000, idleMs: 1000, totalMs: 0 }
  const gateway = await startOver('wire')(t, {
    upstreams: [{ urls: [origin.url], timeouts }],
    // Faster than this machine.
    listener: { limits: { minReadRate: 1024 ** 4 } },
  })
  const client = await connectRaw(t, gateway.port)
  client.send(GET_LARGE)
  client.pause()
  const reading = setInterval(() => {
    client.resume()
    setImmediate(() => client.pause())
  }, 100)
  t.after(() => clearInterval(reading))
  await until(() => gateway.plane.inFlight === 1)
  await until(() => gateway.plane.inFlight === 0)
  clearInterval(reading)
  client.resume()
  await until(() => client.isClosed)
  assert.ok(client.receivedBytes < 4 * LARGE_BYTES)
})

/** `/large` returns this many bytes, everything else two. */
function mixed(bytes: number): http.RequestListener {
  const body = Buffer.alloc(bytes, 'd')
  return (req, res) => void res.end(req.url === '/large' ? body : 'ok')
}

/** Clients that send this and read nothing. */
async function crowd(
  t: TestContext,
  gateway: TestGateway,
  beginning: string,
  { size = CONNECTIONS, addressOf = (_i: number): string => '127.0.0.1' } = {},
): Promise<readonly RawConnection[]> {
  const clients = await Promise.all(
    Array.from({ length: size }, (_, i) => connectRaw(t, gateway.port, addressOf(i))),
  )
  for (const client of clients) {
    if (beginning === GET_LARGE) client.pause()
    client.send(beginning)
  }
  return clients
}

/** Other clients are answered, with and without a body. */
async function assertServed(t: TestContext, gateway: TestGateway): Promise<void> {
  for (let i = 0; i < 20; i++) {
    assert.equal((await fetch(gateway.url)).status, 200)
    assert.equal((await fetch(gateway.url, { method: 'POST', body: 'x'.repeat(60_000) })).status, 200)
  }
  const other = await connectRaw(t, gateway.port, '127.0.0.2')
  other.send(`${POST}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`)
  await until(() => other.text.includes('\r\n\r\n'))
  assert.deepEqual(statusesOf(other.text), [200])
}

function answered(clients: readonly RawConnection[], status: number): number {
  return clients.filter((client) => client.text.startsWith(`HTTP/1.1 ${status} `)).length
}

function active(gateway: TestGateway): number {
  const samples = gateway.plane.samples().filter(({ name }) => name === 'gw_upstream_active')
  return samples.reduce((sum, { value }) => sum + value, 0)
}
