import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { TimeoutsPlan } from '@sluice/config'
import { type TestGateway, until } from '../../testing/gateway.js'
import { echoOrigin, httpOrigin, type Origin, rawOrigin } from '../../testing/origin.js'
import { connectRaw, type RawConnection } from '../../testing/raw-connection.js'
import { type StartGateway, testEngines } from '../testing/engines.js'

// A client that disconnects, in each phase of its request: its call is cancelled at the target and nothing stays
// behind.

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
/** Long enough that none of the gateway's timeouts can cancel a call. */
const PATIENT: TimeoutsPlan = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000, totalMs: 0 }

/** A target that the test controls, and its connections. */
interface Watched {
  readonly origin: Origin
  readonly received: () => string
  /** Number of closed connections. */
  readonly closed: () => number
}

async function watchedOrigin(t: TestContext, answer: (socket: Socket) => void = () => {}): Promise<Watched> {
  let received = ''
  let closed = 0
  const origin = await rawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      if (received === '') answer(socket)
      received += chunk.toString('latin1')
    })
    socket.on('close', () => closed++)
  })
  return { origin, received: () => received, closed: () => closed }
}

async function gatewayTo(
  t: TestContext,
  start: StartGateway,
  origin: Origin,
  connections = 64,
): Promise<TestGateway> {
  return start(t, {
    upstreams: [{ urls: [origin.url], timeouts: PATIENT, connections, maxPending: 10 }],
    // The start of a body is sent upstream at once.
    listener: { limits: { bodyIdleMs: 60_000, bodyBufferBytes: 0 } },
  })
}

function sampleOf(gateway: TestGateway, name: string, label = ''): number {
  return gateway.plane
    .samples()
    .filter((sample) => sample.name === name && sample.labels.includes(label))
    .reduce((sum, sample) => sum + sample.value, 0)
}

async function comesToRest(gateway: TestGateway): Promise<void> {
  const isAtRest = (): boolean => gateway.plane.inFlight === 0 && gateway.plane.connections === 0
  await until(isAtRest, 30_000).catch((cause: unknown) => {
    const { inFlight, connections } = gateway.plane
    throw new Error(`${inFlight} requests and ${connections} connections are left`, { cause })
  })
  assert.equal(sampleOf(gateway, 'gw_upstream_active'), 0)
  assert.deepEqual(gateway.events, [])
}

const DEPARTURES: readonly {
  readonly how: string
  leave(client: RawConnection): void
}[] = [
  { how: 'resets its connection', leave: (client) => client.reset() },
  { how: 'half-closes its connection', leave: (client) => client.halfClose() },
]

for (const { how, leave } of DEPARTURES) {
  testEngines(`a client that ${how} in its head reaches no upstream`, async (t, start) => {
    const { origin } = await watchedOrigin(t)
    const gateway = await gatewayTo(t, start, origin)
    const client = await connectRaw(t, gateway.port)
    client.send('GET /a HTTP/1.1\r\nHost: a\r\nX-Ha')
    await until(() => gateway.plane.connections === 1)
    leave(client)
    await comesToRest(gateway)
    assert.equal(origin.connections(), 0)
  })

  for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    testEngines(`a client that ${how} in a body with ${framing} cancels its call`, async (t, start) => {
      const watched = await watchedOrigin(t)
      const gateway = await gatewayTo(t, start, watched.origin)
      const client = await connectRaw(t, gateway.port)
      client.send(`${POST}${framing}\r\n\r\n`)
      client.send('5\r\nbegin\r\n')
      await until(() => watched.received().includes('begin'))
      leave(client)
      await until(() => watched.closed() === 1)
      assert.doesNotMatch(watched.received(), /\r\n0\r\n\r\n$/)
      await comesToRest(gateway)
    })
  }

  testEngines(`a client that ${how} while it waits for the upstream cancels its call`, async (t, start) => {
    const watched = await watchedOrigin(t)
    const gateway = await gatewayTo(t, start, watched.origin)
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Content-Length: 5\r\n\r\nwhole`)
    await until(() => watched.received().includes('whole'))
    leave(client)
    await until(() => watched.closed() === 1)
    await comesToRest(gateway)
  })

  testEngines(
    `a client that ${how} while it waits for a connection is never sent upstream`,
    async (t, start) => {
      const watched = await watchedOrigin(t)
      const gateway = await gatewayTo(t, start, watched.origin, 1)
      const first = await connectRaw(t, gateway.port)
      first.send(GET)
      await until(() => watched.received() !== '')
      const second = await connectRaw(t, gateway.port)
      second.send(GET.replace('/a', '/second'))
      await until(() => gateway.plane.inFlight === 2)
      leave(second)
      await until(() => gateway.plane.inFlight === 1)
      leave(first)
      await until(() => watched.closed() > 0)
      await comesToRest(gateway)
      const third = await connectRaw(t, gateway.port)
      third.send(GET.replace('/a', '/third'))
      await until(() => watched.received().includes('/third'))
      assert.doesNotMatch(watched.received(), /second/)
      third.reset()
      await comesToRest(gateway)
    },
  )

  for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    testEngines(`a client that ${how} in a response with ${framing} cancels its call`, async (t, start) => {
      const watched = await watchedOrigin(t, (socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n5\r\nbegin\r\n`),
      )
      const gateway = await gatewayTo(t, start, watched.origin)
      const client = await connectRaw(t, gateway.port)
      client.send(GET)
      await until(() => client.text.includes('begin'))
      leave(client)
      await until(() => watched.closed() === 1)
      await comesToRest(gateway)
    })
  }

  testEngines(
    `a client that ${how} while it does not read its response cancels its call`,
    async (t, start) => {
      let sent = 0
      let isCancelled = false
      const origin = await httpOrigin(t, (_, res) => {
        res.on('close', () => (isCancelled = true))
        const pump = (): void => {
          while (!isCancelled) {
            sent += 65_536
            if (res.write(Buffer.alloc(65_536))) continue
            res.once('drain', pump)
            return
          }
        }
        pump()
      })
      const gateway = await gatewayTo(t, start, origin)
      const client = await connectRaw(t, gateway.port)
      client.pause()
      client.send(GET)
      await until(() => sent > 4_000_000)
      leave(client)
      await until(() => isCancelled)
      await comesToRest(gateway)
    },
  )
}

testEngines(
  'a client that resets its connection while its upload waits for the target cancels its call, at the latest by its time-out',
  async (t, start) => {
    const sockets: Socket[] = []
    let isClosed = false
    const origin = await rawOrigin(t, (socket) => {
      socket.pause()
      socket.on('close', () => (isClosed = true))
      sockets.push(socket)
    })
    const gateway = await start(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { limits: { bodyIdleMs: 3000 } },
    })
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}Content-Length: 10000000\r\n\r\n`)
    client.send(Buffer.alloc(9_000_000))
    await until(() => sockets.length === 1)
    client.reset()
    await comesToRest(gateway)
    for (const socket of sockets) socket.resume()
    await until(() => isClosed)
  },
)

testEngines('a client that disconnects before its response is counted among the 4xx', async (t, start) => {
  const watched = await watchedOrigin(t)
  const gateway = await gatewayTo(t, start, watched.origin)
  const client = await connectRaw(t, gateway.port)
  client.send(GET)
  await until(() => watched.received() !== '')
  client.reset()
  await comesToRest(gateway)
  assert.equal(sampleOf(gateway, 'gw_requests_total', 'status="4xx"'), 1)
})

testEngines(
  'hundreds of idle connections open and close without leaving anything behind',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const idle = await Promise.all(Array.from({ length: 300 }, () => connectRaw(t, gateway.port)))
    await until(() => gateway.plane.connections === 300)
    const busy = await connectRaw(t, gateway.port)
    busy.send(GET)
    await until(() => busy.text.startsWith('HTTP/1.1 200 '))
    for (const [i, client] of idle.entries()) {
      if (i % 2 === 0) client.reset()
      else client.halfClose()
    }
    await until(() => gateway.plane.connections === 1)
    busy.reset()
    await comesToRest(gateway)
  },
)
