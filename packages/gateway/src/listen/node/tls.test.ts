import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { type ListenerTlsPlan, loadDocument } from '@sluice/config'
import { RequestIds } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { CachedClock } from '../../lib/cached-clock.js'
import { TimerWheel } from '../../lib/timer-wheel.js'
import { until } from '../../testing/gateway.js'
import { closedPort } from '../../testing/origin.js'
import type { Listener } from '../listener.js'
import { certificateFiles, shownName, tlsPlan, writeCertificate } from '../testing/certificate-files.js'
import { SETTINGS } from '../testing/settings.js'
import { createNodeListener } from './listener.js'

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const LONG_MS = 3_600_000

interface Opened {
  readonly listener: Listener
  readonly faults: unknown[]
  renewals: number
}

/** A listener that answers every request and checks its certificates at this interval. */
async function open(t: TestContext, plan: ListenerTlsPlan, watchMs = LONG_MS): Promise<Opened> {
  const opened = { renewals: 0, faults: [] as unknown[] }
  const wheel = new TimerWheel()
  const listener = createNodeListener({
    host: '127.0.0.1',
    port: await closedPort(),
    tls: plan,
    settings: SETTINGS,
    handler: { accept: (_x, client) => client.send(200, [], 'ok'), refuse: (_x, client) => client.abort() },
    ids: new RequestIds(),
    clock: new CachedClock(),
    wheel,
    onFault: (error) => opened.faults.push(error),
    onRejected: () => {},
    onRenewal: () => opened.renewals++,
    watchMs,
  })
  await listener.open()
  t.after(() => {
    listener.terminate()
    wheel.close()
  })
  return Object.assign(opened, { listener })
}

/** The response to a client that sends one request. It closes with the test. */
function asked(
  t: TestContext,
  port: number,
  options: tls.ConnectionOptions,
): { text: string; socket: tls.TLSSocket } {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  const seen = { text: '', socket }
  socket.on('data', (chunk) => (seen.text += String(chunk)))
  socket.on('error', (error) => (seen.text += `error ${error.message}`))
  socket.on('close', () => (seen.text += seen.text === '' ? 'error closed' : ''))
  socket.write(GET)
  t.after(() => socket.destroy())
  return seen
}

test('a client without a certificate of the authorities gets no connection', async (t) => {
  const own = certificateFiles(t)
  const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
  const { listener } = await open(t, tlsPlan(own, { clientCaFile }))
  const { localhost, renewed } = FAKE_CERTIFICATES
  for (const [options, expected] of [
    [{ cert: renewed.cert, key: renewed.key }, /^HTTP\/1\.1 200 /],
    [{ cert: localhost.cert, key: localhost.key }, /^error /],
    [{}, /^error /],
  ] as const) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const seen = asked(t, listener.port, { ...options, maxVersion })
      await until(() => seen.text !== '')
      assert.match(seen.text, expected)
    }
  }
})

test('an older version than minVersion is refused', async (t) => {
  const { listener } = await open(t, tlsPlan(certificateFiles(t), { minVersion: 'TLSv1.3' }))
  assert.match(await shownName(listener.port, { maxVersion: 'TLSv1.2' }), /^error /)
  assert.equal(await shownName(listener.port), 'localhost')
})

for (const how of ['at a reload', 'by itself'] as const) {
  test(`a certificate that changes on disk is used ${how}, and connections stay open`, async (t) => {
    const files = certificateFiles(t)
    const named = certificateFiles(t)
    const plan = tlsPlan(files, { certificates: [{ ...named, serverNames: ['named.test'] }] })
    const opened = await open(t, plan, how === 'by itself' ? 20 : LONG_MS)
    const { listener, faults } = opened
    assert.equal(opened.renewals, 0)
    const kept = asked(t, listener.port, {})
    await until(() => kept.text.endsWith('ok'))
    writeCertificate(files, 'renewed')
    writeCertificate(named, 'renewed')
    if (how === 'at a reload') listener.settings = SETTINGS
    for (const servername of ['', 'named.test'])
      await until(async () => (await shownName(listener.port, { servername })) === 'renewed')
    assert.ok(opened.renewals > 0)
    kept.text = ''
    kept.socket.write(GET)
    await until(() => kept.text.endsWith('ok'))
    assert.ok(
      faults.every((fault) => /key values mismatch/.test(String(fault))),
      String(faults),
    )
  })
}

test('a certificate that cannot be read is reported, and the previous one stays in use', async (t) => {
  const files = certificateFiles(t)
  const { listener, faults } = await open(t, tlsPlan(files))
  writeFileSync(files.certFile, 'nothing')
  listener.settings = SETTINGS
  assert.equal(faults.length, 1)
  rmSync(files.certFile)
  listener.settings = SETTINGS
  assert.equal(faults.length, 2)
  assert.equal(await shownName(listener.port), 'localhost')
  writeFileSync(files.certFile, FAKE_CERTIFICATES.localhost.cert)
})

test('emptied or invalid CA files are reported, and the previous ones stay in use', async (t) => {
  const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
  const { listener, faults } = await open(t, tlsPlan(certificateFiles(t), { clientCaFile }))
  for (const text of ['', 'nothing']) {
    writeFileSync(clientCaFile, text)
    listener.settings = SETTINGS
    const seen = asked(t, listener.port, FAKE_CERTIFICATES.renewed)
    await until(() => seen.text !== '')
    assert.match(seen.text, /^HTTP\/1\.1 200 /)
  }
  assert.equal(faults.length, 2)
})

test('a session of a client whose CA was removed is not resumed', async (t) => {
  const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
  const { listener } = await open(t, tlsPlan(certificateFiles(t), { clientCaFile }))
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    writeFileSync(clientCaFile, FAKE_CERTIFICATES.renewed.cert)
    listener.settings = SETTINGS
    let session: Buffer | undefined
    const first = asked(t, listener.port, { ...FAKE_CERTIFICATES.renewed, maxVersion })
    first.socket.on('session', (given: Buffer) => (session = given))
    await until(() => first.text.endsWith('ok') && session !== undefined)
    const resumed = asked(t, listener.port, { session: session!, maxVersion })
    await until(() => resumed.text.endsWith('ok'))
    writeFileSync(clientCaFile, FAKE_CERTIFICATES.localhost.cert)
    listener.settings = SETTINGS
    const late = asked(t, listener.port, { ...FAKE_CERTIFICATES.renewed, session: session!, maxVersion })
    await until(() => late.text !== '')
    assert.match(late.text, /^error /)
  }
})

test('a client that offers HTTP/2 gets HTTP/1.1', async (t) => {
  const { listener } = await open(t, tlsPlan(certificateFiles(t)))
  const seen = asked(t, listener.port, { ALPNProtocols: ['h2', 'http/1.1'] })
  await until(() => seen.text.endsWith('ok'))
  assert.equal(seen.socket.alpnProtocol, 'http/1.1')
})

test('a reload that turns HTTP/2 on or off applies to the next handshake', async (t) => {
  const { listener, ...opened } = await open(t, tlsPlan(certificateFiles(t)))
  const offer = { ALPNProtocols: ['h2', 'http/1.1'] }
  for (const alpn of [true, false]) {
    listener.settings = { ...SETTINGS, http2: { alpn, priorKnowledge: false, streams: 100 } }
    const { socket } = asked(t, listener.port, offer)
    await until(() => socket.alpnProtocol === (alpn ? 'h2' : 'http/1.1'))
  }
  assert.deepEqual([opened.renewals, opened.faults], [0, []])
})

test('a document with two certificates for one name is told which one is used', (t) => {
  const certificates = [
    { ...certificateFiles(t), serverNames: ['A.test', 'b.test'] },
    { ...certificateFiles(t, 'renewed'), serverNames: ['a.test'] },
    certificateFiles(t),
  ]
  const listener = {
    ...{ address: '127.0.0.1:0', engine: 'node' },
    tls: { ...certificateFiles(t), certificates },
  }
  const text = JSON.stringify({ version: 1, listeners: [listener], routes: [] })
  const loaded = loadDocument({ text, name: 'test.yaml' }, { catalog: new Map(), env: {} })
  assert.deepEqual(loaded.ok && loaded.warnings.map(({ message }) => message), [
    "certificates[0] also covers 'a.test'; only this one, the last, is used for it",
  ])
})
