import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { fakeDocument, GatewayProcess, testDirectory } from './testing/gateway-process.js'

// Document keys that the supervisor itself uses and no other test covers.

test('metrics.enabled: false turns metrics off, and a deploy turns them on again', async (t) => {
  const off = fakeDocument('first', 'metrics: { enabled: false }')
  const gateway = await new GatewayProcess(t, { document: off }).started()
  assert.equal((await gateway.api('/metrics')).status, 404)
  assert.equal((await gateway.api('/v1/status')).status, 200)
  await gateway.put(fakeDocument('first', 'metrics: { enabled: true }'))
  assert.equal((await gateway.api('/metrics')).status, 200)
})

test('metrics.address serves only metrics and health, without tokens, until a deploy removes it', async (t) => {
  const token = { id: 'rules', role: 'admin', sha256: sha256('admin-token') }
  const withAddress = (metrics: string): string =>
    fakeDocument('first', metrics).replace(
      'admin: { address: 127.0.0.1:0 }',
      `admin: { address: "127.0.0.1:0", tokens: [${JSON.stringify(token)}] }`,
    )
  const gateway = await new GatewayProcess(t, {
    document: withAddress('metrics: { address: "127.0.0.1:0" }'),
  }).started()
  const url = gateway.addresses.metrics!
  const answers = async (path: string, init?: RequestInit): Promise<number | 'refused'> =>
    fetch(new URL(path, url), init).then(
      ({ status }) => status,
      () => 'refused',
    )
  assert.deepEqual(
    [await answers('/metrics'), await answers('/healthz'), await answers('/readyz')],
    [200, 200, 200],
  )
  assert.match(await (await fetch(`${url}/metrics`)).text(), /^gw_ready 1$/m)
  for (const path of ['/v1/status', '/v1/plan', '/openapi.json', '/']) assert.equal(await answers(path), 404)
  assert.equal(await answers('/v1/config', { method: 'PUT', body: 'version: 1' }), 404)
  assert.equal(await answers('/v1/drain', { method: 'POST' }), 404)
  assert.equal(await answers('/metrics', { method: 'POST' }), 405)
  // Also by the name of a Service.
  assert.equal(await statusByName(url, 'sluice-metrics.gateways'), 200)
  assert.equal((await gateway.put(withAddress('metrics: {}'), '', bearer('admin-token'))).status, 200)
  assert.equal(await answers('/metrics'), 'refused')
})

test('a document whose metrics address is in use is refused, and the previous one stays active', async (t) => {
  const gateway = await new GatewayProcess(t, {
    document: fakeDocument('first', 'metrics: { address: "127.0.0.1:0" }'),
  }).started()
  const { port } = new URL(gateway.addresses.admin!)
  const answer = await gateway.put(fakeDocument('first', `metrics: { address: "127.0.0.1:${port}" }`))
  assert.equal(answer.status, 409)
  assert.match(
    await answer.text(),
    /cannot listen for metrics on 127\.0\.0\.1:\d+ \(.*\); change metrics\.address/,
  )
  assert.equal((await fetch(`${gateway.addresses.metrics}/readyz`)).status, 200)
})

test('admin.ui: false turns the dashboard off, and a deploy turns it on again', async (t) => {
  const withUi = (ui: boolean): string =>
    fakeDocument('first').replace(
      'admin: { address: 127.0.0.1:0 }',
      `admin: { address: "127.0.0.1:0", ui: ${ui} }`,
    )
  const gateway = await new GatewayProcess(t, { document: withUi(false) }).started()
  assert.equal((await gateway.api('/ui/')).status, 404)
  await gateway.put(withUi(true))
  assert.equal((await gateway.api('/ui/')).status, 200)
  await gateway.put(withUi(false))
  assert.equal((await gateway.api('/ui/')).status, 404)
})

test('admin.tokens control access, and a deploy changes them', async (t) => {
  const tokensOf = (viewer: string): string => {
    const tokens = [
      { id: 'looks', role: 'viewer', sha256: sha256(viewer) },
      { id: 'rules', role: 'admin', sha256: sha256('admin-token') },
    ]
    return fakeDocument('first').replace(
      'admin: { address: 127.0.0.1:0 }',
      `admin: { address: "127.0.0.1:0", tokens: ${JSON.stringify(tokens)} }`,
    )
  }
  const gateway = await new GatewayProcess(t, { document: tokensOf('one') }).started()
  const statusAs = async (token: string): Promise<number> =>
    (await gateway.api('/v1/status', { headers: bearer(token) })).status
  assert.equal((await gateway.api('/v1/status')).status, 401)
  assert.deepEqual([await statusAs('one'), await statusAs('two')], [200, 401])
  assert.equal((await gateway.put(tokensOf('two'), '', bearer('one'))).status, 403)
  assert.equal((await gateway.put(tokensOf('two'), '', bearer('admin-token'))).status, 200)
  assert.deepEqual([await statusAs('one'), await statusAs('two')], [401, 200])
})

test('admin.tls of the document serves the admin API with its certificate', async (t) => {
  const dir = testDirectory()
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const { cert, key } = FAKE_CERTIFICATES.localhost
  writeFileSync(join(dir, 'cert.pem'), cert)
  writeFileSync(join(dir, 'key.pem'), key)
  const tls = `tls: { certFile: ${join(dir, 'cert.pem')}, keyFile: ${join(dir, 'key.pem')} }`
  const document = fakeDocument('first').replace('127.0.0.1:0 }\nlog', `"127.0.0.1:0", ${tls} }\nlog`)
  const gateway = await new GatewayProcess(t, { document }).started()
  const url = new URL('/healthz', gateway.addresses.admin!)
  assert.equal(url.protocol, 'https:')
  const status = await new Promise((resolve, reject) => {
    const asked = request(url, { ca: cert, agent: false }, (response) =>
      resolve(response.resume().statusCode),
    )
    asked.on('error', reject).end()
  })
  assert.equal(status, 200)
})

/** Returns the status of the metrics for a client that uses this name for the address. */
function statusByName(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = get(`${url}/metrics`, { headers: { host }, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject)
  })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}
