import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setUpCluster } from '../../elasticsearch/setup.js'
import { sampleShipment } from '../testing/sample-shipment.js'
import { type ElasticsearchOptions, ElasticsearchOutput } from './output.js'

// A server that answers like OpenSearch 2: it knows neither the media types and the product header of Elasticsearch,
// nor lazy rollovers, lifecycles and `flattened` fields.

const STREAM = 'logs-open-default'
const PLAIN = /^application\/(json|x-ndjson)$/

interface OpenSearch {
  readonly node: string
  /** Method and URL of each request. */
  readonly requests: string[]
  template: { template: { mappings: { properties: object } } } | null
  hasStream: boolean
}

async function startOpenSearch(t: TestContext): Promise<OpenSearch> {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push(`${request.method} ${request.url}`)
    const [status, answer] = answerOf(request, body, cluster)
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cluster: OpenSearch = { node, requests, template: null, hasStream: false }
  return cluster
}

function answerOf(request: IncomingMessage, body: string, cluster: OpenSearch): [number, object] {
  const { method, url = '', headers } = request
  const type = headers['content-type']
  if (type !== undefined && !PLAIN.test(type))
    return [406, { error: `Content-Type header [${type}] is not supported`, status: 406 }]
  const call = `${method} ${url.split('?')[0]}`
  if (url.includes('lazy')) return refused('request contains unrecognized parameter: [lazy]')
  if (call === 'GET /_index_template') return [200, {}]
  if (call === `GET /_index_template/${STREAM}-template`)
    return cluster.template === null
      ? [404, {}]
      : [200, { index_templates: [{ index_template: cluster.template }] }]
  if (call === `PUT /_index_template/${STREAM}-template`) {
    const unknown = /flattened|"lifecycle"|ignore_dynamic_beyond_limit/.exec(body)
    if (unknown !== null) return refused(`unknown ${unknown[0]}`)
    cluster.template = JSON.parse(body)
    return [200, { acknowledged: true }]
  }
  if (call === `GET /_data_stream/${STREAM}`)
    return cluster.hasStream ? [200, { data_streams: [{ indices: [{ index_name: 'i-1' }] }] }] : [404, {}]
  if (call === `PUT /_data_stream/${STREAM}`) {
    cluster.hasStream = true
    return [200, { acknowledged: true }]
  }
  if (call === 'GET /i-1/_mapping')
    return [200, { 'i-1': { mappings: { dynamic: 'false', properties: {} } } }]
  if (call === `POST /${STREAM}/_rollover`) return [200, { rolled_over: true }]
  if (call !== `POST /${STREAM}/_bulk`)
    return refused(`no handler found for uri [${url}] and method [${method}]`)
  const records = body.trim().split('\n').length / 2
  if (body.includes('malformed')) return refused('Malformed action/metadata line')
  return [200, { items: Array.from({ length: records }, () => ({ create: { status: 201 } })) }]
}

function refused(reason: string): [number, object] {
  const error = { type: 'illegal_argument_exception', reason }
  return [400, { error: { root_cause: [error], ...error }, status: 400 }]
}

function optionsFor({ node }: OpenSearch): ElasticsearchOptions {
  return {
    ...{ nodes: [node], auth: null, caFile: null, insecure: false, compress: false, product: 'opensearch' },
    ...{ dataStream: STREAM, retentionDays: null, replicas: 0, manage: true },
  }
}

test('records are written to a data stream that is set up first', async (t) => {
  const cluster = await startOpenSearch(t)
  const output = new ElasticsearchOutput(optionsFor(cluster), () => {})
  t.after(() => output.close())
  const delivery = await output.deliver(sampleShipment(['{"n":1}', '{"n":2}']))
  assert.deepEqual(delivery, { kind: 'answered', refused: [], again: [] })
  assert.equal((await output.deliver(sampleShipment(['{"n":"malformed"}']))).kind, 'unfit')
  const { properties } = cluster.template!.template.mappings
  assert.deepEqual((properties as Record<string, object>)['vars'], { type: 'flat_object' })
})

test('only an operator starts a new index when the mapping differs', async (t) => {
  const cluster = await startOpenSearch(t)
  cluster.hasStream = true
  const output = new ElasticsearchOutput(optionsFor(cluster), () => {})
  t.after(() => output.close())
  assert.equal((await output.deliver(sampleShipment(['{"n":1}']))).kind, 'answered')
  const rollover = `POST /${STREAM}/_rollover`
  assert.ok(!cluster.requests.includes(rollover))
  const outcomes = await setUpCluster(optionsFor(cluster))
  assert.deepEqual(
    outcomes.map(({ what, outcome }) => [what, outcome]),
    [
      ['index template', 'kept'],
      ['data stream', 'kept'],
      ['rollover', 'done'],
    ],
  )
  assert.ok(cluster.requests.includes(rollover))
})

test('without the setting, the error names it', async (t) => {
  const cluster = await startOpenSearch(t)
  const { product: _product, ...options } = optionsFor(cluster)
  const remedy = /not Elasticsearch.*; for OpenSearch, set log\.elasticsearch\.product: opensearch/
  for (const manage of [true, false]) {
    const output = new ElasticsearchOutput({ ...options, manage }, () => {})
    t.after(() => output.close())
    const delivery = await output.deliver(sampleShipment(['{"n":1}']))
    assert.ok(delivery.kind === 'failed' && remedy.test(delivery.reason), JSON.stringify(delivery))
  }
  await assert.rejects(setUpCluster(options), remedy)
})
