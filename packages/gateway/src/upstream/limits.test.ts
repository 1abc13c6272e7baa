import assert from 'node:assert/strict'
import { until } from '../testing/gateway.js'
import { answering, echoOrigin, rawOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

// Limits of upstreams in docs/guides/upstreams.md that no hazard or fault test pins.

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  const GET = 'GET /a HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n'

  const isReported = transport !== 'undici'
  test(`a close-delimited response that ends by a reset ${isReported ? 'is cut' : 'looks complete'} for the client`, async (t) => {
    const origin = await rawOrigin(
      t,
      answering('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf', (socket) =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, ['GET /a HTTP/1.1\r\nHost: a\r\n\r\n'], {
      waitMs: 5000,
      until: (text) => text.endsWith('0\r\n\r\n'),
    })
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.match(answer.text, isReported ? /half$/ : /half\r\n0\r\n\r\n$/)
    await until(() => gateway.plane.inFlight === 0)
  })

  if (isReported) {
    test('a reset that arrives together with the last bytes of a close-delimited response cuts it, too', async (t) => {
      const origin = await rawOrigin(
        t,
        answering('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf', (socket) => socket.resetAndDestroy()),
      )
      const gateway = await startGateway(t, {
        upstreams: [{ urls: [origin.url], retry: { attempts: 0, budget: 0 } }],
      })
      for (let i = 0; i < 30; i++) {
        const answer = await sendRaw(gateway.port, [GET])
        assert.doesNotMatch(answer.text, /half\r\n0\r\n\r\n$/)
        assert.ok(answer.isClosed)
      }
      await until(() => gateway.plane.inFlight === 0)
    })

    test('a close-delimited response with a regular end is complete', async (t) => {
      const bytes = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole'
      const origin = await rawOrigin(
        t,
        answering(bytes, (socket) => socket.end()),
      )
      const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
      for (let i = 0; i < 30; i++) assert.equal(await (await fetch(gateway.url)).text(), 'whole')
    })
  }

  /** Answers the first request of every connection and resets it at the second. */
  async function originThatResetsKept(t: Parameters<typeof rawOrigin>[0]): Promise<{
    readonly url: string
    /** Heads of PUT requests seen so far. */
    readonly puts: () => number
  }> {
    let puts = 0
    const origin = await rawOrigin(t, (socket) => {
      let text = ''
      let isKept = false
      socket.on('data', (chunk) => {
        if (text === '' && chunk.subarray(0, 3).toString() === 'PUT') puts++
        text += chunk.toString('latin1')
        const bytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
        if (isKept) socket.resetAndDestroy()
        else if (text.length >= text.indexOf('\r\n\r\n') + 4 + bytes) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
          isKept = true
          text = ''
        }
      })
    })
    return { url: origin.url, puts: () => puts }
  }

  test('a body of one read is sent again when a kept connection dies; a larger one is not', async (t) => {
    const origin = await originThatResetsKept(t)
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const put = (size: number): Promise<Response> =>
      fetch(gateway.url, { method: 'PUT', body: Buffer.alloc(size) })
    assert.equal((await fetch(gateway.url)).status, 200)
    assert.equal((await put(100)).status, 200)
    assert.equal(origin.puts(), 2)
    assert.equal((await fetch(gateway.url)).status, 200)
    const refused = await put(3_000_000)
    assert.equal(refused.status, 502)
    assert.equal(refused.headers.get('x-gw-error'), 'GW_UPSTREAM_RESET')
    assert.equal(origin.puts(), 3)
    await until(() => gateway.plane.inFlight === 0)
  })

  test('trailers of a response are dropped', async (t) => {
    const origin = await rawOrigin(
      t,
      answering(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n',
      ),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, ['GET /a HTTP/1.1\r\nHost: a\r\n\r\n'], {
      waitMs: 5000,
      until: (text) => text.endsWith('0\r\n\r\n'),
    })
    assert.match(answer.text, /abc\r\n0\r\n\r\n$/)
    assert.doesNotMatch(answer.text, /x-sum: 7/i)
  })

  test('an informational response before the final one is dropped', async (t) => {
    const origin = await rawOrigin(
      t,
      answering(
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      ),
    )
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [GET])
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.doesNotMatch(answer.text, /link:/i)
  })

  test("the target is sent the client's Host, or its own where the route says so", async (t) => {
    const origin = await echoOrigin(t)
    const upstreams = [{ urls: [origin.url] }]
    const gateway = await startGateway(t, { upstreams })
    assert.match((await sendRaw(gateway.port, [GET])).text, /"host":"shop\.example"/)
    const rewrite = { prefix: null, path: null, regex: null, host: 'upstream' as const }
    await gateway.reload({ upstreams, routes: [{ id: 'all', rewrite }] })
    assert.ok((await sendRaw(gateway.port, [GET])).text.includes(`"host":"127.0.0.1:${origin.port}"`))
  })
}
