import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { until } from '../../testing/gateway.js'
import { echoOrigin, httpOrigin, rawOrigin } from '../../testing/origin.js'
import { sendRaw, statusesOf } from '../../testing/raw-client.js'
import { connectRaw } from '../../testing/raw-connection.js'
import { testEngines } from '../testing/engines.js'

// The rows of the hazard table of uWebSockets.js: what the listener refuses before anything reaches an upstream.

interface Refusal {
  readonly name: string
  readonly bytes: string
  readonly status: number
}

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const REFUSALS: readonly Refusal[] = [
  {
    name: 'two different Content-Lengths',
    bytes: `${POST}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
    status: 400,
  },
  { name: 'an empty Content-Length', bytes: `${POST}Content-Length: \r\n\r\nabc`, status: 400 },
  {
    name: 'Transfer-Encoding gzip, chunked',
    bytes: `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    status: 501,
  },
  {
    name: 'Transfer-Encoding identity',
    bytes: `${POST}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
    status: 501,
  },
  {
    name: 'Transfer-Encoding xchunked',
    bytes: `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    status: 501,
  },
  {
    name: 'two Transfer-Encoding lines',
    bytes: `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    status: 501,
  },
  { name: 'an empty Transfer-Encoding', bytes: `${POST}Transfer-Encoding: \r\n\r\n`, status: 501 },
  {
    name: 'an empty Transfer-Encoding before a chunked one',
    bytes: `${POST}Transfer-Encoding: \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    status: 501,
  },
  { name: 'two Host fields', bytes: 'GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', status: 400 },
  { name: 'an empty Host', bytes: 'GET /a HTTP/1.1\r\nHost: \r\n\r\n', status: 400 },
  { name: 'a Host that is no authority', bytes: 'GET /a HTTP/1.1\r\nHost: a b/c@d\r\n\r\n', status: 400 },
  { name: 'a Host with a bad port', bytes: 'GET /a HTTP/1.1\r\nHost: a:8x\r\n\r\n', status: 400 },
  { name: 'a method that is no token', bytes: 'G(E)T /a HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'TRACE', bytes: 'TRACE /a HTTP/1.1\r\nHost: a\r\n\r\n', status: 501 },
  { name: 'a fragment', bytes: 'GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'an escaped zero byte', bytes: 'GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'a bad escape', bytes: 'GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  { name: 'a backslash', bytes: 'GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
  {
    name: 'a byte from 0x80 on in the path',
    bytes: 'GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n',
    status: 400,
  },
]

for (const { name, bytes, status } of REFUSALS) {
  testEngines(
    `${name} is answered ${status}, never reaches the upstream and closes the connection`,
    async (t, start) => {
      let seen = 0
      const origin = await httpOrigin(t, (_, res) => {
        seen++
        res.end()
      })
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const answer = await sendRaw(gateway.port, [Buffer.from(bytes, 'latin1')])
      assert.deepEqual(statusesOf(answer.text), [status], answer.text)
      assert.match(answer.text, /application\/problem\+json/)
      assert.equal(answer.isClosed, true)
      assert.equal(seen, 0)
    },
  )
}

const BAD_LENGTHS = ['+3', '-1', '0x3', '3, 3', '12345678901234567890']
for (const value of BAD_LENGTHS) {
  testEngines(
    `Content-Length ${value} never reaches the upstream and closes the connection`,
    async (t, start) => {
      let seen = 0
      const origin = await httpOrigin(t, (_, res) => {
        seen++
        res.end()
      })
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const answer = await sendRaw(gateway.port, [`${POST}Content-Length: ${value}\r\n\r\nabc`])
      assert.match(answer.text, /^HTTP\/1\.1 400 /)
      assert.equal(answer.isClosed, true)
      assert.equal(seen, 0)
      await until(() => gateway.plane.inFlight === 0)
    },
  )
}

testEngines('Content-Length 0 beside one that hides a request forwards neither', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [
    `${POST}Content-Length: 0\r\nContent-Length: 35\r\n\r\n${SMUGGLED}`,
  ])
  assert.ok(
    statusesOf(answer.text).every((status) => status === 400),
    answer.text,
  )
  assert.equal(answer.isClosed, true)
  assert.equal(origin.connections(), 0)
})

testEngines('a method is forwarded as it was sent', async (t, start) => {
  const methods: string[] = []
  const origin = await rawOrigin(t, (socket) => {
    socket.once('data', (head) => {
      methods.push(head.toString('latin1').split(' ')[0]!)
      socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
    })
  })
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const sent = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PURGE', 'GETS', 'GE']
  for (const method of sent) {
    const bytes = `${method} /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    assert.deepEqual(statusesOf((await sendRaw(gateway.port, [bytes])).text), [204], method)
  }
  assert.deepEqual(methods, sent)
})

testEngines(
  'equal Content-Length lines count as one',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const bytes = `${POST}Content-Length: 3\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`
    const answer = await sendRaw(gateway.port, [bytes])
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.match(answer.text, /"bytes":3/)
  },
  ['uws'],
)

testEngines('Content-Length beside Transfer-Encoding is refused', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const bytes = `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`
  const answer = await sendRaw(gateway.port, [bytes])
  assert.match(answer.text, /^HTTP\/1\.1 400 /)
  assert.equal(answer.isClosed, true)
  assert.equal(origin.connections(), 0)
})

testEngines(
  'a chunked request closes its connection, so that nothing after it is parsed',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [
      `${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    ])
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.match(answer.text, /connection: close/i)
    assert.match(answer.text, /"bytes":3/)
    assert.equal(answer.isClosed, true)
  },
  ['uws'],
)

for (const length of ['unknown', 'known'] as const) {
  testEngines(
    `nothing after a chunked request is parsed although its response of ${length} length was streamed`,
    async (t, start) => {
      let requests = 0
      const origin = await httpOrigin(t, (req, res) => {
        requests++
        if (length === 'known') res.setHeader('content-length', 2_000_000)
        req.resume().on('end', () => res.end(Buffer.alloc(2_000_000, 'c')))
      })
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const client = await connectRaw(t, gateway.port)
      client.send(`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
      await until(() => client.receivedBytes >= 2_000_000)
      assert.match(client.text, /connection: close/i)
      client.send(SMUGGLED)
      await setTimeout(500)
      assert.equal(requests, 1)
      assert.equal(statusesOf(client.text).length, 1)
    },
    ['uws'],
  )
}

testEngines('a second request after a refused one in the same segment is not answered', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [`GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n${SMUGGLED}`])
  assert.ok(
    statusesOf(answer.text).every((status) => status === 400),
    answer.text,
  )
  assert.doesNotMatch(answer.text, /smuggled/)
  assert.equal(answer.isClosed, true)
  assert.equal(origin.connections(), 0)
})

testEngines('a request that arrives byte by byte after the method is served', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const rest = 'Host: a\r\nX-Slow: yes\r\nConnection: close\r\n\r\n'
  const answer = await sendRaw(gateway.port, ['GET /slow HTTP/1.1\r\n', ...rest], { gapMs: 2, waitMs: 5000 })
  assert.deepEqual(statusesOf(answer.text), [200])
  assert.match(answer.text, /"x-slow":"yes"/)
})

testEngines('Expect: 100-continue is answered here and not forwarded', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const head = `${POST}Content-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`
  const answer = await sendRaw(gateway.port, [head, 'abc'], { gapMs: 50 })
  assert.deepEqual(statusesOf(answer.text).at(-1), 200)
  assert.doesNotMatch(answer.text, /"expect"/)
})

testEngines('hop-by-hop fields and those named by Connection are not forwarded', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const fields = [
    'Connection: close, X-Mine, Authorization',
    'X-Mine: 1',
    'Authorization: Basic abc',
    'Keep-Alive: timeout=5',
    'TE: trailers',
    'Trailer: X-T',
    'Upgrade: tunnel/1',
    'Proxy-Authorization: secret',
    'X-Kept: yes',
  ]
  const answer = await sendRaw(gateway.port, [`${GET}${fields.join('\r\n')}\r\n\r\n`])
  assert.match(answer.text, /"x-kept":"yes"/)
  assert.match(answer.text, /"authorization":"Basic abc"/)
  assert.doesNotMatch(answer.text, /"(x-mine|keep-alive|te|trailer|upgrade|proxy-authorization)":/)
})

testEngines('too many header lines are answered 431', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { headers: 5 } },
  })
  const answer = await sendRaw(gateway.port, [`${GET}A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n`])
  assert.deepEqual(statusesOf(answer.text), [431])
  assert.match(answer.text, /GW_HEADERS_TOO_LARGE/)
})

testEngines('header bytes beyond the limit are answered 431', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { headerBytes: 300 } },
  })
  const answer = await sendRaw(gateway.port, [`${GET}A: ${'x'.repeat(400)}\r\n\r\n`])
  assert.deepEqual(statusesOf(answer.text), [431])
})

testEngines('a URL beyond the limit is answered 414', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { urlBytes: 100 } },
  })
  const answer = await sendRaw(gateway.port, [`GET /${'a'.repeat(200)} HTTP/1.1\r\nHost: a\r\n\r\n`])
  assert.deepEqual(statusesOf(answer.text), [414])
  assert.match(answer.text, /GW_URL_TOO_LONG/)
})

testEngines(
  'a body over the limit is answered 413, whether its length is announced or not, and the response arrives',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { limits: { bodyBytes: 1000 } },
    })
    const announced = await sendRaw(gateway.port, [
      `${POST}Content-Length: 2000000\r\n\r\n`,
      Buffer.alloc(2_000_000, 97),
    ])
    assert.deepEqual(statusesOf(announced.text), [413])
    const chunks = '200\r\n' + 'a'.repeat(512) + '\r\n'
    const pieces = [`${POST}Transfer-Encoding: chunked\r\n\r\n`, chunks, chunks, chunks, chunks]
    const streamed = await sendRaw(gateway.port, pieces, { gapMs: 20 })
    assert.deepEqual(statusesOf(streamed.text), [413], streamed.text)
    assert.match(streamed.text, /connection: close/i)
  },
)

testEngines('HEAD has the length of GET and no body, and the connection stays open', async (t, start) => {
  const origin = await httpOrigin(t, (_, res) => {
    res.setHeader('content-length', 5)
    res.end('hello')
  })
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const pieces = ['HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n', `${GET}Connection: close\r\n\r\n`]
  const answer = await sendRaw(gateway.port, pieces, { gapMs: 200 })
  assert.deepEqual(statusesOf(answer.text), [200, 200])
  assert.equal(answer.text.match(/hello/g)?.length, 1)
  assert.match(answer.text, /content-length: 5/i)
})

for (const status of [204, 304]) {
  testEngines(
    `${status} has no body and no Content-Length, and the connection stays open`,
    async (t, start) => {
      const origin = await httpOrigin(t, (_, res) => {
        res.statusCode = status
        res.setHeader('etag', '"x"')
        res.end()
      })
      const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
      const answer = await sendRaw(gateway.port, [`${GET}\r\n`, `${GET}Connection: close\r\n\r\n`], {
        gapMs: 200,
      })
      assert.deepEqual(statusesOf(answer.text), [status, status])
      assert.doesNotMatch(answer.text, /content-length/i)
      assert.match(answer.text, /etag: "x"/i)
    },
  )
}

testEngines('the listener sends neither its name nor two dates', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [`${GET}Connection: close\r\n\r\n`])
  assert.equal(answer.text.match(/^date:/gim)?.length, 1)
  assert.doesNotMatch(answer.text, /uwebsockets/i)
})

testEngines(
  'a listener that forwards paths as received keeps the bytes of path and query',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { paths: 'as-received' },
    })
    const answer = await sendRaw(gateway.port, [
      'GET /a/%7Eb//c/d?x=%2f&y=+ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ])
    assert.ok(answer.text.includes('"url":"/a/%7Eb//c/d?x=%2f&y=+"'), answer.text)
  },
)

testEngines(
  'a strict listener refuses every path that is not canonical or is ambiguous',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { paths: 'strict' },
    })
    for (const path of [
      '/a//b',
      '/a/../b',
      '/%7Eb',
      '/a%2fb',
      '/a%2Fb',
      '/a%5Cb',
      '/a;x',
      '/a%3Bx',
      '/a%252Fb',
    ]) {
      const answer = await sendRaw(gateway.port, [`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`])
      assert.deepEqual(statusesOf(answer.text), [400], path)
    }
  },
)

testEngines('a request body that stops arriving is answered 408', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyIdleMs: 200 } },
  })
  const answer = await sendRaw(gateway.port, [`${POST}Content-Length: 100\r\n\r\nabc`], { waitMs: 4000 })
  assert.deepEqual(statusesOf(answer.text), [408])
  assert.match(answer.text, /GW_REQUEST_TIMEOUT/)
  await until(() => gateway.plane.inFlight === 0)
})

testEngines('a connection serves the next request after a large upload', async (t, start) => {
  const origin = await echoOrigin(t)
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyBytes: 2e8 } },
  })
  const size = 50_000_000
  const pieces = [`${POST}Content-Length: ${size}\r\n\r\n`, Buffer.alloc(size, 97)]
  const isDone = (text: string): boolean => statusesOf(text).length === 2 && text.includes('"url":"/next"')
  const next = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'
  const answer = await sendRaw(gateway.port, pieces, {
    waitMs: 9000,
    until: isDone,
    reply: (text) => (statusesOf(text).length === 1 && text.includes(`"bytes":${size}`) ? next : null),
  })
  assert.deepEqual(statusesOf(answer.text), [200, 200])
})
