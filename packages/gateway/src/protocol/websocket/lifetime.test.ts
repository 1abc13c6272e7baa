import assert from 'node:assert/strict'
import { refusal } from '@sluice/core'
import { testEngines } from '../../listen/testing/engines.js'
import { FAKE_POLICIES, fakeCatalog } from '../../testing/fake-policy.js'
import { type PlanOverrides, type TestGateway, until } from '../../testing/gateway.js'
import { startLogged } from '../../testing/traffic-records.js'
import {
  closeOf,
  messageOf,
  openWebSocket,
  refusedWith,
  type WebSocketOrigin,
  webSocketOrigin,
  webSocketRoute,
} from '../../testing/websocket.js'

function planFor(origin: WebSocketOrigin): PlanOverrides & { routes: object[] } {
  return { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] }
}

function sampleOf({ plane }: TestGateway, name: string, labels = ''): number {
  return plane.samples().find((sample) => sample.name === name && sample.labels === labels)!.value
}

testEngines('policies see the handshake and its 101, and may refuse it', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const catalog = fakeCatalog({
    onRequest: async (x) => {
      await null
      return x.path === '/no' ? refusal('GW_POLICY_REFUSED', 'not you') : null
    },
    onResponse: (x) => {
      x.responseHeaders.push('x-status', String(x.status))
      return null
    },
  })
  const routes = [{ ...webSocketRoute(), policies: FAKE_POLICIES }]
  const gateway = await start(t, { ...planFor(origin), routes }, { catalog })
  assert.equal((await refusedWith(t, `${gateway.url}/no`)).statusCode, 403)
  assert.equal(origin.requests.length, 0)
  let seen: unknown
  const client = openWebSocket(t, gateway.url, {
    finishRequest: (request) => {
      request.on('upgrade', (response) => (seen = response.headers['x-status']))
      request.end()
    },
  })
  await client
  assert.equal(seen, '101')
})

testEngines('a drain closes WebSockets with 1001 and waits for both sides', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, planFor(origin))
  const client = await openWebSocket(t, gateway.url)
  await until(() => origin.sockets.length === 1)
  const closes = Promise.all([closeOf(client), closeOf(origin.sockets[0]!)])
  assert.equal(await gateway.plane.drain(20_000), 0)
  assert.deepEqual(
    (await closes).map(({ code }) => code),
    [1001, 1001],
  )
})

testEngines(
  'a drain cuts connections that do not close, when its time is over',
  async (t, start) => {
    const origin = await webSocketOrigin(t, { onSocket: (socket) => socket.pause() })
    const gateway = await start(t, planFor(origin))
    const client = await openWebSocket(t, gateway.url)
    await until(() => origin.sockets.length === 1)
    const closed = closeOf(client)
    client.pause()
    assert.equal(await gateway.plane.drain(300), 1)
    client.resume()
    await closed
  },
  ['node'],
)

testEngines(
  'a reload closes the WebSockets of removed routes, and keeps the others',
  async (t, start, engine) => {
    const origin = await webSocketOrigin(t)
    const plan = planFor(origin)
    const gone = { ...webSocketRoute(), id: 'gone', match: { ...MATCH, path: pathOf('gone') } }
    const gateway = await start(t, { ...plan, routes: [...plan.routes, gone] as never })
    const kept = await openWebSocket(t, gateway.url)
    const closing = await openWebSocket(t, `${gateway.url}/gone`)
    const closed = closeOf(closing)
    await gateway.reload({ ...plan, listener: { engine } } as never)
    assert.equal((await closed).code, 1001)
    const answer = messageOf(kept)
    kept.send('still here')
    assert.equal(String(await answer), 'still here')
  },
)

const MATCH = { hosts: [], methods: [], headers: [], query: [], when: null }
function pathOf(segment: string): object {
  return { text: `/${segment}`, kind: 'exact', segments: [{ kind: 'literal', text: segment }] }
}

testEngines(
  'there is one record of a connection, at its end, and its messages are counted',
  async (t, _, engine) => {
    const origin = await webSocketOrigin(t)
    const gateway = await startLogged(t, { ...planFor(origin), listener: { engine } })
    const client = await openWebSocket(t, gateway.url)
    for (const text of ['one', 'two']) {
      const answer = messageOf(client)
      client.send(text)
      await answer
    }
    assert.equal(sampleOf(gateway, 'gw_websockets'), 1)
    assert.equal(sampleOf(gateway, 'gw_websocket_messages_total', 'from="client"'), 2)
    assert.equal(gateway.plane.inFlight, 0)
    assert.equal(gateway.plane.logIdentity().received, 0)
    const closed = closeOf(client)
    client.close(4000, 'bye')
    await closed
    await until(() => sampleOf(gateway, 'gw_websockets') === 0)
    assert.equal(sampleOf(gateway, 'gw_websocket_messages_total', 'from="upstream"'), 2)
    const cut = await openWebSocket(t, gateway.url)
    cut.terminate()
    await until(() => gateway.plane.logIdentity().received === 2)
    const [record, aborted] = await gateway.records()
    const { websocket, res, result, up } = record as unknown as Record<string, Record<string, unknown>>
    assert.equal(res!['status'], 101)
    assert.equal(up!['status'], 101)
    assert.equal(result, 'success')
    assert.equal(websocket!['messages_in'], 2)
    assert.equal(websocket!['messages_out'], 2)
    assert.equal(websocket!['close'], 4000)
    assert.equal(websocket!['closed_by'], 'client')
    assert.ok((websocket!['bytes_in'] as number) >= 18)
    assert.equal(aborted!['result'], 'aborted')
  },
)
