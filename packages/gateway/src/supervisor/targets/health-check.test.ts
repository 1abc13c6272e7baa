import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { HealthPlan, UpstreamTlsPlan } from '@sluice/config'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { planOf } from '../../testing/gateway.js'
import { answering, closedPort, httpOrigin, rawOrigin } from '../../testing/origin.js'
import { createHealthCheck } from './health-check.js'

const HEALTH: HealthPlan = {
  path: '/healthz',
  intervalMs: 1000,
  jitter: 0,
  timeoutMs: 10_000,
  unhealthyAfter: 1,
  healthyAfter: 1,
  statuses: [[200, 299]],
  body: null,
  bodyPattern: null,
  host: null,
  headers: [],
}

/** What one check of a target finds. */
function check(url: string, health: Partial<HealthPlan> = {}, tls: UpstreamTlsPlan | null = null) {
  const [plan] = planOf({ upstreams: [{ urls: [url], tls }] }).upstreams
  return createHealthCheck(plan!, { ...HEALTH, ...health }, new URL(url))()
}

test('a target that refuses, resets, lies or is silent is not healthy, and the reason says which', async (t) => {
  const refused = `http://127.0.0.1:${await closedPort()}`
  assert.equal(await check(refused), 'the target refused the connection')
  const reset = await rawOrigin(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  assert.equal(await check(reset.url), 'the target closed the connection before answering')
  const lying = await rawOrigin(t, answering('nonsense\r\n\r\n'))
  assert.equal(await check(lying.url), 'the response is not valid HTTP/1.1')
  const silent = await rawOrigin(t, () => {})
  assert.equal(await check(silent.url, { timeoutMs: 30 }), 'no whole answer within 30 ms')
  const cut = await rawOrigin(
    t,
    answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive', (socket) => socket.resetAndDestroy()),
  )
  assert.notEqual(await check(cut.url), null)
})

test('a body without an end is read as far as it counts', async (t) => {
  const endless = await httpOrigin(t, (_, res) => {
    const timer = setInterval(() => res.write('x'.repeat(16_384)), 1)
    res.write('up')
    res.on('close', () => clearInterval(timer))
  })
  assert.equal(await check(endless.url, { body: 'up' }), null)
  assert.equal(await check(endless.url, { body: 'down' }), 'the body does not hold the text of health.body')
})

test('a check speaks TLS as the upstream does', async (t) => {
  const server = https.createServer(FAKE_CERTIFICATES.localhost, (_, res) => res.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const files = { caFile: null, certFile: null, keyFile: null }
  const tls = { ...files, servername: null, minVersion: 'TLSv1.2' as const, pins: [], insecure: false }
  assert.equal(await check(url, {}, tls), 'the TLS handshake with the target failed')
  assert.equal(await check(url, {}, { ...tls, insecure: true }), null)
  const caFile = certificateFile(t)
  assert.equal(await check(url, {}, { ...tls, caFile }), null)
  const other = { ...tls, caFile, servername: 'shop.example' }
  assert.equal(await check(url, {}, other), 'the TLS handshake with the target failed')
  const missing = { ...tls, caFile: `${caFile}.none` }
  assert.match((await check(url, {}, missing)) ?? '', /a file of tls/)
})

function certificateFile(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gw-check-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'ca.pem')
  writeFileSync(file, FAKE_CERTIFICATES.localhost.cert)
  return file
}
