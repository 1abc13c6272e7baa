import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import fc from 'fast-check'
import { startGateway, type TestGateway, until } from '../../../testing/gateway.js'
import { echoOrigin } from '../../../testing/origin.js'
import { connectRaw } from '../../../testing/raw-connection.js'
import { startLogged } from '../../../testing/traffic-records.js'
import { certificateFiles, tlsPlan } from '../../testing/certificate-files.js'
import { readProxyHeader } from './proxy-header.js'

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const V1 = 'PROXY TCP4 192.0.2.7 192.0.2.8 4711 443\r\n'
const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'

/** A header of version 2. */
function binary(command: number, family: number, addresses: readonly number[]): Buffer {
  const head = Buffer.from([command, family, addresses.length >> 8, addresses.length & 0xff])
  return Buffer.concat([Buffer.from(SIGNATURE, 'latin1'), head, Buffer.from(addresses)])
}

const V2 = binary(0x21, 0x11, [192, 0, 2, 7, 192, 0, 2, 8, 0x12, 0x67, 1, 187])
const V6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

test('an address is the same in all headers, however a proxy writes it', () => {
  for (const [spelled, address] of [
    ['2001:DB8:0::1', '2001:db8::1'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
  ]) {
    const header = readProxyHeader(Buffer.from(`PROXY TCP6 ${spelled} ::1 4711 443\r\n`))
    assert.ok(header !== null && header !== 'broken')
    assert.equal(header.address, address)
  }
})

async function proxied(t: TestContext, isTrusted = true, isTls = false): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return startGateway(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: {
      engine: 'node',
      proxyProtocol: true,
      trustedProxies: isTrusted ? ['127.0.0.1/32'] : [],
      ...(isTls ? { tls: tlsPlan(certificateFiles(t)) } : {}),
    },
  })
}

for (const [name, header] of Object.entries({ 1: Buffer.from(V1), 2: V2 })) {
  test(`the client is the one named by a header of version ${name}, however the bytes are split`, async (t) => {
    const gateway = await proxied(t)
    for (const cut of [0, 1, 5, 13, header.length, header.length + 3]) {
      const bytes = Buffer.concat([header, Buffer.from(GET)])
      const client = await connectRaw(t, gateway.port)
      client.send(bytes.subarray(0, cut))
      await new Promise((resolve) => setImmediate(resolve))
      client.send(bytes.subarray(cut))
      await until(() => client.text.includes('"x-forwarded-for":"192.0.2.7"'))
      // It stays the client of the connection.
      client.send(GET.replace('/a', '/b'))
      await until(() => client.text.includes('"url":"/b"'))
      assert.equal(client.text.match(/"x-forwarded-for":"192\.0\.2\.7"/g)?.length, 2)
    }
  })
}

test('a proxy that speaks for itself is the client', async (t) => {
  const gateway = await proxied(t)
  for (const header of ['PROXY UNKNOWN\r\n', binary(0x20, 0, [])]) {
    const client = await connectRaw(t, gateway.port)
    client.send(header)
    client.send(GET)
    await until(() => client.text.includes('"x-forwarded-for":"127.0.0.1"'))
  }
})

test('a trusted proxy without a header, or with an invalid one, is not served', async (t) => {
  const gateway = await proxied(t)
  for (const bytes of [
    GET,
    V1.replace('TCP4', 'TCP6'),
    V1.replace('4711', '99999'),
    binary(0x22, 0x11, []),
  ]) {
    const client = await connectRaw(t, gateway.port)
    client.send(bytes)
    await until(() => client.isClosed)
    assert.equal(client.text, '')
  }
})

test('a check of a load balancer that resets its connection at once leaves no record', async (t) => {
  const gateway = await startLogged(t, {
    listener: { engine: 'node', proxyProtocol: true, trustedProxies: ['127.0.0.1/32'] },
  })
  // This process is blocked meanwhile, so the gateway accepts a connection that is over: its peer is no longer known.
  const send = `s.write(Buffer.from('${binary(0x20, 0, []).toString('hex')}', 'hex'), () => s.resetAndDestroy())`
  execFileSync(process.execPath, [
    '-e',
    `const s = require('net').connect(${gateway.port}, '127.0.0.1', () => ${send})`,
  ])
  const next = await connectRaw(t, gateway.port)
  next.send(V1 + GET)
  await until(() => next.text.startsWith('HTTP/1.1 '))
  const seen = await gateway.records()
  assert.deepEqual(
    seen.map(({ client }) => client),
    [{ ip: '192.0.2.7', port: 4711 }],
  )
})

test('a header from a client that is not a trusted proxy is ignored', async (t) => {
  const gateway = await proxied(t, false)
  const plain = await connectRaw(t, gateway.port)
  plain.send(GET)
  await until(() => plain.text.includes('"x-forwarded-for":"127.0.0.1"'))
  const lying = await connectRaw(t, gateway.port)
  lying.send(V1 + GET)
  await until(() => lying.isClosed)
  assert.match(lying.text, /^HTTP\/1\.1 400 /)
})

test('the header precedes the TLS handshake', async (t) => {
  const gateway = await proxied(t, true, true)
  const socket = net.connect(gateway.port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write(V2)
  const secure = tls.connect({ socket, rejectUnauthorized: false })
  let text = ''
  secure.on('data', (chunk) => (text += String(chunk)))
  secure.write(GET)
  await until(() => text.includes('"x-forwarded-for":"192.0.2.7"'))
  assert.match(text, /"x-forwarded-proto":"https"/)
})

test('a header contains an address and a port, or it is invalid', () => {
  assert.deepEqual(readProxyHeader(binary(0x21, 0x21, [...V6, ...V6, 0, 80, 0, 81])), {
    length: 52,
    address: '2001:db8::1',
    port: 80,
  })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(15), fc.boolean(), (tail, known, isText) => {
      const start = isText ? Buffer.from(V1).subarray(0, known) : V2.subarray(0, known)
      const header = readProxyHeader(Buffer.concat([start, tail]))
      if (header === null || header === 'broken') return
      assert.ok(header.length <= start.length + tail.length && header.port <= 65_535)
    }),
  )
})
