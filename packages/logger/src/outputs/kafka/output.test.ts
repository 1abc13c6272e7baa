import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { closedPort } from '@sluice/core/testing'
import { assertIdentity, sampleExchange, until } from '../../testing.js'
import { KAFKA_USER, type KafkaBroker, kafkaFor, kafkaSkip } from '../testing/kafka-broker.js'
import { readTopic } from '../testing/read-topic.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { type Shipping, shipTo } from '../testing/shipping.js'
import type { KafkaOptions } from './options.js'
import { KafkaOutput } from './output.js'

const OPTIONS: Omit<KafkaOptions, 'brokers' | 'topic'> = {
  key: 'request-id',
  acks: 'all',
  compression: 'none',
  maxBatchBytes: 100_000,
  clientId: 'sluice',
  connectTimeoutMs: 5000,
  timeoutMs: 20_000,
  sasl: null,
  tls: null,
}

let topics = 0

/** Ships to a new topic. */
function shipToKafka(
  t: TestContext,
  address: string,
  changes: Partial<KafkaOptions> = {},
): Shipping & { topic: string } {
  const topic = `traffic-${topics++}`
  return { topic, ...shipTo(t, { kind: 'kafka', ...OPTIONS, brokers: [address], topic, ...changes }) }
}

/** Waits until all records are delivered. */
async function assertDelivered({ sink, problems }: Shipping, count: number): Promise<void> {
  await until(() => sink.identity().indexed >= count, `all are delivered; ${problems.join('; ')}`, 300_000)
  assertIdentity(sink.identity())
  const { received, indexed, onDisk, inMemory } = sink.identity()
  assert.deepEqual([received, indexed, onDisk, inMemory], [count, count, 0, 0])
}

async function idsIn(broker: KafkaBroker, topic: string): Promise<unknown[]> {
  return (await readTopic(broker.plain, topic)).map(({ record }) => record['id'])
}

test('the traffic log in Kafka', { skip: kafkaSkip }, async (t) => {
  const broker = await kafkaFor(t)

  for (const compression of ['none', 'gzip', 'snappy', 'lz4'] as const) {
    await t.test(
      `compression ${compression}: all records arrive once, in order, with their id as key`,
      async (t) => {
        const shipping = shipToKafka(t, broker.plain, { compression })
        const ids = shipping.log(1)
        await assertDelivered(shipping, 1)
        ids.push(...shipping.log(2999))
        await assertDelivered(shipping, 3000)
        const read = await readTopic(broker.plain, shipping.topic)
        assert.deepEqual(
          read.map(({ record }) => record['id']),
          ids,
        )
        assert.deepEqual(
          read.map(({ key }) => key),
          ids,
        )
      },
    )
  }

  for (const [key, value] of [
    ['route', 'orders'],
    ['client-ip', '203.0.113.7'],
    ['none', ''],
  ] as const) {
    await t.test(`key ${key}`, async (t) => {
      const shipping = shipToKafka(t, broker.plain, { key, acks: 'leader' })
      shipping.log(2)
      await assertDelivered(shipping, 2)
      assert.deepEqual(
        (await readTopic(broker.plain, shipping.topic)).map((message) => message.key),
        [value, value],
      )
    })
  }

  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
    await t.test(
      `${mechanism}: the right password delivers, a wrong one is reported and not shown`,
      async (t) => {
        const right = shipToKafka(t, broker.sasl, { sasl: { mechanism, ...KAFKA_USER } })
        right.log(5)
        await assertDelivered(right, 5)
        const wrong = shipToKafka(t, broker.sasl, {
          sasl: { mechanism, ...KAFKA_USER, password: 'wrong-word' },
        })
        wrong.log(5)
        await until(() => wrong.problems.length > 0, 'it is reported')
        assert.match(
          wrong.problems[0]!,
          /^delivery is paused: kafka at \S+: SASL login failed \(SASL_AUTHENTICATION_FAILED\); check log\.kafka\.sasl$/,
        )
        assert.doesNotMatch(wrong.problems.join(), /wrong-word/)
        const { indexed, onDisk, inMemory } = wrong.sink.identity()
        assert.deepEqual([indexed, onDisk + inMemory], [0, 5])
      },
    )
  }

  await t.test('TLS verifies the broker and presents the client certificate', async (t) => {
    const file = (name: string): string => join(broker.certificates, name)
    const tls = {
      caFile: file('ca.pem'),
      certFile: file('node.pem'),
      keyFile: file('node.key'),
      insecure: false,
    }
    const shipping = shipToKafka(t, broker.tls, { tls })
    shipping.log(5)
    await assertDelivered(shipping, 5)
    const reasons: string[] = []
    for (const wrong of [
      { ...tls, caFile: null },
      { ...tls, certFile: null, keyFile: null },
      { ...tls, caFile: '/no/ca.pem' },
    ]) {
      const output = new KafkaOutput({ ...OPTIONS, brokers: [broker.tls], topic: 'a', tls: wrong })
      t.after(() => output.close())
      const delivery = await output.deliver(sampleShipment(['{"id":"a"}']))
      reasons.push(delivery.kind === 'failed' ? delivery.reason : delivery.kind)
    }
    assert.match(
      reasons.join('\n'),
      /unable to verify.*\n.*(alert|closed).*\n.*log\.kafka\.tls\.caFile '\/no\/ca\.pem' cannot be read: there is no such file/i,
    )
  })

  await t.test(
    'a record that the broker refuses becomes a dead letter, and the others are delivered',
    async (t) => {
      const shipping = shipToKafka(t, broker.plain)
      const before = shipping.log(50)
      shipping.sink.record(sampleExchange({ id: 'large', path: `/${'x'.repeat(150_000)}` }))
      const after = shipping.log(50)
      const { sink, dir, topic } = shipping
      await until(() => sink.identity().indexed + sink.identity().dead === 101, 'all are settled')
      assert.deepEqual([sink.identity().indexed, sink.identity().dead], [100, 1])
      assert.deepEqual((await idsIn(broker, topic)).sort(), [...before, ...after].sort())
      const [letter] = lettersIn(dir)
      assert.equal(letter!.record.id, 'large')
      assert.match(
        letter!.reason,
        /^the broker responded with MESSAGE_TOO_LARGE to a record of 15\d{4} bytes$/,
      )
    },
  )

  await t.test('a batch that the broker finds too large is divided', async (t) => {
    const shipping = shipToKafka(t, broker.plain, { maxBatchBytes: 1_048_576 })
    const ids = shipping.log(1000)
    await assertDelivered(shipping, 1000)
    assert.deepEqual((await idsIn(broker, shipping.topic)).sort(), ids.sort())
  })

  await t.test('a broker that is killed and started again gets every record', async (t) => {
    const shipping = shipToKafka(t, broker.plain)
    const ids = shipping.log(500)
    await assertDelivered(shipping, 500)
    ids.push(...shipping.log(500))
    await broker.kill()
    ids.push(...shipping.log(500))
    await until(() => shipping.problems.length > 0, 'the outage is reported')
    assert.match(shipping.problems[0]!, /delivery is paused: kafka at 127\.0\.0\.1:\d+: /)
    await broker.start()
    ids.push(...shipping.log(500))
    await assertDelivered(shipping, 2000)
    const read = await idsIn(broker, shipping.topic)
    assert.deepEqual([...new Set(read)].sort(), ids.sort())
  })

  await t.test('the second broker is used if the first one does not respond', async (t) => {
    const brokers = [`127.0.0.1:${await closedPort()}`, broker.plain]
    const shipping = shipToKafka(t, '', { brokers })
    shipping.log(5)
    await assertDelivered(shipping, 5)
  })
})

test('records wait for an unreachable broker', async (t) => {
  const { sink, problems, log } = shipToKafka(t, `127.0.0.1:${await closedPort()}`)
  log(20)
  await until(() => problems.length > 0, 'it is reported')
  assert.match(problems[0]!, /^delivery is paused: kafka at \S+: cannot connect to \S+: connection refused/)
  const { indexed, onDisk, inMemory } = sink.identity()
  assert.deepEqual([indexed, onDisk + inMemory], [0, 20])
})

function lettersIn(dir: string): { record: { id: string }; reason: string }[] {
  const folder = join(dir, 'dead')
  return readdirSync(folder)
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as { record: { id: string }; reason: string })
}
