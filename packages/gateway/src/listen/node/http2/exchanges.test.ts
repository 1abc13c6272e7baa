import assert from 'node:assert/strict'
import http2 from 'node:http2'
import { type TestContext, test } from 'node:test'
import { until } from '../../../testing/gateway.js'
import type { ClientStream } from '../../listener.js'
import {
  connectHttp2,
  END_HEADERS,
  END_STREAM,
  FRAME,
  fieldsOf,
  frame,
  opening,
  request,
} from './testing/raw-client.js'
import { type Served, serveHttp2 } from './testing/serve.js'

const PROTOCOL_ERROR = 1

/** Answers at once, without a body. */
const answerOk = (client: ClientStream): void => client.send(200, [], null)

/** A request through the client of node:http2, which ends with the test. */
async function call(
  t: TestContext,
  { port }: Served,
  headers: http2.OutgoingHttpHeaders,
  body?: string,
): Promise<{ status: number; headers: http2.IncomingHttpHeaders; sum: unknown; body: string }> {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  const stream = session.request(headers, { endStream: body === undefined })
  let text = ''
  let sum: unknown
  stream.on('data', (chunk) => (text += String(chunk)))
  stream.on('trailers', (fields) => (sum = fields['x-sum']))
  if (body !== undefined) stream.end(body)
  const response = await new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
    stream.once('response', resolve)
    stream.once('error', reject)
  })
  await new Promise((resolve) => stream.once('close', resolve))
  return { status: Number(response[':status']), headers: response, sum, body: text }
}

test('pseudo-header fields fill the exchange, and cookie crumbs become one field', async (t) => {
  const served = await serveHttp2(t, answerOk)
  const client = await connectHttp2(t, served.port)
  const crumbs: [string, string][] = [
    ['cookie', 'a=1'],
    ['x-a', '1'],
    ['cookie', 'b=2'],
  ]
  client.send(
    request(1, [...fieldsOf({ ':path': '/a/./b?c=d', ':authority': 'Host.Example:81' }), ...crumbs]),
  )
  await until(() => served.taken.length === 1)
  const { x } = served.taken[0]!
  assert.equal(x.httpVersion, '2')
  assert.deepEqual(
    [x.method, x.authority, x.host, x.path, x.query],
    ['GET', 'Host.Example:81', 'host.example', '/a/b', 'c=d'],
  )
  assert.deepEqual([x.scheme, x.peer, x.clientIp, x.contentLength], ['http', '127.0.0.1', '127.0.0.1', 0])
  assert.deepEqual(x.headers, ['x-a', '1', 'cookie', 'a=1; b=2'])
})

const REFUSED: [string, Record<string, string>, number][] = [
  ['a Host that differs from :authority', { host: 'b' }, 400],
  ['a Host that is the same in other letters', { host: 'A' }, 200],
  ['a scheme that is not of HTTP', { ':scheme': 'ftp' }, 400],
  ['the scheme of a TLS proxy in front', { ':scheme': 'https' }, 200],
  ['a method in lower case', { ':method': 'post' }, 501],
  ['TRACE', { ':method': 'TRACE' }, 501],
  ['CONNECT', { ':method': 'CONNECT' }, 501],
  ['a value with a space at its end', { 'x-a': 'a ' }, 400],
  ['a value with a control character', { 'x-a': 'a\x01b' }, 400],
  ['a path with bytes that must be escaped', { ':path': '/a#b' }, 400],
  ['a target that is too long', { ':path': `/${'a'.repeat(900)}` }, 414],
  ['a head that is too large', { 'x-a': 'a'.repeat(5000) }, 431],
]

for (const [what, changed, status] of REFUSED) {
  test(`${what} is answered ${status}`, async (t) => {
    const served = await serveHttp2(t, answerOk, { settings: { headerBytes: 4096, urlBytes: 512 } })
    const client = await connectHttp2(t, served.port)
    client.send(request(1, fieldsOf(changed)))
    await until(() => served.taken.length === 1)
    assert.equal(served.taken[0]!.refused?.status ?? 200, status)
    await until(() => client.frames.some(({ stream, flags }) => stream === 1 && (flags & END_STREAM) !== 0))
  })
}

test('a request whose :authority has a user is answered 400', async (t) => {
  const served = await serveHttp2(t, answerOk)
  const client = await connectHttp2(t, served.port)
  client.send(request(1, fieldsOf({ ':authority': 'me@a' })))
  await until(() => served.taken.length === 1)
  assert.equal(served.taken[0]!.refused?.status, 400)
})

test('a head beyond the largest frame is answered 431 too', async (t) => {
  const served = await serveHttp2(t, answerOk)
  await call(t, served, { 'x-a': 'a'.repeat(20_000), 'x-b': 'b'.repeat(20_000) })
  assert.equal(served.taken[0]!.refused!.status, 431)
})

test('more fields than the listener accepts are answered 431; cookie crumbs count as one', async (t) => {
  const served = await serveHttp2(t, answerOk, { settings: { headers: 20 } })
  const client = await connectHttp2(t, served.port)
  const many = (name: string): [string, string][] => Array.from({ length: 30 }, () => [name, 'a=b'])
  client.send(request(1, [...fieldsOf({}), ...many('x-a')]), request(3, [...fieldsOf({}), ...many('cookie')]))
  await until(() => served.taken.length === 2)
  assert.deepEqual(
    served.taken.map(({ refused }) => refused?.status ?? 200),
    [431, 200],
  )
})

const MALFORMED: [string, [string, string][]][] = [
  ['connection', [...fieldsOf({ connection: 'close' })]],
  ['transfer-encoding', [...fieldsOf({ 'transfer-encoding': 'chunked' })]],
  ['te other than trailers', [...fieldsOf({ te: 'gzip' })]],
  ['a name with a space', [...fieldsOf({ 'x b': '1' })]],
  ['an empty name', [...fieldsOf({ '': '1' })]],
  ['a name in upper case', [...fieldsOf({ 'X-A': 'b' })]],
  ['an unknown pseudo-header field', [...fieldsOf({ ':x': 'b' })]],
  ['a second :path', [...fieldsOf({}), [':path', '/b']]],
  ['no :path', fieldsOf({}).filter(([name]) => name !== ':path')],
  ['an empty :path', fieldsOf({ ':path': '' })],
  ['a pseudo-header field after others', [['x-a', 'b'], ...fieldsOf({})]],
  ['a second Content-Length', [...fieldsOf({ 'content-length': '0' }), ['content-length', '1']]],
  ['a Content-Length without a body', fieldsOf({ 'content-length': '1' })],
]

for (const [what, fields] of MALFORMED) {
  test(`a request with ${what} is reset, and the connection stays open`, async (t) => {
    const served = await serveHttp2(t, answerOk)
    const client = await connectHttp2(t, served.port)
    client.send(request(1, fields), request(3))
    await until(() => client.resetOf(1) !== null && served.taken.length > 0)
    assert.equal(client.resetOf(1), PROTOCOL_ERROR)
    await until(() => client.frames.some(({ stream, type }) => stream === 3 && type === FRAME.headers))
    assert.equal(served.taken.at(-1)!.refused, null)
  })
}

test('a body that is longer or shorter than its Content-Length ends its request', async (t) => {
  let ends = 0
  const served = await serveHttp2(t, (client) =>
    client.readBody({ onBodyChunk: (_, isLast) => void (isLast && ends++) }),
  )
  const client = await connectHttp2(t, served.port)
  for (const [stream, body] of [
    [1, 'abc'],
    [3, 'abcde'],
  ] as const) {
    client.send(opening(stream, fieldsOf({ ':method': 'POST', 'content-length': '4' })))
    await until(() => served.taken.length === (stream + 1) / 2)
    client.send(frame(FRAME.data, END_STREAM, stream, Buffer.from(body)))
    await until(() => client.resetOf(stream) === PROTOCOL_ERROR)
  }
  await until(() => served.taken.every(({ isAborted }) => isAborted))
  assert.equal(ends, 0)
})

test('a body arrives with its trailers, and without a length if none was announced', async (t) => {
  const seen: string[] = []
  const served = await serveHttp2(t, (client) =>
    client.readBody({
      onBodyChunk(chunk, isLast, trailers) {
        seen.push(Buffer.from(chunk).toString())
        if (!isLast) return
        seen.push(JSON.stringify(trailers))
        client.send(200, [], null)
      },
    }),
  )
  const session = http2.connect(`http://127.0.0.1:${served.port}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }))
  stream.end('abc')
  await new Promise((resolve) => stream.resume().once('close', resolve))
  assert.deepEqual(seen, ['abc', '', '["x-sum","7"]'])
  assert.equal(served.taken[0]!.x.contentLength, -1)
})

test('responses go out whole, streamed with and without trailers, and without a body', async (t) => {
  const big = Buffer.alloc(3_000_000, 'x')
  const served = await serveHttp2(t, (client, { path }) => {
    if (path === '/whole')
      client.send(200, ['x-a', '1', 'x-a', '2', 'set-cookie', 'a', 'set-cookie', 'b'], 'whole')
    else if (path === '/head') client.sendHead(200, ['x-a', '1'], 42)
    else if (path === '/none') client.sendHead(204, [], -1)
    else {
      client.start(200, ['connection', 'close'], path === '/known' ? big.length : -1)
      client.write(big)
      client.end(path === '/trailers' ? ['x-sum', '7', 'x-bad', 'a\nb'] : null)
    }
  })
  const whole = await call(t, served, { ':path': '/whole' })
  assert.deepEqual([whole.status, whole.body, whole.headers['x-a']], [200, 'whole', '1, 2'])
  assert.deepEqual([whole.headers['set-cookie'], whole.headers['content-length']], [['a', 'b'], '5'])
  const head = await call(t, served, { ':path': '/head', ':method': 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '42', ''])
  const none = await call(t, served, { ':path': '/none' })
  assert.deepEqual([none.status, none.headers['content-length'], none.body], [204, undefined, ''])
  for (const path of ['/known', '/unknown', '/trailers']) {
    const { headers, body, sum } = await call(t, served, { ':path': path })
    assert.equal(body.length, big.length, path)
    assert.equal(headers['content-length'], path === '/known' ? String(big.length) : undefined)
    assert.equal(sum, path === '/trailers' ? '7' : undefined, path)
  }
})

for (const [what, length, bytes] of [
  ['falls short of', 5, 4],
  ['exceeds', 3, 4],
] as const) {
  test(`a response that ${what} its length is reset`, async (t) => {
    const served = await serveHttp2(t, (client) => {
      client.start(200, [], length)
      client.write(Buffer.alloc(bytes))
      client.end()
    })
    const client = await connectHttp2(t, served.port)
    client.send(request(1))
    await until(() => client.resetOf(1) === 2)
  })
}

test('an early response arrives complete, and the rest of the upload is refused without an error', async (t) => {
  const served = await serveHttp2(t, (client) => {
    client.readBody({ onBodyChunk() {} })
    client.send(200, [], 'early')
  })
  const client = await connectHttp2(t, served.port)
  client.send(opening(1, fieldsOf({ ':method': 'POST' })), frame(FRAME.data, 0, 1, Buffer.alloc(1000)))
  await until(() => client.resetOf(1) === 0)
  const ended = client.frames.findIndex(
    ({ stream, flags, type }) => stream === 1 && type === FRAME.data && flags === 1,
  )
  const reset = client.frames.findIndex(({ type }) => type === FRAME.reset)
  assert.ok(ended >= 0 && ended < reset)
})

test('a paused upload receives no more than its window, and goes on when resumed', async (t) => {
  let received = 0
  let isEnded = false
  let reading: ClientStream | null = null
  const served = await serveHttp2(t, (client) => {
    reading = client
    client.readBody({
      onBodyChunk(chunk, isLast) {
        if (received === 0) client.pauseBody()
        received += chunk.length
        isEnded = isLast
        if (isLast) client.send(200, [], null)
      },
    })
  })
  const bytes = 2_000_000
  const session = http2.connect(`http://127.0.0.1:${served.port}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST' })
  stream.end(Buffer.alloc(bytes))
  await until(() => received > 0)
  // Another request, started later, is answered: the connection is not blocked.
  await new Promise((resolve) => session.ping(resolve))
  assert.ok(received <= 128 * 1024)
  reading!.resumeBody()
  await until(() => isEnded)
  assert.equal(received, bytes)
})

for (const [what, code] of [
  ['CANCEL', 8],
  ['NO_ERROR', 0],
] as const) {
  test(`a reset with ${what} in the middle of an upload is an abort, never its end`, async (t) => {
    let ends = 0
    const served = await serveHttp2(t, (client) => {
      client.readBody({ onBodyChunk: (_, isLast) => void (isLast && ends++) })
      client.pauseBody()
    })
    const client = await connectHttp2(t, served.port)
    client.send(opening(1, fieldsOf({ ':method': 'POST' })), frame(FRAME.data, 0, 1, Buffer.alloc(1000)))
    await until(() => served.taken.length === 1)
    client.send(frame(FRAME.reset, 0, 1, Buffer.from([0, 0, 0, code])))
    await until(() => served.taken[0]!.isAborted)
    assert.equal(ends, 0)
    assert.equal(served.taken[0]!.client.isGone, true)
    client.send(request(3))
    await until(() => served.taken.length === 2)
  })
}

test('a connection that is lost aborts its requests', async (t) => {
  const served = await serveHttp2(t, () => {})
  const session = http2.connect(`http://127.0.0.1:${served.port}`)
  for (const path of ['/a', '/b']) session.request({ ':path': path }).on('error', () => {})
  await until(() => served.taken.length === 2)
  session.destroy()
  await until(() => served.taken.every(({ isAborted }) => isAborted) && served.sessions.size === 0)
})

test('100 Continue is sent when the body is read, not before', async (t) => {
  const served = await serveHttp2(t, () => {})
  const client = await connectHttp2(t, served.port)
  client.send(opening(1, fieldsOf({ ':method': 'POST', expect: '100-continue' })))
  await until(() => served.taken.length === 1)
  client.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)))
  await until(() => client.frames.some(({ type }) => type === FRAME.ping))
  assert.equal(client.frames.filter(({ type }) => type === FRAME.headers).length, 0)
  served.taken[0]!.client.readBody({ onBodyChunk() {} })
  await until(() => client.frames.some(({ type, flags }) => type === FRAME.headers && flags === END_HEADERS))
})

test('closing announces the last request, finishes it, and then closes the connection', async (t) => {
  const served = await serveHttp2(t, () => {})
  const client = await connectHttp2(t, served.port)
  client.send(request(1))
  await until(() => served.taken.length === 1)
  served.sessions.close()
  await until(() => client.goaway === 0)
  assert.equal(client.frames.find(({ type }) => type === FRAME.goaway)!.payload.readUInt32BE(0), 1)
  // An upload that crosses GOAWAY is ignored, and does not end the connection.
  const upload = [
    opening(3, fieldsOf({ ':method': 'POST' })),
    frame(FRAME.data, END_STREAM, 3, Buffer.alloc(9)),
  ]
  client.send(...upload, frame(FRAME.ping, 0, 0, Buffer.alloc(8)))
  await until(() => client.frames.some(({ type }) => type === FRAME.ping))
  assert.equal(client.isClosed, false)
  served.taken[0]!.client.send(200, [], 'last')
  await until(() => client.isClosed)
  assert.equal(served.taken.length, 1)
  assert.ok(
    client.frames.some(({ stream, type, flags }) => stream === 1 && type === FRAME.data && flags === 1),
  )
})

test('a new connection has its first request answered while the listener closes', async (t) => {
  const served = await serveHttp2(t, answerOk)
  served.sessions.close()
  const client = await connectHttp2(t, served.port)
  client.send(request(1))
  await until(() => client.isClosed)
  assert.equal(client.frames.filter(({ type }) => type === FRAME.headers).length, 1)
  assert.equal(client.goaway, 0)
})

test('TLS clients get HTTP/2 by ALPN', async (t) => {
  const served = await serveHttp2(t, (client, x) => client.send(200, [], x.scheme), { isTls: true })
  const session = http2.connect(`https://127.0.0.1:${served.port}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  let body = ''
  const stream = session.request({}).on('data', (chunk) => (body += String(chunk)))
  await new Promise((resolve) => stream.once('close', resolve))
  assert.equal(body, 'https')
})
