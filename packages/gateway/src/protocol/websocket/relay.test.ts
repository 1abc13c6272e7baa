import assert from 'node:assert/strict'
import { once } from 'node:events'
import { testEngines } from '../../listen/testing/engines.js'
import { until } from '../../testing/gateway.js'
import {
  closeOf,
  messageOf,
  openWebSocket,
  webSocketOrigin,
  webSocketRoute,
} from '../../testing/websocket.js'

// What both engines relay. The cases follow the families of the Autobahn test suite.

const SIZES = [0, 1, 125, 126, 127, 128, 65_535, 65_536, 65_537, 1_048_576]

testEngines('messages of every length pass unchanged in both directions', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
  const client = await openWebSocket(t, gateway.url)
  for (const size of SIZES) {
    for (const binary of [false, true]) {
      const sent = Buffer.alloc(size, 'sluice-')
      const [received, isBinary] = await new Promise<[Buffer, boolean]>((resolve) => {
        client.once('message', (data, isBinary) => resolve([data as Buffer, isBinary]))
        client.send(sent, { binary })
      })
      assert.equal(isBinary, binary)
      assert.ok(received.equals(sent), `${size} bytes`)
    }
  }
})

testEngines('many messages in one write arrive one by one, in order', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
  const client = await openWebSocket(t, gateway.url)
  const received: string[] = []
  client.on('message', (data) => received.push(String(data)))
  const sent = Array.from({ length: 1000 }, (_, i) => `message ${i}`)
  for (const text of sent) client.send(text)
  await until(() => received.length === sent.length)
  assert.deepEqual(received, sent)
})

testEngines('fragments with a ping between them are one message', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
  const client = await openWebSocket(t, gateway.url)
  const pings: string[] = []
  await until(() => origin.sockets.length === 1)
  origin.sockets[0]!.on('ping', (data) => pings.push(String(data)))
  client.send('one ', { fin: false })
  client.ping('between')
  client.send('', { fin: false })
  client.send('two ', { fin: false })
  client.send('three', { fin: true })
  assert.equal(String(await messageOf(client)), 'one two three')
  assert.deepEqual(pings, ['between'])
  const target = origin.sockets[0]!
  target.send('a', { fin: false })
  target.ping('b')
  target.send('c', { fin: true })
  assert.equal(String(await messageOf(client)), 'ac')
})

testEngines('pings of both sides are answered with their payload', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
  const client = await openWebSocket(t, gateway.url)
  await until(() => origin.sockets.length === 1)
  for (const side of [client, origin.sockets[0]!]) {
    for (const payload of ['', 'p', 'p'.repeat(125)]) {
      side.ping(payload)
      const [answer] = await once(side, 'pong')
      assert.equal(String(answer), payload)
    }
  }
  // An unsolicited pong has no meaning.
  client.pong('unasked')
  client.send('still open')
  assert.equal(String(await messageOf(client)), 'still open')
})

const CLOSES: readonly (readonly [code: number | undefined, reason: string])[] = [
  [1000, 'done'],
  [1000, ''],
  [1001, 'going'],
  [1003, ''],
  [1007, ''],
  [1011, 'r'.repeat(123)],
  [1014, ''],
  [3000, 'ü'],
  [4999, ''],
  [undefined, ''],
]

/** uWebSockets.js treats these as a protocol error (docs/guides/engines.md). */
const UNKNOWN_TO_UWS = [1014, 3000]

for (const [code, reason] of CLOSES) {
  testEngines(
    `close code ${code ?? 'none'} with a reason of ${reason.length} passes in both directions`,
    async (t, start, engine) => {
      const origin = await webSocketOrigin(t)
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
      const isUnknown = engine === 'uws' && UNKNOWN_TO_UWS.includes(code ?? 0)
      for (const by of isUnknown ? ['target'] : ['target', 'client']) {
        const before = origin.sockets.length
        const client = await openWebSocket(t, gateway.url)
        await until(() => origin.sockets.length > before)
        const target = origin.sockets.at(-1)!
        const [closing, other] = by === 'client' ? [client, target] : [target, client]
        const closes = Promise.all([closeOf(closing), closeOf(other)])
        closing.close(code, reason)
        const expected = { code: code ?? 1005, reason }
        assert.deepEqual((await closes)[1], expected, by)
        assert.equal((await closes)[0].code, expected.code, by)
      }
      await until(() => gateway.plane.connections === 0)
    },
  )
}

testEngines('when one side is cut the other one sees a cut connection', async (t, start) => {
  const origin = await webSocketOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], routes: [webSocketRoute()] })
  for (const by of ['client', 'target']) {
    const client = await openWebSocket(t, gateway.url)
    await until(() => origin.sockets.length === (by === 'client' ? 1 : 2))
    const target = origin.sockets.at(-1)!
    const [cut, other] = by === 'client' ? [client, target] : [target, client]
    const closed = closeOf(other)
    cut.terminate()
    assert.equal((await closed).code, 1006, by)
  }
  await until(() => gateway.plane.connections === 0)
})
