import assert from 'node:assert/strict'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { Asked, ask } from '../../testing/asking.js'
import { startGateway, TIMEOUTS, until } from '../../testing/gateway.js'
import { h2Origin, optionsTo, secureH2Origin } from '../../testing/h2-origin.js'
import { httpOrigin } from '../../testing/origin.js'
import type { Transport } from '../transport/transport.js'
import { UndiciTransport } from '../undici/undici-transport.js'
import { H2Transport } from './h2-transport.js'

function autoTo(t: TestContext, port: number): Transport {
  const options = optionsTo(port, true)
  const transport = new H2Transport({ ...options, fallback: new UndiciTransport(options) })
  t.after(() => void transport.close())
  return transport
}

test('ALPN selects HTTP/2 if the target supports it', async (t) => {
  const origin = await secureH2Origin(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(`${headers[':scheme']} ${headers[':authority']} ${headers[':path']}`)
  })
  const transport = autoTo(t, origin.port)
  for (const path of ['/a', '/b']) {
    const asked = ask(transport, path)
    await until(() => asked.end !== 'not yet')
    assert.equal(asked.body, `https a ${path}`)
  }
  assert.equal(origin.sessions.length, 1)
})

test('a target that supports only HTTP/1.1 gets that, for the first request already', async (t) => {
  let connections = 0
  const server = https.createServer(
    { ...FAKE_CERTIFICATES.localhost },
    (req, res) => void res.end(req.httpVersion),
  )
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const transport = autoTo(t, (server.address() as AddressInfo).port)
  const first = ask(transport, '/1')
  await until(() => first.end !== 'not yet')
  const second = ask(transport, '/2')
  await until(() => second.end !== 'not yet')
  assert.deepEqual([first.body, second.body, connections], ['1.1', '1.1', 2])
})

test('a streamed body reaches a target that supports only HTTP/1.1, before and after that is known', async (t) => {
  const server = https.createServer({ ...FAKE_CERTIFICATES.localhost }, (req, res) => void req.pipe(res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const transport = autoTo(t, (server.address() as AddressInfo).port)
  const piece = Buffer.alloc(300_000, 'x')
  for (const length of [3 * piece.length, -1]) {
    let drains = 0
    const upload = transport.createUpload(length, () => drains++)
    const asked = new Asked('/')
    const request = { id: '', method: 'POST', path: '/', host: 'a', headers: [], body: null, upload }
    transport.dispatch({ ...request, connectMs: 10_000 }, asked, false)
    upload.add(piece)
    await until(() => drains > 0)
    upload.add(piece)
    upload.add(piece)
    upload.end()
    await until(() => asked.end !== 'not yet')
    assert.deepEqual([asked.end, asked.body.length], ['complete', 3 * piece.length])
  }
})

test('a gateway uses HTTP/2 without TLS, with bodies in both directions', async (t) => {
  const origin = await h2Origin(t, (stream) => {
    stream.respond({ ':status': 200, 'x-two': ['a', 'b'] })
    stream.pipe(stream)
  })
  const upstreams = [
    { urls: [`http://127.0.0.1:${origin.port}`], http2: { alpn: false, priorKnowledge: true } },
  ]
  const gateway = await startGateway(t, { upstreams })
  for (const size of [0, 10, 3_000_000]) {
    const body = Buffer.alloc(size, 'x')
    const response = await fetch(`${gateway.url}/a`, { method: 'POST', body })
    assert.equal(response.headers.get('x-two'), 'a, b')
    assert.equal((await response.arrayBuffer()).byteLength, size)
  }
  assert.equal(origin.sessions.length, 1)
})

test('a target that does not speak HTTP/2 leads to 502', async (t) => {
  const { url } = await httpOrigin(t, (_, res) => void res.end())
  const upstreams = [{ urls: [url], http2: { alpn: false, priorKnowledge: true }, timeouts: TIMEOUTS }]
  const gateway = await startGateway(t, { upstreams })
  assert.equal((await fetch(gateway.url)).status, 502)
})
