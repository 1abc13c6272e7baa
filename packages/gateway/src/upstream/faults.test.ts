import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { frozenOrigin } from '../testing/frozen-origin.js'
import { type TestGateway, TIMEOUTS, until } from '../testing/gateway.js'
import { answering, closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { sendRaw, statusesOf } from '../testing/raw-client.js'
import { startOver, TRANSPORTS, type TransportName, testOver } from '../testing/transports.js'

// Upstreams that break at every point of an exchange: the client's result, and that the gateway recovers.

for (const transport of TRANSPORTS) conform(transport)

function conform(transport: TransportName): void {
  const test = testOver(transport)
  const startGateway = startOver(transport)

  const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
  const GET_AND_CLOSE = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  async function errorOf(response: Response): Promise<string> {
    const problem = (await response.json()) as { code: string; status: number }
    assert.equal(problem.status, response.status)
    assert.equal(problem.code, response.headers.get('x-gw-error'))
    return `${response.status} ${problem.code}`
  }

  async function isWhole(gateway: TestGateway): Promise<void> {
    await until(() => gateway.plane.inFlight === 0)
    const active = gateway.plane.samples().filter((sample) => sample.name === 'gw_upstream_active')
    assert.ok(active.length > 0)
    for (const { value } of active) assert.equal(value, 0)
  }

  // Resets.

  test('a connection reset before the head is 502 GW_UPSTREAM_RESET after one retry', async (t) => {
    const origin = await rawOrigin(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    assert.equal(await errorOf(await fetch(gateway.url)), '502 GW_UPSTREAM_RESET')
    assert.equal(origin.connections(), 2)
    await isWhole(gateway)
  })

  test('a connection reset within the head is 502 and the next request is served', async (t) => {
    const origin = await rawOrigin(t, (socket, nth) => {
      if (nth > 1) answering(OK)(socket)
      else
        answering('HTTP/1.1 200 OK\r\nContent-Le', () => setTimeout(() => socket.resetAndDestroy(), 20))(
          socket,
        )
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const first = await fetch(gateway.url)
    assert.equal(await errorOf(first), '502 GW_UPSTREAM_RESET')
    assert.equal((await fetch(gateway.url)).status, 200)
    await isWhole(gateway)
  })

  const CUT = {
    'behind the head, of announced length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n',
    'behind the head, chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'in a body of announced length on a connection that closes':
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhalf',
    'in a chunked body on a connection that closes':
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nhalf',
  }
  const ENDS: Readonly<Record<string, (socket: net.Socket) => void>> = {
    reset: (socket) => socket.resetAndDestroy(),
    closed: (socket) => socket.end(),
  }
  for (const [place, bytes] of Object.entries(CUT)) {
    for (const [kind, cut] of Object.entries(ENDS)) {
      test(`a response ${kind} ${place}, is cut for the client and never looks complete`, async (t) => {
        const origin = await rawOrigin(t, (socket, nth) => {
          if (nth > 0) answering(OK)(socket)
          else answering(bytes, () => setTimeout(() => cut(socket), 30))(socket)
        })
        const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
        const answer = await sendRaw(gateway.port, [GET], { waitMs: 5000 })
        assert.equal(answer.isClosed, true)
        assert.deepEqual(statusesOf(answer.text), [200])
        assert.doesNotMatch(answer.text, /0\r\n\r\n$/)
        await isWhole(gateway)
        assert.deepEqual(statusesOf((await sendRaw(gateway.port, [GET_AND_CLOSE])).text), [200])
      })
    }
  }

  test('upstreams that close kept connections 1 to 5 ms after a response cost no failed GET under load', async (t) => {
    let nth = 0
    const origin = await rawOrigin(
      t,
      answering(OK, (socket) => {
        nth++
        // Resetting a socket that is already ending fails in Node.js and leaves the socket open.
        const reset = () => socket.writableEnded || socket.resetAndDestroy()
        const end = nth % 2 === 0 ? reset : () => socket.end()
        setTimeout(end, 1 + (nth % 5))
      }),
    )
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], retry: { attempts: 1, budget: 1 } }],
    })
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
    t.after(() => agent.destroy())
    const failed: number[] = []
    const client = async (number: number): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const status = await statusOf(gateway.port, agent)
        if (status !== 200) failed.push(status)
        await new Promise((resolve) => setTimeout(resolve, (number + i) % 6))
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(client))
    assert.deepEqual(failed, [])
    await isWhole(gateway)
  })

  function statusOf(port: number, agent: http.Agent): Promise<number> {
    return new Promise((resolve, reject) => {
      const request = http.get({ port, host: '127.0.0.1', path: '/a', agent }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode!))
      })
      request.on('error', reject)
    })
  }

  // Slow and endless.

  test('an endless body ends at the upstream when its client disconnects', async (t) => {
    let open = 0
    const origin = await httpOrigin(t, (_, res) => {
      open++
      const chunk = Buffer.alloc(16 * 1024)
      const pump = (): void => {
        while (!res.destroyed && res.write(chunk));
      }
      res.on('drain', pump)
      res.on('close', () => open--)
      pump()
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    for (let i = 0; i < 5; i++) {
      await sendRaw(gateway.port, [GET], { waitMs: 10_000, until: (text) => text.length > 1_000_000 })
    }
    await until(() => open === 0)
    await isWhole(gateway)
  })

  test('a head of one byte at a time is limited by the headers timeout', async (t) => {
    const origin = await rawOrigin(t, (socket) => {
      let at = 0
      const timer = setInterval(() => socket.write(OK[at++ % OK.length]!), 100)
      socket.on('close', () => clearInterval(timer))
    })
    const timeouts = { ...TIMEOUTS, headersMs: 300 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
    assert.equal(await errorOf(await fetch(gateway.url)), '504 GW_UPSTREAM_TIMEOUT')
    await isWhole(gateway)
  })

  test('a process that stops in the middle of its response is cut after the idle timeout', async (t) => {
    const origin = await frozenOrigin(t)
    const timeouts = { ...TIMEOUTS, idleMs: 300 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts }] })
    const answer = await sendRaw(gateway.port, ['GET /drip HTTP/1.1\r\nHost: a\r\n\r\n'], {
      waitMs: 10_000,
      reply: (text) => {
        if (text.includes('drip')) origin.freeze()
        return null
      },
    })
    assert.equal(answer.isClosed, true)
    assert.doesNotMatch(answer.text, /0\r\n\r\n$/)
    await isWhole(gateway)
    origin.thaw()
    assert.equal((await fetch(gateway.url)).status, 200)
  })

  // No connection.

  test('a target whose backlog is full is 504 within the connect timeout, for all waiting requests, and works again', async (t) => {
    const origin = await frozenOrigin(t)
    const timeouts = { ...TIMEOUTS, connectMs: 200, headersMs: 20_000 }
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url], timeouts, connections: 4 }] })
    await origin.fillBacklog()
    const startedMono = performance.now()
    const answers = await Promise.all(Array.from({ length: 12 }, () => fetch(gateway.url)))
    for (const answer of answers) {
      assert.match(answer.headers.get('content-type')!, /problem\+json/)
      assert.equal(await errorOf(answer), '504 GW_UPSTREAM_TIMEOUT')
    }
    assert.ok(performance.now() - startedMono < 10_000)
    await isWhole(gateway)
    origin.thaw()
    // The backlog empties as the target wakes up; until then a connection may still be rejected.
    await until(async () => (await fetch(gateway.url)).status === 200)
  })

  test('a target whose backlog is full does not delay requests that another target can serve', async (t) => {
    const full = await frozenOrigin(t)
    const alive = await httpOrigin(t, (_, res) => res.end('alive'))
    await full.fillBacklog()
    const timeouts = { ...TIMEOUTS, connectMs: 200, headersMs: 20_000 }
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [full.url, alive.url], timeouts, retry: { attempts: 1, budget: 1 } }],
    })
    for (let i = 0; i < 4; i++) {
      const response = await fetch(gateway.url, { method: 'POST', body: 'once' })
      assert.equal(await response.text(), 'alive')
    }
    await isWhole(gateway)
  })

  test('abandoned requests leave nothing in the queue of a target that does not respond', async (t) => {
    const origin = await frozenOrigin(t)
    await origin.fillBacklog()
    const timeouts = { ...TIMEOUTS, connectMs: 1000, headersMs: 20_000 }
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url], timeouts, connections: 2, maxPending: 50 }],
    })
    for (let round = 0; round < 4; round++) {
      const stop = new AbortController()
      const calls = Array.from({ length: 50 }, () =>
        fetch(gateway.url, { signal: stop.signal }).catch(() => null),
      )
      await until(() => gateway.plane.inFlight === 50)
      stop.abort()
      await Promise.all(calls)
      await isWhole(gateway)
    }
    origin.thaw()
    // While its backlog is still full, the kernel drops new connections.
    await until(async () => (await fetch(gateway.url)).status === 200)
    const startedMono = performance.now()
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(gateway.url)))
    for (const answer of answers) assert.equal(answer.status, 200)
    assert.ok(performance.now() - startedMono < 10_000)
  })

  test('with all targets down every request is refused at once, with the code of the cause', async (t) => {
    const urls = [`http://127.0.0.1:${await closedPort()}`, `http://127.0.0.1:${await closedPort()}`]
    const gateway = await startGateway(t, { upstreams: [{ urls }] })
    const startedMono = performance.now()
    for (let i = 0; i < 50; i++) {
      assert.equal(await errorOf(await fetch(gateway.url)), '502 GW_UPSTREAM_REFUSED')
    }
    assert.ok(performance.now() - startedMono < 10_000)
    await isWhole(gateway)
  })

  test('a flapping target fails only while it is down, a stable one beside it never', async (t) => {
    const port = await closedPort()
    const steady = await httpOrigin(t, (_, res) => res.end('steady'))
    const flapping = new FlappingServer(port)
    t.after(() => flapping.down())
    const alone = await startGateway(t, { upstreams: [{ urls: [`http://127.0.0.1:${port}`] }] })
    const paired = await startGateway(t, {
      upstreams: [{ urls: [`http://127.0.0.1:${port}`, steady.url], retry: { attempts: 1, budget: 1 } }],
    })
    for (let round = 0; round < 5; round++) {
      await flapping.up()
      for (let i = 0; i < 20; i++) {
        assert.equal((await fetch(alone.url)).status, 200)
        assert.equal((await fetch(paired.url)).status, 200)
      }
      flapping.down()
      for (let i = 0; i < 20; i++) {
        assert.equal((await fetch(alone.url)).status, 502)
        assert.equal(await (await fetch(paired.url)).text(), 'steady')
      }
    }
    await Promise.all([isWhole(alone), isWhole(paired)])
  })

  class FlappingServer {
    readonly #port: number
    #server: net.Server | null = null
    readonly #sockets = new Set<net.Socket>()

    constructor(port: number) {
      this.#port = port
    }

    up(): Promise<void> {
      const server = net.createServer((socket) => {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        answering(OK)(socket)
      })
      this.#server = server
      return new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(this.#port, '127.0.0.1', resolve)
      })
    }

    down(): void {
      this.#server?.close()
      this.#server = null
      for (const socket of this.#sockets) socket.resetAndDestroy()
      this.#sockets.clear()
    }
  }

  // Bytes.

  function statusAfter(t: TestContext, bytes: string): Promise<TestGateway> {
    let requests = 0
    const answer = (socket: net.Socket): void => {
      socket.on('data', () => socket.write(requests++ === 0 ? bytes : OK))
    }
    return rawOrigin(t, answer).then((origin) => startGateway(t, { upstreams: [{ urls: [origin.url] }] }))
  }

  const BODILESS = {
    'a 204 with a Content-Length': ['GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', 204],
    'a 304 with a Content-Length': ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 304],
    'an answer to HEAD with a body': ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', 200],
  } as const
  for (const [name, [method, bytes, status]] of Object.entries(BODILESS)) {
    test(`${name} on a kept connection is passed on and does not affect the next request`, async (t) => {
      const gateway = await statusAfter(t, bytes)
      const head = `${method} /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
      const answer = await sendRaw(gateway.port, [head], { waitMs: 3000 })
      assert.deepEqual(statusesOf(answer.text), [status])
      assert.match(answer.text, /\r\n\r\n$/)
      assert.match((await sendRaw(gateway.port, [GET_AND_CLOSE])).text, /ok$/)
      await isWhole(gateway)
    })
  }
}
