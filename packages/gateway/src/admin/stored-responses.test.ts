import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminCall } from './endpoint.js'
import { purgeAnswer, storedAnswer } from './stored-responses.js'
import { FakeBackend, NO_SESSION } from './testing/fake-backend.js'

function callOf(text: string, query = ''): { readonly call: AdminCall; readonly backend: FakeBackend } {
  const backend = new FakeBackend()
  const call = {
    backend,
    actor: 'a@b',
    role: 'admin' as const,
    session: NO_SESSION,
    query: new URLSearchParams(query),
    header: () => '',
    body: async () => ({ ok: true, text }) as const,
  }
  return { call, backend }
}

test('a purge runs on all workers, and those without an answer are counted', async () => {
  for (const [text, purge] of [
    ['{"key":"a/b?c"}', { by: 'key', value: 'a/b?c' }],
    ['{"tag":"t"}', { by: 'tag', value: 't' }],
    ['{"prefix":"a/"}', { by: 'prefix', value: 'a/' }],
    ['{"all":true}', { by: 'all' }],
  ] as const) {
    const { call, backend } = callOf(text)
    const { status, body } = await purgeAnswer(call)
    assert.deepEqual([status, JSON.parse(String(body))], [200, { purged: 2, unanswered: 1 }])
    assert.deepEqual(backend.asked, [{ purge }])
  }
})

test('a request without a scope, or with several, purges nothing', async () => {
  const long = JSON.stringify({ key: 'x'.repeat(20_000) })
  const texts = [
    '',
    '{}',
    '[]',
    'null',
    '{"all":false}',
    '{"key":""}',
    '{"key":1}',
    '{"key":"a","tag":"b"}',
    long,
  ]
  for (const text of [...texts, '{"by":"all"}', '{"__proto__":{"all":true}}']) {
    const { call, backend } = callOf(text)
    assert.equal((await purgeAnswer(call)).status, 400, text)
    assert.deepEqual(backend.asked, [])
  }
  assert.equal((await storedAnswer(callOf('', `key=${'x'.repeat(20_000)}`).call)).status, 400)
})
