import assert from 'node:assert/strict'
import type http from 'node:http'
import type net from 'node:net'
import type { TestContext } from 'node:test'
import type { RetryPlan } from '@sluice/config'
import { until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'
import { type LoggedGateway, startLogged } from '../testing/traffic-records.js'
import { OVER, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

// Retries because of `retry.on`, and their record.

const RETRY = { attempts: 2, budget: 1, on: [502, 503, 504], backoffMs: 0, maxBackoffMs: 1000 }

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

interface Seen {
  readonly method: string
  readonly body: string
}

interface Bench {
  readonly gateway: LoggedGateway
  readonly seen: readonly Seen[]
  readonly connections: () => number
  /** The failed attempts in the records, in order. */
  readonly tries: () => Promise<string[]>
}

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)

  /** A gateway with one target, which responds with these statuses, then with 200. */
  async function bench(
    t: TestContext,
    statuses: readonly number[],
    overrides: { readonly retry?: Partial<RetryPlan>; readonly headers?: http.OutgoingHttpHeaders } = {},
  ): Promise<Bench> {
    const seen: Seen[] = []
    const origin = await httpOrigin(t, async (req, res) => {
      let body = ''
      for await (const chunk of req) body += String(chunk)
      const status = statuses[seen.length] ?? 200
      seen.push({ method: req.method!, body })
      res.writeHead(status, status === 200 ? {} : overrides.headers).end(`answer ${seen.length}`)
    })
    const retry = { ...RETRY, ...overrides.retry }
    const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url], retry, ...OVER[transport] }] })
    const tries = async (): Promise<string[]> => {
      const ups = (await gateway.records()).map(({ up }) => up as { tries?: { retry: string }[] })
      return ups.flatMap((up) => up.tries ?? []).map(({ retry }) => retry)
    }
    return { gateway, seen, connections: origin.connections, tries }
  }

  test('a response with a listed status is retried, over the same connection', async (t) => {
    t.mock.method(Math, 'random', () => 0.99)
    const { gateway, seen, connections, tries } = await bench(t, [503, 502], { retry: { backoffMs: 200 } })
    const response = await fetch(gateway.url)
    assert.deepEqual([response.status, await response.text()], [200, 'answer 3'])
    assert.equal(seen.length, 3)
    assert.equal(connections(), 1)
    assert.deepEqual(await tries(), ['repeated', 'repeated'])
    const [record] = await gateway.records()
    const { attempts, retries, tries: all } = record!['up'] as Record<string, unknown>
    assert.deepEqual([attempts, retries], [3, 2])
    const [first] = all as readonly Record<string, unknown>[]
    assert.deepEqual([first!['status'], first!['reason']], [503, 'the target answered 503'])
  })

  test('another status is passed on, and so is the last response when the attempts are used up', async (t) => {
    const other = await bench(t, [500, 500])
    assert.equal((await fetch(other.gateway.url)).status, 500)
    assert.deepEqual([other.seen.length, await other.tries()], [1, []])
    const used = await bench(t, [503, 503, 503, 503])
    assert.equal(await (await fetch(used.gateway.url)).text(), 'answer 3')
    assert.deepEqual(await used.tries(), ['repeated', 'repeated', 'attempts-used'])
  })

  test('a non-idempotent method is retried only with an Idempotency-Key, with the same body', async (t) => {
    const { gateway, seen, tries } = await bench(t, [503, 503])
    const post = (headers: Record<string, string>) =>
      fetch(gateway.url, { method: 'POST', body: 'order 7', headers })
    assert.equal((await post({})).status, 503)
    assert.equal((await post({ 'idempotency-key': '7' })).status, 200)
    assert.deepEqual(
      seen,
      Array.from({ length: 3 }, () => ({ method: 'POST', body: 'order 7' })),
    )
    assert.deepEqual(await tries(), ['not-idempotent', 'repeated'])
  })

  test('a streamed body cannot be sent again', async (t) => {
    const { gateway, tries } = await bench(t, [503])
    const body = Buffer.alloc(1_000_000)
    assert.equal((await fetch(gateway.url, { method: 'PUT', body })).status, 503)
    assert.deepEqual(await tries(), ['body-sent'])
  })

  test('Retry-After is waited for within the limit, otherwise it is passed on', async (t) => {
    const soon = await bench(t, [503], { headers: { 'retry-after': '1' } })
    const sinceMono = performance.now()
    assert.equal((await fetch(soon.gateway.url)).status, 200)
    assert.ok(performance.now() - sinceMono >= 990)
    const late = await bench(t, [503], { headers: { 'retry-after': '99999999999' } })
    const response = await fetch(late.gateway.url)
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '99999999999'])
    assert.deepEqual([await soon.tries(), await late.tries()], [['repeated'], ['retry-after']])
  })

  test('nothing is retried without a budget, or beyond the time of the exchange', async (t) => {
    const poor = await bench(t, [503], { retry: { budget: 0 } })
    assert.equal((await fetch(poor.gateway.url)).status, 503)
    assert.deepEqual(await poor.tries(), ['budget-spent'])
    const slow = await bench(t, [503], {
      retry: { maxBackoffMs: 3_600_000 },
      headers: { 'retry-after': '3600' },
    })
    assert.equal((await fetch(slow.gateway.url)).status, 503)
    assert.deepEqual(await slow.tries(), ['out-of-time'])
  })

  test("the gateway's own errors are retried too: a reset on a new connection", async (t) => {
    const origin = await rawOrigin(t, (socket, nth) => {
      socket.on('data', () => {
        if (nth < 2) socket.resetAndDestroy()
        else socket.write(OK)
      })
    })
    const upstream = { urls: [origin.url], retry: RETRY, ...OVER[transport] }
    const gateway = await startLogged(t, { upstreams: [upstream] })
    assert.equal(await (await fetch(gateway.url)).text(), 'ok')
    const [record] = await gateway.records()
    const { tries } = record!['up'] as { tries: readonly { retry: string; code: string }[] }
    assert.deepEqual(
      tries.map(({ code, retry }) => `${code} ${retry}`),
      ['GW_UPSTREAM_RESET resent', 'GW_UPSTREAM_RESET repeated'],
    )
  })

  test('after a reused connection died under a request, the next ones use new connections', async (t) => {
    const kept = 4
    const held: net.Socket[] = []
    const origin = await rawOrigin(t, (socket, nth) => {
      let isUsed = false
      socket.on('data', () => {
        if (nth >= kept) socket.write(OK)
        else if (isUsed) socket.resetAndDestroy()
        else held.push(socket)
        isUsed = true
      })
    })
    const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url], ...OVER[transport] }] })
    const post = async (): Promise<number> =>
      (await fetch(gateway.url, { method: 'POST', body: 'order 7' })).status
    const first = Promise.all(Array.from({ length: kept }, post))
    await until(() => held.length === kept)
    for (const socket of held) socket.write(OK)
    assert.deepEqual(await first, [200, 200, 200, 200])
    const later: number[] = []
    for (let i = 0; i < 3; i++) later.push(await post())
    assert.deepEqual(later, [502, 200, 200])
  })

  test('an unreachable target is tried again if there is no other', async (t) => {
    const port = await closedPort()
    const urls = [`http://127.0.0.1:${port}`]
    const gateway = await startLogged(t, { upstreams: [{ urls, retry: RETRY, ...OVER[transport] }] })
    assert.equal((await fetch(gateway.url)).status, 502)
    const [record] = await gateway.records()
    const { tries } = record!['up'] as { tries: readonly { retry: string }[] }
    assert.deepEqual(
      tries.map(({ retry }) => retry),
      ['repeated', 'repeated', 'attempts-used'],
    )
  })

  test('a silent target is replaced by another one', async (t) => {
    const timeouts = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000, totalMs: 600_000 }
    const now = performance.now.bind(performance)
    let aheadMs = 0
    t.mock.method(performance, 'now', () => now() + aheadMs)
    // Only the silent target exceeds its time.
    const silent = await rawOrigin(t, (socket) => {
      socket.once('data', () => (aheadMs += timeouts.headersMs))
    })
    const other = await httpOrigin(t, (_, res) => res.end('other'))
    const upstream = { urls: [silent.url, other.url], retry: RETRY, timeouts, ...OVER[transport] }
    const gateway = await startLogged(t, { upstreams: [upstream] })
    for (let i = 0; i < 2; i++) assert.equal(await (await fetch(gateway.url)).text(), 'other')
    const tries = (await gateway.records()).flatMap(({ up }) => (up as { tries?: object[] }).tries ?? [])
    assert.equal(tries.length, 1)
    const { code, retry } = tries[0] as { code: string; retry: string }
    assert.deepEqual([code, retry], ['GW_UPSTREAM_TIMEOUT', 'repeated'])
  })

  test('a client that disconnects while its retry waits leaves nothing behind', async (t) => {
    const { gateway, seen } = await bench(t, [503], { headers: { 'retry-after': '1' } })
    const client = await connectRaw(t, gateway.port)
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => seen.length === 1)
    client.reset()
    await until(() => gateway.plane.inFlight === 0)
    const active = () => gateway.plane.samples().find(({ name }) => name === 'gw_upstream_active')!.value
    await until(() => active() === 0)
    // Longer than the wait.
    const sinceMono = performance.now()
    await until(() => performance.now() - sinceMono > 1100)
    assert.equal(seen.length, 1)
  })

  test('a response with an endless body is abandoned for the next attempt', async (t) => {
    const asked = { count: 0 }
    const origin = await httpOrigin(t, (_, res) => {
      if (asked.count++ > 0) res.end('whole')
      else res.writeHead(503).write('endless')
    })
    const upstream = { urls: [origin.url], retry: RETRY, ...OVER[transport] }
    const gateway = await startLogged(t, { upstreams: [upstream] })
    assert.equal(await (await fetch(gateway.url)).text(), 'whole')
    assert.equal(asked.count, 2)
  })
}
