import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertIdentity, sampleExchange, scratchDir, until } from '../../testing.js'
import { type Shipping, shipTo } from '../testing/shipping.js'
import { type SyslogReceiver, tcpReceiver, tlsReceiver, udpReceiver } from '../testing/syslog-receiver.js'
import type { SyslogOptions } from './options.js'

const TLS = { caFile: null, certFile: null, keyFile: null, insecure: false }

function shipToSyslog(t: TestContext, address: string, changes: Partial<SyslogOptions> = {}): Shipping {
  return shipTo(t, {
    kind: 'syslog',
    address,
    facility: 'local0',
    appName: 'sluice',
    structuredDataId: 'traffic@32473',
    maxMessageBytes: 8192,
    tls: TLS,
    ...changes,
  })
}

/** Waits until all records are settled, and checks that exactly these arrived, at least once. */
async function assertArrived(
  { sink, problems }: Shipping,
  receivers: SyslogReceiver[],
  ids: readonly string[],
) {
  await until(
    () => sink.identity().indexed === ids.length,
    `all are delivered; ${problems.join('; ')}`,
    60_000,
  )
  const arrived = (): Set<string> =>
    new Set(receivers.flatMap(({ messages }) => messages.map(({ text }) => JSON.parse(text).id)))
  await until(() => arrived().size >= ids.length, 'all have arrived')
  assert.deepEqual([...arrived()].sort(), [...ids].sort())
  for (const { faults } of receivers) assert.deepEqual(faults, [])
  assertIdentity(sink.identity())
  const { spools, ...counts } = sink.identity()
  assert.deepEqual(spools?.left, {})
  assert.deepEqual(counts, {
    ...{ received: ids.length, indexed: ids.length, dead: 0, deadRemoved: 0, dropped: 0, droppedBy: {} },
    ...{ onDisk: 0, inMemory: 0, lagMs: 0 },
  })
}

test('records arrive over UDP, one a datagram', async (t) => {
  const receiver = await udpReceiver(t)
  const shipping = shipToSyslog(t, `udp://127.0.0.1:${receiver.port}`)
  await assertArrived(shipping, [receiver], shipping.log(300))
  assert.equal(receiver.messages.length, 300)
  const { data, facility, severity } = receiver.messages[0]!
  assert.deepEqual([facility, severity, data['traffic@32473']?.['status']], [16, 6, '200'])
})

test('records arrive over TCP, counted in octets, over one connection', async (t) => {
  const receiver = await tcpReceiver(t)
  const shipping = shipToSyslog(t, `tcp://localhost:${receiver.port}`)
  const ids = shipping.log(5000)
  await assertArrived(shipping, [receiver], ids)
  await assertArrived(shipping, [receiver], [...ids, ...shipping.log(10)])
  assert.equal(receiver.messages.length, 5010)
  assert.equal(receiver.connections(), 1)
})

test('records arrive over TLS, and the receiver is checked', async (t) => {
  const receiver = await tlsReceiver(t, scratchDir())
  const address = `tls://127.0.0.1:${receiver.port}`
  const trusting = shipToSyslog(t, address, { tls: { ...TLS, caFile: receiver.caFile } })
  await assertArrived(trusting, [receiver], trusting.log(500))
  const doubting = shipToSyslog(t, address)
  doubting.log(3)
  await until(() => doubting.problems.length > 0, 'the certificate is refused')
  assert.match(doubting.problems[0]!, /delivery is paused: syslog at tls:.* certificate/)
  const careless = shipToSyslog(t, address, { tls: { ...TLS, insecure: true } })
  careless.log(3)
  await until(() => careless.sink.identity().indexed === 3, 'any certificate will do')
  assert.equal(doubting.sink.identity().indexed, 0)
  assert.equal(receiver.messages.length, 503)
})

test('a receiver that requires a client certificate gets it, and rejects clients without one', async (t) => {
  const dir = scratchDir()
  const plain = await tlsReceiver(t, dir)
  const location = dirname(plain.caFile)
  const strict = await tlsReceiver(t, dir, {
    requestCert: true,
    rejectUnauthorized: true,
    ca: readFileSync(plain.caFile),
  })
  const address = `tls://127.0.0.1:${strict.port}`
  const nameless = shipToSyslog(t, address, { tls: { ...TLS, caFile: plain.caFile } })
  nameless.log(2)
  await until(() => nameless.problems.length > 0, 'the receiver wants a certificate')
  const files = { certFile: join(location, 'node.pem'), keyFile: join(location, 'node.key') }
  const known = shipToSyslog(t, address, { tls: { ...TLS, caFile: plain.caFile, ...files } })
  await assertArrived(known, [strict], known.log(20))
  assert.equal(nameless.sink.identity().indexed, 0)
})

test('a missing CA file delays records and loses none', async (t) => {
  const shipping = shipToSyslog(t, 'tls://127.0.0.1:9', { tls: { ...TLS, caFile: '/nowhere/ca.pem' } })
  shipping.log(5)
  await until(
    () => shipping.problems.some((problem) => problem.includes('/nowhere/ca.pem')),
    'it is reported',
  )
  const { onDisk, inMemory } = shipping.sink.identity()
  assert.equal(onDisk + inMemory, 5)
})

for (const [transport, receiverAt] of [
  ['tcp', tcpReceiver],
  ['udp', udpReceiver],
] as const) {
  test(`records logged during an outage of a ${transport} receiver are delivered afterwards`, async (t) => {
    const first = await receiverAt(t)
    const shipping = shipToSyslog(t, `${transport}://127.0.0.1:${first.port}`)
    const ids = shipping.log(100)
    await assertArrived(shipping, [first], ids)
    await first.stop()
    ids.push(...shipping.log(400))
    await until(
      () => shipping.problems.some((problem) => problem.includes('delivery is paused')),
      'the outage is reported',
    )
    const during = shipping.sink.identity()
    assert.equal(during.indexed, 100)
    assert.equal(during.onDisk + during.inMemory, 400)
    const second = await receiverAt(t, first.port)
    ids.push(...shipping.log(50))
    await assertArrived(shipping, [first, second], ids)
  })
}

test('a batch is sent again if the connection is cut', async (t) => {
  let cuts = 2
  const receiver = await tcpReceiver(t, 0, (socket) => {
    if (cuts-- > 0) socket.once('data', () => socket.resetAndDestroy())
  })
  const shipping = shipToSyslog(t, `tcp://127.0.0.1:${receiver.port}`)
  const ids = shipping.log(2000)
  await assertArrived(shipping, [receiver], ids)
  assert.equal(receiver.connections(), 3)
  assert.ok(receiver.messages.length >= ids.length)
})

test('a record too long for a message becomes a dead letter, and the others pass', async (t) => {
  const receiver = await tcpReceiver(t)
  const shipping = shipToSyslog(t, `tcp://127.0.0.1:${receiver.port}`, { maxMessageBytes: 2000 })
  const { sink, dir } = shipping
  sink.record(sampleExchange({ id: 'short' }))
  sink.record(sampleExchange({ id: 'long', path: `/${'x'.repeat(3000)}` }))
  await until(() => sink.identity().indexed + sink.identity().dead === 2, 'both are settled')
  assert.deepEqual(
    receiver.messages.map(({ text }) => JSON.parse(text).id),
    ['short'],
  )
  const [file = ''] = readdirSync(join(dir, 'dead'))
  const letter = JSON.parse(readFileSync(join(dir, 'dead', file), 'utf8'))
  assert.deepEqual([letter.type, letter.record.id], ['message_too_long', 'long'])
  assertIdentity(sink.identity())
})
