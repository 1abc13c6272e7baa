import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type TestGateway, until } from '../../testing/gateway.js'
import { echoOrigin } from '../../testing/origin.js'
import { connectRaw, type RawConnection } from '../../testing/raw-connection.js'
import { type StartGateway, testEngines } from '../testing/engines.js'

// Each connection's address is reported by X-Forwarded-For; all of 127.0.0.0/8 is this machine.

const HERE = '127.0.0.1'
const THERE = '127.0.0.2'
const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

async function gatewayOf(t: TestContext, start: StartGateway): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return start(t, { upstreams: [{ urls: [origin.url] }] })
}

/** The client address that the upstream sees for a new request. */
async function peerTold(client: RawConnection): Promise<string> {
  const before = client.receivedBytes
  client.send(GET)
  await until(() => client.text.slice(before).includes('"url":"/a"'))
  return /"x-forwarded-for":"([^"]*)"/.exec(client.text.slice(before))![1]!
}

testEngines(
  'each request has the address of its own connection, whoever else is connected',
  async (t, start) => {
    const gateway = await gatewayOf(t, start)
    const here = await connectRaw(t, gateway.port, HERE)
    assert.equal(await peerTold(here), HERE)
    const there = await connectRaw(t, gateway.port, THERE)
    for (let i = 0; i < 3; i++) {
      assert.equal(await peerTold(there), THERE)
      assert.equal(await peerTold(here), HERE)
    }
  },
)

testEngines('connections that remain when others close keep their own address', async (t, start) => {
  const gateway = await gatewayOf(t, start)
  const here = await connectRaw(t, gateway.port, HERE)
  const there = await connectRaw(t, gateway.port, THERE)
  await until(() => gateway.plane.connections === 2)
  here.reset()
  await until(() => gateway.plane.connections === 1)
  assert.equal(await peerTold(there), THERE)
  const again = await connectRaw(t, gateway.port, HERE)
  assert.equal(await peerTold(again), HERE)
  assert.equal(await peerTold(there), THERE)
})

testEngines('after all have closed, the next connection has its own address', async (t, start) => {
  const gateway = await gatewayOf(t, start)
  const here = await connectRaw(t, gateway.port, HERE)
  assert.equal(await peerTold(here), HERE)
  here.reset()
  await until(() => gateway.plane.connections === 0)
  const there = await connectRaw(t, gateway.port, THERE)
  assert.equal(await peerTold(there), THERE)
  assert.equal(await peerTold(there), THERE)
})
