import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { BreakerPlan } from '@sluice/config'
import { type TestGateway, until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { connectRaw, type RawConnection } from '../../testing/raw-connection.js'
import { untilCondition } from '../../testing/target-conditions.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../../testing/transports.js'

// The breaker of the only target of an upstream.

const BREAKER: BreakerPlan = {
  windowMs: 10_000,
  minRequests: 2,
  failureRatio: 0.5,
  slowAfterMs: null,
  slowRatio: 0.5,
  openMs: 100,
  maxOpenMs: 3_600_000,
  probes: 1,
}
const GET = 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n'

interface Bench {
  readonly gateway: TestGateway
  readonly url: string
  /** Responses to `/held`, which the test releases. */
  readonly held: ServerResponse[]
  readonly ask: (path: string) => Promise<string>
  /** A client that has requested `/held`. */
  readonly hold: () => Promise<RawConnection>
}

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)

  async function bench(t: TestContext, breaker: Partial<BreakerPlan>): Promise<Bench> {
    const held: ServerResponse[] = []
    const { url } = await httpOrigin(t, (req, res) => {
      if (req.url === '/held') held.push(res)
      else res.writeHead(req.url === '/bad' ? 500 : 200).end('ok')
    })
    const upstream = { urls: [url], breaker: { ...BREAKER, ...breaker } }
    const gateway = await startOver(transport)(t, { upstreams: [upstream] })
    const ask = async (path: string): Promise<string> => {
      const response = await fetch(gateway.url + path)
      const code = response.headers.get('x-gw-error')
      return code === null ? String(response.status) : `${code} ${response.headers.get('retry-after')}`
    }
    const hold = async (): Promise<RawConnection> => {
      const count = held.length
      const client = await connectRaw(t, gateway.port)
      client.send(GET)
      await until(() => held.length > count)
      return client
    }
    return { gateway, url, held, ask, hold }
  }

  test('the breaker opens, lets a probe through, and closes when it succeeds', async (t) => {
    const { gateway, url, ask } = await bench(t, {})
    assert.deepEqual([await ask('/bad'), await ask('/bad')], ['500', '500'])
    await untilCondition(gateway, url, 'half-open')
    assert.equal(await ask('/'), '200')
    await untilCondition(gateway, url, 'available')
    assert.deepEqual([await ask('/'), await ask('/bad')], ['200', '500'])
  })

  test('a failed probe opens the breaker for twice as long', async (t) => {
    const { gateway, url, ask } = await bench(t, { openMs: 1000 })
    for (const _ of [1, 2]) await ask('/bad')
    assert.equal(await ask('/'), 'GW_UPSTREAM_CIRCUIT_OPEN 1')
    await untilCondition(gateway, url, 'half-open')
    assert.equal(await ask('/bad'), '500')
    assert.equal(await ask('/'), 'GW_UPSTREAM_CIRCUIT_OPEN 2')
  })

  test('a probe whose client disconnects makes room for another one', async (t) => {
    const { gateway, url, ask, hold } = await bench(t, {})
    for (const _ of [1, 2]) await ask('/bad')
    await untilCondition(gateway, url, 'half-open')
    const client = await hold()
    assert.equal(await ask('/'), 'GW_UPSTREAM_CIRCUIT_OPEN 1')
    client.reset()
    await until(() => gateway.plane.inFlight === 0)
    assert.equal(await ask('/'), '200')
    await untilCondition(gateway, url, 'available')
  })

  test('a probe whose client sends its body slowly gives way to another one', async (t) => {
    const { gateway, url, held, ask } = await bench(t, {})
    for (const _ of [1, 2]) await ask('/bad')
    await untilCondition(gateway, url, 'half-open')
    const slow = await connectRaw(t, gateway.port)
    slow.send('POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n' + 'x'.repeat(100_000))
    await until(() => held.length === 1)
    await until(async () => (await ask('/')) === '200')
    await untilCondition(gateway, url, 'available')
    // Its outcome counts like that of any other attempt.
    slow.send('x')
    held[0]!.writeHead(500).end()
    await until(() => gateway.plane.inFlight === 0)
    assert.equal(await ask('/'), '200')
  })

  test('attempts started before the breaker opened do not affect it later', async (t) => {
    const { gateway, url, held, ask, hold } = await bench(t, {})
    await hold()
    for (const _ of [1, 2]) await ask('/bad')
    await untilCondition(gateway, url, 'half-open')
    held[0]!.writeHead(500).end()
    await until(() => gateway.plane.inFlight === 0)
    assert.equal(await ask('/'), '200')
    await untilCondition(gateway, url, 'available')
  })

  test('a target that hangs is recognized before a timeout, when more requests arrive', async (t) => {
    const { ask, hold } = await bench(t, { slowAfterMs: 50, openMs: 3_600_000, failureRatio: 1 })
    const clients = [await hold(), await hold()]
    const sinceMono = performance.now()
    await until(() => performance.now() - sinceMono > 100)
    clients.push(await hold())
    assert.match(await ask('/'), /^GW_UPSTREAM_CIRCUIT_OPEN 3600$/)
    for (const client of clients) client.reset()
  })

  test('clients that abandon a slow target count as slow attempts, those that leave early do not', async (t) => {
    const { gateway, ask, hold } = await bench(t, { slowAfterMs: 1000, slowRatio: 0.6, openMs: 3_600_000 })
    for (const _ of [1, 2]) (await hold()).reset()
    await until(() => gateway.plane.inFlight === 0)
    assert.equal(await ask('/'), '200')
    for (const _ of [1, 2]) {
      const client = await hold()
      const sinceMono = performance.now()
      await until(() => performance.now() - sinceMono > 1100)
      client.reset()
      await until(() => gateway.plane.inFlight === 0)
    }
    assert.equal(await ask('/'), 'GW_UPSTREAM_CIRCUIT_OPEN 3600')
  })

  test("the time that clients take for their bodies is not the target's", async (t) => {
    const { gateway, held, ask } = await bench(t, { slowAfterMs: 1000, openMs: 3_600_000 })
    const upload = async (): Promise<RawConnection> => {
      const client = await connectRaw(t, gateway.port)
      client.send('POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n\r\n' + 'x'.repeat(100_000))
      return client
    }
    const clients = [await upload(), await upload(), await upload()]
    await until(() => held.length === 3)
    const sinceMono = performance.now()
    await until(() => performance.now() - sinceMono > 1100)
    // Nothing hangs: no request has been sent yet.
    assert.equal(await ask('/'), '200')
    for (const client of clients.slice(1)) client.send('x')
    for (const answer of held.slice(1)) answer.end('ok')
    clients[0]!.reset()
    await until(() => gateway.plane.inFlight === 0)
    for (const _ of [1, 2]) assert.equal(await ask('/'), '200')
  })
}
