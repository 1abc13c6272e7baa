import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { FAKE_CERTIFICATES } from '../../../admin/testing/test-certificate.js'
import { type TestGateway, until } from '../../../testing/gateway.js'
import { echoOrigin } from '../../../testing/origin.js'
import { connectRaw } from '../../../testing/raw-connection.js'
import { type StartGateway, testEngines } from './engines.js'

async function tlsGateway(t: TestContext, start: StartGateway, connections = 100): Promise<TestGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-tls-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const certFile = join(dir, 'cert.pem')
  const keyFile = join(dir, 'key.pem')
  writeFileSync(certFile, FAKE_CERTIFICATES.localhost.cert)
  writeFileSync(keyFile, FAKE_CERTIFICATES.localhost.key)
  const origin = await echoOrigin(t)
  return start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { tls: { certFile, keyFile }, limits: { connections } },
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

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  testEngines(`a TLS listener serves ${version} and tells the upstream https`, async (t, start) => {
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
  'known limit: a TLS listener agrees on no protocol by ALPN',
  async (t, start) => {
    const gateway = await tlsGateway(t, start)
    const text = await speak(gateway.port, { ALPNProtocols: ['h2', 'http/1.1'] })
    assert.match(text, /^HTTP\/1\.1 200 /)
  },
  ['uws'],
)
