import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ERROR, FLAG, FRAME, MAX_PAYLOAD, MAX_WINDOW } from '../../protocol/http2/frames.js'
import { SETTING } from '../../protocol/http2/settings-frame.js'
import { type Asked, ask } from '../../testing/asking.js'
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
import type { H2Transport } from './h2-transport.js'

const { data, headers, continuation, goaway, ping, pushPromise, reset, windowUpdate } = FRAME
const { endHeaders, endStream, padded } = FLAG

const OK = fieldBlock(':status', '200')
const HEAD = rawFrame(headers, endHeaders, 1, OK)

interface Answered {
  readonly asked: Asked
  readonly target: RawTarget
  readonly transport: H2Transport
}

/** Asks a target that answers the first stream with these bytes, and waits for the end. */
async function answeredWith(
  t: TestContext,
  bytes: Buffer,
  method = 'GET',
  first?: Buffer,
): Promise<Answered> {
  const onFrame = (socket: Socket, frame: { type: number; stream: number }): void => {
    if (frame.type === headers && frame.stream === 1) socket.write(bytes)
  }
  const target = await rawTarget(t, onFrame, first)
  const transport = h2To(t, target.port)
  const asked = ask(transport, '/', { method })
  await until(() => asked.end !== 'not yet')
  return { asked, target, transport }
}

const head = (...fields: readonly string[]): Buffer => rawFrame(headers, endHeaders, 1, fieldBlock(...fields))
const body = (text: string, flags = 0): Buffer => rawFrame(data, flags, 1, Buffer.from(text))

const MALFORMED: Readonly<Record<string, Buffer>> = {
  'no status': head('x-a', '1'),
  'an empty head': rawFrame(headers, endHeaders, 1),
  'a status after another field': head('x-a', '1', ':status', '200'),
  'two statuses': head(':status', '200', ':status', '200'),
  'a status of two digits': head(':status', '20'),
  'a status with a sign': head(':status', '+20'),
  'another pseudo-header field': head(':status', '200', ':path', '/'),
  'status 101': head(':status', '101'),
  'an informational response at its end': rawFrame(
    headers,
    endHeaders | endStream,
    1,
    fieldBlock(':status', '103'),
  ),
  'a name with a capital letter': head(':status', '200', 'X-A', '1'),
  'a name with a space': head(':status', '200', 'x a', '1'),
  'an empty name': head(':status', '200', '', '1'),
  'a value with a line end': head(':status', '200', 'x-a', '1\r\nx-b: 2'),
  'a value with a NUL byte': head(':status', '200', 'x-a', '\0'),
  'a connection field': head(':status', '200', 'connection', 'close'),
  'a transfer coding': head(':status', '200', 'transfer-encoding', 'chunked'),
  'a length that is not a number': head(':status', '200', 'content-length', '5x'),
  'two lengths': head(':status', '200', 'content-length', '5', 'content-length', '5'),
  'data before the head': body('abc', endStream),
}

test('a malformed head fails its request and resets the stream, and the connection stays open', async (t) => {
  for (const [kind, bytes] of Object.entries(MALFORMED)) {
    const { asked, target, transport } = await answeredWith(t, bytes)
    assert.deepEqual([asked.failure?.code, asked.status, asked.body], ['GW_UPSTREAM_INVALID', 0, ''], kind)
    await until(() => target.resetOf(1) === ERROR.protocol)
    assert.deepEqual(transport.pool(), { busy: 0, free: 1, pending: 0 }, kind)
  }
})

const CUT: Readonly<Record<string, Buffer>> = {
  'more bytes than announced': Buffer.concat([head(':status', '200', 'content-length', '2'), body('abc')]),
  'fewer bytes than announced': Buffer.concat([
    head(':status', '200', 'content-length', '4'),
    body('abc', endStream),
  ]),
  'a body after 204': Buffer.concat([head(':status', '204'), body('abc')]),
  'trailers without an end': Buffer.concat([HEAD, body(''), head('x-a', '1')]),
  'trailers with a pseudo-header field': Buffer.concat([
    HEAD,
    rawFrame(headers, endHeaders | endStream, 1, OK),
  ]),
  'trailers with an invalid value': Buffer.concat([
    HEAD,
    rawFrame(headers, endHeaders | endStream, 1, fieldBlock('x-a', '\n')),
  ]),
}

test('a response that is malformed after its head is aborted, not completed', async (t) => {
  for (const [kind, bytes] of Object.entries(CUT)) {
    const { asked, target } = await answeredWith(t, bytes)
    assert.equal(asked.failure?.code, 'GW_UPSTREAM_INVALID', kind)
    assert.ok(asked.body === '' || kind.startsWith('fewer'), kind)
    await until(() => target.resetOf(1) === ERROR.protocol)
  }
})

test('a response to HEAD has no body, whatever its length says', async (t) => {
  const fields = fieldBlock(':status', '200', 'content-length', '5')
  const whole = await answeredWith(t, rawFrame(headers, endHeaders | endStream, 1, fields), 'HEAD')
  assert.equal(whole.asked.end, 'complete')
  const bytes = Buffer.concat([rawFrame(headers, endHeaders, 1, fields), body('abcde', endStream)])
  const { asked } = await answeredWith(t, bytes, 'HEAD')
  assert.deepEqual([asked.end, asked.body], ['failed', ''])
})

test('heads with many fields, and many informational heads, fail their request', async (t) => {
  const many = Buffer.concat([OK, ...Array.from({ length: 300 }, () => fieldBlock('a', ''))])
  const { asked, target } = await answeredWith(t, rawFrame(headers, endHeaders, 1, many))
  assert.deepEqual([asked.failure?.detail, asked.status], ['the response head exceeds the size limit', 0])
  await until(() => target.resetOf(1) === ERROR.cancel)
  const interim = Array.from({ length: 17 }, () => head(':status', '103'))
  const informed = await answeredWith(t, Buffer.concat(interim))
  assert.equal(informed.asked.failure?.detail, 'the target sent too many informational responses')
  const few = await answeredWith(
    t,
    Buffer.concat([...interim.slice(1), rawFrame(headers, endHeaders | endStream, 1, OK)]),
  )
  assert.deepEqual([few.asked.end, few.asked.status], ['complete', 200])
})

const PART = rawFrame(continuation, 0, 1, Buffer.alloc(100))

const BROKEN: Readonly<Record<string, readonly [Buffer, number]>> = {
  'a frame over the size limit': [rawFrame(data, 0, 1, Buffer.alloc(MAX_PAYLOAD + 1)), ERROR.frameSize],
  'a block that cannot be decoded': [
    rawFrame(headers, endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
    ERROR.compression,
  ],
  'endless continuations': [
    Buffer.concat([rawFrame(headers, 0, 1, OK), ...Array.from({ length: 20 }, () => PART)]),
    ERROR.enhanceYourCalm,
  ],
  'a frame between the parts of a head': [
    Buffer.concat([rawFrame(headers, 0, 1, OK), rawFrame(ping, 0, 0, Buffer.alloc(8))]),
    ERROR.protocol,
  ],
  'a pushed response': [
    rawFrame(pushPromise, endHeaders, 1, Buffer.concat([numbers(2), OK])),
    ERROR.protocol,
  ],
  'a response on an even stream': [rawFrame(headers, endHeaders, 2, OK), ERROR.protocol],
  'a response on a stream that was not opened': [rawFrame(headers, endHeaders, 3, OK), ERROR.protocol],
  'data on a stream that was not opened': [rawFrame(data, 0, 3), ERROR.protocol],
  'a reset of a stream that was not opened': [rawFrame(reset, 0, 3, numbers(0)), ERROR.protocol],
  'more data than the window of the stream': [
    Buffer.concat([
      HEAD,
      ...Array.from({ length: 17 }, () => rawFrame(data, 0, 1, Buffer.alloc(MAX_PAYLOAD))),
    ]),
    ERROR.flowControl,
  ],
  'padding longer than the frame': [rawFrame(data, padded, 1, Buffer.from([9, 0])), ERROR.protocol],
  'a window update of 0 for the connection': [rawFrame(windowUpdate, 0, 0, numbers(0)), ERROR.protocol],
  'a window that is too large': [rawFrame(windowUpdate, 0, 0, numbers(MAX_WINDOW)), ERROR.flowControl],
  'an initial window that is too large': [
    settingsFrame(SETTING.initialWindowSize, MAX_WINDOW + 1),
    ERROR.flowControl,
  ],
  'settings of a wrong size': [rawFrame(FRAME.settings, 0, 0, Buffer.alloc(5)), ERROR.frameSize],
  'a GOAWAY that is too short': [rawFrame(goaway, 0, 0, numbers(1)), ERROR.frameSize],
  'floods of PING': [
    Buffer.concat(Array.from({ length: 20_000 }, () => rawFrame(ping, FLAG.ack, 0, Buffer.alloc(8)))),
    ERROR.enhanceYourCalm,
  ],
  'floods of SETTINGS': [
    Buffer.concat(Array.from({ length: 400 }, () => settingsFrame(SETTING.initialWindowSize, 1))),
    ERROR.enhanceYourCalm,
  ],
  'floods of empty data': [
    Buffer.concat([HEAD, ...Array.from({ length: 40_000 }, () => rawFrame(data, 0, 1))]),
    ERROR.enhanceYourCalm,
  ],
}

for (const [kind, [bytes, code]] of Object.entries(BROKEN)) {
  test(`the connection ends after ${kind}`, async (t) => {
    // A paused response keeps what arrives, so that the window of its stream fills.
    const target = await rawTarget(t, (socket, frame) => {
      if (frame.type === headers) socket.write(bytes)
    })
    const transport = h2To(t, target.port)
    const asked = ask(transport, '/')
    asked.attempt!.pause()
    await until(() => asked.end === 'failed' && target.closed() === 1)
    assert.equal(target.goaway(), code)
    assert.equal(asked.failure?.code, 'GW_UPSTREAM_INVALID')
    assert.deepEqual(transport.pool(), { busy: 0, free: 0, pending: 0 })
  })
}

test('a connection that does not begin with SETTINGS ends', async (t) => {
  const { asked, target } = await answeredWith(t, HEAD, 'GET', rawFrame(ping, 0, 0, Buffer.alloc(8)))
  assert.equal(asked.end, 'failed')
  await until(() => target.goaway() === ERROR.protocol)
})

test('an invalid window update of a stream resets only that stream', async (t) => {
  const { asked, target, transport } = await answeredWith(t, rawFrame(windowUpdate, 0, 1, numbers(0)))
  assert.equal(asked.failure?.code, 'GW_UPSTREAM_INVALID')
  await until(() => target.resetOf(1) === ERROR.protocol)
  assert.equal(transport.pool().free, 1)
})
