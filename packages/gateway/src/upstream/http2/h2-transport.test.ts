import assert from 'node:assert/strict'
import type http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Asked, areOver, ask, askAll } from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import {
  DATA,
  END_HEADERS,
  echoPath,
  frame,
  framesOrigin,
  HEADERS,
  h2Origin,
  h2To,
  type OnStream,
  RST_STREAM,
  STATUS_200,
} from '../../testing/h2-origin.js'
import type { H2TransportOptions } from './h2-transport.js'

test('requests share a connection, and each gets its own response', async (t) => {
  const origin = await h2Origin(t, echoPath)
  const transport = h2To(t, origin.port)
  const paths = Array.from({ length: 50 }, (_, i) => `/${i}`)
  const asked = askAll(transport, ...paths)
  await until(() => areOver(asked))
  assert.deepEqual(
    asked.map(({ body }) => body),
    paths,
  )
  assert.equal(origin.sessions.length, 1)
  assert.deepEqual(transport.pool(), { busy: 0, free: 1, pending: 0 })
})

test('more requests than the target allows go over another connection, then wait', async (t) => {
  const open: http2.ServerHttp2Stream[] = []
  const origin = await h2Origin(
    t,
    (stream, headers) => {
      if (headers[':path'] === '/first') echoPath(stream, headers)
      else open.push(stream)
    },
    { settings: { maxConcurrentStreams: 2 } },
  )
  const transport = h2To(t, origin.port)
  // The target's settings arrive with its first response.
  const first = ask(transport, '/first')
  await until(() => first.end === 'complete')
  const asked = askAll(transport, '/1', '/2', '/3')
  await until(() => open.length === 3)
  assert.equal(origin.sessions.length, 2)
  const more = askAll(transport, '/4', '/5')
  await until(() => open.length === 4)
  assert.equal(transport.pool().pending, 1)
  for (let i = 0; i < 5; i++) {
    await until(() => open.length > i)
    open[i]!.respond({ ':status': 200 })
    open[i]!.end('ok')
  }
  await until(() => areOver([...asked, ...more]))
  assert.equal(origin.sessions.length, 2)
})

test('trailers arrive after the body, and gRPC servers are told that they are accepted', async (t) => {
  const origin = await h2Origin(t, (stream, headers) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', te: undefined },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-te': headers.te ?? 'none' }))
    stream.end('abc')
  })
  const transport = h2To(t, origin.port)
  const observer = new Asked('/')
  const request = {
    id: '',
    method: 'POST',
    path: '/',
    host: 'a',
    headers: ['content-type', 'application/grpc+proto'],
    body: Buffer.from('in'),
    upload: null,
    connectMs: 10_000,
  }
  transport.dispatch(request, observer, false)
  await until(() => observer.end === 'complete')
  assert.equal(observer.body, 'abc')
  assert.deepEqual(observer.trailers, ['grpc-status', '0', 'x-te', 'trailers'])
})

test('a streamed body arrives complete, with its trailers', async (t) => {
  let received = ''
  const origin = await h2Origin(t, (stream) => {
    stream.on('trailers', (fields) => {
      received += `|${fields['x-sum']}`
    })
    stream.on('data', (chunk) => {
      received += chunk
    })
    stream.on('end', () => {
      stream.respond({ ':status': 200 })
      stream.end()
    })
  })
  const transport = h2To(t, origin.port)
  const upload = transport.createUpload(-1, () => {})
  const observer = new Asked('/')
  const request = {
    id: '',
    method: 'POST',
    path: '/',
    host: 'a',
    headers: [],
    body: null,
    upload,
    connectMs: 10_000,
  }
  transport.dispatch(request, observer, false)
  upload.add(Buffer.from('one '))
  upload.add(Buffer.from('two'))
  upload.end(['x-sum', '7', 'content-length', '1'])
  await until(() => observer.end === 'complete')
  assert.equal(received, 'one two|7')
})

/** The result of one request to a target that treats its stream this way. */
async function failureOfStream(
  t: TestContext,
  onStream: OnStream,
  overrides?: Partial<H2TransportOptions>,
): Promise<Asked> {
  const origin = await h2Origin(t, onStream)
  const asked = ask(h2To(t, origin.port, overrides), '/')
  await until(() => asked.end !== 'not yet')
  return asked
}

test('a stream that is reset before or within its response fails, whatever the code', async (t) => {
  for (const code of [0, 2, 7, 8]) {
    const reset = frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code]))
    const port = await framesOrigin(t, reset)
    const before = ask(h2To(t, port), '/')
    await until(() => before.end !== 'not yet')
    assert.equal(before.failure?.code, 'GW_UPSTREAM_RESET', `code ${code}`)
    if (code === 0) continue
    const head = frame(HEADERS, END_HEADERS, 1, STATUS_200)
    const cut = await framesOrigin(t, head, frame(DATA, 0, 1, Buffer.from('abc')), reset)
    const within = ask(h2To(t, cut), '/')
    await until(() => within.end !== 'not yet')
    assert.deepEqual([within.end, within.status], ['failed', 200], `code ${code}`)
  }
})

test('a response that is shorter than announced fails', async (t) => {
  const asked = await failureOfStream(t, (stream) => {
    stream.respond({ ':status': 200, 'content-length': 5 })
    stream.end('abc')
  })
  assert.equal(asked.end, 'failed')
})

test('a head over the size limit fails', async (t) => {
  const respond: OnStream = (stream) => {
    stream.respond({ ':status': 200, 'x-long': 'x'.repeat(2000) })
    stream.end()
  }
  const asked = await failureOfStream(t, respond, { maxHeaderBytes: 1024 })
  assert.deepEqual([asked.failure?.code, asked.status], ['GW_UPSTREAM_INVALID', 0])
})

test('a lost connection fails its requests, and the next one opens another', async (t) => {
  const origin = await h2Origin(t, (stream, headers) => {
    if (headers[':path'] === '/lost') stream.session!.destroy()
    else echoPath(stream, headers)
  })
  const transport = h2To(t, origin.port)
  const lost = ask(transport, '/lost')
  await until(() => lost.end === 'failed')
  const next = ask(transport, '/next')
  await until(() => next.end === 'complete')
  assert.equal(origin.sessions.length, 2)
})

test('requests waiting when a connection is lost use the next one', async (t) => {
  for (const how of ['reset', 'end'] as const) {
    const open: http2.ServerHttp2Stream[] = []
    const origin = await h2Origin(
      t,
      (stream, headers) => {
        if (headers[':path'] === '/lost') open.push(stream)
        else echoPath(stream, headers)
      },
      { settings: { maxConcurrentStreams: 1 } },
    )
    const transport = h2To(t, origin.port, { connections: 1 })
    const first = ask(transport, '/first')
    await until(() => first.end === 'complete')
    const lost = ask(transport, '/lost')
    const waiting = ask(transport, '/2')
    await until(() => open.length === 1 && transport.pool().pending === 1)
    if (how === 'reset') origin.sockets[0]!.resetAndDestroy()
    else origin.sockets[0]!.destroy()
    await until(() => areOver([lost, waiting]))
    assert.deepEqual([lost.end, waiting.end], ['failed', 'complete'])
  }
})

test('after GOAWAY the streams in progress complete, and new ones use another connection', async (t) => {
  const open: http2.ServerHttp2Stream[] = []
  const origin = await h2Origin(t, (stream) => void open.push(stream))
  const transport = h2To(t, origin.port)
  const first = ask(transport, '/1')
  await until(() => open.length === 1)
  origin.sessions[0]!.goaway()
  await until(() => {
    if (origin.sessions.length < 2) ask(transport, '/probe').attempt!.abort()
    return origin.sessions.length === 2
  })
  const second = ask(transport, '/2')
  await until(() => open.some(({ session }) => session === origin.sessions[1]))
  for (const stream of open) if (!stream.destroyed) stream.respond({ ':status': 204 }, { endStream: true })
  await until(() => areOver([first]) && second.starts === 1)
  assert.equal(first.end, 'complete')
})

test('a client that reads slowly delays only its own stream', async (t) => {
  const large = Buffer.alloc(4 * 1024 * 1024)
  let written = 0
  const origin = await h2Origin(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    if (headers[':path'] !== '/large') stream.end('ok')
    else stream.end(large, () => (written = large.length))
  })
  const transport = h2To(t, origin.port)
  const slow = ask(transport, '/large')
  slow.onPiece = () => slow.attempt!.pause()
  await until(() => slow.body.length > 0)
  const quick = ask(transport, '/quick')
  await until(() => quick.end === 'complete')
  assert.ok(slow.body.length < 1024 * 1024)
  assert.equal(written, 0)
  slow.onPiece = () => {}
  slow.attempt!.resume()
  await until(() => slow.end === 'complete')
  assert.equal(slow.body.length, large.length)
})

test('idle and old connections are closed, and close() waits for requests in progress', async (t) => {
  const open: http2.ServerHttp2Stream[] = []
  const origin = await h2Origin(t, (stream, headers) => {
    if (headers[':path'] === '/held') open.push(stream)
    else echoPath(stream, headers)
  })
  const transport = h2To(t, origin.port, { keepAliveMs: 20 })
  const first = ask(transport, '/1')
  await until(() => first.end === 'complete')
  await until(() => origin.sessions[0]!.destroyed)
  const held = ask(transport, '/held')
  await until(() => open.length === 1)
  const closed = transport.close()
  open[0]!.respond({ ':status': 200 })
  open[0]!.end('held')
  await closed
  assert.deepEqual([held.end, held.body], ['complete', 'held'])
})

test('a target that is silent and does not answer a ping loses its connection', async (t) => {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    // It accepts everything and sends only its settings.
    socket.resume().write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const transport = h2To(t, (server.address() as AddressInfo).port)
  const silent = ask(transport, '/')
  await until(() => silent.starts === 1 && transport.pool().busy === 1)
  silent.attempt!.abort()
  await until(() => transport.pool().busy + transport.pool().free === 0)
})
