import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs } from './http-date.js'

test('Retry-After is parsed as seconds or a date, and invalid values are ignored', () => {
  const now = Date.parse('2026-01-31T00:00:00Z')
  assert.equal(retryAfterMs('7', now), 7000)
  assert.equal(retryAfterMs('Sat, 31 Jan 2026 00:00:09 GMT', now), 9000)
  assert.equal(retryAfterMs('Fri, 30 Jan 2026 00:00:00 GMT', now), 0)
  for (const text of [undefined, '', '-1', 'soon', '2026-02-01', 'Feb 1 2026 UTC'])
    assert.equal(retryAfterMs(text, now), 0)
})
