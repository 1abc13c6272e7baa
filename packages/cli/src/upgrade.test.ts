import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import tls from 'node:tls'
import { makeCertificate } from '@sluice/policies/testing'
import { WebSocket, WebSocketServer } from 'ws'
import { KnownLoad } from './testing/known-load.js'
import { countRecords, hasAllRecords } from './testing/known-records.js'
import { startUpgradable, type UpgradableGateway, upgradeDocument } from './testing/upgradable-gateway.js'
import { fileWith, origin, until } from './testing.js'

const OK = 'routes: [{ id: all, match: { path: /* }, respond: { status: 200, body: ok } }]'

/** Numbered requests on persistent connections, which reconnect now and then. */
function loadOf(url: string): KnownLoad<null> {
  const { hostname, port, protocol } = new URL(url)
  const connect = (): net.Socket =>
    protocol === 'https:'
      ? tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
      : net.connect(Number(port), hostname)
  return new KnownLoad<null>([connect], { clients: 8, serverOf: () => null }).begin()
}

/** Pause between two probes in milliseconds. It leaves CPU time for the versions. */
const PROBE_MS = 20

/**
 * Calls a URL again and again, in turn on a new connection and on a persistent one. Returns a function that stops and
 * returns failures.
 * @param isPersistent false to use only new connections
 */
function probe(url: string, isPersistent: boolean): () => Promise<readonly string[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const failures: string[] = []
  let isOver = false
  const call = (how: http.Agent | false): Promise<void> =>
    new Promise((resolve) => {
      const fail = (why: string): void => {
        failures.push(`${url}: ${why}`)
        resolve()
      }
      const request = http.get(url, { agent: how }, (res) => {
        if (res.statusCode !== 200) fail(String(res.statusCode))
        res.resume().on('end', resolve)
      })
      request.on('error', ({ message }) => fail(message))
    })
  const calls = (async () => {
    for (let i = 0; !isOver; i++) {
      await call(isPersistent && i % 2 === 0 ? agent : false)
      await delay(PROBE_MS)
    }
  })()
  return async () => {
    isOver = true
    await calls
    agent.destroy()
    return failures
  }
}

/**
 * Maximum number of connections that an upgrade may reset. The kernel resets those that arrive while a version closes
 * its listening socket (ADR 49), and clients reuse idle connections while they are closed.
 */
const MAX_RESETS = 3

/** Load and probes at all addresses of a gateway. They stop after the test at the latest. */
function loadOn(t: TestContext, gateway: UpgradableGateway) {
  const load = loadOf(gateway.url)
  const own = [`${gateway.admin}/readyz`, `${gateway.metrics}/readyz`, `${gateway.metrics}/metrics`]
  const served = gateway.url.startsWith('http:') ? [`${gateway.url}/new`, `${gateway.url}/-/readyz`] : []
  const probing = [...own.map((url) => probe(url, false)), ...served.map((url) => probe(url, true))]
  const end = () => Promise.all([load.stop(), ...probing.map((stopProbe) => stopProbe())])
  t.after(end)
  return {
    load,
    /** Waits until a number of further requests were answered. */
    served: (requests = 50) => load.served([null], requests),
    /** Stops and checks them. @param mayFail matches failures that do not count; default a few reset connections */
    async stop(mayFail?: RegExp) {
      const [, ...failures] = await end()
      const all = [...load.problems.map(({ id, why }) => `request ${id}: ${why}`), ...failures.flat()]
      const expected = mayFail ?? /: (?:read|connect) ECONNRESET$/
      const unexpected = all.filter((failure) => !expected.test(failure))
      assert.deepEqual(unexpected, [], gateway.log())
      if (mayFail === undefined) assert.ok(all.length <= MAX_RESETS, all.join('\n'))
    },
  }
}

async function upgraded(gateway: UpgradableGateway): Promise<void> {
  const { code, stdout, stderr } = await gateway.upgrade()
  assert.equal(code, 0, `${stderr}\n${gateway.log()}`)
  assert.match(stdout, /^upgraded from \S+ to \S+ in [\d.]+ s \(supervisor \d+\)$/m)
}

/** TLS settings with a new certificate. */
function withCertificate(t: TestContext): string {
  const { certificatePem, keyPem } = makeCertificate({ name: 'localhost', kind: 'ec' })
  const certFile = fileWith(t, certificatePem, 'cert.pem')
  const keyFile = fileWith(t, keyPem, 'key.pem')
  return `engine: node, tls: { certFile: ${certFile}, keyFile: ${keyFile} }`
}

const LISTENERS: readonly (readonly [string, (t: TestContext) => string])[] = [
  ['engine: uws', () => 'engine: uws'],
  ['engine: node', () => 'engine: node'],
  ['TLS', withCertificate],
]

for (const [name, listener] of LISTENERS) {
  test(`upgrades lose no request and no record (${name})`, async (t) => {
    const gateway = await startUpgradable(t, upgradeDocument(listener(t), OK))
    const first = await gateway.supervisor()
    const { load, served, stop } = loadOn(t, gateway)
    await served()
    for (let count = 1; count <= 2; count++) {
      await upgraded(gateway)
      await gateway.ended(count)
      await served()
    }
    await stop()
    assert.notEqual(await gateway.supervisor(), first)
    gateway.stop()
    assert.equal(await gateway.exited, 0)
    const records = countRecords(gateway.logDir)
    assert.ok(hasAllRecords(records, [...load.answered.keys()]))
    assert.deepEqual(
      [...records].filter(([, copies]) => copies !== 1),
      [],
    )
    t.diagnostic(`${load.sent} requests, 2 upgrades, 0 failed`)
  })
}

/** Half of an upload in bytes: enough that the gateway sends it on before the end. */
const HALF = 1_000_000

test('an upload, an HTTP/2 stream and a WebSocket of the old version end in order', async (t) => {
  const bodies: Buffer[] = []
  const held: http.ServerResponse[] = []
  const target = await origin(t, (req, res) => {
    if (req.url === '/held') held.push(res)
    else req.on('data', (chunk: Buffer) => bodies.push(chunk)).on('end', () => res.end('stored'))
  })
  const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await new Promise((resolve) => sockets.on('listening', resolve))
  t.after(() => sockets.close())
  const socketTarget = `http://127.0.0.1:${(sockets.address() as net.AddressInfo).port}`
  const gateway = await startUpgradable(
    t,
    upgradeDocument(
      'engine: node, http2: { priorKnowledge: true }',
      `upstreams: { up: { targets: ["${target}"], timeouts: { headers: 10m, idle: 10m, total: 10m } }, ws: { targets: ["${socketTarget}"] } }
routes:
  - { id: ws, match: { path: /ws }, upstream: ws, websocket: {} }
  - { id: all, match: { path: /* }, upstream: up }`,
    ),
  )
  const upload = http.request(`${gateway.url}/upload`, {
    method: 'PUT',
    headers: { 'content-length': 2 * HALF },
  })
  const stored = new Promise<number | undefined>((resolve, reject) =>
    upload.on('response', (res) => resolve(res.resume().statusCode)).on('error', reject),
  )
  upload.write(Buffer.alloc(HALF))
  const session = http2.connect(gateway.url)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/held' })
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk))
  const streamEnd = new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject))
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/ws`)
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve) => socket.on('open', resolve))
  await until(() => bodies.length > 0 && held.length === 1)

  await upgraded(gateway)
  assert.equal(await closed, 1001)
  assert.match(
    (await gateway.upgrade()).stderr,
    /answered 409: the processes of the last upgrade still finish their requests/,
  )
  held[0]!.end('slow')
  upload.end(Buffer.alloc(HALF))
  assert.equal(await stored, 200)
  await streamEnd
  assert.equal(text, 'slow')
  assert.equal(Buffer.concat(bodies).length, 2 * HALF)
  await gateway.ended(1)
})

test('a next version that cannot start changes nothing', async (t) => {
  const gateway = await startUpgradable(t, upgradeDocument('engine: uws', OK))
  const first = await gateway.supervisor()
  const { served, stop } = loadOn(t, gateway)
  gateway.install('throw new Error("broken build")')
  const broken = await gateway.upgrade()
  assert.equal(broken.code, 6, gateway.log())
  assert.match(
    broken.stderr,
    /answered 409: the next version did not start: it ended with code 1; see the log/,
  )
  await served()
  await stop()
  assert.equal(await gateway.supervisor(), first)
  gateway.stop()
  assert.equal(await gateway.exited, 0)
})

test('a next version that refuses the deployed document changes nothing', async (t) => {
  const gateway = await startUpgradable(t, upgradeDocument('engine: uws', OK))
  const deployed = readFileSync(gateway.config, 'utf8').replace('body: ok', 'body: "${env:SECRET}"')
  const headers = { 'content-type': 'application/yaml' }
  const put = await fetch(`${gateway.admin}/v1/config`, { method: 'PUT', headers, body: deployed })
  assert.equal(put.status, 200, await put.text())
  const { served, stop } = loadOn(t, gateway)
  gateway.install('delete process.env.SECRET; await import(GW)')
  const refused = await gateway.upgrade()
  assert.equal(refused.code, 6, gateway.log())
  assert.match(refused.stderr, /SECRET/)
  await served()
  gateway.install('await import(GW)')
  await gateway.ended(1)
  await upgraded(gateway)
  await served()
  await stop()
  assert.equal(await (await fetch(gateway.url)).text(), 'known')
})

/** Returns a program that runs the gateway and is killed right after it has logged this event. */
function killedAt(event: string): string {
  return `const { stderr } = process
const { write } = stderr
stderr.write = (text) => {
  write.call(stderr, text)
  if (text.includes('"event":"${event}"')) process.kill(process.pid, 'SIGKILL')
  return true
}
await import(GW)`
}

test('kill -9 of the next version at any time changes nothing', async (t) => {
  const gateway = await startUpgradable(t, upgradeDocument('engine: uws', OK))
  const first = await gateway.supervisor()
  const { served, stop } = loadOn(t, gateway)
  // A kill from outside could arrive when the next version serves already.
  const programs = [
    'process.kill(process.pid, "SIGKILL")',
    killedAt('worker.ready'),
    killedAt('config.applied'),
  ]
  for (const [i, program] of programs.entries()) {
    gateway.install(program)
    const { code, stderr } = await gateway.upgrade()
    assert.equal(code, 6, gateway.log())
    assert.match(stderr, /the next version did not start: it ended with code 137; see the log/)
    await gateway.ended(i + 1)
    await served()
    assert.equal(await gateway.supervisor(), first)
  }
  // Workers of a killed version close their connections.
  await stop(/: (?:(?:read|connect) ECONNRESET|socket hang up)$/)
  gateway.stop()
  assert.equal(await gateway.exited, 0)
})

test('SIGUSR2 upgrades, and counts and drained targets are kept', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const gateway = await startUpgradable(
    t,
    upgradeDocument(
      'engine: uws',
      `upstreams: { up: { targets: ["${target}"] }, other: { targets: ["${target}"] } }
routes:
  - id: limited
    match: { path: /limited }
    policies: [{ id: per-hour, use: rate-limit, with: { limit: 3/h, algorithm: fixed } }]
    respond: { status: 200, body: ok }
  - { id: other, match: { path: /other }, upstream: other }
  - { id: all, match: { path: /* }, upstream: up }`,
    ),
  )
  const first = await gateway.supervisor()
  const statusAt = async (path: string): Promise<number> =>
    (await fetch(`${gateway.url}${path}`, { headers: { connection: 'close' } })).status
  const send = (path: string, body: object) =>
    fetch(`${gateway.admin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (let i = 0; i < 3; i++) assert.equal(await statusAt('/limited'), 200)
  assert.equal(await statusAt('/limited'), 429)
  assert.equal((await send('/v1/upstreams/drain', { upstream: 'other' })).status, 200)

  process.kill(gateway.pid, 'SIGUSR2')
  await until(() => gateway.log().includes('"upgrade.requested"'), gateway.log)
  const refused = await send('/v1/upgrade', {})
  assert.equal(refused.status, 503, await refused.text())
  await gateway.ended(1)
  assert.notEqual(await gateway.supervisor(), first)
  assert.equal(await statusAt('/limited'), 429)
  assert.equal(await statusAt('/other'), 503)
  assert.equal(await statusAt('/'), 200)

  // A killed supervisor is restarted as before, with the new version's ports.
  process.kill(await gateway.supervisor(), 'SIGKILL')
  await until(() => gateway.log().includes('"supervisor.ended"'), gateway.log)
  await until(async () => (await statusAt('/').catch(() => 0)) === 200, gateway.log)
  gateway.stop()
  assert.equal(await gateway.exited, 0)
})
