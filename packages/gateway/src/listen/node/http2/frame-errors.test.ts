import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../../../testing/gateway.js'
import type { ClientStream } from '../../listener.js'
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

const [PROTOCOL_ERROR, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR] = [1, 3, 6]
const [COMPRESSION_ERROR, ENHANCE_YOUR_CALM] = [9, 11]
const PADDED = 8
const POST = fieldsOf({ ':method': 'POST' })

/** Serves requests that are never answered. */
async function waiting(t: TestContext): Promise<[Served, RawHttp2Client]> {
  const served = await serveHttp2(t, () => {})
  return [served, await connectHttp2(t, served.port)]
}

/** A request whose header block ends with the given bytes. */
function requestWith(...bytes: number[]): Buffer {
  return frame(
    FRAME.headers,
    END_STREAM | END_HEADERS,
    1,
    Buffer.concat([block(fieldsOf({})), Buffer.from(bytes)]),
  )
}

function settingWindow(bytes: number): Buffer {
  return frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(bytes)]))
}

/** A field that is added to the dynamic table (RFC 7541 section 6.2.1). */
function indexed(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), block([[name, value]]).subarray(1)])
}

const ERRORS: [string, number, Buffer[]][] = [
  ['a frame over 16,384 bytes', FRAME_SIZE_ERROR, [frame(FRAME.data, 0, 1, Buffer.alloc(16_385))]],
  ['an HPACK index beyond the tables', COMPRESSION_ERROR, [requestWith(0xbe)]],
  [
    'an HPACK integer that overflows',
    COMPRESSION_ERROR,
    [requestWith(0xff, ...Array<number>(9).fill(0xff), 0)],
  ],
  [
    'an HPACK integer of endless zeros',
    COMPRESSION_ERROR,
    [requestWith(0xff, ...Array<number>(200).fill(0x80), 0)],
  ],
  ['a string that is longer than its block', COMPRESSION_ERROR, [requestWith(0, 1, 0x61, 0x7f, 0xff, 0x7f)]],
  ['Huffman padding of zeros', COMPRESSION_ERROR, [requestWith(0, 1, 0x61, 0x81, 0)]],
  ['Huffman padding of a byte', COMPRESSION_ERROR, [requestWith(0, 1, 0x61, 0x82, 0x07, 0xff)]],
  ['the Huffman code for the end', COMPRESSION_ERROR, [requestWith(0, 1, 0x61, 0x84, 255, 255, 255, 255)]],
  [
    'a dynamic table over 4,096 bytes',
    COMPRESSION_ERROR,
    [frame(FRAME.headers, END_STREAM | END_HEADERS, 1, Buffer.from([0x3f, 0xe2, 0x1f]))],
  ],
  ['a table size after a field', COMPRESSION_ERROR, [requestWith(0x20)]],
  [
    'padding that is longer than its frame',
    PROTOCOL_ERROR,
    [opening(1, POST), frame(FRAME.data, PADDED, 1, Buffer.from([3, 0, 0]))],
  ],
  [
    'a frame between the parts of a head',
    PROTOCOL_ERROR,
    [frame(FRAME.headers, END_STREAM, 1, block(fieldsOf({}))), frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
  ],
  [
    'a connection window that overflows',
    FLOW_CONTROL_ERROR,
    [frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 31 - 1))],
  ],
  [
    'SETTINGS that let a window overflow',
    FLOW_CONTROL_ERROR,
    [request(1), frame(FRAME.windowUpdate, 0, 1, uint32(2 ** 31 - 70_000)), settingWindow(1_000_000)],
  ],
  [
    'an upload beyond the window of its stream',
    FLOW_CONTROL_ERROR,
    [opening(1, POST), ...Array.from({ length: 9 }, () => frame(FRAME.data, 0, 1, Buffer.alloc(16_384)))],
  ],
]

for (const [what, code, frames] of ERRORS) {
  test(`${what} ends the connection with error ${code}`, async (t) => {
    const [, client] = await waiting(t)
    client.send(...frames)
    await until(() => client.isClosed)
    assert.equal(client.goaway, code)
  })
}

test('a name that is not valid takes its place in the dynamic table', async (t) => {
  const [, client] = await waiting(t)
  // With its 40 bytes, the first entry is evicted. Otherwise later requests would get the fields of others.
  const fields = [
    indexed('x-a', 'a'.repeat(1990)),
    indexed('X'.repeat(40), ''),
    indexed('x-c', 'c'.repeat(1975)),
  ]
  client.send(requestWith(...Buffer.concat(fields)))
  await until(() => client.resetOf(1) === PROTOCOL_ERROR)
  client.send(frame(FRAME.headers, END_STREAM | END_HEADERS, 3, Buffer.from([0x80 | 64])))
  await until(() => client.isClosed)
  assert.equal(client.goaway, COMPRESSION_ERROR)
})

/** Frames after a request head that make the gateway reset the stream (CVE-2025-8671). */
const PROVOKED: [string, (stream: number) => Buffer][] = [
  ['a WINDOW_UPDATE of 0', (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(0))],
  ['a window that overflows', (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(2 ** 31 - 1))],
  ['trailers with a pseudo-header field', (stream) => request(stream, [[':path', '/']])],
  ['trailers that do not end the stream', (stream) => opening(stream, [['x-a', 'b']])],
  ['more data than Content-Length', (stream) => frame(FRAME.data, 0, stream, Buffer.alloc(9))],
]

for (const [what, provoke] of PROVOKED) {
  test(`resets provoked by ${what} count as resets`, async (t) => {
    const [served, client] = await waiting(t)
    const head = fieldsOf({ ':method': 'POST', 'content-length': '8' })
    let nth = 0
    await until(() => {
      const streams = Array.from({ length: 20 }, (_, i) => 40 * nth + 2 * i + 1)
      nth++
      if (!client.isClosed) client.send(...streams.flatMap((id) => [opening(id, head), provoke(id)]))
      return client.isClosed
    })
    assert.equal(client.goaway, ENHANCE_YOUR_CALM)
    assert.ok(served.taken.length < 1000, `${served.taken.length}`)
    await until(() => served.taken.every(({ isAborted }) => isAborted))
  })
}

test('SETTINGS that release a byte of each response, again and again, close the connection', async (t) => {
  const served = await serveHttp2(t, (client) => client.send(200, [], Buffer.alloc(100_000)))
  const client = await connectHttp2(t, served.port, { settings: settingWindow(0) })
  client.send(...Array.from({ length: 50 }, (_, nth) => request(2 * nth + 1)))
  let bytes = 0
  await until(() => {
    if (!client.isClosed) client.send(settingWindow(++bytes))
    return client.isClosed
  })
  assert.equal(client.goaway, ENHANCE_YOUR_CALM)
})

test('a flood of PING by a client that reads nothing closes the connection', async (t) => {
  const [served, client] = await waiting(t)
  client.pause()
  await until(() => {
    client.send(...Array.from({ length: 1000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))))
    return served.sessions.size === 0
  })
  assert.equal(served.rejected(), 1)
})

test('a head that stays incomplete closes the connection, although another request is in progress', async (t) => {
  const served = await serveHttp2(t, () => {}, { settings: { headTimeoutMs: 200 } })
  const client = await connectHttp2(t, served.port)
  client.send(request(1), frame(FRAME.headers, END_STREAM, 3, block(fieldsOf({}))))
  await until(() => client.isClosed)
  assert.equal(client.goaway, ENHANCE_YOUR_CALM)
})

test('a response follows the changes of the window', async (t) => {
  const served = await serveHttp2(t, (client) => client.send(200, [], Buffer.alloc(100)))
  const client = await connectHttp2(t, served.port, { settings: settingWindow(0) })
  const received = (): number =>
    client.frames
      .filter(({ type }) => type === FRAME.data)
      .reduce((sum, { payload }) => sum + payload.length, 0)
  client.send(request(1), settingWindow(10))
  await until(() => received() === 10)
  // The window is now -8, so 12 more allow 4 (RFC 9113 section 6.9.2).
  client.send(settingWindow(2), frame(FRAME.windowUpdate, 0, 1, uint32(12)))
  await until(() => received() === 14)
  client.send(settingWindow(1000))
  await until(() => received() === 100)
  assert.equal(client.frames.findLast(({ type }) => type === FRAME.data)!.flags, END_STREAM)
})

test('padding is not delivered, and the window that it used is returned', async (t) => {
  let received = 0
  const onBodyChunk = (chunk: Uint8Array): void => {
    received += chunk.length
  }
  const read = (client: ClientStream): void => client.readBody({ onBodyChunk })
  const served = await serveHttp2(t, read)
  const client = await connectHttp2(t, served.port)
  client.send(opening(1, POST))
  // Five data bytes each; the rest is padding.
  const padded = frame(FRAME.data, PADDED, 1, Buffer.alloc(256, 250))
  for (let sent = 0; sent < 1000; sent += 250) {
    client.send(...Array.from({ length: 250 }, () => padded))
    await until(() => received === 5 * (sent + 250))
  }
  const updates = client.frames.filter(({ type, stream }) => type === FRAME.windowUpdate && stream === 1)
  assert.ok(updates.length > 0)
})
