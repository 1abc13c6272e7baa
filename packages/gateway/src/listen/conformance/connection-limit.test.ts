import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type TestGateway, until } from '../../testing/gateway.js'
import { echoOrigin } from '../../testing/origin.js'
import { sendRaw, statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { type StartGateway, testEngines } from '../testing/engines.js'

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

async function limitedGateway(
  t: TestContext,
  start: StartGateway,
  connections: number,
): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return start(t, { upstreams: [{ urls: [origin.url] }], listener: { limits: { connections } } })
}

function turnedAway(gateway: TestGateway): number {
  const samples = gateway.plane.samples()
  return samples.find((sample) => sample.labels === 'route="-",code="GW_OVERLOADED"')?.value ?? 0
}

testEngines('connections beyond the limit are answered 503, closed and counted', async (t, start) => {
  const gateway = await limitedGateway(t, start, 2)
  for (let i = 0; i < 2; i++) await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 2)
  const answer = await sendRaw(gateway.port, [GET])
  assert.deepEqual(statusesOf(answer.text), [503])
  assert.match(answer.text, /retry-after: 1/i)
  assert.match(answer.text, /"code":"GW_OVERLOADED"/)
  assert.equal(answer.isClosed, true)
  assert.equal(gateway.plane.connections, 2)
  assert.equal(turnedAway(gateway), 1)
})

testEngines('connections within the limit are served while many others are rejected', async (t, start) => {
  const gateway = await limitedGateway(t, start, 1)
  const served = await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  const others = await Promise.all(Array.from({ length: 300 }, () => connectRaw(t, gateway.port)))
  await until(() => others.every((other) => other.isClosed))
  served.send(GET)
  await until(() => served.text.includes('"url":"/a"'))
  assert.deepEqual(statusesOf(served.text), [200])
  assert.equal(turnedAway(gateway), 300)
})

testEngines('a place that becomes free goes to the next connection', async (t, start) => {
  const gateway = await limitedGateway(t, start, 1)
  const first = await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  first.halfClose()
  await until(() => gateway.plane.connections === 0)
  const second = await connectRaw(t, gateway.port)
  second.send(GET)
  await until(() => second.text.includes('"url":"/a"'))
  assert.deepEqual(statusesOf(second.text), [200])
})

async function sharingGateway(
  t: TestContext,
  start: StartGateway,
  trustedProxies: readonly string[] = [],
): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { trustedProxies, limits: { connections: 100, connectionsPerClient: 10 } },
  })
}

/** Returns true if a new connection from this address is served. */
async function isServed(t: TestContext, gateway: TestGateway, address: string): Promise<boolean> {
  const client = await connectRaw(t, gateway.port, address)
  client.send(GET)
  await until(() => statusesOf(client.text).length > 0)
  client.reset()
  return statusesOf(client.text)[0] === 200
}

testEngines(
  'connections beyond limits.connectionsPerClient of one address are rejected, those of others are served',
  async (t, start) => {
    const gateway = await sharingGateway(t, start)
    const silent = await Promise.all(
      Array.from({ length: 50 }, () => connectRaw(t, gateway.port, '127.0.0.1')),
    )
    await until(() => silent.filter((client) => client.isClosed).length === 40)
    assert.equal(gateway.plane.connections, 10)
    assert.match(silent.find((client) => client.isClosed)!.text, /for this client address/)
    assert.equal(await isServed(t, gateway, '127.0.0.2'), true)
    assert.equal(await isServed(t, gateway, '127.0.0.1'), false)
    // With connections of several addresses open, only the kernel knows which have closed.
    await connectRaw(t, gateway.port, '127.0.0.3')
    for (const client of silent) client.reset()
    await until(() => isServed(t, gateway, '127.0.0.1'))
  },
)

testEngines('one address may connect and disconnect as often as it likes beside others', async (t, start) => {
  const gateway = await sharingGateway(t, start)
  for (let i = 3; i < 15; i++) await connectRaw(t, gateway.port, `127.0.0.${i}`)
  await until(() => gateway.plane.connections === 12)
  for (let i = 0; i < 40; i++) assert.equal(await isServed(t, gateway, '127.0.0.1'), true)
})

testEngines('connections of a trusted proxy do not count as those of one client', async (t, start) => {
  const gateway = await sharingGateway(t, start, ['127.0.0.1'])
  const proxied = await Promise.all(Array.from({ length: 50 }, () => connectRaw(t, gateway.port)))
  await until(() => gateway.plane.connections === 50)
  assert.ok(proxied.every((client) => !client.isClosed))
})
