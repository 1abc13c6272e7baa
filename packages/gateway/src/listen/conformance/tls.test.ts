import assert from 'node:assert/strict'
import net from 'node:net'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { type TestGateway, until } from '../../testing/gateway.js'
import { echoOrigin, rawOrigin } from '../../testing/origin.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { certificateFiles, renegotiate, shownName, tlsPlan } from '../testing/certificate-files.js'
import { type StartGateway, testEngines } from '../testing/engines.js'

async function tlsGateway(t: TestContext, start: StartGateway, connections = 100): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: {
      tls: tlsPlan(certificateFiles(t)),
      limits: { connections },
    },
  })
}

function speak(port: number, options: tls.ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      socket.write('GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    })
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('error', (error) => resolve(`error ${error.message}`))
    socket.on('close', () => resolve(text))
  })
}

/** Ways to disconnect: close_notify, the end of the connection alone, and a reset. */
const LEAVES: readonly ((plain: net.Socket, client: tls.TLSSocket) => void)[] = [
  (_plain, client) => void client.end(),
  (plain) => void plain.end(),
  (plain) => void plain.resetAndDestroy(),
]

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  testEngines(`a TLS listener serves ${version} and forwards the scheme https`, async (t, start) => {
    const gateway = await tlsGateway(t, start)
    const text = await speak(gateway.port, { minVersion: version, maxVersion: version })
    assert.match(text, /^HTTP\/1\.1 200 /)
    assert.match(text, /"x-forwarded-proto":"https"/)
  })
}

for (const ciphers of ['AES128-SHA', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384']) {
  testEngines(`a TLS listener refuses ${ciphers}`, async (t, start) => {
    const gateway = await tlsGateway(t, start)
    const text = await speak(gateway.port, { maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` })
    assert.match(text, /^error /)
  })
}

testEngines('a TLS listener refuses TLS 1.1', async (t, start) => {
  const gateway = await tlsGateway(t, start)
  const text = await speak(gateway.port, {
    minVersion: 'TLSv1.1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT:@SECLEVEL=0',
  })
  assert.match(text, /^error /)
})

testEngines('a TLS listener refuses renegotiation', async (t, start) => {
  const gateway = await tlsGateway(t, start)
  assert.deepEqual(await renegotiate(t, gateway.port), { handshakes: 1, isRefused: true })
  assert.match(await speak(gateway.port, { maxVersion: 'TLSv1.2' }), /^HTTP\/1\.1 200 /)
})

testEngines('a client over TLS that disconnects while it waits cancels its call', async (t, start) => {
  let closed = 0
  const origin = await rawOrigin(t, (socket) => void socket.on('close', () => closed++).resume())
  const listener = { tls: tlsPlan(certificateFiles(t)) }
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }], listener })
  for (const [i, leave] of LEAVES.entries()) {
    const plain = net.connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
    const client = tls.connect({ socket: plain, rejectUnauthorized: false }).on('error', () => {})
    t.after(() => plain.destroy())
    client.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => origin.connections() === i + 1)
    leave(plain, client)
    await until(() => closed === i + 1 && gateway.plane.connections === 0)
  }
})

testEngines('a TLS listener closes a connection beyond the limit without an answer', async (t, start) => {
  const gateway = await tlsGateway(t, start, 1)
  const idle = await connectRaw(t, gateway.port)
  await until(() => gateway.plane.connections === 1)
  assert.match(await speak(gateway.port, {}), /^error /)
  idle.reset()
  await until(() => gateway.plane.connections === 0)
  assert.match(await speak(gateway.port, {}), /^HTTP\/1\.1 200 /)
})

testEngines(
  'known limit: a TLS listener negotiates no protocol by ALPN',
  async (t, start) => {
    const gateway = await tlsGateway(t, start)
    const text = await speak(gateway.port, { ALPNProtocols: ['h2', 'http/1.1'] })
    assert.match(text, /^HTTP\/1\.1 200 /)
  },
  ['uws'],
)

testEngines(
  'the certificate matches the requested server name, and requests to it are served',
  async (t, start, engine) => {
    const certificates = [{ ...certificateFiles(t, 'renewed'), serverNames: ['shop.test', '*.shop.test'] }]
    const origin = await echoOrigin(t)
    const gateway = await start(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { tls: tlsPlan(certificateFiles(t), { certificates }) },
    })
    for (const [servername, shown] of [
      ['shop.test', 'renewed'],
      ['a.shop.test', 'renewed'],
      // uWS compares names case-sensitively.
      ['A.Shop.Test', engine === 'uws' ? 'localhost' : 'renewed'],
      ['a.b.shop.test', 'localhost'],
      ['other.test', 'localhost'],
      ['', 'localhost'],
    ] as const) {
      assert.equal(await shownName(gateway.port, { servername }), shown, servername)
      assert.match(await speak(gateway.port, { servername }), /^HTTP\/1\.1 200 /)
    }
  },
)

testEngines('a certificate without serverNames applies to the names in it', async (t, start) => {
  const certificates = [{ ...certificateFiles(t, 'renewed'), serverNames: [] }]
  const gateway = await start(t, { listener: { tls: tlsPlan(certificateFiles(t), { certificates }) } })
  assert.equal(await shownName(gateway.port, { servername: 'localhost' }), 'renewed')
  assert.equal(await shownName(gateway.port, { servername: 'other.test' }), 'localhost')
})
