import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { murmur2 as reference } from '@platformatic/kafka'
import { sampleShipment } from '../testing/sample-shipment.js'
import { murmur2 } from './messages.js'
import type { KafkaOptions } from './options.js'
import { KafkaOutput } from './output.js'

const MB = 1024 ** 2
/** Memory in bytes that a hostile broker may make the gateway use. */
const ROOM_BYTES = 64 * MB
const METADATA = 3
const PRODUCE = 0
const HANDSHAKE = 17

/** Handles a request. @returns bytes to send, or null for none. */
type Broker = (
  request: { readonly api: number; readonly id: Buffer; readonly body: Buffer },
  socket: Socket,
) => Buffer | null

async function deliverTo(
  t: TestContext,
  broker: Broker,
  changes: Partial<KafkaOptions> = {},
): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const bytes = broker({ api: chunk.readInt16BE(4), id: chunk.subarray(8, 12), body: chunk }, socket)
      if (bytes !== null) socket.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  const output = new KafkaOutput({
    ...{
      brokers: [`127.0.0.1:${port}`],
      topic: 't',
      key: 'none',
      acks: 'all',
      compression: 'none',
      clientId: 'c',
    },
    ...{ maxBatchBytes: MB, connectTimeoutMs: 500, timeoutMs: 500, sasl: null, tls: null, ...changes },
  })
  t.after(async () => {
    await output.close()
    server.close()
  })
  const before = process.memoryUsage().rss
  const startedMono = performance.now()
  const delivery = await output.deliver(sampleShipment(['{"id":"a"}', '{"id":"b"}']))
  assert.ok(performance.now() - startedMono < 20_000, 'the attempt ends in time')
  assert.ok(process.memoryUsage().rss - before < ROOM_BYTES, 'the memory is bounded')
  return delivery.kind === 'answered' ? JSON.stringify(delivery) : delivery.reason
}

let port = 0

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const varint = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value >>> 0
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
const text = (value: string): Buffer => Buffer.concat([varint(value.length + 1), Buffer.from(value)])
const framed = (...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([int32(body.length), body])
}
const disconnect = (socket: Socket): null => {
  socket.destroy()
  return null
}
const flood = (socket: Socket, first: Buffer): null => {
  socket.write(first)
  const chunk = Buffer.alloc(64 * 1024, 1)
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk)) {}
  }
  socket.on('drain', pour)
  pour()
  return null
}

/** Metadata of the topic `t` with one partition, led by this server. */
const metadata = (id: Buffer): Buffer =>
  framed(
    ...[
      id,
      Buffer.from([0]),
      int32(0),
      varint(2),
      int32(7),
      text('127.0.0.1'),
      int32(port),
      Buffer.from([0, 0]),
    ],
    ...[
      text('c'),
      int32(7),
      varint(2),
      Buffer.from([0, 0]),
      text('t'),
      Buffer.from([0]),
      varint(2),
      Buffer.from([0, 0]),
    ],
    ...[
      int32(0),
      int32(7),
      int32(0),
      varint(1),
      varint(1),
      varint(1),
      Buffer.from([0]),
      int32(0),
      Buffer.from([0]),
    ],
    ...[int32(0), Buffer.from([0])],
  )

const attacks: Readonly<Record<string, readonly [Broker, RegExp, Partial<KafkaOptions>?]>> = {
  'endless silence': [() => null, /timed out/],
  'a giant length': [(_, socket) => flood(socket, int32(0x7fffffff)), /closed|length/],
  'a negative length': [() => int32(-5), /closed|length/],
  'text instead of a response': [() => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /closed|length/],
  'a response to no request': [() => framed(int32(4711), Buffer.alloc(100)), /closed|Connection/],
  'an empty response': [({ id }) => framed(id), /invalid response/],
  'random bytes': [({ id }) => framed(id, Buffer.alloc(5000, 0xa7)), /invalid response/],
  'an endless list': [
    ({ id }) => framed(id, Buffer.alloc(5), varint(0x7ffffff0), Buffer.alloc(MB - 100)),
    /invalid/,
  ],
  // Each string of the list has a length of -2, so it ends where it began.
  'a list that goes backwards': [
    ({ id }) => framed(id, Buffer.alloc(2), int32(0x7fffffff), Buffer.from([0xff, 0xfe])),
    /SASL login failed \(no valid response\)/,
    { sasl: { mechanism: 'plain', username: 'gateway', password: 'secret-word' } },
  ],
  'no partitions': [
    ({ id }) =>
      framed(id, Buffer.alloc(5), varint(1), text('c'), int32(7), varint(1), int32(0), Buffer.from([0])),
    /no metadata of the topic t/,
  ],
  'silence to a produce request': [({ api, id }) => (api === METADATA ? metadata(id) : null), /timed out/],
  'a closed connection': [
    ({ api, id }, socket) => (api === METADATA ? metadata(id) : disconnect(socket)),
    /closed|reset/i,
  ],
  'no result for a partition': [
    ({ api, id }) => (api === METADATA ? metadata(id) : framed(id, int32(0), int32(0))),
    /returned no result/,
  ],
  'results that go backwards': [
    ({ api, id }) =>
      api === PRODUCE
        ? framed(id, int32(0x7fffffff), Buffer.from([0xff, 0xf8]), Buffer.alloc(900))
        : metadata(id),
    /invalid response/,
  ],
  'an unknown error': [
    ({ api, id }) =>
      api === PRODUCE
        ? framed(
            id,
            int32(1),
            Buffer.from([0, 1, 116]),
            int32(1),
            int32(0),
            Buffer.from([99, 99]),
            Buffer.alloc(60),
          )
        : metadata(id),
    /invalid response/,
  ],
  'a malformed SCRAM response': [
    ({ api, id }) =>
      api === HANDSHAKE
        ? framed(id, Buffer.alloc(6))
        : framed(id, Buffer.alloc(3), text('nonsense'), Buffer.alloc(9)),
    /^kafka at \S+: SASL login failed \(no valid response\); check log\.kafka\.sasl$/,
    { sasl: { mechanism: 'scram-sha-256', username: 'gateway', password: 'secret-word' } },
  ],
  'a billion SCRAM iterations': [
    ({ api, id, body }) => {
      if (api === HANDSHAKE) return framed(id, Buffer.alloc(6))
      const nonce = /r=([^,\0]+)/.exec(body.toString('latin1'))![1]!
      return framed(id, Buffer.alloc(4), text(`r=${nonce}x,s=c2FsdA==,i=1000000000`), Buffer.alloc(9))
    },
    /SASL login failed/,
    { sasl: { mechanism: 'scram-sha-512', username: 'gateway', password: 'secret-word' } },
  ],
  'an echo of the password': [
    ({ api, id, body }) =>
      api === HANDSHAKE
        ? framed(id, Buffer.alloc(6))
        : framed(id, Buffer.from([0, 0, 58]), text(body.toString('latin1')), Buffer.alloc(10)),
    /^kafka at \S+: SASL login failed \(SASL_AUTHENTICATION_FAILED\); check log\.kafka\.sasl$/,
    { sasl: { mechanism: 'plain', username: 'gateway', password: 'secret-word' } },
  ],
}

for (const [name, [broker, expected, changes]] of Object.entries(attacks)) {
  test(`a broker that sends ${name} costs bounded memory and time`, async (t) => {
    assert.match(await deliverTo(t, broker, changes), expected)
  })
}

test('the hash of a key is that of other Kafka clients', () => {
  for (let length = 0; length < 40; length++) {
    const key = Buffer.from(Array.from({ length }, (_, i) => (i * 89 + length * 7) % 256))
    assert.equal(murmur2(key) | 0, reference(key) | 0, `${length} bytes`)
  }
})
