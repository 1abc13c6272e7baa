import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { startLogged, type WrittenRecord } from '../testing/traffic-records.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

/** A policy that waits before the upstream and again when it sees the response. */
const WAITING = fakeCatalog({
  onRequest: async () => {
    await sleep(20)
    return null
  },
  onResponse: async () => {
    await sleep(20)
    return null
  },
})

/** Every part is rounded to a microsecond. */
function assertAddsUp({ t }: WrittenRecord): void {
  const { total, ...parts } = t
  const sum = Object.values(parts).reduce((all, part) => all + part, 0)
  const rounding = 0.0006 * (Object.keys(parts).length + 1)
  // Up to eight parts are too short to be written.
  assert.ok(Math.abs(sum - total!) <= rounding + 8 * 0.0005, JSON.stringify(t))
}

test('the phase times add up to the total, and each shows what was waited for', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    req.resume().on('end', () => {
      setTimeout(() => {
        res.write('a')
        setTimeout(() => res.end('b'), 20)
      }, 20)
    })
  })
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] },
    {},
    { catalog: WAITING },
  )
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n')
  await sleep(60)
  client.send('hi')
  await until(() => client.text.endsWith('0\r\n\r\n'))
  const [record] = await gateway.records()
  assertAddsUp(record!)
  for (const phase of ['req_chain', 'req_body', 'up_queue', 'up_ttfb', 'res_chain', 'up_body'])
    assert.ok(record!.t[phase]! > 0, JSON.stringify(record!.t))
  assert.ok(record!.t['req_chain']! >= 15, JSON.stringify(record!.t))
  assert.ok(record!.t['up_ttfb']! >= 15, JSON.stringify(record!.t))
  assert.ok(record!.t['res_chain']! >= 15, JSON.stringify(record!.t))
})

test('the time of a client that reads slowly is reported as such', async (t) => {
  let written = 0
  const origin = await httpOrigin(t, (_, res) => {
    const chunk = Buffer.alloc(100_000)
    const write = (): void => {
      while (written < 30_000_000) {
        written += chunk.length
        if (!res.write(chunk)) return
      }
      res.end()
    }
    res.setHeader('content-length', '30000000')
    res.on('drain', write)
    write()
  })
  const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }] })
  const client = await connectRaw(t, gateway.port)
  client.pause()
  client.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => written > 0)
  // Every buffer on the way is full once the origin can send nothing more.
  for (let before = -1; before !== written; await sleep(500)) before = written
  client.resume()
  await until(() => client.receivedBytes > 30_000_000)
  const [record] = await gateway.records()
  assertAddsUp(record!)
  assert.ok(record!.t['client_write']! > 100, JSON.stringify(record!.t))
})

test('a record shows the trace, the pattern of the route, the sizes of the heads and a used connection', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('ok'))
  const match = {
    path: { text: '/items/{id}', kind: 'template' as const, segments: [] },
    ...{ hosts: [], methods: [], headers: [], query: [], when: null },
  }
  match.path = {
    ...match.path,
    segments: [
      { kind: 'literal', text: 'items' },
      { kind: 'param', name: 'id' },
    ] as never,
  }
  const gateway = await startLogged(t, {
    upstreams: [{ urls: [origin.url] }],
    routes: [{ id: 'all', match }],
  })
  const head = `GET /items/7?a=b HTTP/1.1\r\nHost: a\r\nTraceparent: 00-${TRACE}-${SPAN}-01\r\n\r\n`
  for (let i = 1; i <= 2; i++) {
    const client = await connectRaw(t, gateway.port)
    client.send(head)
    await until(() => statusesOf(client.text).length === 1 && gateway.plane.inFlight === 0)
  }
  const [first, second] = await gateway.records()
  assert.deepEqual(first!['trace'], { id: TRACE })
  assert.deepEqual(first!['span'], { id: SPAN })
  assert.deepEqual(first!['http'], { method: 'GET', version: '1.1' })
  assert.equal((first!['url'] as { template: string }).template, '/items/{id}')
  assert.equal((first!['req'] as { bytes_h: number }).bytes_h, head.length)
  assert.ok((first!['res'] as { bytes_h: number }).bytes_h > 50)
  assert.equal((first!['up'] as { reused?: boolean }).reused, undefined)
  assert.equal((second!['up'] as { reused?: boolean }).reused, true)
})

test('a connection that died is reported as a retry on a new connection', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const origin = await rawOrigin(t, (socket, nth) => {
    let requests = 0
    socket.on('data', () => {
      requests++
      if (nth === 0 && requests === 2) socket.destroy()
      else socket.write(answer)
    })
  })
  const gateway = await startLogged(t, {
    upstreams: [{ urls: [origin.url], connections: 1, retry: { attempts: 1, budget: 1 } }],
  })
  for (let i = 0; i < 2; i++) assert.equal(await (await fetch(`${gateway.url}/a`)).text(), 'ok')
  const [, second] = await gateway.records()
  const { attempts, retries, reused } = second!['up'] as Record<string, unknown>
  assert.deepEqual({ attempts, retries, reused }, { attempts: 2, retries: 1, reused: undefined })
  assertAddsUp(second!)
})

test("a failure shows the phase of the exchange, and the client's response", async (t) => {
  const origin = await rawOrigin(t, (socket) => {
    socket.on('data', (chunk) => {
      if (chunk.toString().startsWith('GET /cut'))
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab')
      else socket.destroy()
    })
  })
  const refused = { name: 'refused', urls: [`http://127.0.0.1:${await closedPort()}`], timeouts: TIMEOUTS }
  const gateway = await startLogged(t, {
    upstreams: [{ urls: [origin.url] }, refused],
    routes: [
      { id: 'all' },
      {
        id: 'refused',
        priority: 1,
        match: {
          path: { text: '/refused', kind: 'exact', segments: [{ kind: 'literal', text: 'refused' }] },
          ...{ hosts: [], methods: [], headers: [], query: [], when: null },
        },
        action: { kind: 'proxy', upstream: 'refused' },
      },
    ],
  })
  for (const path of ['/refused', '/reset', '/cut'])
    await fetch(gateway.url + path, { method: path === '/reset' ? 'POST' : 'GET' })
      .then((answer) => answer.text())
      .catch(() => '')
  const [connecting, waiting, reading] = await gateway.records()
  assert.deepEqual(connecting!.error, {
    code: 'GW_UPSTREAM_REFUSED',
    phase: 'up_queue',
    msg: "upstream 'refused': the target refused the connection",
  })
  assert.equal(waiting!.error!['phase'], 'up_ttfb')
  assert.equal(reading!.error!['phase'], 'up_body')
  assert.ok(reading!.error!['msg']!.length > 10)
  for (const record of [connecting!, waiting!, reading!]) assertAddsUp(record)
})

test('the forwarding chain is reported as received, trusted or not, apart from the client', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('ok'))
  for (const trustedProxies of [[], ['127.0.0.0/8']]) {
    const overrides = { upstreams: [{ urls: [origin.url] }], listener: { trustedProxies } }
    const gateway = await startLogged(t, overrides, { fields: 'full' })
    await fetch(`${gateway.url}/a`, { headers: { 'x-forwarded-for': '203.0.113.7, 127.0.0.9' } })
    const [record] = await gateway.records()
    assert.equal(record!['xff'], '203.0.113.7, 127.0.0.9')
    const ip = trustedProxies.length === 0 ? '127.0.0.1' : '203.0.113.7'
    assert.deepEqual(record!['client'], { ip })
  }
})
