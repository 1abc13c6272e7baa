import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { TIMEOUTS, until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../../testing/transports.js'
import type { Network } from './network.js'
import { Resolver } from './resolver.js'

// Names of targets: results of DNS queries and their effect on requests. The name servers are simulated, the
// connections to the loopback addresses are real.

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  /** Longer than any test here, so that only the tested cause renews connections. */
  const NEVER_MS = 3_600_000

  type Answer = readonly string[] | 'ENOTFOUND' | 'EAI_AGAIN' | 'silence'

  /** Name servers that return what the test wants. */
  class NameServers {
    answer: Answer
    asked = 0

    constructor(answer: Answer) {
      this.answer = answer
    }

    network(maxConnectionAgeMs: number): Network {
      const resolver = new Resolver((_, __, done) => {
        const { answer } = this
        this.asked++
        if (answer === 'silence') return
        if (typeof answer === 'string')
          setImmediate(done, Object.assign(new Error(answer), { code: answer }), [])
        else setImmediate(done, null, answer.map(toAddress))
      })
      return { lookup: resolver.lookup, maxConnectionAgeMs }
    }
  }

  function toAddress(address: string): LookupAddress {
    return { address, family: 4 }
  }

  interface Host {
    readonly requests: () => number
    readonly connections: () => number
    /** Connections that are open now. */
    readonly open: () => number
  }

  /** Serves its own address as the body, on a given port. */
  async function host(t: TestContext, address: string, port: number): Promise<Host> {
    let requests = 0
    let connections = 0
    const sockets = new Set<net.Socket>()
    const server = http.createServer((_, res) => {
      requests++
      res.end(address)
    })
    server.on('connection', (socket) => {
      connections++
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, address, resolve)
    })
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return { requests: () => requests, connections: () => connections, open: () => sockets.size }
  }

  /** A port that is free at several loopback addresses. */
  async function sharedPort(t: TestContext): Promise<number> {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.9', resolve))
    t.after(() => server.close())
    return (server.address() as AddressInfo).port
  }

  async function textOf(url: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(url, init)
    assert.equal(response.status, 200)
    return await response.text()
  }

  test('a changed name is followed and the old address left, without a failed request', async (t) => {
    const port = await sharedPort(t)
    const old = await host(t, '127.0.0.2', port)
    await host(t, '127.0.0.3', port)
    const names = new NameServers(['127.0.0.2'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${port}`], connections: 4 }] },
      { network: names.network(50) },
    )
    // POST, because it is never retried: a request lost by the renewal would be noticed.
    const post = (): Promise<string> => textOf(gateway.url, { method: 'POST', body: 'once' })
    const load = async (): Promise<void> => {
      while (names.answer[0] === '127.0.0.2' || old.open() > 0) await post()
      for (let i = 0; i < 20; i++) assert.equal(await post(), '127.0.0.3')
    }
    const clients = [load(), load(), load(), load(), load(), load(), load(), load()]
    await until(() => old.requests() > 500)
    names.answer = ['127.0.0.3']
    await Promise.all(clients)
    assert.equal(old.open(), 0)
  })

  test('young connections are kept although the name changed', async (t) => {
    const port = await sharedPort(t)
    await host(t, '127.0.0.2', port)
    const other = await host(t, '127.0.0.3', port)
    const names = new NameServers(['127.0.0.2'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${port}`] }] },
      { network: names.network(NEVER_MS) },
    )
    assert.equal(await textOf(gateway.url), '127.0.0.2')
    names.answer = ['127.0.0.3']
    for (let i = 0; i < 20; i++) assert.equal(await textOf(gateway.url), '127.0.0.2')
    assert.equal(other.requests(), 0)
    assert.equal(names.asked, 1)
  })

  for (const connections of [1, 2]) {
    test(`${connections} idle connection(s), the maximum, are renewed and the next request is served at once`, async (t) => {
      const port = await sharedPort(t)
      const origin = await host(t, '127.0.0.2', port)
      const names = new NameServers(['127.0.0.2'])
      const gateway = await startGateway(
        t,
        { upstreams: [{ urls: [`http://shop.test:${port}`], connections }] },
        { network: names.network(100) },
      )
      for (let round = 1; round <= 3; round++) {
        await Promise.all(Array.from({ length: connections }, () => textOf(gateway.url)))
        await until(() => origin.open() === 0)
      }
      assert.ok(origin.connections() >= 3)
      assert.ok(names.asked >= 3)
    })
  }

  test('a response in progress when its connection gets old arrives complete', async (t) => {
    const origin = await httpOrigin(t, (_, res) => {
      res.write('first ')
      setTimeout(() => res.end('second'), 400)
    })
    const names = new NameServers(['127.0.0.1'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${origin.port}`], connections: 1 }] },
      { network: names.network(100) },
    )
    const bodies = await Promise.all([1, 2, 3].map(() => textOf(gateway.url)))
    assert.deepEqual(bodies, ['first second', 'first second', 'first second'])
    assert.equal(origin.connections(), 3)
  })

  test('a target given by its address is never looked up', async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('ok'))
    const names = new NameServers('ENOTFOUND')
    const network = names.network(NEVER_MS)
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] }, { network })
    assert.equal(await textOf(gateway.url), 'ok')
    assert.equal(names.asked, 0)
  })

  test('a name that does not exist is 502 GW_UPSTREAM_DNS, and works as soon as it exists', async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('ok'))
    const names = new NameServers('ENOTFOUND')
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${origin.port}`] }] },
      { network: names.network(NEVER_MS) },
    )
    const refused = await fetch(gateway.url)
    assert.equal(refused.status, 502)
    assert.equal(refused.headers.get('x-gw-error'), 'GW_UPSTREAM_DNS')
    const problem = (await refused.json()) as { code: string; detail: string }
    assert.equal(problem.code, 'GW_UPSTREAM_DNS')
    assert.doesNotMatch(problem.detail, /shop\.test/)
    names.answer = ['127.0.0.1']
    assert.equal(await textOf(gateway.url), 'ok')
    await until(() => gateway.plane.inFlight === 0)
  })

  test('a name that does not exist moves the request to the next target', async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('ok'))
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: ['http://shop.test:80', origin.url] }] },
      { network: new NameServers('ENOTFOUND').network(NEVER_MS) },
    )
    for (let i = 0; i < 4; i++) assert.equal(await textOf(gateway.url), 'ok')
  })

  test('one reachable address of a name is enough', async (t) => {
    const port = await sharedPort(t)
    await host(t, '127.0.0.4', port)
    const names = new NameServers(['127.0.0.2', '127.0.0.3', '127.0.0.4'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${port}`], retry: { attempts: 0, budget: 0 } }] },
      { network: names.network(50) },
    )
    for (let i = 0; i < 20; i++) assert.equal(await textOf(gateway.url), '127.0.0.4')
  })

  test('if no address of a name is reachable it is 502 GW_UPSTREAM_REFUSED', async (t) => {
    const names = new NameServers(['127.0.0.2', '127.0.0.3'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${await sharedPort(t)}`] }] },
      { network: names.network(NEVER_MS) },
    )
    const refused = await fetch(gateway.url)
    assert.equal(refused.status, 502)
    assert.equal(refused.headers.get('x-gw-error'), 'GW_UPSTREAM_REFUSED')
  })

  test('silent name servers cost a request the connect timeout, not more', async (t) => {
    const origin = await httpOrigin(t, (_, res) => res.end('ok'))
    const names = new NameServers('silence')
    const timeouts = { ...TIMEOUTS, connectMs: 200, headersMs: 30_000 }
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${origin.port}`], timeouts }] },
      { network: names.network(NEVER_MS) },
    )
    const startedMono = performance.now()
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(gateway.url)))
    for (const answer of answers) {
      assert.equal(answer.status, 504)
      assert.equal(answer.headers.get('x-gw-error'), 'GW_UPSTREAM_TIMEOUT')
      assert.match(await answer.text(), /\(connect\)/)
    }
    assert.ok(performance.now() - startedMono < 10_000)
    assert.equal(names.asked, 1, 'one question is under way for a name at a time')
    await until(() => gateway.plane.inFlight === 0)
  })

  for (const trouble of ['silence', 'EAI_AGAIN'] as const) {
    test(`cached addresses are used while the name servers answer with ${trouble}`, async (t) => {
      const port = await sharedPort(t)
      const origin = await host(t, '127.0.0.2', port)
      const names = new NameServers(['127.0.0.2'])
      const gateway = await startGateway(
        t,
        { upstreams: [{ urls: [`http://shop.test:${port}`], timeouts: { ...TIMEOUTS, connectMs: 5000 } }] },
        { network: names.network(50) },
      )
      assert.equal(await textOf(gateway.url), '127.0.0.2')
      names.answer = trouble
      for (let i = 0; i < 3; i++) {
        await until(() => origin.open() === 0)
        assert.equal(await textOf(gateway.url), '127.0.0.2')
      }
      assert.ok(origin.connections() >= 4)
    })
  }

  test('a cached address is forgotten when the name no longer exists', async (t) => {
    const port = await sharedPort(t)
    const origin = await host(t, '127.0.0.2', port)
    const names = new NameServers(['127.0.0.2'])
    const gateway = await startGateway(
      t,
      { upstreams: [{ urls: [`http://shop.test:${port}`] }] },
      { network: names.network(50) },
    )
    assert.equal(await textOf(gateway.url), '127.0.0.2')
    names.answer = 'ENOTFOUND'
    await until(() => origin.open() === 0)
    assert.equal((await fetch(gateway.url)).headers.get('x-gw-error'), 'GW_UPSTREAM_DNS')
    names.answer = 'EAI_AGAIN'
    assert.equal((await fetch(gateway.url)).headers.get('x-gw-error'), 'GW_UPSTREAM_DNS')
  })
}
