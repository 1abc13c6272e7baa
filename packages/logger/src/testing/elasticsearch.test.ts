import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { scratchDir, until } from '../testing.js'
import { type ElasticsearchNode, elasticsearchFor, elasticsearchSkip } from './elasticsearch.js'
import { valueAt } from './elasticsearch-endpoint.js'
import { processState } from './process-state.js'

const skip = elasticsearchSkip

test('a node refuses an id twice, finds what it has, answers users and keys only, and is the same after a power failure', {
  skip,
}, async (t) => {
  const options = { dir: scratchDir(), security: true }
  const node = await elasticsearchFor(t, options)
  const root = await node.request('GET', '/')
  assert.equal(valueAt(root.body, 'version', 'number'), '8.19.21')

  const first = await node.request('PUT', '/calls/_create/a?refresh=true', { route: 'orders', ms: 12 })
  assert.equal(first.status, 201)
  const again = await node.request('PUT', '/calls/_create/a', { route: 'orders', ms: 13 })
  assert.equal(again.status, 409)
  assert.equal(await msOf(node, 'orders'), 12)
  await assertDataStreams(node)
  const writer = await assertSecurity(node)

  await node.kill()
  const next = await elasticsearchFor(t, { ...options, port: node.port })
  assert.equal(next.url, node.url)
  assert.equal(next.password, node.password)
  assert.notEqual(next.pid, node.pid)
  assert.equal(await msOf(next, 'orders'), 12)
  assert.equal((await next.request('POST', '/calls/_doc', { ms: 2 }, writer)).status, 201)
  await assertPause(next)
  await next.stop()
  await assert.rejects(next.request('GET', '/'), /ECONNREFUSED/)
})

/** Checks the security of a node. Returns the authorization of a key that can only write to one index. */
async function assertSecurity(node: ElasticsearchNode): Promise<string> {
  assert.match(node.url, /^https:/)
  assert.equal((await node.request('GET', '/', undefined, '')).status, 401)
  const wrong = `Basic ${Buffer.from(`${node.username}:wrong`).toString('base64')}`
  assert.equal((await node.request('GET', '/', undefined, wrong)).status, 401)
  const privileges = { indices: [{ names: ['calls'], privileges: ['create_doc', 'auto_configure'] }] }
  const key = { name: 'writer', role_descriptors: { writer: privileges } }
  const made = await node.request('POST', '/_security/api_key?refresh=wait_for', key)
  assert.equal(made.status, 200)
  const writer = `ApiKey ${valueAt(made.body, 'encoded')}`
  assert.equal((await node.request('POST', '/calls/_doc', { ms: 1 }, writer)).status, 201)
  assert.equal((await node.request('POST', '/others/_doc', { ms: 1 }, writer)).status, 403)
  return writer
}

/** Checks that data streams are created from a template or by name, and deleted by pattern. */
async function assertDataStreams(node: ElasticsearchNode): Promise<void> {
  const template = { index_patterns: ['traffic-*'], data_stream: {}, priority: 500 }
  assert.equal((await node.request('PUT', '/_index_template/traffic', template)).status, 200)
  assert.equal((await node.request('PUT', '/_data_stream/traffic-a')).status, 200)
  const record = { '@timestamp': '2026-01-01T00:00:00Z' }
  assert.equal((await node.request('POST', '/traffic-b/_doc', record)).status, 201)
  const all = await node.request('GET', '/_data_stream')
  assert.deepEqual(namesOf(all.body), ['traffic-a', 'traffic-b'])
  assert.equal((await node.request('DELETE', '/_data_stream/traffic-*')).status, 200)
  assert.deepEqual(namesOf((await node.request('GET', '/_data_stream/traffic-*')).body), [])
  assert.equal((await node.request('GET', '/_data_stream/traffic-a')).status, 404)
}

/** Connects to a suspended node and checks that it responds after it is resumed. */
async function assertPause(node: ElasticsearchNode): Promise<void> {
  node.pause()
  await until(() => processState(node.pid) === 'T', 'the server is stopped')
  const socket = net.connect(node.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  const waiting = node.request('GET', '/')
  node.resume()
  assert.equal((await waiting).status, 200)
}

async function msOf(node: ElasticsearchNode, route: string): Promise<unknown> {
  const found = await node.request('POST', '/calls/_search', { query: { match: { route } } })
  assert.equal(valueAt(found.body, 'hits', 'total', 'value'), 1)
  return valueAt(found.body, 'hits', 'hits', '0', '_source', 'ms')
}

function namesOf(body: unknown): unknown[] {
  return (valueAt(body, 'data_streams') as object[]).map((stream) => valueAt(stream, 'name'))
}
