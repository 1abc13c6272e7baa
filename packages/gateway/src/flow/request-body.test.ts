import assert from 'node:assert/strict'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { echoOrigin, httpOrigin, rawOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
  /** More than the gateway and the socket buffers behind it hold. */
  const LARGE_BYTES = 9_000_000

  test('a target that does not read the body is blamed for the delay, not the client', async (t) => {
    const origin = await rawOrigin(t, (socket) => socket.pause())
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], timeouts: { ...TIMEOUTS, idleMs: 1500 } }],
      listener: { limits: { bodyIdleMs: 500 } },
    })
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Content-Length: ${LARGE_BYTES + 1}\r\n\r\n`)
    client.send(Buffer.alloc(LARGE_BYTES))
    await until(() => statusesOf(client.text).length > 0)
    assert.deepEqual(statusesOf(client.text), [504])
    assert.match(client.text, /GW_UPSTREAM_TIMEOUT/)
    await until(() => gateway.plane.inFlight === 0)
  })

  test('bodies of all sizes arrive unchanged, also concurrently and in reused memory', async (t) => {
    const origin = await httpOrigin(t, (req, res) => void req.pipe(res))
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    for (let round = 0; round < 3; round++) {
      const sent = [1, 256, 2048, 8193, 30_000, 30_000, 30_000, 63_488, 63_489, 65_535].map((length, i) =>
        Buffer.alloc(length, `${round}-${i} `),
      )
      const answers = sent.map((body) => fetch(`${gateway.url}/a`, { method: 'POST', body }))
      const received = await Promise.all(answers.map(async (answer) => (await answer).arrayBuffer()))
      assert.deepEqual(
        received.map((body) => Buffer.from(body)),
        sent,
      )
    }
  })

  test('known limit: a client that half-closes while its upload is held back is noticed by a timeout', async (t) => {
    const origin = await rawOrigin(t, (socket) => socket.pause())
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], timeouts: { ...TIMEOUTS, idleMs: 1000 } }],
    })
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Content-Length: ${LARGE_BYTES + 1}\r\n\r\n`)
    client.send(Buffer.alloc(LARGE_BYTES))
    await until(() => origin.connections() === 1)
    client.halfClose()
    await until(() => gateway.plane.inFlight === 0)
  })

  test('known limit: a chunked request whose body has not begun to arrive waits for it', async (t) => {
    const origin = await echoOrigin(t)
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Transfer-Encoding: chunked\r\n\r\n`)
    await until(() => gateway.plane.inFlight === 1)
    assert.equal(origin.connections(), 0)
    client.send('5\r\nbegun\r\n0\r\n\r\n')
    await until(() => client.text.includes('"bytes":5'))
  })
}
