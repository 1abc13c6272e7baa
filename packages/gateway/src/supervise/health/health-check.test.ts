import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { HealthPlan, UpstreamPlan, UpstreamTlsPlan } from '@sluice/config'
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

const TLS: UpstreamTlsPlan = {
  caFile: null,
  certFile: null,
  keyFile: null,
  servername: null,
  minVersion: 'TLSv1.2',
  pins: [],
  insecure: false,
}

/** Starts a server and returns its port. It is closed after the test. */
async function listening(t: TestContext, server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Returns the result of one check of a target. */
function check(url: string, health: Partial<HealthPlan> = {}, upstream: Partial<UpstreamPlan> = {}) {
  const [plan] = planOf({ upstreams: [{ urls: [url], ...upstream }] }).upstreams
  return createHealthCheck(plan!, { ...HEALTH, ...health }, new URL(url))()
}

test('targets that refuse, reset, send wrong data or stay silent are unhealthy, with a reason', async (t) => {
  const refused = `http://127.0.0.1:${await closedPort()}`
  assert.equal(await check(refused), 'the target refused the connection')
  const reset = await rawOrigin(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  assert.equal(await check(reset.url), 'the target closed the connection before answering')
  const lying = await rawOrigin(t, answering('nonsense\r\n\r\n'))
  assert.equal(await check(lying.url), 'the response is not valid HTTP')
  const silent = await rawOrigin(t, () => {})
  assert.equal(await check(silent.url, { timeoutMs: 30 }), 'no complete response within 30 ms')
  const cut = await rawOrigin(
    t,
    answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive', (socket) => socket.resetAndDestroy()),
  )
  assert.notEqual(await check(cut.url), null)
})

test('an endless body is read up to the limit', async (t) => {
  const endless = await httpOrigin(t, (_, res) => {
    const timer = setInterval(() => res.write('x'.repeat(16_384)), 1)
    res.write('up')
    res.on('close', () => clearInterval(timer))
  })
  assert.equal(await check(endless.url, { body: 'up' }), null)
  assert.equal(
    await check(endless.url, { body: 'down' }),
    'the body does not contain the text of health.body',
  )
})

test("a check uses the upstream's TLS settings", async (t) => {
  const server = https.createServer(FAKE_CERTIFICATES.localhost, (_, res) => res.end())
  const url = `https://localhost:${await listening(t, server)}`
  const secured = (tls: Partial<UpstreamTlsPlan>) => check(url, {}, { tls: { ...TLS, ...tls } })
  assert.equal(await secured({}), 'the TLS handshake with the target failed')
  assert.equal(await secured({ insecure: true }), null)
  const caFile = certificateFile(t)
  assert.equal(await secured({ caFile }), null)
  const other = { caFile, servername: 'shop.example' }
  assert.equal(await secured(other), 'the TLS handshake with the target failed')
  assert.match((await secured({ caFile: `${caFile}.none` })) ?? '', /a tls file of the upstream/)
})

function certificateFile(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gw-check-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'ca.pem')
  writeFileSync(file, FAKE_CERTIFICATES.localhost.cert)
  return file
}

test('a check uses HTTP/2 if the upstream does', async (t) => {
  const answer = (req: http2.Http2ServerRequest, res: http2.Http2ServerResponse): void => {
    res.writeHead(req.url === '/cut' ? 200 : 204)
    if (req.url === '/cut') res.stream.close(http2.constants.NGHTTP2_CANCEL)
    else res.end()
  }
  const plain = http2.createServer(answer as never)
  const secure = http2.createSecureServer(FAKE_CERTIFICATES.localhost, answer as never)
  const [plainPort, securePort] = [await listening(t, plain), await listening(t, secure)]
  const insecure = { ...TLS, insecure: true }
  const plainUrl = `http://localhost:${plainPort}`
  assert.notEqual(await check(plainUrl), null)
  assert.equal(await check(plainUrl, {}, { http2: { alpn: false, priorKnowledge: true } }), null)
  assert.notEqual(
    await check(plainUrl, { path: '/cut' }, { http2: { alpn: false, priorKnowledge: true } }),
    null,
  )
  const secureUrl = `https://localhost:${securePort}`
  for (const priorKnowledge of [false, true])
    assert.equal(await check(secureUrl, {}, { http2: { alpn: true, priorKnowledge }, tls: insecure }), null)
  const old = await rawOrigin(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  assert.notEqual(await check(old.url, {}, { http2: { alpn: false, priorKnowledge: true } }), null)
})

test('a check verifies the pinned key', async (t) => {
  const server = https.createServer(FAKE_CERTIFICATES.localhost, (_, res) => res.end())
  const url = `https://localhost:${await listening(t, server)}`
  const key = new X509Certificate(FAKE_CERTIFICATES.localhost.cert).publicKey
  const hash = createHash('sha256').update(key.export({ type: 'spki', format: 'der' }))
  const pinned = (pin: string) => check(url, {}, { tls: { ...TLS, insecure: true, pins: [`sha256/${pin}`] } })
  assert.equal(await pinned(`${'A'.repeat(43)}=`), 'the TLS handshake with the target failed')
  assert.equal(await pinned(hash.digest('base64')), null)
})

test('a check uses the outbound proxy, and reports a failed tunnel', async (t) => {
  const target = await httpOrigin(t, (_, res) => res.end())
  const seen: string[] = []
  const proxy = http.createServer()
  proxy.on('connect', (req, socket) => {
    seen.push(`${req.url} ${req.headers['proxy-authorization']}`)
    if (req.headers['proxy-authorization'] === undefined) {
      socket.end('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const onward = net.connect(target.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    onward.pipe(socket).pipe(onward)
    for (const each of [onward, socket]) each.on('error', () => {})
  })
  const url = `http://127.0.0.1:${await listening(t, proxy)}`
  const through = (username: string | null) =>
    check('http://orders.internal:9000', {}, { proxy: { url, username, password: 'p' } })
  assert.equal(await through('u'), null)
  assert.equal(await through(null), 'the outbound proxy is unreachable or refused the tunnel to the target')
  assert.deepEqual(seen, ['orders.internal:9000 Basic dTpw', 'orders.internal:9000 undefined'])
})

test('a protocol switch is not a valid response', async (t) => {
  const switching = await rawOrigin(
    t,
    answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  )
  assert.match((await check(switching.url)) ?? '', /closed/)
})
