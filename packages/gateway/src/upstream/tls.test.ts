import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { rootCertificates } from 'node:tls'
import type { UpstreamTlsPlan } from '@sluice/config'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { startGateway } from '../testing/gateway.js'
import { rawOrigin } from '../testing/origin.js'
import { type LoggedGateway, startLogged } from '../testing/traffic-records.js'

/** Trusts only the system's CAs. */
const SYSTEM: UpstreamTlsPlan = {
  ...{ caFile: null, certFile: null, keyFile: null },
  ...{ servername: null, minVersion: 'TLSv1.2', pins: [], insecure: false },
}

/** A TLS target with a self-signed certificate. */
async function secureOrigin(t: TestContext): Promise<string> {
  const server = https.createServer(FAKE_CERTIFICATES.localhost, (req, res) =>
    req.resume().on('end', () => res.end('sealed')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function gatewayBefore(t: TestContext, overrides: Partial<UpstreamTlsPlan>): Promise<LoggedGateway> {
  return startLogged(t, { upstreams: [{ urls: [await secureOrigin(t)], tls: { ...SYSTEM, ...overrides } }] })
}

function caFile(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gw-upstream-tls-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'ca.pem')
  writeFileSync(file, FAKE_CERTIFICATES.localhost.cert)
  return file
}

test('a target with a trusted CA is reached over TLS, and the record shows the time of the handshake', async (t) => {
  const gateway = await gatewayBefore(t, { caFile: caFile(t) })
  for (let i = 0; i < 2; i++) {
    const response = await fetch(gateway.url, { method: 'POST', body: 'plain' })
    assert.deepEqual([response.status, await response.text()], [200, 'sealed'])
  }
  const [first, second] = await gateway.records()
  assert.ok(first!.t['up_tcp']! > 0 && first!.t['up_tls']! > 0, JSON.stringify(first!.t))
  assert.equal(second!.t['up_tls'], undefined, JSON.stringify(second!.t))
})

test('a target with an untrusted certificate gets no request, unless that is allowed', async (t) => {
  const gateway = await gatewayBefore(t, {})
  const response = await fetch(gateway.url)
  assert.equal(response.status, 502)
  assert.equal(((await response.json()) as { code: string }).code, 'GW_UPSTREAM_TLS')
  const lenient = await gatewayBefore(t, { insecure: true })
  assert.equal(await (await fetch(lenient.url)).text(), 'sealed')
})

test('a target whose certificate is for another name gets no request', async (t) => {
  const gateway = await gatewayBefore(t, { caFile: caFile(t), servername: 'shop.example' })
  const response = await fetch(gateway.url)
  assert.equal(response.status, 502)
  assert.equal(((await response.json()) as { code: string }).code, 'GW_UPSTREAM_TLS')
})

test('a reload reads the files of an upstream again', async (t) => {
  const file = caFile(t)
  writeFileSync(file, rootCertificates[0]!)
  const overrides = { upstreams: [{ urls: [await secureOrigin(t)], tls: { ...SYSTEM, caFile: file } }] }
  const gateway = await startGateway(t, overrides)
  assert.equal((await fetch(gateway.url)).status, 502)
  writeFileSync(file, FAKE_CERTIFICATES.localhost.cert)
  await gateway.reload(overrides)
  assert.equal((await fetch(gateway.url)).status, 200)
})

for (const alpn of [false, true]) {
  test(`http2 ${alpn ? 'with ALPN' : 'off'}: after a reset in the handshake the target has seen nothing, so every method fails over`, async (t) => {
    const resetting = await rawOrigin(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
    const urls = [resetting.url.replace('http:', 'https:'), await secureOrigin(t)]
    const tls = { ...SYSTEM, insecure: true }
    const gateway = await startLogged(t, {
      upstreams: [{ urls, tls, http2: { alpn, priorKnowledge: false }, retry: { attempts: 1, budget: 1 } }],
    })
    for (let i = 0; i < 4; i++) {
      const response = await fetch(gateway.url, { method: 'POST', body: 'once' })
      assert.deepEqual([response.status, await response.text()], [200, 'sealed'])
    }
    const tries = (await gateway.records()).flatMap(({ up }) => (up as { tries?: object[] }).tries ?? [])
    assert.ok(tries.length > 0)
    assert.ok(
      tries.every((one) => (one as { retry: string }).retry === 'moved'),
      JSON.stringify(tries),
    )
  })
}
