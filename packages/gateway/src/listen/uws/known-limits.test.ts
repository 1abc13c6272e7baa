import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, until } from '../../testing/gateway.js'
import { echoOrigin, httpOrigin } from '../../testing/origin.js'
import { sendRaw, statusesOf } from '../../testing/raw-client.js'

// Limits that JavaScript cannot detect or change: listed in docs/guides/engines.md, pinned here.

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST /a HTTP/1.1\r\nHost: a\r\n'

const LIMITS: readonly {
  readonly name: string
  readonly pieces: readonly string[]
  readonly expected: RegExp
}[] = [
  { name: 'HTTP/1.0', pieces: ['GET /a HTTP/1.0\r\nHost: a\r\n\r\n'], expected: /^HTTP\/1\.1 505 / },
  {
    name: 'the absolute form',
    pieces: ['GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n'],
    expected: /^HTTP\/1\.1 505 /,
  },
  { name: 'OPTIONS *', pieces: ['OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'], expected: /^HTTP\/1\.1 505 / },
  {
    name: 'a request line split behind the method',
    pieces: ['GET ', '/a HTTP/1.1\r\nHost: a\r\n\r\n'],
    expected: /^HTTP\/1\.1 505 /,
  },
  {
    name: 'a request line split inside its version',
    pieces: ['GET /a HTT', 'P/1.1\r\nHost: a\r\n\r\n'],
    expected: /^HTTP\/1\.1 505 /,
  },
  {
    name: 'CONNECT',
    pieces: ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
    expected: /^HTTP\/1\.1 505 /,
  },
  {
    name: 'an HTTP/2 preface',
    pieces: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    expected: /^HTTP\/1\.1 505 /,
  },
  {
    name: 'a head of 99 lines',
    pieces: [`GET /a HTTP/1.1\r\nHost: a\r\n${'X-Line: 1\r\n'.repeat(98)}\r\n`],
    expected: /^HTTP\/1\.1 431 (?!.*problem)/s,
  },
  {
    name: 'trailers behind a chunked body',
    pieces: [`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n`],
    // The connection closes with bytes unread, so the reset may overtake the 505.
    expected: /^(HTTP\/1\.1 505 |$)/,
  },
  { name: 'pipelining while a response is pending', pieces: [`${GET}\r\n${GET}\r\n`], expected: /^$/ },
]

for (const { name, pieces, expected } of LIMITS) {
  test(`known limit: ${name} is refused by closing`, async (t) => {
    const origin = await echoOrigin(t)
    const gateway = await startGateway(t, {
      upstreams: [{ urls: [origin.url] }],
      listener: { limits: { headers: 1000 } },
    })
    const answer = await sendRaw(gateway.port, pieces, { gapMs: 30 })
    assert.match(answer.text, expected)
    assert.equal(answer.isClosed, true)
    await until(() => gateway.plane.inFlight === 0)
  })
}

test('known limit: a chunk extension is read as part of the size, so the body never ends', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url] }],
    listener: { limits: { bodyIdleMs: 200 } },
  })
  const body = '3;a=b\r\nabc\r\n0\r\n\r\n'
  const answer = await sendRaw(gateway.port, [`${POST}Transfer-Encoding: chunked\r\n\r\n${body}`], {
    waitMs: 8000,
  })
  assert.deepEqual(statusesOf(answer.text), [408])
  assert.equal(answer.isClosed, true)
})

test('known limit: any bytes in place of a chunk terminator are accepted as it', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n`])
  assert.deepEqual(statusesOf(answer.text), [200])
  assert.match(answer.text, /"bytes":3/)
  assert.equal(answer.isClosed, true)
})

test('known limit: a chunked body ends with its last size line, so the response may close before the line after it', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n`])
  assert.deepEqual(statusesOf(answer.text), [200])
  assert.match(answer.text, /"bytes":3/)
  assert.equal(answer.isClosed, true)
})

test('known limit: an empty field name hides the fields after it', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  const answer = await sendRaw(gateway.port, [`${GET}X-Seen: 1\r\n: v\r\nX-Hidden: 1\r\n\r\n`])
  assert.deepEqual(statusesOf(answer.text), [200])
  assert.match(answer.text, /"x-seen":"1"/)
  assert.doesNotMatch(answer.text, /x-hidden/)
})

test('known limit: bytes from 0x80 on are stripped at the ends of a value', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  const bytes = Buffer.from(`${GET}X-Name: \xe9Jos\xe9\r\nConnection: close\r\n\r\n`, 'latin1')
  const answer = await sendRaw(gateway.port, [bytes])
  assert.deepEqual(statusesOf(answer.text), [200])
  assert.match(answer.text, /"x-name":"Jos"/)
})

test('known limit: bytes from 0x80 on inside a value are refused, because UTF-8 would replace them', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  for (const value of ['Jos\xe9 M', 'Jos\xc3\xa9 M']) {
    const answer = await sendRaw(gateway.port, [Buffer.from(`${GET}X-Name: ${value}\r\n\r\n`, 'latin1')])
    assert.deepEqual(statusesOf(answer.text), [400])
    assert.match(answer.text, /GW_BAD_REQUEST/)
  }
  assert.equal(origin.connections(), 0)
})

test('known limit: security-relevant fields lose such bytes at their ends, too', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  for (const fields of ['Content-Length: 3\xff\r\nHost: a', 'Content-Length: 3\r\nHost: a\xff']) {
    const bytes = Buffer.from(`POST /a HTTP/1.1\r\n${fields}\r\nConnection: close\r\n\r\nabc`, 'latin1')
    const answer = await sendRaw(gateway.port, [bytes])
    assert.deepEqual(statusesOf(answer.text), [200])
    assert.match(answer.text, /"host":"a".*"bytes":3/)
  }
})

const UNANSWERED = {
  'an empty line before a request': '\r\n',
  'a NUL in a field': `${GET}X-Name: a\0b\r\n\r\n`,
  'a bare LF behind a field': `${GET}X-Name: a\nX-Next: b\r\n\r\n`,
  'a space before a colon': `${GET}X-Name : a\r\n\r\n`,
  'a folded field': `${GET}X-Name: a\r\n b\r\n\r\n`,
  'a field without a colon': `${GET}X-Name\r\n\r\n`,
}
test('known limit: an invalid head waits for the end of its connection, also before other requests', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  const answers = await Promise.all(
    Object.entries(UNANSWERED).map(async ([name, bytes]) => {
      const answer = await sendRaw(gateway.port, [`${bytes}${GET}\r\n`], { waitMs: 60_000 })
      return { name, ...answer }
    }),
  )
  for (const { name, text, isClosed } of answers) assert.deepEqual([text, isClosed], ['', true], name)
  assert.equal(origin.connections(), 0)
})

for (const status of [204, 304]) {
  test(`known limit: ${status} on a connection that must close has Content-Length: 0`, async (t) => {
    const origin = await httpOrigin(t, (req, res) => {
      res.statusCode = status
      req.resume().on('end', () => res.end())
    })
    const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
    const answer = await sendRaw(gateway.port, [`${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`])
    assert.deepEqual(statusesOf(answer.text), [status])
    assert.match(answer.text, /content-length: 0/i)
    assert.equal(answer.isClosed, true)
  })
}
