import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ERROR, FLAG, FRAME, MAX_PAYLOAD } from '../../protocol/http2/frames.js'
import { SETTING } from '../../protocol/http2/settings-frame.js'
import { Asked, ask } from '../../testing/asking.js'
import { until } from '../../testing/gateway.js'
import { h2To } from '../../testing/h2-origin.js'
import {
  fieldBlock,
  numbers,
  type RawTarget,
  rawFrame,
  rawTarget,
  settingsFrame,
} from '../../testing/h2-raw-target.js'
import type { Transport, Upload } from '../transport/transport.js'
import { UNREAD_RESPONSES } from './h2-connection.js'
import type { H2Transport } from './h2-transport.js'

const OK = fieldBlock(':status', '200')
const { endHeaders, endStream } = FLAG

/** Starts a request with a streamed body. */
function post(transport: Transport, upload: Upload): Asked {
  const asked = new Asked('/')
  const request = { id: '', method: 'POST', path: '/', host: 'a', headers: [], body: null, upload }
  asked.attempt = transport.dispatch({ ...request, connectMs: 10_000 }, asked, false)
  return asked
}

test('an upload waits for the windows of the target, and pauses its client meanwhile', async (t) => {
  const first = settingsFrame(SETTING.initialWindowSize, 10)
  let socket: Socket | undefined
  const target = await rawTarget(t, (each) => (socket = each), first)
  const transport = h2To(t, target.port)
  // The settings of the target are known after its first response.
  const warm = ask(transport, '/')
  await until(() => target.frames.some(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack))
  let drains = 0
  const upload = transport.createUpload(-1, () => drains++)
  const asked = post(transport, upload)
  await until(() => asked.starts === 1)
  const bytes = Buffer.alloc(100_000, Buffer.from('0123456789'))
  assert.equal(upload.add(bytes), false)
  await until(() => target.dataOf(3).length === 10)
  // A larger initial window also applies to open streams.
  socket!.write(settingsFrame(SETTING.initialWindowSize, 50))
  await until(() => target.dataOf(3).length === 50)
  socket!.write(rawFrame(FRAME.windowUpdate, 0, 3, numbers(200_000)))
  // The window of the connection is 65,535 bytes.
  await until(() => target.dataOf(3).length === 65_535)
  assert.equal(drains, 0)
  socket!.write(rawFrame(FRAME.windowUpdate, 0, 0, numbers(200_000)))
  await until(() => target.dataOf(3).length === bytes.length && drains === 1)
  assert.deepEqual(target.dataOf(3), bytes)
  upload.end()
  await until(() => (target.frames.findLast(({ stream }) => stream === 3)!.flags & endStream) !== 0)
  warm.attempt!.abort()
  asked.attempt!.abort()
})

test('a whole body that exceeds the windows is sent completely, with its end', async (t) => {
  const target = await rawTarget(t, (socket, { type, stream, payload }) => {
    if (type !== FRAME.data || payload.length === 0) return
    const grown = numbers(payload.length)
    socket.write(rawFrame(FRAME.windowUpdate, 0, 0, grown))
    socket.write(rawFrame(FRAME.windowUpdate, 0, stream, grown))
  })
  const body = Buffer.alloc(1_000_000, Buffer.from('0123456789abcdef'))
  const asked = ask(h2To(t, target.port), '/', { method: 'POST', body })
  await until(() => target.dataOf(1).length === body.length)
  assert.deepEqual(target.dataOf(1), body)
  assert.equal(target.frames.findLast(({ stream }) => stream === 1)!.flags, endStream)
  asked.attempt!.abort()
  await until(() => target.resetOf(1) === ERROR.cancel)
})

test('an upload whose length differs from the announced one resets its stream', async (t) => {
  const target = await rawTarget(t)
  const transport = h2To(t, target.port)
  for (const [length, stream] of [
    [2, 1],
    [4, 3],
  ] as const) {
    const upload = transport.createUpload(length, () => {})
    const asked = post(transport, upload)
    upload.add(Buffer.from('abc'))
    upload.end()
    await until(() => asked.end === 'failed' && target.resetOf(stream) === ERROR.cancel)
    assert.ok(target.frames.every(({ type, flags }) => type !== FRAME.data || flags !== endStream))
  }
})

test('an empty chunk of an upload does not end it, and its end is sent once', async (t) => {
  const target = await rawTarget(t)
  const transport = h2To(t, target.port)
  const upload = transport.createUpload(6, () => {})
  const asked = post(transport, upload)
  await until(() => asked.starts === 1)
  for (const text of ['abc', '', 'def', '']) upload.add(Buffer.from(text))
  upload.end()
  await until(() => (target.frames.findLast(({ type }) => type === FRAME.data)?.flags ?? 0) === endStream)
  await until(() => target.dataOf(1).length === 6)
  upload.destroy()
  asked.attempt!.abort()
  await until(() => target.resetOf(1) === ERROR.cancel)
  const ends = target.frames.filter(({ type, flags }) => type === FRAME.data && flags === endStream)
  assert.equal(ends.length, 1)
})

test('a response that comes before the end of the upload is complete, and stops the upload', async (t) => {
  const target = await rawTarget(t, (socket, { type }) => {
    if (type === FRAME.headers) socket.write(rawFrame(FRAME.headers, endHeaders | endStream, 1, OK))
  })
  const transport = h2To(t, target.port)
  const asked = post(
    transport,
    transport.createUpload(-1, () => {}),
  )
  await until(() => asked.end === 'complete' && target.resetOf(1) === ERROR.none)
  assert.deepEqual(transport.pool(), { busy: 0, free: 1, pending: 0 })
})

/** Fills the windows of paused streams, and returns the requests and their target. */
async function pausedResponses(t: TestContext, count: number): Promise<[Asked[], H2Transport, RawTarget]> {
  const target = await rawTarget(t, (socket, { type, stream }) => {
    if (type !== FRAME.headers) return
    socket.write(rawFrame(FRAME.headers, endHeaders, stream, OK))
    for (let i = 0; i < 16; i++) socket.write(rawFrame(FRAME.data, 0, stream, Buffer.alloc(MAX_PAYLOAD)))
  })
  const transport = h2To(t, target.port)
  const asked = Array.from({ length: count }, () => ask(transport, '/'))
  for (const { attempt } of asked) attempt!.pause()
  return [asked, transport, target]
}

test('responses that are not read are bounded by the window of the connection', async (t) => {
  const { maxBytes } = UNREAD_RESPONSES
  UNREAD_RESPONSES.maxBytes = 0
  t.after(() => (UNREAD_RESPONSES.maxBytes = maxBytes))
  // Each takes its whole window. The fifth one exceeds the window of the connection.
  const [asked, transport] = await pausedResponses(t, 8)
  await until(() => asked.every(({ end }) => end === 'failed'))
  assert.ok(asked.every(({ body, failure }) => body === '' && failure?.code === 'GW_UPSTREAM_INVALID'))
  assert.deepEqual(transport.pool(), { busy: 0, free: 0, pending: 0 })
})

test('slow clients do not stall the other streams of their connection', async (t) => {
  // Their windows together are twice that of the connection.
  const [slow, transport, target] = await pausedResponses(t, 8)
  const unread = 8 * 16 * MAX_PAYLOAD
  await until(() => UNREAD_RESPONSES.bytes === unread)
  const quick = ask(transport, '/')
  await until(() => quick.body.length === 16 * MAX_PAYLOAD)
  assert.deepEqual([target.goaway(), UNREAD_RESPONSES.bytes], [null, unread])
  slow[0]!.attempt!.resume()
  await until(() => slow[0]!.body.length === 16 * MAX_PAYLOAD)
  slow[1]!.attempt!.abort()
  assert.equal(UNREAD_RESPONSES.bytes, unread - 32 * MAX_PAYLOAD)
  target.sockets[0]!.destroy()
  await until(() => slow[7]!.end === 'failed')
  assert.equal(UNREAD_RESPONSES.bytes, 0)
})

test('bytes of abandoned and of delivered responses return to the window of the connection', async (t) => {
  const frameOf = (stream: number): Buffer => rawFrame(FRAME.data, 0, stream, Buffer.alloc(MAX_PAYLOAD))
  const target = await rawTarget(t, (socket, { type, stream }) => {
    if (type !== FRAME.headers) return
    socket.write(rawFrame(FRAME.headers, endHeaders, stream, OK))
    for (let i = 0; i < 16; i++) socket.write(frameOf(stream))
  })
  const transport = h2To(t, target.port)
  // Together they are far larger than the window.
  for (let i = 0; i < 12; i++) {
    const asked = ask(transport, '/')
    if (i % 2 === 0) asked.attempt!.pause()
    await until(() => asked.status === 200 && (i % 2 === 0 || asked.body.length === 16 * MAX_PAYLOAD))
    asked.attempt!.abort()
  }
  await until(
    () => target.frames.filter(({ type, stream }) => type === FRAME.windowUpdate && stream === 0).length >= 5,
  )
  assert.deepEqual([target.goaway(), transport.pool().free], [null, 1])
})

test('a response that has arrived is delivered although its stream and its connection are lost', async (t) => {
  const target = await rawTarget(t, (socket, { type }) => {
    if (type !== FRAME.headers) return
    socket.write(rawFrame(FRAME.headers, endHeaders, 1, OK))
    socket.write(rawFrame(FRAME.data, endStream, 1, Buffer.from('whole')))
    socket.write(rawFrame(FRAME.reset, 0, 1, numbers(ERROR.none)))
    socket.end()
  })
  const transport = h2To(t, target.port)
  const asked = ask(transport, '/')
  asked.attempt!.pause()
  await until(() => target.closed() === 1)
  assert.deepEqual([asked.status, asked.end], [200, 'not yet'])
  asked.attempt!.resume()
  await until(() => asked.end === 'complete')
  assert.equal(asked.body, 'whole')
})

test('padding counts towards the windows', async (t) => {
  const padded = Buffer.concat([Buffer.from([255, 97]), Buffer.alloc(255)])
  const target = await rawTarget(t, (socket, { type }) => {
    if (type !== FRAME.headers) return
    socket.write(rawFrame(FRAME.headers, endHeaders, 1, OK))
    for (let i = 0; i < 1200; i++) socket.write(rawFrame(FRAME.data, FLAG.padded, 1, padded))
  })
  const asked = ask(h2To(t, target.port), '/')
  await until(() => asked.body.length === 1200)
  await until(() => target.frames.some(({ type, stream }) => type === FRAME.windowUpdate && stream === 1))
  asked.attempt!.abort()
})
