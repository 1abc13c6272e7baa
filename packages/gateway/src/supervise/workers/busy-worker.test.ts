import assert from 'node:assert/strict'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { GatewayProcess } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'
import { WORKER_DEADLINES } from './worker-handle.js'

const DOCUMENT = `
version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
overload: { maxLoopDelay: 0s }
routes:
  - id: busy
    match: { path: /* }
    policies: [{ use: p }]
    respond: { status: 200, body: ok }
`
/** More connections than libuv reads per poll (1024), so that it polls up to 47 more times before running timers. */
const CONNECTIONS = 1500
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** Keeps a request in flight on every connection. The returned function counts the responses. */
async function saturate(t: TestContext, url: string): Promise<() => number> {
  let answers = 0
  const { hostname: host, port } = new URL(url)
  const sockets = Array.from({ length: CONNECTIONS }, () => net.connect(Number(port), host))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.on('data', () => {
      answers++
      socket.write(REQUEST)
    })
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  for (const socket of sockets) socket.write(REQUEST)
  return () => answers
}

test('a worker saturated with requests is not killed, but a hanging one is', async (t) => {
  const gateway = await new GatewayProcess(t, { document: DOCUMENT, workers: 1, kind: 'busy' }).started()
  const answers = await saturate(t, gateway.url)
  await until(() => answers() > CONNECTIONS)
  const fromMono = performance.now()
  const workedMs = 1.5 * WORKER_DEADLINES.silenceMs
  await until(() => performance.now() - fromMono > workedMs || gateway.log('worker.silent').length > 0)
  assert.deepEqual(gateway.log('worker.silent'), [])
  const before = answers()
  await until(() => answers() > before)
  const [worker] = (await gateway.status()).workers
  assert.deepEqual([worker?.state, worker?.restarts], ['ready', 0])
  await until(async () => (await gateway.status()).workers.some(({ loopLagMs }) => loopLagMs > 100))

  // libuv accepts new sockets only in the next loop iteration, which could be 49,152 events away.
  for (let i = 0; i < 2; i++) {
    const earlier = answers()
    assert.equal((await fetch(gateway.url, { headers: { connection: 'close' } })).status, 200)
    assert.ok(answers() - earlier < 10 * CONNECTIONS, `answered after ${answers() - earlier} others`)
  }

  fetch(`${gateway.url}/hang`).catch(() => {})
  await until(() => gateway.log('worker.silent').length > 0)
  await until(async () => (await gateway.status()).workers[0]?.restarts === 1)
})
