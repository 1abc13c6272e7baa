import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../../../testing/gateway.js'
import type { ClientStream } from '../../listener.js'
import type { WaitingStream } from './stream-queue.js'
import {
  block,
  connectHttp2,
  END_HEADERS,
  END_STREAM,
  FRAME,
  fieldsOf,
  frame,
  opening,
  type RawHttp2Client,
  request,
  uint32,
} from './testing/raw-client.js'
import { type Served, serveHttp2 } from './testing/serve.js'

const ENHANCE_YOUR_CALM = 11
const PING = frame(FRAME.ping, 0, 0, Buffer.alloc(8))

const answerOk = (client: ClientStream): void => client.send(200, [], 'ok')

async function attacked(t: TestContext, answer = answerOk): Promise<[Served, RawHttp2Client]> {
  const served = await serveHttp2(t, answer)
  return [served, await connectHttp2(t, served.port)]
}

/** Sends the same frames repeatedly, once per turn of the event loop. Fails if the connection is never closed. */
async function flood(client: RawHttp2Client, next: (nth: number) => Buffer): Promise<void> {
  let nth = 0
  await until(() => {
    if (!client.isClosed) client.send(next(nth++))
    return client.isClosed
  })
}

function many(frames: Buffer, count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => frames))
}

/** Frames that cost work without a request. */
const FLOODS: [string, (nth: number) => Buffer][] = [
  ['PING', () => many(PING, 5000)],
  ['SETTINGS', () => many(frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 9])), 5000)],
  ['WINDOW_UPDATE', () => many(frame(FRAME.windowUpdate, 0, 0, uint32(1)), 5000)],
  ['PRIORITY', () => many(frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 0, 1])), 5000)],
  ['frames of an unknown type', () => many(frame(99, 0, 0), 5000)],
  [
    'WINDOW_UPDATE by nothing',
    (nth) => Buffer.concat([opening(2 * nth + 1), frame(FRAME.windowUpdate, 0, 2 * nth + 1, uint32(0))]),
  ],
]

for (const [what, next] of FLOODS) {
  test(`a connection that floods with ${what} is closed, others are served`, async (t) => {
    const [served, client] = await attacked(t)
    await flood(client, next)
    const other = await connectHttp2(t, served.port)
    other.send(request(1))
    await until(() => other.frames.some(({ type }) => type === FRAME.data))
  })
}

test('an occasional request does not make up for a flood, which is counted', async (t) => {
  const [served, client] = await attacked(t)
  await flood(client, (nth) => Buffer.concat([request(2 * nth + 1), many(PING, 900)]))
  assert.equal(client.goaway, ENHANCE_YOUR_CALM)
  assert.equal(served.rejected(), 1)
})

function reset(stream: number): Buffer {
  return frame(FRAME.reset, 0, stream, uint32(8))
}

/** A request followed by its reset. */
function pair(stream: number): Buffer {
  return Buffer.concat([request(stream), reset(stream)])
}

test('rapid reset: a client that opens streams and resets them at once is closed after some hundred', async (t) => {
  const [served, client] = await attacked(t, () => {})
  await flood(client, (nth) =>
    Buffer.concat(Array.from({ length: 10 }, (_, i) => pair(20 * nth + 2 * i + 1))),
  )
  assert.equal(client.goaway, ENHANCE_YOUR_CALM)
  assert.ok(served.taken.length < 1000, `${served.taken.length}`)
  await until(() => served.taken.every(({ isAborted }) => isAborted))
})

test('rapid reset in one write is limited as well', async (t) => {
  const [served, client] = await attacked(t, () => {})
  client.send(...Array.from({ length: 20_000 }, (_, nth) => pair(2 * nth + 1)))
  await until(() => client.isClosed)
  assert.ok(served.taken.length < 2500, `${served.taken.length}`)
})

test('clients that cancel some requests stay connected', async (t) => {
  const [served, client] = await attacked(t, () => {})
  const streams = Array.from({ length: 100 }, (_, nth) => 2 * nth + 1)
  client.send(...streams.map((stream) => request(stream)))
  // Requests that are reset while they wait for a turn are not dispatched.
  await until(() => served.taken.length === streams.length)
  client.send(...streams.map(reset))
  await until(() => served.taken.every(({ isAborted }) => isAborted))
  client.send(PING)
  await until(() => client.frames.some(({ type }) => type === FRAME.ping))
  assert.equal(client.isClosed, false)
})

test('a head that never ends (endless CONTINUATION) is cut', async (t) => {
  const [served, client] = await attacked(t)
  const piece = block([['x-a', 'a'.repeat(100)]])
  client.send(frame(FRAME.headers, END_STREAM, 1, block(fieldsOf({}))))
  await flood(client, () => many(frame(FRAME.continuation, 0, 1, piece), 10))
  assert.equal(served.taken.length, 0)
})

test('a head far above the limits is reset without keeping any of it', async (t) => {
  const [served, client] = await attacked(t)
  const huge = block(Array.from({ length: 14 }, () => ['x-a', 'a'.repeat(1000)] as const))
  const head = [frame(FRAME.headers, END_STREAM, 1, block(fieldsOf({})))]
  for (let i = 0; i < 6; i++) head.push(frame(FRAME.continuation, i === 5 ? 4 : 0, 1, huge))
  client.send(...head)
  await until(() => client.resetOf(1) === ENHANCE_YOUR_CALM)
  assert.equal(served.taken.length, 0)
})

test('a small head that decompresses to a large one is reset', async (t) => {
  const [served, client] = await attacked(t)
  // One long value is added to the HPACK table and then referenced by one byte each time.
  const long = Buffer.concat([Buffer.from([0x40]), block([['x-a', 'a'.repeat(3000)]]).subarray(1)])
  client.send(
    frame(FRAME.headers, 5, 1, Buffer.concat([block(fieldsOf({})), long, Buffer.alloc(2000, 0xbe)])),
  )
  await until(() => client.resetOf(1) === ENHANCE_YOUR_CALM)
  assert.equal(served.taken.length, 0)
})

test('a client that opens more streams than the listener accepts is closed', async (t) => {
  const http2 = { alpn: true, priorKnowledge: true, streams: 5 }
  const served = await serveHttp2(t, () => {}, { settings: { http2 } })
  const client = await connectHttp2(t, served.port)
  client.send(...Array.from({ length: 6 }, (_, nth) => request(2 * nth + 1)))
  await until(() => client.isClosed)
  assert.ok(served.taken.length <= 5)
})

test('a body of empty DATA frames closes the connection', async (t) => {
  const [, client] = await attacked(t, (each) => each.readBody({ onBodyChunk() {} }))
  client.send(opening(1, fieldsOf({ ':method': 'POST' })))
  await flood(client, () => many(frame(FRAME.data, 0, 1), 100))
})

test('uploads answered early do not close the connection, but data beyond their windows does', async (t) => {
  const [served, client] = await attacked(t)
  const data = frame(FRAME.data, 0, 0, Buffer.alloc(16_384))
  const dataOf = (stream: number): Buffer => {
    const bytes = Buffer.from(data)
    bytes.writeUInt32BE(stream, 5)
    return bytes
  }
  const streams = [1, 3, 5, 7, 9, 11, 13]
  // The windows of the streams, 128 KB each, nearly fill that of the connection.
  client.send(...streams.map((id) => opening(id, fieldsOf({ ':method': 'POST' }))))
  client.send(...streams.map((id) => many(dataOf(id), 8)), PING)
  await until(() => client.frames.some(({ type }) => type === FRAME.ping))
  assert.deepEqual([served.taken.length, client.isClosed], [streams.length, false])
  await flood(client, () => many(dataOf(1), 8))
  assert.equal(client.goaway, ENHANCE_YOUR_CALM)
})

test('a client that opens no window is cut once it is slower than the minimum rate', async (t) => {
  const served = await serveHttp2(t, (client) => client.send(200, [], Buffer.alloc(1000)), {
    settings: { minReadRate: 1_000_000_000 },
    lingerMs: 100,
  })
  const settings = frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))
  const client = await connectHttp2(t, served.port, { settings })
  client.send(request(1))
  await until(() => served.taken.length === 1 && served.taken[0]!.client.isGone)
  assert.equal(served.taken[0]!.isAborted, false)
  await until(() => client.resetOf(1) === 8)
})

test('the time to read a response depends on its size, not on the bytes that are left', async (t) => {
  const sizes = [1000, 1]
  const served = await serveHttp2(t, (client) => client.send(200, [], Buffer.alloc(sizes.shift()!)), {
    settings: { minReadRate: 1 },
    lingerMs: 100,
  })
  const settings = frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))
  const client = await connectHttp2(t, served.port, { settings })
  client.send(request(1), frame(FRAME.windowUpdate, 0, 1, uint32(999)))
  await until(() => client.frames.some(({ type, payload }) => type === FRAME.data && payload.length === 999))
  // One byte is left of the first response, as of the second, which comes later and has a second to be read.
  client.send(request(3))
  await until(() => client.resetOf(3) === 8)
  assert.equal(client.resetOf(1), null)
})

test('streams refused by a busy gateway do not count as resets of the client', async (t) => {
  const [served, client] = await attacked(t)
  const refuse = (stream: WaitingStream): void => stream.refuse()
  Object.assign(served.sessions.queue, { begin: () => false, wait: refuse })
  client.send(...Array.from({ length: 2000 }, (_, nth) => request(2 * nth + 1)), PING)
  await until(() => client.isClosed || client.frames.some(({ type }) => type === FRAME.ping))
  assert.deepEqual([client.isClosed, client.goaway, client.resetOf(3999)], [false, null, 7])
})

test('clients that request much and read nothing do not exhaust the memory: those that hold the most are closed', async (t) => {
  const body = Buffer.alloc(256 * 1024)
  const served = await serveHttp2(t, (client) => client.send(200, [], body))
  const clients = await Promise.all(Array.from({ length: 5 }, () => connectHttp2(t, served.port)))
  for (const client of clients) client.pause()
  const modest = await connectHttp2(t, served.port)
  for (const client of clients) client.send(...Array.from({ length: 100 }, (_, nth) => request(2 * nth + 1)))
  modest.send(request(1))
  await until(() => served.sessions.size < 6)
  await until(() => modest.frames.some(({ type }) => type === FRAME.data))
  assert.equal(modest.isClosed, false)
})

test('cookies split into single bytes do not exhaust the memory: those that hold the most are closed', async (t) => {
  const served = await serveHttp2(t, () => {}, { settings: { headerBytes: 65_536 }, lingerMs: 3_600_000 })
  const clients = await Promise.all(Array.from({ length: 14 }, () => connectHttp2(t, served.port)))
  const modest = await connectHttp2(t, served.port)
  modest.send(request(1))
  // The largest field that fits into the connection's table (RFC 7541 section 4), 16 per request.
  const indexed = Buffer.concat([Buffer.from([0x40]), block([['cookie', 'a'.repeat(3900)]]).subarray(1)])
  const crumbs = Buffer.alloc(15, 0x80 | 62)
  const asked = (nth: number): Buffer =>
    frame(
      FRAME.headers,
      END_STREAM | END_HEADERS,
      2 * nth + 1,
      Buffer.concat([block(fieldsOf({})), nth === 0 ? indexed : crumbs.subarray(0, 1), crumbs]),
    )
  for (const [i, client] of clients.entries()) {
    client.send(...Array.from({ length: 100 }, (_, nth) => asked(nth)))
    // Requests that wait for a busy gateway are refused beyond a limit, and hold no cookies then.
    await until(() => served.taken.length === 100 * (i + 1) + 1 || served.rejected() > 0)
    if (served.rejected() > 0) break
  }
  assert.ok(served.rejected() > 0)
  assert.ok(served.taken.some(({ x, refused }) => refused === null && x.requestHeadBytes > 60_000))
  await until(() => clients.some(({ isClosed }) => isClosed))
  assert.equal(modest.isClosed, false)
})

test('a client that keeps its side open is closed anyway', async (t) => {
  const served = await serveHttp2(t, answerOk, { settings: { keepAliveMs: 100 }, lingerMs: 100 })
  const client = await connectHttp2(t, served.port, { staysOpen: true })
  await until(() => client.goaway === 0 && served.sessions.size === 0)
})

test('an idle connection is closed', async (t) => {
  const served = await serveHttp2(t, answerOk, { settings: { keepAliveMs: 100 } })
  const client = await connectHttp2(t, served.port)
  await until(() => client.isClosed && served.sessions.size === 0)
  assert.equal(client.goaway, 0)
})

test('a client that reads nothing while more than 1 MB waits for it is closed, one that holds less is not', async (t) => {
  const body = Buffer.alloc(100_000)
  const served = await serveHttp2(t, (client) => client.send(200, [], body), {
    settings: { minReadRate: 1 },
    lingerMs: 1000,
  })
  const [greedy, modest] = [await connectHttp2(t, served.port), await connectHttp2(t, served.port)]
  for (let i = 0; i < 20; i++) greedy.send(request(2 * i + 1))
  modest.send(request(1))
  await until(() => greedy.isClosed, 20_000)
  assert.equal(greedy.goaway, ENHANCE_YOUR_CALM)
  assert.deepEqual([modest.isClosed, served.rejected()], [false, 1])
})

test('unread request bodies do not exhaust the memory: connections that hold the most are closed', async (t) => {
  const served = await serveHttp2(t, () => {})
  const clients = await Promise.all(Array.from({ length: 6 }, () => connectHttp2(t, served.port)))
  const modest = await connectHttp2(t, served.port)
  const upload = (nth: number): Buffer[] => [
    opening(2 * nth + 1, fieldsOf({ ':method': 'POST' })),
    ...Array.from({ length: 8 }, () => frame(FRAME.data, 0, 2 * nth + 1, Buffer.alloc(15 * 1024))),
  ]
  modest.send(...upload(0))
  for (const client of clients) client.send(...Array.from({ length: 100 }, (_, nth) => upload(nth)).flat())
  await until(() => served.rejected() > 0 && clients.some(({ isClosed }) => isClosed))
  assert.equal(modest.isClosed, false)
})

test('if too many bytes are held, clients that have read nothing for seconds are closed first', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const now = performance.now.bind(performance)
  let aheadMs = 0
  t.mock.method(performance, 'now', () => now() + aheadMs)
  const body = Buffer.alloc(256 * 1024)
  const served = await serveHttp2(t, (client) => client.send(200, [], body))
  const connect = async (count: number): Promise<RawHttp2Client[]> => {
    const clients = await Promise.all(Array.from({ length: count }, () => connectHttp2(t, served.port)))
    for (const client of clients) client.pause()
    return clients
  }
  const stalled = await connect(3)
  for (const client of stalled) client.send(...Array.from({ length: 48 }, (_, nth) => request(2 * nth + 1)))
  await until(() => served.taken.length === 3 * 48)
  // The connections make progress until the kernel's buffers are full.
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(1000)
  }
  aheadMs = 20_000
  const fresh = await connect(4)
  // Each of them holds more than a stalled one.
  for (let nth = 0; nth < 100 && served.sessions.size === 7; nth++) {
    for (const client of fresh) client.send(request(2 * nth + 1))
    await until(() => served.sessions.size < 7 || served.taken.length === 3 * 48 + 4 * (nth + 1))
  }
  await until(() => {
    for (const client of stalled) if (!client.isClosed) client.send(PING)
    return stalled.every(({ isClosed }) => isClosed)
  }, 20_000)
  assert.ok(served.sessions.size > 0)
})
