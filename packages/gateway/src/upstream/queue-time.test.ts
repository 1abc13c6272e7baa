import assert from 'node:assert/strict'
import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import { frozenOrigin } from '../testing/frozen-origin.js'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { echoOrigin, httpOrigin } from '../testing/origin.js'
import { ok, scriptedOrigin } from '../testing/scripted-origin.js'
import { startOver, testOver } from '../testing/transports.js'

// The time a request waits for a connection, in the queue or while it is opened.

/** Only the queue timeout expires when the clock is advanced. */
const PATIENT = { ...TIMEOUTS, headersMs: 600_000, totalMs: 0 }

for (const transport of ['undici', 'wire'] as const) {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  test('a request that finds no connection within pendingTimeout is answered 503', async (t) => {
    const origin = await scriptedOrigin(t)
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], connections: 1, pendingTimeoutMs: 100 }],
    })
    const first = fetch(`${gateway.url}/first`)
    await until(() => origin.paths().length === 1)
    const second = await fetch(`${gateway.url}/second`)
    assert.equal(second.status, 503)
    assert.equal(second.headers.get('x-gw-error'), 'GW_OVERLOADED')
    assert.equal(second.headers.get('retry-after'), '1')
    assert.match(await second.text(), /pendingTimeout/)
    assert.deepEqual(origin.paths(), ['/first'])
    origin.opened[0]!.socket.write(ok('late'))
    assert.equal(await (await first).text(), 'late')
    await until(() => gateway.plane.inFlight === 0)
  })

  test('while the first request of the queue has waited for half of pendingTimeout, others are refused at once', async (t) => {
    const origin = await scriptedOrigin(t)
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], connections: 1, pendingTimeoutMs: 40_000, timeouts: PATIENT }],
    })
    const waiting = (): number =>
      gateway.plane.samples().find(({ name }) => name === 'gw_upstream_waits_total')!.value
    const paths = ['/a', '/b']
    const asked = paths.map((path) => fetch(gateway.url + path))
    await until(() => origin.paths().length === 1 && waiting() === 1)
    t.mock.method(performance, 'now', laterBy(30_000))
    assert.equal((await fetch(`${gateway.url}/c`)).status, 503)
    t.mock.restoreAll()
    await until(() => origin.paths().length === 1)
    origin.opened[0]!.socket.write(ok(''))
    await until(() => origin.paths().length === 2)
    origin.opened[0]!.socket.write(ok(''))
    for (const answer of asked) assert.equal((await answer).status, 200)
    assert.deepEqual([...origin.paths()].sort(), paths)
  })

  test('a queue that does not move sends its requests to another target', async (t) => {
    const silent = await scriptedOrigin(t)
    const other = await echoOrigin(t)
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [silent.url, other.url], connections: 1, pendingTimeoutMs: 100 }],
    })
    void fetch(`${gateway.url}/first`).catch(() => {})
    await until(() => silent.paths().length === 1)
    for (let i = 0; i < 4; i++) assert.equal((await fetch(gateway.url)).status, 200)
    assert.deepEqual(silent.paths(), ['/first'])
  })

  const LATE_MS = 300
  /** Names resolve, but late. */
  const lookup = ((host, options, done) =>
    setTimeout(() => dns.lookup(host, options, done), LATE_MS)) as LookupFunction
  const network = { lookup, maxConnectionAgeMs: 60_000 }
  const connectIn = (connectMs: number): typeof TIMEOUTS => ({ ...TIMEOUTS, connectMs })

  for (const [own, route, status] of [
    [LATE_MS * 20, LATE_MS / 10, 504],
    [LATE_MS / 10, LATE_MS * 20, 200],
  ] as const) {
    test(`timeouts.connect of the route, ${route} ms, applies, not ${own} ms of its upstream`, async (t) => {
      const origin = await echoOrigin(t)
      const gateway = await startGateway(
        t,
        {
          upstreams: [{ urls: [`http://localhost:${origin.port}`], timeouts: connectIn(own) }],
          routes: [{ id: 'all', timeouts: connectIn(route) }],
        },
        { network },
      )
      const answer = await fetch(gateway.url)
      assert.equal(answer.status, status)
      if (status === 504) assert.match(await answer.text(), /\(connect\)/)
    })
  }

  test("a target that does not connect within the route's timeout is replaced by the next one", async (t) => {
    const full = await frozenOrigin(t)
    await full.fillBacklog()
    const origin = await httpOrigin(t, (_, res) => res.end('here'))
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [full.url, origin.url] }],
      routes: [{ id: 'all', timeouts: connectIn(100) }],
    })
    for (let i = 0; i < 2; i++) assert.equal(await (await fetch(gateway.url)).text(), 'here')
  })
}

/** The clock at a later moment. */
function laterBy(ms: number): () => number {
  const { timeOrigin } = performance
  return () => Date.now() - timeOrigin + ms
}
