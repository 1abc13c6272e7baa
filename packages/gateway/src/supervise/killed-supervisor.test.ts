import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { GatewayProcess, isAlive, testDirectory } from './testing/gateway-process.js'
import { until } from './testing/until.js'

/** A document for a real data plane; the body shows which document is active. */
const documentFor = (body: string, upstream = 'http://127.0.0.1:1'): string => `
version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
drain: { timeout: 5m }
upstreams: { origin: { targets: [${upstream}], timeouts: { headers: 5m, total: 10m } } }
routes:
  - { id: held, match: { path: /held }, upstream: origin }
  - { id: reported, match: { path: /* }, respond: { status: 200, body: ${body} } }
`

const fleetFiles = (dir: string): string[] =>
  readdirSync(join(dir, 'data')).filter((name) => name.startsWith('fleet-'))

async function started(t: TestContext, options: { dir: string; document?: string }): Promise<GatewayProcess> {
  return new GatewayProcess(t, { ...options, workers: 2, kind: 'busy' }).started()
}

const pidsOf = async (gateway: GatewayProcess): Promise<number[]> =>
  (await gateway.status()).workers.map(({ pid }) => pid!)

async function bodyAt(url: string): Promise<string> {
  return (await fetch(url, { headers: { connection: 'close' } })).text()
}

test('workers survive a killed supervisor, and exit when the next one serves on their port', async (t) => {
  const dir = testDirectory()
  const origin = await heldOrigin(t)
  const first = await started(t, { dir, document: documentFor('first', origin.url) })
  const { url } = first
  const pids = await pidsOf(first)
  first.signal('SIGKILL')
  await first.exited
  await until(() => first.log('worker.left-behind').length === 2)
  for (let i = 0; i < 20; i++) assert.equal(await bodyAt(url), 'first')

  const held = fetch(`${url}/held`)
  await until(() => origin.count() === 1)
  const failures: unknown[] = []
  let isOver = false
  const load = (async () => {
    while (!isOver) await bodyAt(url).catch((error: unknown) => failures.push(error))
  })()
  const second = await started(t, { dir })
  assert.equal(second.url, url)
  await until(() => first.log('worker.leaves').length === 2)
  origin.release()
  assert.equal(await (await held).text(), 'held')
  await until(() => pids.every((pid) => !isAlive(pid)))
  isOver = true
  await load
  assert.deepEqual(failures, [])
  assert.equal(await bodyAt(url), 'first')
  assert.equal((await second.status()).workers.filter(({ state }) => state === 'ready').length, 2)

  second.signal('SIGTERM')
  assert.equal((await second.exited).code, 0)
  assert.deepEqual(fleetFiles(dir), [])
})

test('a document deployed before the supervisor was killed is restored, not the one on disk', async (t) => {
  const dir = testDirectory()
  const first = await started(t, { dir, document: documentFor('disk') })
  assert.equal((await first.put(documentFor('deployed'))).status, 200)
  first.signal('SIGKILL')
  await first.exited
  const second = await started(t, { dir })
  assert.equal(await bodyAt(second.url), 'deployed')
  assert.equal((await second.status()).origin, 'api')
})

test('a target stays drained across supervisors until it is undrained or removed', async (t) => {
  const dir = testDirectory()
  const origin = await heldOrigin(t)
  origin.release()
  const document = documentFor('first', origin.url)
  const first = await started(t, { dir, document })
  const body = JSON.stringify({ upstream: 'origin' })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const heldStatus = async ({ url }: GatewayProcess): Promise<number> => {
    const response = await fetch(`${url}/held`, { headers: { connection: 'close' } })
    await response.text()
    return response.status
  }
  assert.equal((await first.api('/v1/upstreams/drain', init)).status, 200)
  assert.equal(await heldStatus(first), 503)
  first.signal('SIGKILL')
  await first.exited
  const second = await started(t, { dir })
  assert.equal(await heldStatus(second), 503)
  second.signal('SIGTERM')
  await second.exited
  const third = await started(t, { dir })
  assert.equal(await heldStatus(third), 503)
  assert.equal((await third.api('/v1/upstreams/undrain', init)).status, 200)
  third.signal('SIGTERM')
  await third.exited
  const fourth = await started(t, { dir })
  assert.equal(await heldStatus(fourth), 200)
  assert.equal((await fourth.api('/v1/upstreams/drain', init)).status, 200)
  assert.equal((await fourth.put(documentFor('other'))).status, 200)
  assert.equal((await fourth.put(document)).status, 200)
  assert.equal(await heldStatus(fourth), 200)
})

test('a spare worker and draining workers do not outlive the supervisor', async (t) => {
  const dir = testDirectory()
  const gateway = await started(t, { dir, document: documentFor('first') })
  const spares = await until(() => {
    const all = childrenOf(gateway.pid)
    return all.length === 3 ? all : null
  })
  const pids = await pidsOf(gateway)
  gateway.signal('SIGTERM')
  gateway.signal('SIGKILL')
  const others = spares.filter((pid) => !pids.includes(pid))
  await until(() => others.every((pid) => !isAlive(pid)))
})

/** Returns the process ids from the system's process list. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').trim().split(' ').map(Number)
}

/** Starts an origin that responds when it is told to. */
async function heldOrigin(t: TestContext) {
  const waiting: (() => void)[] = []
  let isReleased = false
  const server = createServer((_, response) => {
    if (isReleased) response.end('held')
    else waiting.push(() => response.end('held'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => waiting.length,
    release: () => {
      isReleased = true
      for (const answer of waiting) answer()
    },
  }
}
