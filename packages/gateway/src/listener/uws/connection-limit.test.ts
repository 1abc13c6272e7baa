import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../testing/gateway.js'
import { echoOrigin } from '../../testing/origin.js'
import { sendRaw, statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

async function limitedGateway(t: TestContext, connections: number): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return startGateway(t, { upstreams: [{ urls: [origin.url] }], listener: { limits: { connections } } })
}

function turnedAway(gateway: TestGateway): number {
  const samples = gateway.plane.samples()
  return samples.find((sample) => sample.labels === 'code="GW_OVERLOADED"')?.value ?? 0
}

test('connections beyond the limit are answered 503, closed and counted', async (t) => {
  const gateway = await limitedGateway(t, 2)
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

test('connections within the limit are served while many others are turned away', async (t) => {
  const gateway = await limitedGateway(t, 1)
  const served = await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  const others = await Promise.all(Array.from({ length: 300 }, () => connectRaw(t, gateway.port)))
  await until(() => others.every((other) => other.isClosed))
  served.send(GET)
  await until(() => served.text.includes('"url":"/a"'))
  assert.deepEqual(statusesOf(served.text), [200])
  assert.equal(turnedAway(gateway), 300)
})

test('a place that becomes free is given to the next connection', async (t) => {
  const gateway = await limitedGateway(t, 1)
  const first = await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  first.halfClose()
  await until(() => gateway.plane.connections === 0)
  const second = await connectRaw(t, gateway.port)
  second.send(GET)
  await until(() => second.text.includes('"url":"/a"'))
  assert.deepEqual(statusesOf(second.text), [200])
})
