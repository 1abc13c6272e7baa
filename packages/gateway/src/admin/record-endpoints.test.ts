import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordsAnswer } from '../supervise/records/record-query.js'
import { RECORD_ENDPOINTS } from './record-endpoints.js'
import { FakeBackend, NO_SESSION } from './testing/fake-backend.js'

async function ask(path: string, query: string, backend = new FakeBackend()) {
  const endpoint = RECORD_ENDPOINTS.find((each) => each.path === path)!
  const { status, body } = await endpoint.answer({
    backend,
    actor: 'a@b',
    role: 'operator',
    session: NO_SESSION,
    query: new URLSearchParams(query),
    header: () => '',
    body: async () => ({ ok: true, text: '' }),
  })
  return { status, value: JSON.parse(body) as Record<string, unknown>, backend }
}

test('filters reach the search, and records come without headers and bodies', async () => {
  const { status, value, backend } = await ask(
    '/v1/records',
    'status=5xx&path=*/a*&minMs=250&limit=900&since=2026-01-31T08:00:02.000Z&route=',
  )
  assert.equal(status, 200)
  const sinceMs = Date.UTC(2026, 0, 31, 8)
  assert.deepEqual(backend.searched, [{ status: '5xx', path: '*/a*', minMs: 250, limit: 500, sinceMs }])
  assert.deepEqual(value['records'], [{ '@timestamp': '2026-01-01T00:00:00.000Z', id: 'r1' }])
})

test('invalid queries are refused before the search', async () => {
  for (const query of [
    'stauts=5xx',
    'minMs=a',
    'limit=-1',
    'limit=0',
    'since=yesterday',
    `route=${'x'.repeat(2000)}`,
  ]) {
    const { status, backend } = await ask('/v1/records', query)
    assert.deepEqual([status, backend.searched], [400, []], query)
  }
  assert.equal((await ask('/v1/records/explain', '')).status, 400)
})

test('a search that fails says why', async () => {
  for (const [fault, wanted] of [
    ['invalid', 400],
    ['busy', 503],
    ['unreadable', 503],
  ] as const) {
    const backend = new FakeBackend()
    backend.found = { ok: false, fault, problem: 'because' } satisfies RecordsAnswer
    const { status, value } = await ask('/v1/records', '', backend)
    assert.deepEqual([status, value['detail']], [wanted, 'because'])
  }
})

test('one record is found by its exact id', async () => {
  const { value, backend } = await ask('/v1/records/explain', 'id=a*b')
  assert.deepEqual(backend.searched, [{ id: 'a\\*b', sinceMs: null, limit: 1 }])
  assert.deepEqual(value['record'], backend.found.ok ? backend.found.records[0] : null)
  backend.found = { ok: true, searched: { kind: 'file', where: 'x', isComplete: false }, records: [] }
  assert.equal((await ask('/v1/records/explain', 'id=a', backend)).status, 404)
})
