import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { elasticsearchSkip as skip } from '../testing/elasticsearch.js'
import { valueAt } from '../testing/elasticsearch-endpoint.js'
import {
  connectionTo,
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '../testing/shared-elasticsearch.js'
import { TRAFFIC_MAPPING } from './mapping.js'
import { planClusterSetup, setUpCluster } from './setup.js'

// Searches by the names of the Elastic Common Schema, with a real node.

let node: SharedElasticsearch

before(async () => {
  if (skip === false) node = await sharedElasticsearch()
})
after(() => node?.release())

const RECORD = {
  ...{ '@timestamp': '2026-01-31T12:00:00.000Z', id: 'r1', env: 'production', ua: 'curl/8.5.0' },
  gw: { pod: 'pod-7', version: '1.2.3' },
  trace: { id: 'a'.repeat(32) },
  span: { id: 'b'.repeat(16) },
  consumer: { id: 'c-1', name: 'acme' },
  client: { ip: '203.0.113.7', port: 4711 },
  http: { method: 'POST', version: '1.1' },
  url: { scheme: 'https', host: 'api.example.com', path: '/a', query: 'b=1', original: '/%61' },
  req: { bytes_b: 128 },
  res: { status: 502, bytes_b: 2048 },
  error: { code: 'GW_UPSTREAM_RESET', msg: 'connection gone' },
}
/** A record without these values. */
const OTHER = { '@timestamp': '2026-01-31T12:00:01.000Z', id: 'r2' }
const SAME_NAMES: Readonly<Record<string, unknown>> = {
  ...{ 'trace.id': RECORD.trace.id, 'span.id': RECORD.span.id, 'error.code': 'GW_UPSTREAM_RESET' },
  ...{ 'client.ip': '203.0.113.0/24', 'client.port': 4711, 'http.version': '1.1', 'url.scheme': 'https' },
  ...{ 'url.path': '/a', 'url.query': 'b=1', 'url.original': '/%61' },
}
const ALIASES: Readonly<Record<string, unknown>> = {
  ...{ 'service.environment': 'production', 'service.version': '1.2.3', 'host.name': 'pod-7' },
  ...{ 'user.id': 'c-1', 'user.name': 'acme', 'user_agent.original': 'curl/8.5.0' },
  ...{ 'http.request.id': 'r1', 'http.request.method': 'POST', 'http.request.body.bytes': 128 },
  ...{ 'http.response.status_code': 502, 'http.response.body.bytes': 2048 },
  ...{ 'url.domain': 'api.example.com', 'error.message': 'gone' },
}

async function index(stream: string, ...records: readonly { readonly id: string }[]): Promise<void> {
  const lines = records.map((one) => `{"create":{"_id":"${one.id}"}}\n${JSON.stringify(one)}\n`)
  const { body } = await node.request('POST', `/${stream}/_bulk?refresh=true`, lines.join(''))
  assert.equal(valueAt(body, 'errors'), false, JSON.stringify(body))
}

async function found(stream: string, field: string, value: unknown): Promise<string[]> {
  const query = { match: { [field]: value } }
  const { body } = await node.request('POST', `/${stream}/_search`, { query, sort: 'id' })
  const { hits } = body as { hits: { hits: { _id: string }[] } }
  return hits.hits.map(({ _id }) => _id)
}

/** Returns the ECS names in the mapping. */
function aliasesIn(properties: object, parent = ''): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    if (field.type === 'alias') return [parent + name]
    return field.properties === undefined ? [] : aliasesIn(field.properties, `${parent}${name}.`)
  })
}

test('records are found by their ECS names', { skip }, async () => {
  assert.deepEqual(aliasesIn(TRAFFIC_MAPPING.properties!).sort(), Object.keys(ALIASES).sort())
  const dataStream = freshDataStream()
  await setUpCluster({ ...connectionTo(node, node.url), dataStream, retentionDays: null, replicas: 0 })
  await index(dataStream, RECORD, OTHER)
  for (const [field, value] of Object.entries({ ...SAME_NAMES, ...ALIASES }))
    assert.deepEqual(await found(dataStream, field, value), ['r1'], field)
})

test('the setup adds the ECS names to a template and data stream without them', { skip }, async () => {
  const dataStream = freshDataStream()
  const options = { ...connectionTo(node, node.url), dataStream, retentionDays: null, replicas: 0 }
  await setUpCluster(options)
  const path = `/_index_template/${dataStream}-template`
  const { body } = await node.request('GET', path)
  const { index_templates: templates } = body as { index_templates: { index_template: object }[] }
  const old = JSON.parse(JSON.stringify(templates[0]!.index_template), (_, value) => {
    const isGroup = value?.properties !== undefined && Object.keys(value.properties).length === 0
    return value?.type === 'alias' || isGroup ? undefined : value
  })
  assert.equal((await node.request('PUT', path, old)).status, 200)
  assert.equal((await node.request('POST', `/${dataStream}/_rollover`)).status, 200)
  await index(dataStream, RECORD)
  assert.deepEqual(await found(dataStream, 'http.request.method', 'POST'), [])

  const [template, , , rollover] = await planClusterSetup(options)
  const member = 'template.mappings.properties.url.properties.domain'
  const added = [`${member}.path: none -> url.host`, `${member}.type: none -> alias`]
  assert.deepEqual(
    template!.differences.filter((line) => line.startsWith(member)),
    added,
  )
  assert.ok(rollover!.differences.includes('url.domain: not mapped'), rollover!.differences.join())
  const outcomes = await setUpCluster(options)
  assert.deepEqual(
    outcomes.map(({ what, outcome }) => [what, outcome]),
    [
      ['index template', 'done'],
      ['data stream', 'kept'],
      ['lifecycle', 'kept'],
      ['rollover', 'done'],
    ],
  )
  await index(dataStream, { ...RECORD, id: 'r3' })
  assert.deepEqual(await found(dataStream, 'http.request.method', 'POST'), ['r3'])
  assert.deepEqual(await found(dataStream, 'http.method', 'POST'), ['r1', 'r3'])
  const again = await setUpCluster(options)
  assert.ok(again.every(({ outcome }) => outcome === 'kept'))
})
