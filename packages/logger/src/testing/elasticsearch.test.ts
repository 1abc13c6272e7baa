import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratchDir, until } from '../testing.js'
import {
  type ElasticsearchNode,
  type ElasticsearchOptions,
  elasticsearchSkip,
  startElasticsearch,
} from './elasticsearch.js'

const skip = elasticsearchSkip
const THIS_FILE = fileURLToPath(import.meta.url)

if (process.argv[2] === undefined) defineTests()
else process.send?.((await startElasticsearch({ dir: process.argv[2] })).pid)

function defineTests(): void {
  test('a node refuses an id twice, finds what it has, and has it still on the same port', {
    skip,
  }, async (t) => {
    const dir = scratchDir()
    const node = await startedNode(t, { dir })
    const root = await node.request('GET', '/')
    assert.equal(valueAt(root.body, 'version', 'number'), '8.19.21')

    const first = await node.request('PUT', '/calls/_create/a?refresh=true', { route: 'orders', ms: 12 })
    assert.equal(first.status, 201)
    const again = await node.request('PUT', '/calls/_create/a', { route: 'orders', ms: 13 })
    assert.equal(again.status, 409)
    assert.equal(await msOf(node, 'orders'), 12)

    await assertDataStreams(node)

    await node.stop()
    await assert.rejects(node.request('GET', '/'), /ECONNREFUSED/)
    const next = await startedNode(t, { dir, port: node.port })
    assert.equal(next.url, node.url)
    assert.notEqual(next.pid, node.pid)
    assert.equal(await msOf(next, 'orders'), 12)

    next.pause()
    await until(() => stateOf(next.pid) === 'T', 'the server is stopped')
    const socket = net.connect(next.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    const waiting = next.request('GET', '/')
    next.resume()
    assert.equal((await waiting).status, 200)
  })

  test('with security only users and keys are answered, over TLS, also after a power failure', {
    skip,
  }, async (t) => {
    const options = { dir: scratchDir(), security: true }
    const node = await startedNode(t, options)
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
    const next = await startedNode(t, { ...options, port: node.port })
    assert.equal(next.password, node.password)
    assert.equal((await node.request('POST', '/calls/_doc', { ms: 2 }, writer)).status, 201)
  })

  test('a node that cannot start says why, and leaves no process', { skip }, async () => {
    const settings = { 'no.such.setting': true }
    await assert.rejects(
      startElasticsearch({ dir: scratchDir(), settings }),
      /unknown setting \[no\.such\.setting\]/,
    )
  })

  test('a node ends with the process that started it', { skip }, async () => {
    const owner = spawn(process.execPath, [THIS_FILE, scratchDir()], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [pid] = (await once(owner, 'message')) as [number]
    assert.notEqual(stateOf(pid), undefined)
    owner.kill('SIGKILL')
    await until(() => [undefined, 'Z'].includes(stateOf(pid)), 'the server ends', 60_000)
  })
}

async function startedNode(t: TestContext, options: ElasticsearchOptions): Promise<ElasticsearchNode> {
  const node = await startElasticsearch(options)
  t.after(() => node.stop())
  return node
}

async function msOf(node: ElasticsearchNode, route: string): Promise<unknown> {
  const found = await node.request('POST', '/calls/_search', { query: { match: { route } } })
  assert.equal(valueAt(found.body, 'hits', 'total', 'value'), 1)
  return valueAt(found.body, 'hits', 'hits', '0', '_source', 'ms')
}

function namesOf(body: unknown): unknown[] {
  return (valueAt(body, 'data_streams') as object[]).map((stream) => valueAt(stream, 'name'))
}

function valueAt(body: unknown, ...path: string[]): unknown {
  let value = body
  for (const name of path) value = (value as Record<string, unknown>)[name]
  return value
}

/** They come from their template or by name, and go by pattern. */
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

/** The letter by which the kernel names what a process is doing; a process that has ended has none. */
function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
