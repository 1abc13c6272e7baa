import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { elasticsearchFor, elasticsearchSkip } from './elasticsearch.js'
import { valueAt } from './elasticsearch-endpoint.js'

const skip = elasticsearchSkip

test('with security only users and keys are answered, also after a power failure', { skip }, async (t) => {
  const options = { dir: scratchDir(), security: true }
  const node = await elasticsearchFor(t, options)
  assert.match(node.url, /^https:/)
  assert.equal((await node.request('GET', '/', undefined, '')).status, 401)
  assert.equal((await node.request('GET', '/')).status, 200)
  const wrong = `Basic ${Buffer.from(`${node.username}:wrong`).toString('base64')}`
  assert.equal((await node.request('GET', '/', undefined, wrong)).status, 401)

  const privileges = { indices: [{ names: ['calls'], privileges: ['create_doc', 'auto_configure'] }] }
  const key = { name: 'writer', role_descriptors: { writer: privileges } }
  const made = await node.request('POST', '/_security/api_key?refresh=wait_for', key)
  assert.equal(made.status, 200)
  const writer = `ApiKey ${valueAt(made.body, 'encoded')}`
  assert.equal((await node.request('POST', '/calls/_doc', { ms: 1 }, writer)).status, 201)
  assert.equal((await node.request('POST', '/others/_doc', { ms: 1 }, writer)).status, 403)

  await node.kill()
  const next = await elasticsearchFor(t, { ...options, port: node.port })
  assert.equal(next.password, node.password)
  assert.equal((await node.request('POST', '/calls/_doc', { ms: 2 }, writer)).status, 201)
})
