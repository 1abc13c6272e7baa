import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { origin, scratch, until } from '@sluice/cli/testing'
import { PEERS } from '../model/run.js'
import type { OriginBehavior } from '../model/scenario.js'
import { findProgram, programVersion, versionOf } from '../process/executables.js'
import { freePort, hostAndPort, LOOPBACK } from '../process/port.js'
import { isRunning } from '../process/process-use.js'
import { type Placement, ServerStack, startServer } from '../process/running-server.js'
import { documentOf, type GatewayConfig } from './gateway.js'
import { startOrigin, startOwnOrigin } from './origin.js'
import { missingPeer, startPeer } from './peers.js'

function placement(t: TestContext): Placement {
  return { dir: scratch(t), cpus: null, cores: 1 }
}

/** An origin of our own program that ends with the test. */
async function ownOrigin(t: TestContext, behavior: OriginBehavior, cores = 1): Promise<string> {
  const server = await startOwnOrigin({ ...placement(t), cores }, behavior, {
    host: LOOPBACK,
    port: await freePort(),
  })
  t.after(() => server.stop())
  return server.url
}

async function post(
  url: string,
  body: string,
): Promise<{ status: number; text: string; type: string | null }> {
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'text/xml' } })
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') }
}

for (const bytes of [0, 128, 1024, 5000, 51_200]) {
  test(`an origin answers ${bytes} bytes to GET and POST, whoever plays it`, async (t) => {
    const behavior: OriginBehavior = { answer: 'fixed', bytes, delayMs: 0 }
    const call = { method: 'GET', path: '/', headers: {}, body: null } as const
    const server = await startOrigin(placement(t), { origin: behavior, call })
    t.after(() => server.stop())
    for (const url of [server.url, await ownOrigin(t, behavior)]) {
      assert.equal((await (await fetch(`${url}/any/path`)).text()).length, bytes)
      const { status, text } = await post(`${url}/any`, 'x'.repeat(51_200))
      assert.deepEqual([status, text.length], [200, bytes])
    }
  })
}

test('an origin that echoes answers with the body and its type, from all of its processes', async (t) => {
  const url = await ownOrigin(t, { answer: 'echo', bytes: 0, delayMs: 0 }, 2)
  const body = 'ä'.repeat(300_000)
  for (let i = 0; i < 4; i++) {
    const { status, text, type } = await post(url, body)
    assert.deepEqual([status, type], [200, 'text/xml'])
    assert.equal(text, body)
  }
})

test('an origin with a delay answers no earlier', async (t) => {
  const url = await ownOrigin(t, { answer: 'fixed', bytes: 10, delayMs: 200 })
  const startMono = performance.now()
  assert.equal((await (await fetch(url)).text()).length, 10)
  assert.ok(performance.now() - startMono >= 199)
})

test('a server that ends while it starts is reported with its last words', async (t) => {
  const options = {
    name: 'talker',
    version: '1',
    port: await freePort(),
    placement: placement(t),
    command: [process.execPath, '-e', 'console.error("the port is taken"); process.exit(1)'],
  }
  await assert.rejects(startServer(options), /talker ended while it started\nthe port is taken/)
})

test('a server that hears no signal is ended all the same, with what it started', {
  timeout: 60_000,
}, async (t) => {
  const port = await freePort()
  const code = `const { spawn } = require('node:child_process')
    process.on('SIGTERM', () => process.exit(0))
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'])
    require('node:http').createServer((_, response) => response.end(String(child.pid))).listen(${port}, '127.0.0.1')`
  const command = [process.execPath, '-e', code]
  const server = await startServer({ name: 'stubborn', version: '1', port, placement: placement(t), command })
  const child = Number(await (await fetch(server.url)).text())
  assert.ok(isRunning(child))
  await server.stop()
  assert.equal(isRunning(server.pid), false)
  await until(() => !isRunning(child))
})

test('a process that forgets a server ends all the same, and the server with it', async (t) => {
  const port = await freePort()
  const listener = `require('node:http').createServer((_, response) => response.end()).listen(${port}, '127.0.0.1')`
  const command = [process.execPath, '-e', listener]
  const serving = { name: 'forgotten', version: '1', port, placement: placement(t), command }
  const program = new URL('../process/running-server.js', import.meta.url).href
  const code = `const { startServer } = await import(${JSON.stringify(program)})
    const { pid } = await startServer(${JSON.stringify(serving)})
    console.log(pid)`
  const args = ['--input-type=module', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  const pid = Number(stdout)
  assert.ok(pid > 1)
  await until(() => !isRunning(pid))
})

const CONFIG: GatewayConfig = {
  workers: 1,
  upstreams: { origin: { targets: ['http://127.0.0.1:9'] } },
  routes: [{ id: 'all', match: { path: '/*' }, upstream: 'origin' }],
  log: { sink: 'none' },
}

test('the same configuration has the same digest wherever and on whatever port it is served, another has another', (t) => {
  const other = { ...CONFIG, upstreams: { origin: { targets: ['http://127.0.0.1:10'], maxPending: 7 } } }
  const digests = [CONFIG, CONFIG, other].map((config, i) => {
    const { dir } = placement(t)
    const log = { ...config.log, spool: join(dir, 'spool') }
    const ports = { port: 20_000 + i, adminPort: 21_000 + i }
    return documentOf({ dir, cpus: null, cores: 1 }, { ...config, log }, ports).digest
  })
  const [one, again, changed] = digests
  assert.match(one!, /^[0-9a-f]{64}$/)
  assert.equal(again, one)
  assert.notEqual(changed, one)
})

for (const name of PEERS) {
  test(`${name} passes requests on with the fields that the gateway adds`, async (t) => {
    const missing = missingPeer(name)
    if (missing !== null) return t.skip(missing)
    const upstream = await origin(t, (request, response) => {
      request.resume().once('end', () => response.end(JSON.stringify(request.headers)))
    })
    const peer = await startPeer(name, placement(t), upstream)
    t.after(() => peer.stop())
    assert.match(peer.version, /^\d+\.\d+/)
    const { status, text } = await post(`${peer.url}/orders`, 'x'.repeat(51_200))
    const fields = JSON.parse(text) as Record<string, string>
    assert.equal(status, 200)
    // Envoy names the machine's own address for a client on it.
    assert.ok(isIP(fields['x-forwarded-for'] ?? ''), fields['x-forwarded-for'])
    if (name !== 'envoy') assert.equal(fields['x-forwarded-for'], '127.0.0.1')
    assert.ok((fields['x-request-id'] ?? '').length >= 16)
    assert.notEqual(fields['connection'], 'close')
  })
}

for (const name of ['nginx', 'haproxy'] as const) {
  test(`${name} answers a second request from its cache`, async (t) => {
    const missing = missingPeer(name)
    if (missing !== null) return t.skip(missing)
    let count = 0
    const upstream = await origin(t, (request, response) => {
      count++
      request.resume().once('end', () => response.setHeader('content-length', 5).end('hello'))
    })
    const peer = await startPeer(name, placement(t), upstream, true)
    t.after(() => peer.stop())
    for (let i = 0; i < 3; i++) assert.equal(await (await fetch(peer.url)).text(), 'hello')
    assert.equal(count, 1)
  })
}

test('a program that is not there has no file, one that is there has a version', () => {
  assert.equal(findProgram('no-such-program-anywhere'), null)
  assert.equal(versionOf('no-such-program-anywhere', '-v'), null)
  assert.match(programVersion(process.execPath, '--version') ?? '', /^\d+\.\d+\.\d+$/)
})

test('servers end in the opposite order of their start, also behind one that cannot be ended', async () => {
  const ended: string[] = []
  const servers = new ServerStack()
  for (const name of ['origin', 'stuck', 'gateway']) {
    const stop = async (): Promise<void> => {
      ended.push(name)
      if (name === 'stuck') throw new Error('it does not end')
    }
    await servers.add(Promise.resolve({ stop }))
  }
  await assert.rejects(servers.stop(), /it does not end/)
  assert.deepEqual(ended, ['gateway', 'stuck', 'origin'])
})

test('an address is a host and a port', () => {
  assert.deepEqual(hostAndPort('127.0.0.1:80'), { host: '127.0.0.1', port: 80 })
  for (const text of ['here', ':80', 'a:', 'a:65536'])
    assert.throws(() => hostAndPort(text), /is not an address/)
})
