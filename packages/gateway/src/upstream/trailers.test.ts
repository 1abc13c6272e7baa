import assert from 'node:assert/strict'
import dns from 'node:dns'
import type net from 'node:net'
import { type TestContext, test } from 'node:test'
import { ask, wireTo } from '../testing/asking.js'
import { until } from '../testing/gateway.js'
import { ok, scriptedOrigin } from '../testing/scripted-origin.js'
import type { Transport } from './transport/transport.js'
import { UndiciTransport } from './undici/undici-transport.js'

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n'

function undiciTo(t: TestContext, port: number): Transport {
  const transport = new UndiciTransport({
    origin: `http://127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    tls: null,
    pendingTimeoutMs: 60_000,
    lookup: dns.lookup as net.LookupFunction,
    connections: 1,
    keepAliveMs: 60_000,
    maxHeaderBytes: 16_384,
    maxConnectionAgeMs: 600_000,
  })
  t.after(() => void transport.close())
  return transport
}

const OVER = {
  wire: (t: TestContext, port: number): Transport => wireTo(t, port, {}),
  undici: undiciTo,
}

for (const [name, connect] of Object.entries(OVER)) {
  test(`${name}: trailers after a chunked body are forwarded, without those that frame or authenticate`, async (t) => {
    const fields = 'Grpc-Status: 0\r\nX-Sum: 7\r\nKeep-Alive: x\r\nSet-Cookie: a=b\r\n\r\n'
    const origin = await scriptedOrigin(t, ({ socket }, path) => {
      socket.write(path === '/plain' ? ok('abc') : CHUNKED + (path === '/bare' ? '\r\n' : fields))
    })
    const transport = connect(t, origin.port)
    for (const path of ['/fields', '/bare', '/plain']) {
      const asked = ask(transport, path)
      await until(() => asked.end === 'complete')
      assert.equal(asked.body, 'abc')
      const expected = path === '/fields' ? ['grpc-status', '0', 'x-sum', '7'] : null
      assert.deepEqual(asked.trailers, expected, path)
    }
    assert.equal(origin.opened.length, 1)
  })
}
