import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { recordEnv } from '../../record/record-env.js'
import { elasticsearchSkip } from '../../testing/elasticsearch.js'
import {
  connectionTo,
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '../../testing/shared-elasticsearch.js'
import { encodeRecord, sampleExchange, until } from '../../testing.js'
import type { Delivery, Refusal, Shipment } from '../output.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { type ElasticsearchOptions, ElasticsearchOutput } from './output.js'

// Tests with a real node, because its responses matter.

const skip = elasticsearchSkip
let node: SharedElasticsearch

before(async () => {
  if (skip === false) node = await sharedElasticsearch()
})
after(() => node?.release())

function shipmentOf(
  records: readonly object[],
  options: { prefix?: string; mayBeDelivered?: boolean } = {},
): Shipment {
  const texts = records.map((record) => JSON.stringify(record))
  return sampleShipment(texts, options)
}

function open(changes: Partial<ElasticsearchOptions> = {}) {
  const problems: string[] = []
  const options: ElasticsearchOptions = {
    ...connectionTo(node, node.url),
    ...{ dataStream: freshDataStream(), retentionDays: 30, replicas: 0, manage: true },
    ...changes,
  }
  const output = new ElasticsearchOutput(options, (problem) => problems.push(problem))
  return { output, stream: options.dataStream, problems }
}

async function countIn(stream: string): Promise<number> {
  await node.request('POST', `/${stream}/_refresh`)
  const { body } = await node.request('GET', `/${stream}/_count`)
  return (body as { count: number }).count
}

const good = (n: number): object => ({
  '@timestamp': new Date(1_700_000_000_000 + n).toISOString(),
  id: `r${n}`,
})
const DELIVERED: Delivery = { kind: 'answered', refused: [], again: [] }

function refusedOf(delivery: Delivery): readonly Refusal[] {
  return (delivery as Extract<Delivery, { kind: 'answered' }>).refused
}

test('records are written once, however often they are sent', { skip }, async () => {
  const { output, stream } = open()
  const shipment = shipmentOf([good(1), good(2), good(3)])
  assert.deepEqual(await output.deliver(shipment), DELIVERED)
  assert.deepEqual(await output.deliver(shipment), DELIVERED)
  assert.equal(await countIn(stream), 3)
  await output.close()
})

test('requests are compressed if configured', { skip }, async (t) => {
  for (const compress of [true, false]) {
    const codings: (string | undefined)[] = []
    const relay = await relayTo(t, (req, answer, res) => {
      if (req.url?.includes('/_bulk')) codings.push(req.headers['content-encoding'])
      passOn(answer, res)
    })
    const { output, stream } = open({ nodes: [relay], compress })
    assert.deepEqual(await output.deliver(shipmentOf([good(1), good(2)])), DELIVERED)
    assert.equal(await countIn(stream), 2)
    assert.deepEqual(codings, [compress ? 'gzip' : undefined])
    await output.close()
  }
})

test('a record that the mapping refuses is distinguished from those beside it', { skip }, async () => {
  const { output, stream } = open()
  const bad = { '@timestamp': 'yesterday' }
  const delivery = await output.deliver(shipmentOf([good(1), bad, good(2)]))
  assert.equal(delivery.kind, 'answered')
  const { again } = delivery as Extract<Delivery, { kind: 'answered' }>
  const refused = refusedOf(delivery)
  assert.deepEqual([refused.map(({ index, status }) => [index, status]), again], [[[1, 400]], []])
  assert.match(refused[0]!.reason, /failed to parse field \[@timestamp\]/)
  assert.equal(await countIn(stream), 2)
  await output.close()
})

test('each of many records has its own result, even if the response arrives in pieces', {
  skip,
}, async () => {
  const { output, stream } = open()
  const records = Array.from({ length: 360 }, (_, n) =>
    n % 3 === 1 ? { '@timestamp': `day ${n}` } : good(n),
  )
  // The second attempt finds the written records.
  for (const attempt of [1, 2]) {
    const delivery = await output.deliver(shipmentOf(records, { mayBeDelivered: attempt === 2 }))
    assert.equal(delivery.kind, 'answered', `${attempt}: ${JSON.stringify(delivery)}`)
    const refused = refusedOf(delivery)
    assert.deepEqual(
      refused.map(({ index, status, type }) => [index, status, type]),
      Array.from({ length: 120 }, (_, n) => [3 * n + 1, 400, 'document_parsing_exception']),
    )
    assert.ok(refused.every(({ index, reason }) => reason.includes(`day ${index}`)))
  }
  assert.equal(await countIn(stream), 240)
  await output.close()
})

/** Handles the response of the node to a proxied request. */
type Relayed = (req: IncomingMessage, answer: IncomingMessage, res: ServerResponse) => void

/** Starts a proxy to the node. */
async function relayTo(t: TestContext, relayed: Relayed): Promise<string> {
  const ca = readFileSync(node.caFile)
  const server = createServer((req, res) => {
    const { method, headers } = req
    const onward = request(node.url + req.url, { method, headers, ca, agent: false }, (answer) => {
      relayed(req, answer, res)
    })
    req.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function passOn(answer: IncomingMessage, res: ServerResponse): void {
  res.writeHead(answer.statusCode!, answer.headers)
  answer.pipe(res)
}

/** Starts a proxy to the node that drops the response to the first bulk request. */
function forgetfulRelay(t: TestContext): Promise<string> {
  let bulks = 0
  return relayTo(t, (req, answer, res) => {
    const isLost = req.url?.includes('/_bulk') === true && ++bulks === 1
    if (isLost) answer.resume().on('end', () => res.destroy())
    else passOn(answer, res)
  })
}

const NUMBERED = { type: 'keyword', ignore_above: 1024, fields: { number: { type: 'long' } } }

/** Delivers records across a mapping change. The first one is written by the request with the lost response. */
async function deliveryAcrossChange(t: TestContext, settings: object) {
  const opened = open({ nodes: [await forgetfulRelay(t)] })
  t.after(() => opened.output.close())
  const { output, stream } = opened
  const records = [{ ...good(1), ua: 'x' }, { '@timestamp': 'yesterday' }, { ...good(2), ua: '7' }]
  assert.equal((await output.deliver(shipmentOf(records))).kind, 'failed')
  await node.request('PUT', `/${stream}/_mapping`, { properties: { ua: NUMBERED } })
  await node.request('PUT', `/${stream}/_settings`, settings)
  const delivery = await output.deliver(shipmentOf(records, { mayBeDelivered: true }))
  assert.equal(delivery.kind, 'answered')
  return { ...opened, refused: refusedOf(delivery).map(({ index, status }) => [index, status]) }
}

test('a record written before the mapping changed counts as delivered, not as a dead letter', {
  skip,
}, async (t) => {
  const { output, stream, refused, problems } = await deliveryAcrossChange(t, {})
  assert.deepEqual([refused, problems], [[[1, 400]], []])
  assert.equal(await countIn(stream), 2)
  const next = await output.deliver(shipmentOf([{ ...good(3), ua: 'x' }], { prefix: 'next' }))
  assert.equal(next.kind === 'answered' && next.refused.length, 1, 'what was not written is refused')
})

test('without read access, a refused record becomes a dead letter', {
  skip,
}, async (t) => {
  const { refused, problems } = await deliveryAcrossChange(t, { 'index.blocks.read': true })
  assert.deepEqual(refused, [
    [0, 400],
    [1, 400],
  ])
  assert.match(problems.join(), /refused records may also be in the index, .*403/)
})

test('the response to a first attempt is trusted without searching the index', { skip }, async () => {
  const { output, stream, problems } = open()
  await output.deliver(shipmentOf([good(1)], { prefix: 'first' }))
  await node.request('PUT', `/${stream}/_settings`, { 'index.blocks.read': true })
  const delivery = await output.deliver(shipmentOf([{ '@timestamp': 'yesterday' }]))
  assert.deepEqual([refusedOf(delivery).length, problems], [1, []])
  await output.close()
})

test('a call whose header fields have immense names is no dead letter', { skip }, async () => {
  const { output, stream } = open()
  const x = sampleExchange({
    headers: ['n'.repeat(40_000), 'a', 'm'.repeat(1024), 'v'.repeat(100_000), 'x-a', 'b'],
  })
  const env = recordEnv({ fields: 'full', worker: 0, node: 'n', version: '1', configDigest: () => 'd' })
  const record = JSON.parse(encodeRecord(x, env))
  assert.deepEqual(await output.deliver(shipmentOf([record])), DELIVERED)
  assert.equal(await countIn(stream), 1)
  const { body } = await node.request('GET', `/${stream}/_search?q=hdr.req_up.x-a:b`)
  assert.match(JSON.stringify(body), /"m{1024}":"v{100000}"/)
  await output.close()
})

test('unknown fields are stored but not indexed', { skip }, async () => {
  const { output, stream } = open()
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x${i}`, i]))
  assert.deepEqual(
    await output.deliver(shipmentOf([{ ...good(1), many, client: { ip: 'unknown' } }])),
    DELIVERED,
  )
  assert.equal(await countIn(stream), 1)
  await output.close()
})

test('exchanges are found by client location and by API', { skip }, async () => {
  const { output, stream } = open()
  const istanbul = { client: { country: 'TR', geo: { lat: 41.0138, lon: 28.9497 } } }
  const auckland = { client: { country: 'NZ', geo: { lat: -36.85, lon: 174.76 } } }
  const records = [
    { ...good(1), ...istanbul, env: 'staging', api: 'orders', group: 'sales', revision: '7' },
    { ...good(2), ...auckland, sampled: true },
    good(3),
  ]
  assert.deepEqual(await output.deliver(shipmentOf(records)), DELIVERED)
  await node.request('POST', `/${stream}/_refresh`)
  const idsOf = async (query: object): Promise<unknown> => {
    const { body } = await node.request('POST', `/${stream}/_search`, { query, _source: ['id'] })
    const { hits } = (body as { hits: { hits: { _source: { id: string } }[] } }).hits
    return hits.map(({ _source }) => _source.id)
  }
  const near = { distance: '50km', 'client.geo': '41.0,29.0' }
  assert.deepEqual(await idsOf({ geo_distance: near }), ['r1'])
  for (const [field, value, id] of [
    ...[['client.country', 'NZ', 'r2'] as const, ['sampled', true, 'r2'] as const],
    ...[['env', 'staging', 'r1'] as const, ['api', 'orders', 'r1'] as const],
    ...[['group', 'sales', 'r1'] as const, ['revision', '7', 'r1'] as const],
  ]) {
    assert.deepEqual(await idsOf({ term: { [field]: value } }), [id], field)
  }
  await output.close()
})

test('records wait while the index is read-only', { skip }, async () => {
  const { output, stream } = open()
  await output.deliver(shipmentOf([good(1)]))
  await node.request('PUT', `/${stream}/_settings`, { 'index.blocks.write': true })
  const blocked = await output.deliver(shipmentOf([good(1), good(2)], { prefix: 'more' }))
  assert.deepEqual(blocked, { kind: 'answered', refused: [], again: [0, 1] })
  await node.request('PUT', `/${stream}/_settings`, { 'index.blocks.write': false })
  assert.deepEqual(await output.deliver(shipmentOf([good(1), good(2)], { prefix: 'more' })), DELIVERED)
  assert.equal(await countIn(stream), 3)
  await output.close()
})

test('a data stream that cannot be made is reported, and the records wait', { skip }, async () => {
  const { output } = open({ dataStream: 'Upper' })
  const delivery = await output.deliver(shipmentOf([good(1)]))
  assert.equal(delivery.kind, 'failed')
  assert.match(delivery.kind === 'failed' ? delivery.reason : '', /cannot set up the data stream: .*400/)
  await output.close()
})

test('another node is used if the first one does not respond', { skip }, async () => {
  const { output, stream } = open({ nodes: ['http://127.0.0.1:9', node.url] })
  await until(
    async () => (await output.deliver(shipmentOf([good(1)]))).kind === 'answered',
    'it is delivered',
  )
  for (let i = 0; i < 4; i++)
    assert.deepEqual(await output.deliver(shipmentOf([good(i)], { prefix: `n${i}` })), DELIVERED)
  assert.equal(await countIn(stream), 5)
  await output.close()
})

test('an unreachable node is reported, and the records wait', { skip }, async () => {
  const nobody = open({ nodes: ['http://127.0.0.1:9'] })
  const delivery = await nobody.output.deliver(shipmentOf([good(1)]))
  assert.equal(delivery.kind, 'failed')
  assert.match(
    delivery.kind === 'failed' ? delivery.reason : '',
    /Elasticsearch does not respond: .*connection refused/,
  )
  await nobody.output.close()
})

test('the data stream has the lifecycle and the mapping that were asked for', { skip }, async () => {
  const { output, stream } = open({ retentionDays: 7 })
  await output.deliver(shipmentOf([good(1)]))
  const template = JSON.stringify(await node.request('GET', `/_index_template/${stream}-template`))
  assert.match(template, /"data_retention":"7d"/)
  const mapping = JSON.stringify(await node.request('GET', `/${stream}/_mapping`))
  assert.match(mapping, /"@timestamp":\{"type":"date_nanos"\}/)
  assert.match(mapping, /"ip":\{"type":"ip"/)
  await output.close()
})
