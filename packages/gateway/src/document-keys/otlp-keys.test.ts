import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { resolvePlan } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { MetricsPush } from '../supervise/metrics-push.js'
import { createOperationLog } from '../telemetry/operation-log.js'
import { type TestGateway, until } from '../testing/gateway.js'
import { traceReceiver } from '../testing/trace-receiver.js'
import { keysOf, serve } from './testing/key-tests.js'

// Keys that all exports to an OpenTelemetry collector have, and those of their spools.

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-otlp-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

/** A running export. */
interface Export {
  /** Texts that operators see. */
  readonly problems: () => string
  readonly gateway?: TestGateway
}

/** Starts an export with some settings and something to export. */
type StartExport = (t: TestContext, settings: object) => Promise<Export>

/** Sends a request through a gateway whose document has this part. */
async function throughGateway(t: TestContext, part: object): Promise<Export> {
  const routes = [{ id: 'all', respond: { status: 200 } }]
  const listener = { engine: 'node', limits: { headerBytes: '64kb' } }
  const gateway = await serve(t, { routes, listener, ...part })
  await fetch(`${gateway.url}/exported`)
  return { gateway, problems: () => JSON.stringify(gateway.events) }
}

const SPOOLED: Readonly<Record<string, StartExport>> = {
  'tracing.exporter': (t, settings) =>
    throughGateway(t, { tracing: { exporter: { spool: { dir: folder(t) }, ...settings } } }),
  'log.otlp': (t, settings) =>
    throughGateway(t, { log: { sink: 'otlp', otlp: { spool: { dir: folder(t) }, ...settings } } }),
}

const EXPORTS: Readonly<Record<string, StartExport>> = {
  ...SPOOLED,
  'metrics.otlp': async (t, settings) => {
    const document = { version: 1, metrics: { otlp: { interval: '1s', ...settings } } }
    const lines: string[] = []
    const samples = [{ name: 'gw_exported', labels: 'path="/exported"', value: 1 }]
    const push = new MetricsPush(
      { samples: async () => samples, status: () => ({ version: 'test' }) as never },
      createOperationLog({ write: (line) => lines.push(line) }),
    )
    t.after(() => push.close())
    const preparation = await push.prepare(resolvePlan(loadOrThrow(JSON.stringify(document), new Map())))
    assert.ok(preparation.ok)
    await preparation.prepared.activate()
    return { problems: () => lines.join() }
  },
}

const PATHS: Readonly<Record<string, string>> = {
  'tracing.exporter': '/v1/traces',
  'log.otlp': '/v1/logs',
  'metrics.otlp': '/v1/metrics',
}

for (const [key, start] of Object.entries(EXPORTS)) {
  test(`${key}: endpoint, headers and compress do what they say`, async (t) => {
    const receiver = await traceReceiver(t)
    await start(t, { endpoint: receiver.url })
    await until(() => receiver.has('/exported'))
    assert.deepEqual(
      [receiver.exports[0]!.path, receiver.exports[0]!.headers['content-encoding']],
      [PATHS[key], undefined],
    )
    const other = await traceReceiver(t)
    await start(t, { endpoint: `${other.url}/otlp`, headers: { 'x-api-key': 'k3y' }, compress: true })
    await until(() => other.has('/exported'))
    const { path, headers } = other.exports[0]!
    assert.deepEqual([path, headers['x-api-key'], headers['content-encoding']], ['/otlp', 'k3y', 'gzip'])
  })

  test(`${key}: timeout ends a request without a response`, async (t) => {
    const receiver = await traceReceiver(t)
    receiver.status = 0
    const { problems } = await start(t, { endpoint: receiver.url, timeout: '100ms' })
    await until(() => problems().includes('no response within 100 ms'))
    receiver.status = 200
    const patient = await start(t, { endpoint: receiver.url })
    await until(() => receiver.exports.length >= 2)
    assert.ok(!patient.problems().includes('no response'))
  })

  test(`${key}: tls.caFile and tls.insecure decide which certificates are accepted`, async (t) => {
    const receiver = await traceReceiver(t, true)
    const usual = await start(t, { endpoint: receiver.url })
    await until(() => /self.signed certificate/.test(usual.problems()))
    assert.deepEqual(receiver.exports, [])
    const caFile = join(folder(t), 'ca.pem')
    writeFileSync(caFile, FAKE_CERTIFICATES.localhost.cert)
    await start(t, { endpoint: receiver.url, tls: { caFile } })
    await until(() => receiver.exports.length === 1)
    const others = await traceReceiver(t, true)
    await start(t, { endpoint: others.url, tls: { insecure: true } })
    await until(() => others.exports.length === 1)
  })
}

test('metrics.otlp.interval is the time between two exports', async (t) => {
  const [often, seldom] = [await traceReceiver(t), await traceReceiver(t)]
  await EXPORTS['metrics.otlp']!(t, { endpoint: seldom.url, interval: '1h' })
  await EXPORTS['metrics.otlp']!(t, { endpoint: often.url, interval: '1s' })
  await until(() => often.exports.length === 3)
  assert.deepEqual(seldom.exports, [])
})

/** Number of records with a long user agent that fill a spool of 8 MB. */
const MANY = 400

/** Fills a spool while the collector is unavailable, and then delivers what it has. */
async function filled(t: TestContext, start: StartExport, spool: object) {
  const receiver = await traceReceiver(t)
  receiver.status = 503
  const { gateway } = await start(t, { endpoint: receiver.url, spool: { dir: folder(t), ...spool } })
  const headers = { 'user-agent': 'x'.repeat(30_000) }
  for (let i = 0; i < MANY; i++) {
    const answer = await fetch(`${gateway!.url}/n${i}-`, { headers })
    await answer.arrayBuffer()
    assert.equal(answer.status, 200)
  }
  const identity = () => gateway!.plane.logIdentity()
  await until(() => identity().inMemory === 0)
  receiver.status = 200
  // After a loss there is a gap record too.
  await until(() => identity().onDisk === 0 && identity().indexed + identity().dropped > MANY)
  return { dropped: identity().dropped, hasLast: receiver.has(`/n${MANY - 1}-`) }
}

for (const [key, start] of Object.entries(SPOOLED)) {
  test(`${key}: spool.maxBytes limits the spool, and spool.whenFull decides what is dropped`, async (t) => {
    assert.deepEqual(await filled(t, start, {}), { dropped: 0, hasLast: true })
    const oldest = await filled(t, start, { maxBytes: '8mb' })
    assert.ok(oldest.dropped > 0 && oldest.hasLast, JSON.stringify(oldest))
    const newest = await filled(t, start, { maxBytes: '8mb', whenFull: 'drop-newest' })
    assert.ok(newest.dropped > 0 && !newest.hasLast, JSON.stringify(newest))
  })

  test(`${key}: spool.dir holds records, and spool.minFreeBytes keeps the disk from filling up`, async (t) => {
    const receiver = await traceReceiver(t)
    receiver.status = 503
    const dir = folder(t)
    const usual = await start(t, { endpoint: receiver.url, spool: { dir } })
    await until(() => usual.gateway!.plane.logIdentity().onDisk === 1)
    assert.notDeepEqual(readdirSync(dir), [])
    const settings = { dir: folder(t), minFreeBytes: '100000gb' }
    const careful = await start(t, { endpoint: receiver.url, spool: settings })
    await until(() => careful.problems().includes('less than spool.minFreeBytes'))
    assert.equal(careful.gateway!.plane.logIdentity().onDisk, 0)
  })
}

test('every key of an exporter has a test of its effect', () => {
  const keys = keysOf('tracing').filter((key) => key.startsWith('exporter.'))
  assert.deepEqual(keys, [
    'exporter.compress',
    'exporter.endpoint',
    'exporter.headers',
    'exporter.spool.dir',
    'exporter.spool.maxBytes',
    'exporter.spool.minFreeBytes',
    'exporter.spool.whenFull',
    'exporter.timeout',
    'exporter.tls.caFile',
    'exporter.tls.insecure',
  ])
})
