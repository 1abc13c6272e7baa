import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import type { AdminPlan } from '@sluice/config'
import { FAKE_ADMIN } from '../supervise/testing/fake-plan.js'
import { until } from '../supervise/testing/until.js'
import { createOperationLog } from '../telemetry/operation-log.js'
import { AdminEndpoint } from './admin-endpoint.js'
import { FakeBackend } from './testing/fake-backend.js'
import { FAKE_CERTIFICATES } from './testing/test-certificate.js'

const TOKEN = {
  id: 'ops',
  sha256: createHash('sha256').update('secret').digest('hex'),
  role: 'admin',
} as const
const ELSEWHERE: AdminPlan = { ...FAKE_ADMIN, address: '[::1]:0', host: '::1' }

function endpoint(t: TestContext) {
  const admin = new AdminEndpoint(new FakeBackend(), createOperationLog({ write: () => {} }))
  t.after(() => admin.close())
  const change = async (plan: AdminPlan) => {
    const preparation = await admin.prepare(plan)
    assert.ok(preparation.ok)
    return preparation.prepared
  }
  return { admin, change }
}

function certificateFiles(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'admin-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const files = { certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') }
  const put = (name: keyof typeof FAKE_CERTIFICATES) => {
    writeFileSync(files.certFile, FAKE_CERTIFICATES[name].cert)
    writeFileSync(files.keyFile, FAKE_CERTIFICATES[name].key)
  }
  put('localhost')
  return { files, put }
}

const statusOf = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/v1/status`, { headers }).then(
    (response) => response.status,
    () => 'refused',
  )

/** Returns the common name of the certificate behind an address. */
function commonName(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const { CN } = socket.getPeerCertificate().subject
      socket.destroy()
      resolve(String(CN))
    })
  })
}

test('the first address responds as soon as it is prepared, until it is discarded', async (t) => {
  const { admin, change } = endpoint(t)
  assert.equal(admin.url, null)
  const prepared = await change(FAKE_ADMIN)
  const url = admin.url ?? ''
  assert.equal(await statusOf(url), 200)
  await prepared.discard()
  assert.equal(admin.url, null)
  assert.equal(await statusOf(url), 'refused')
})

test('both addresses respond during a move until it is activated', async (t) => {
  const { admin, change } = endpoint(t)
  await (await change(FAKE_ADMIN)).activate()
  const old = admin.url ?? ''
  const prepared = await change(ELSEWHERE)
  assert.equal(admin.url, old)
  await prepared.activate()
  assert.notEqual(admin.url, old)
  assert.equal(await statusOf(admin.url ?? ''), 200)
  await until(async () => (await statusOf(old)) === 'refused')
})

test('a discarded move leaves the old address and its tokens', async (t) => {
  const { admin, change } = endpoint(t)
  await (await change(FAKE_ADMIN)).activate()
  const old = admin.url ?? ''
  await (await change({ ...ELSEWHERE, tokens: [TOKEN] })).discard()
  assert.equal(admin.url, old)
  assert.equal(await statusOf(old), 200)
})

test('new tokens take effect on activation, on the same address', async (t) => {
  const { admin, change } = endpoint(t)
  await (await change(FAKE_ADMIN)).activate()
  const url = admin.url ?? ''
  const prepared = await change({ ...FAKE_ADMIN, tokens: [TOKEN] })
  assert.equal(await statusOf(url), 200)
  await prepared.activate()
  assert.equal(admin.url, url)
  assert.equal(await statusOf(url), 401)
  assert.equal(await statusOf(url, { authorization: 'Bearer secret' }), 200)
})

test('TLS is enabled, renewed with its files and disabled again', async (t) => {
  const { admin, change } = endpoint(t)
  const { files, put } = certificateFiles(t)
  const secure: AdminPlan = { ...FAKE_ADMIN, tls: files }
  await (await change(secure)).activate()
  const url = admin.url ?? ''
  assert.match(url, /^https:/)
  assert.equal(await commonName(url), 'localhost')
  put('renewed')
  await (await change(secure)).activate()
  assert.equal(admin.url, url)
  assert.equal(await commonName(url), 'renewed')
  await (await change(FAKE_ADMIN)).activate()
  assert.match(admin.url ?? '', /^http:/)
  assert.equal(await statusOf(admin.url ?? ''), 200)
})

test('an address in use and an unreadable certificate are reported with a remedy', async (t) => {
  const { admin, change } = endpoint(t)
  await (await change(FAKE_ADMIN)).activate()
  const port = Number(new URL(admin.url ?? '').port)
  const taken = await endpoint(t).admin.prepare({ ...FAKE_ADMIN, address: `127.0.0.1:${port}`, port })
  assert.ok(!taken.ok)
  assert.equal(
    taken.reason.replace(/ by \S+ \(pid \d+\)/, ''),
    `address 127.0.0.1:${port} is in use; stop the other process, change admin.address, or add admin: { address: 127.0.0.1:9902 } to the document`,
  )
  const tls = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' }
  const unreadable = await admin.prepare({ ...FAKE_ADMIN, tls })
  assert.ok(!unreadable.ok)
  assert.match(unreadable.reason, /check certFile and keyFile/)
  assert.equal(await statusOf(admin.url ?? ''), 200)
})
