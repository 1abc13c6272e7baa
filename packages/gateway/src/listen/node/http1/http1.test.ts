import assert from 'node:assert/strict'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type PlanOverrides, startGateway, type TestGateway, until } from '../../../testing/gateway.js'
import { echoOrigin, httpOrigin, rawOrigin } from '../../../testing/origin.js'
import { sendRaw, statusesOf } from '../../../testing/raw-client.js'
import { connectRaw } from '../../../testing/raw-connection.js'

// Behavior of this engine that uWebSockets.js lacks (docs/guides/engines.md). The conformance tests cover what both do.

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

async function echoing(t: TestContext, overrides: PlanOverrides = {}): Promise<TestGateway> {
  const origin = await echoOrigin(t)
  return start(t, { upstreams: [{ urls: [origin.url] }], ...overrides })
}

function start(t: TestContext, overrides: PlanOverrides): Promise<TestGateway> {
  return startGateway(t, { ...overrides, listener: { ...overrides.listener, engine: 'node' } })
}

const REFUSALS: readonly { readonly name: string; readonly bytes: string; readonly status: number }[] = [
  { name: 'OPTIONS *', bytes: 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'CONNECT', bytes: 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', status: 501 },
  { name: 'an HTTP/2 preface', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 505 },
  { name: 'HTTP/1.2', bytes: 'GET /a HTTP/1.2\r\nHost: a\r\n\r\n', status: 505 },
  { name: 'HTTP/3.0', bytes: 'GET /a HTTP/3.0\r\nHost: a\r\n\r\n', status: 505 },
  { name: 'HTTP/0.9', bytes: 'GET /a\r\n', status: 400 },
  { name: 'a version in lower case', bytes: 'GET /a http/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'two spaces in the request line', bytes: 'GET  /a HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'a space behind the version', bytes: 'GET /a HTTP/1.1 \r\nHost: a\r\n\r\n', status: 400 },
  { name: 'a bare line feed behind the line', bytes: 'GET /a HTTP/1.1\nHost: a\r\n\r\n', status: 400 },
  { name: 'a bare line feed', bytes: 'GET /a HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n', status: 400 },
  { name: 'a bare carriage return', bytes: `${GET}X: 1\r2\r\n\r\n`, status: 400 },
  { name: 'a space before the colon', bytes: `${GET}X : 1\r\n\r\n`, status: 400 },
  { name: 'an obsolete fold', bytes: `${GET}X: 1\r\n 2\r\n\r\n`, status: 400 },
  { name: 'a space before the first field', bytes: 'GET /a HTTP/1.1\r\n Host: a\r\n\r\n', status: 400 },
  { name: 'a line without a colon', bytes: `${GET}X\r\n\r\n`, status: 400 },
  { name: 'an empty field name', bytes: `${GET}: v\r\n\r\n`, status: 400 },
  { name: 'a zero byte', bytes: `${GET}X: a\0b\r\n\r\n`, status: 400 },
  { name: 'a name in brackets', bytes: `${GET}X[]: 1\r\n\r\n`, status: 400 },
  { name: 'no Host', bytes: 'GET /a HTTP/1.1\r\n\r\n', status: 400 },
  { name: 'no Host beside an absolute target', bytes: 'GET http://a/ HTTP/1.1\r\n\r\n', status: 400 },
  { name: 'a user in an absolute target', bytes: 'GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'another scheme', bytes: 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  {
    name: 'an absolute target without a host',
    bytes: 'GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n',
    status: 400,
  },
  { name: 'a path without a slash', bytes: 'GET a HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'chunks from HTTP/1.0', bytes: CHUNKED.replace('1.1', '1.0'), status: 400 },
  { name: 'an expectation that nobody knows', bytes: `${GET}Expect: 200-maybe\r\n\r\n`, status: 417 },
  { name: 'a head beyond the limit', bytes: `${GET}X: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431 },
  { name: 'a head without an end', bytes: `${GET}X: ${'x'.repeat(20_000)}`, status: 431 },
  { name: 'a target without an end', bytes: `GET /${'x'.repeat(20_000)}`, status: 414 },
  { name: 'two equal lengths', bytes: `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, status: 400 },
  { name: 'garbage', bytes: '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03', status: 400 },
]

for (const { name, bytes, status } of REFUSALS) {
  test(`${name} is answered ${status} and recorded, reaches no upstream and closes the connection`, async (t) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [Buffer.from(bytes, 'latin1')])
    assert.deepEqual(statusesOf(answer.text), [status], answer.text)
    assert.match(answer.text, /application\/problem\+json/)
    assert.match(answer.text, /connection: close/)
    assert.equal(answer.isClosed, true)
    assert.equal(origin.connections(), 0)
    const counted = gateway.plane.samples().filter((sample) => sample.name === 'gw_requests_total')
    assert.equal(
      counted.reduce((sum, sample) => sum + sample.value, 0),
      1,
    )
  })
}

const BAD_BODIES = [
  '3\r\nabcXX0\r\n\r\n',
  'g\r\n',
  '3;\r\nabc\r\n0\r\n\r\n',
  '3\nabc\r\n0\r\n\r\n',
  '0\r\nX : 1\r\n\r\n',
]
for (const body of BAD_BODIES) {
  test(`a body with the chunks ${JSON.stringify(body)} is answered 400`, async (t) => {
    const gateway = await echoing(t)
    const answer = await sendRaw(gateway.port, [CHUNKED + body])
    assert.deepEqual(statusesOf(answer.text), [400], answer.text)
    assert.match(answer.text, /chunked coding/)
    assert.equal(answer.isClosed, true)
    assert.equal(gateway.plane.inFlight, 0)
  })
}

test('chunk extensions and trailers are parsed, and the connection stays open', async (t) => {
  const gateway = await echoing(t)
  const body = '3;a="b;c";d\r\nabc\r\n2\r\nde\r\n0;last\r\nX-T: 1\r\n\r\n'
  const answer = await sendRaw(gateway.port, [CHUNKED + body + LAST])
  assert.deepEqual(statusesOf(answer.text), [200, 200])
  assert.match(answer.text, /"bytes":5/)
  assert.doesNotMatch(answer.text, /x-t/i)
})

test('trailers are forwarded in both directions, to a client that accepts them', async (t) => {
  let seen = ''
  const origin = await httpOrigin(t, (req, res) => {
    req.resume().on('end', () => {
      seen = String(req.trailers['x-up'])
      res.setHeader('trailer', 'x-down')
      res.write('body')
      res.addTrailers({ 'x-down': '2' })
      setImmediate(() => res.end())
    })
  })
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyBufferBytes: 0 } },
  })
  const body = '3\r\nabc\r\n0\r\nX-Up: 1\r\n\r\n'
  for (const [te, end] of [
    ['TE: trailers\r\n', '\r\n0\r\nx-down: 2\r\n\r\n'],
    ['', '\r\n0\r\n\r\n'],
  ] as const) {
    const client = await connectRaw(t, gateway.port)
    client.send(`${POST}${te}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`)
    await until(() => gateway.plane.inFlight === 1)
    client.send(body)
    await until(() => client.text.endsWith('\r\n\r\n') && client.text.includes('body'))
    assert.ok(client.text.endsWith(end), client.text)
    assert.equal(seen, '1')
  }
})

test('a trailer that repeats a field of the head, or concerns forwarding, is dropped', async (t) => {
  let seen: string[] = []
  const origin = await httpOrigin(t, (req, res) => {
    req.resume().on('end', () => {
      seen = Object.keys(req.trailers)
      res.end()
    })
  })
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyBufferBytes: 0 } },
  })
  const client = await connectRaw(t, gateway.port)
  client.send(`${POST}X-User: me\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`)
  await until(() => gateway.plane.inFlight === 1)
  const forged = ['X-User', 'X_User', 'X-Forwarded-For', 'X_Forwarded_For', 'X-Real-IP', 'Forwarded']
  client.send(`0\r\n${forged.map((name) => `${name}: other\r\n`).join('')}X-Sum: 1\r\n\r\n`)
  await until(() => client.text.includes(' 200 '))
  assert.deepEqual(seen, ['x-sum'])
})

test('pipelined requests are answered in order', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    // The later ones would finish first.
    setTimeout(() => res.end(req.url), 40 - Number(req.url!.slice(1)) * 10)
  })
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const requests = [1, 2, 3].map((i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`)
  const body = `${POST}Content-Length: 3\r\n\r\nabc`.replace('/a', '/0')
  const answer = await sendRaw(gateway.port, [body + requests.join('') + LAST])
  const urls = [...answer.text.matchAll(/\r\n\r\n(\/[a-z0-9]+)/g)].map(([, url]) => url)
  assert.deepEqual(urls, ['/0', '/1', '/2', '/3', '/last'])
  assert.equal(answer.isClosed, true)
})

test('requests of a client that sends without end are read only up to the waiting limit', async (t) => {
  let seen = 0
  const origin = await rawOrigin(t, (socket) => socket.on('data', () => seen++))
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const client = await connectRaw(t, gateway.port)
  const many = `${GET}\r\n`.repeat(10_000)
  for (let i = 0; i < 40; i++) client.send(many)
  await until(() => seen === 1)
  const [connection] = [...gateway.plane.samples()].filter(({ name }) => name === 'gw_requests_in_flight')
  assert.equal(connection!.value, 1)
  assert.equal(seen, 1)
})

test('a client that reads no responses is not read any further', async (t) => {
  const body = 'x'.repeat(100_000)
  const action = { kind: 'respond', status: 200, headers: [], body } as const
  const gateway = await start(t, { routes: [{ id: 'all', action }] })
  const client = await connectRaw(t, gateway.port)
  client.pause()
  client.send(`${GET}\r\n`.repeat(1000))
  const answered = (): number =>
    gateway.plane.samples().find(({ name, value }) => name === 'gw_requests_total' && value > 0)?.value ?? 0
  await until(() => answered() > 0)
  // Responses that are not held back arrive at once, long before another client is answered.
  await sendRaw(gateway.port, [LAST])
  assert.ok(answered() < 500, String(answered()))
  client.resume()
  await until(() => answered() === 1001)
  await until(() => client.receivedBytes > 1000 * body.length)
})

test('the host of an absolute target takes precedence over the Host field', async (t) => {
  const gateway = await echoing(t)
  const targets = ['http://API.example:81/b?c', 'https://api.example?c', 'http://api.example']
  for (const [target, url] of targets.map((each, i) => [each, ['/b?c', '/?c', '/'][i]!] as const)) {
    const answer = await sendRaw(gateway.port, [
      `GET ${target} HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n`,
    ])
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.ok(answer.text.includes(`"url":"${url}"`), answer.text)
    assert.match(answer.text, /"host":"api\.example(:81)?"/i)
  }
})

test('HTTP/1.0 closes its connection unless the client asks to keep it, and needs no Host', async (t) => {
  const gateway = await echoing(t)
  const plain = await sendRaw(gateway.port, ['GET /a HTTP/1.0\r\n\r\n'])
  assert.deepEqual([statusesOf(plain.text), plain.isClosed], [[200], true])
  assert.match(plain.text, /^connection: close/m)
  assert.ok(plain.text.includes(`"host":"127.0.0.1:${gateway.port}"`), plain.text)
  const kept = 'GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n'
  const twice = await sendRaw(gateway.port, [kept + kept.replace('keep-alive', 'close')])
  assert.deepEqual([statusesOf(twice.text), twice.isClosed], [[200, 200], true])
  assert.match(twice.text, /^connection: keep-alive/m)
})

test('an HTTP/1.0 request without Host uses the local address as its host', async (t) => {
  const gateway = await echoing(t, { listener: { host: '0.0.0.0' } })
  for (const host of ['127.0.0.1', '127.0.0.1', '127.0.0.2']) {
    const socket = net.connect({ port: gateway.port, host })
    socket.write('GET /a HTTP/1.0\r\n\r\n')
    assert.ok((await text(socket)).includes(`"host":"${host}:${gateway.port}"`))
  }
})

test('a response of unknown length to HTTP/1.0 ends with the connection, without chunks', async (t) => {
  const origin = await httpOrigin(t, (_, res) => {
    res.write('one ')
    setTimeout(() => res.end('two'), 20)
  })
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, ['GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n'])
  assert.ok(answer.text.endsWith('\r\n\r\none two'), answer.text)
  assert.doesNotMatch(answer.text, /transfer-encoding|keep-alive/)
  assert.equal(answer.isClosed, true)
})

test('100 Continue is sent when the body is wanted, and not before a refusal', async (t) => {
  const gateway = await echoing(t, {
    listener: { limits: { bodyBytes: 10 } },
  })
  const client = await connectRaw(t, gateway.port)
  client.send(`${POST}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`)
  await until(() => client.text === 'HTTP/1.1 100 Continue\r\n\r\n')
  client.send('abc')
  await until(() => client.text.includes('"bytes":3'))
  assert.deepEqual(statusesOf(client.text), [100, 200])
  const refused = await sendRaw(gateway.port, [`${POST}Content-Length: 11\r\nExpect: 100-continue\r\n\r\n`])
  assert.deepEqual([statusesOf(refused.text), refused.isClosed], [[413], true])
  const none = await sendRaw(gateway.port, [`${GET}Expect: 100-continue\r\nConnection: close\r\n\r\n`])
  assert.deepEqual(statusesOf(none.text), [200])
})

test('with allowHalfClose a client that half-closes gets the responses to its requests', async (t) => {
  const gateway = await echoing(t, { listener: { allowHalfClose: true } })
  const client = await connectRaw(t, gateway.port)
  client.send(`${GET}\r\n${POST}Content-Length: 3\r\n\r\nabc`)
  client.halfClose()
  await until(() => client.isClosed)
  assert.deepEqual(statusesOf(client.text), [200, 200])
})

for (const [waiting, requests] of [
  ['one request', GET + '\r\n'],
  ['64 KB of requests', (GET + '\r\n').repeat(Math.floor(65_536 / (GET.length + 2)))],
  ['a request with an upload', `${POST}Content-Length: 1000000\r\n\r\nbegin`],
] as const) {
  test(`a client that disconnects while ${waiting} waits behind its first request cancels its call`, async (t) => {
    let closed = 0
    const origin = await rawOrigin(t, (socket) => void socket.on('close', () => closed++).resume())
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const client = await connectRaw(t, gateway.port)
    client.send(`${GET}\r\n`)
    await until(() => origin.connections() === 1)
    client.send(requests)
    client.halfClose()
    await until(() => closed === 1 && gateway.plane.connections === 0)
    assert.deepEqual([gateway.plane.inFlight, origin.connections()], [0, 1])
  })
}

test('hundreds of clients that disconnect hold no connection of a slow target', async (t) => {
  const held = new Set<net.Socket>()
  const origin = await rawOrigin(t, (socket) => {
    held.add(socket)
    socket.on('data', (head) => {
      if (String(head).startsWith('GET /quick')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    socket.on('close', () => held.delete(socket))
  })
  const upstreams = [{ urls: [origin.url], connections: 8, maxPending: 4 }]
  const gateway = await start(t, { upstreams })
  for (let i = 0; i < 300; i++) {
    const client = net.connect({ port: gateway.port, host: '127.0.0.1' }).on('error', () => {})
    client.end(`${GET}\r\n`)
    if (i % 10 === 9) await until(() => gateway.plane.inFlight === 0 && gateway.plane.connections === 0)
  }
  await until(() => held.size === 0)
  assert.equal((await fetch(`${gateway.url}/quick`)).status, 200)
})

test('a request in single bytes is served, including its request line', async (t) => {
  const gateway = await echoing(t)
  const client = await connectRaw(t, gateway.port)
  await client.sendByteByByte(`\r\n${CHUNKED}3\r\nabc\r\n0\r\n\r\n`)
  await until(() => client.text.includes('"bytes":3'))
  client.send(LAST)
  await until(() => client.isClosed)
  assert.deepEqual(statusesOf(client.text), [200, 200])
})

test('an upload that its target does not read is held back', async (t) => {
  const origin = await rawOrigin(t, (socket) => void socket.pause())
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyBytes: 1e9 } },
  })
  const client = await connectRaw(t, gateway.port)
  const bytes = 300_000_000
  const before = process.memoryUsage().external
  client.send(`${POST}Content-Length: ${bytes}\r\n\r\n`)
  const chunk = Buffer.alloc(1_000_000)
  for (let i = 0; i < 300; i++) client.send(chunk)
  await until(() => origin.connections() === 1)
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(process.memoryUsage().external - before < 50_000_000)
})
