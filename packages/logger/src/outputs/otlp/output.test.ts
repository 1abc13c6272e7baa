import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { assertIdentity, until } from '../../testing.js'
import { deadLetters } from '../testing/dead-letters.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { shipTo } from '../testing/shipping.js'
import type { OtlpOutputOptions } from './options.js'
import { OtlpOutput } from './output.js'

const OPTIONS = {
  ...{
    headers: { 'api-key': 'k3y-of-ours', authorization: 'Bearer t0ken-of-ours' },
    compress: false,
    timeoutMs: 20_000,
  },
  tls: { caFile: null, insecure: false },
} as const

/** Starts a collector that answers with these bodies, in turn. The last one is repeated. */
async function answering(t: TestContext, bodies: readonly Buffer[], type = 'application/x-protobuf') {
  let requests = 0
  const server = createServer((request, response) => {
    const body = bodies[Math.min(requests++, bodies.length - 1)]!
    request.on('end', () => response.writeHead(200, { 'content-type': type }).end(body)).resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns an Export…ServiceResponse with a partial success. */
function partial(rejected: number, message: string): Buffer {
  const w = new BinaryWriter().tag(1, WireType.LengthDelimited).fork()
  if (rejected > 0) w.tag(1, WireType.Varint).int64(rejected)
  if (message !== '') w.tag(2, WireType.LengthDelimited).string(message)
  return Buffer.from(w.join().finish())
}

function open(t: TestContext, url: string, signal: OtlpOutputOptions['signal'], problems: string[] = []) {
  const output = new OtlpOutput({ ...OPTIONS, signal, url }, (problem) => problems.push(problem))
  t.after(() => output.close())
  return output
}

test('as many records as log records were rejected become dead letters, the others are delivered', async (t) => {
  const url = await answering(t, [partial(2, 'too old'), Buffer.alloc(0)])
  const { sink, dir, log, problems } = shipTo(t, { kind: 'otlp', ...OPTIONS, signal: 'logs', url })
  const ids = log(20)
  await until(() => sink.identity().indexed + sink.identity().dead === 20, problems.join())
  assert.deepEqual([sink.identity().indexed, sink.identity().dead], [18, 2])
  assertIdentity(sink.identity())
  const letters = deadLetters(dir)
  assert.ok(letters.every(({ record: { id } }) => ids.includes(id)))
  assert.match(
    letters[0]!.reason,
    /rejected 2 of \d+ log records of a request, without saying which: too old/,
  )
  assert.match(problems.join(), /too old/)
})

test('a rejected span counts with its record, and records without spans are not refused', async (t) => {
  const ids = { trace: { id: 'a'.repeat(32) }, span: { id: 'b'.repeat(16) } }
  const attempts = { up: { addr: 'http://a', attempts: 1, at: 1 } }
  const records = [{ ...ids }, { ...ids, ...attempts }, { log: { dropped: 1 } }]
  const shipment = sampleShipment(records.map((record) => JSON.stringify(record)))
  for (const [rejected, refused] of [
    [1, [1]],
    [2, [1]],
    [3, [0, 1]],
    [99, [0, 1]],
  ] as const) {
    const url = await answering(t, [partial(rejected, 'no')])
    const delivery = await open(t, url, 'traces').deliver(shipment)
    assert.ok(delivery.kind === 'answered')
    assert.deepEqual(
      delivery.refused.map(({ index }) => index),
      refused,
    )
  }
})

test('the message of a collector is reported once per interval, without secrets', async (t) => {
  const problems: string[] = []
  const url = await answering(t, [partial(0, 'old api-key k3y-of-ours and token t0ken-of-ours\u0007')])
  const output = open(t, url, 'logs', problems)
  for (let i = 0; i < 3; i++) {
    const delivery = await output.deliver(sampleShipment(['{}']))
    assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [] })
  }
  assert.deepEqual(problems, ['the collector warns: old api-key *** and token ***'])
})

test('a partial success in JSON or with a very long message is read', async (t) => {
  const json = JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'no' } })
  for (const url of [
    await answering(t, [Buffer.from(json)], 'application/json; charset=utf-8'),
    await answering(t, [partial(1, 'x'.repeat(60_000))]),
  ]) {
    const delivery = await open(t, url, 'logs').deliver(sampleShipment(['{}']))
    assert.equal(delivery.kind === 'answered' && delivery.refused.length, 1)
  }
})

test('responses that are not messages of OTLP deliver everything', async (t) => {
  for (const [body, type] of [
    ['', 'application/x-protobuf'],
    ['OK', 'text/plain'],
    ['{"partialSuccess":{}}', 'application/json'],
    ['{"partialSuccess":null}', 'application/json'],
    ['{', 'application/json'],
  ] as const) {
    const url = await answering(t, [Buffer.from(body)], type)
    const delivery = await open(t, url, 'logs').deliver(sampleShipment(['{}']))
    assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [] }, body)
  }
})
