import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StateUnavailable } from '@sluice/core'
import type { AdminCall } from './endpoint.js'
import { countsAnswer, resetAnswer, setQuotaAnswer } from './limit-counts.js'
import { FakeBackend, NO_SESSION } from './testing/fake-backend.js'

function callOf(body: string, query = '', backend = new FakeBackend()): AdminCall {
  return {
    backend,
    actor: 'a',
    role: 'admin',
    session: NO_SESSION,
    query: new URLSearchParams(query),
    header: () => '',
    body: async () => ({ ok: true, text: body }) as never,
  }
}

test('invalid requests for counts are refused before they reach the counts', async () => {
  const bad = [
    '',
    '[]',
    'null',
    '{"policy":""}',
    '{"policy":"p","key":1}',
    '{"policy":"p","all":true}',
    '{"key":"k"}',
  ]
  for (const body of bad) assert.equal((await resetAnswer(callOf(body), 'quota')).status, 400, body)
  for (const used of ['-1', '1.5', '"1"', 'null', '1e300', '9007199254740993']) {
    const body = `{"policy":"p","key":"k","used":${used}}`
    assert.equal((await setQuotaAnswer(callOf(body))).status, 400, body)
  }
  assert.equal((await setQuotaAnswer(callOf('{"policy":"p","key":"k","used":0}'))).status, 200)
  assert.equal((await countsAnswer(callOf('', 'key=k'), 'quota')).status, 400)
  assert.equal((await countsAnswer(callOf('', 'policy=none'), 'quota')).status, 404)
  assert.equal((await resetAnswer(callOf('{"policy":"none"}'), 'quota')).status, 404)
})

test('an unavailable store is reported with 503', async () => {
  const down = async (): Promise<never> => {
    throw new StateUnavailable('away')
  }
  const backend = Object.assign(new FakeBackend(), { limits: { get: down, reset: down, set: down } })
  const answer = await countsAnswer(callOf('', '', backend), 'rate-limit')
  assert.equal(answer.status, 503)
  assert.match(String(answer.body), /the state server is unavailable: away; .*'onStoreDown'/)
})
