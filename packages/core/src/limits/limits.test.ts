import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zoneOf } from '../lib/zone.js'
import { takeTokens } from '../state/limit-state.js'
import { type CalendarPeriod, calendarPeriod } from './calendar.js'
import { counterKey, counterName, counterPrefix, namedCounterKey, readCounterName } from './counter-key.js'
import { quotaLimit, rateLimits } from './limits.js'

const PERIODS: readonly [string, string, CalendarPeriod, string, string][] = [
  // now, zone, period, begin, end
  ['2026-11-26T10:20:00Z', 'UTC', 'hour', '2026-11-26T10:00:00Z', '2026-11-26T11:00:00Z'],
  ['2026-11-26T10:20:00Z', 'Asia/Kolkata', 'hour', '2026-11-26T09:30:00Z', '2026-11-26T10:30:00Z'],
  ['2026-11-26T22:20:00Z', 'Europe/Istanbul', 'day', '2026-11-26T21:00:00Z', '2026-11-27T21:00:00Z'],
  // 23 and 25 hours.
  ['2026-03-29T10:00:00Z', 'Europe/Berlin', 'day', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['2026-10-25T10:00:00Z', 'Europe/Berlin', 'day', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  // Midnight is skipped, and occurs twice.
  ['2026-09-06T12:00:00Z', 'America/Santiago', 'day', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
  ['2026-04-04T12:00:00Z', 'America/Santiago', 'day', '2026-04-04T03:00:00Z', '2026-04-05T04:00:00Z'],
  ['2026-11-26T10:20:00Z', 'UTC', 'week', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['2026-11-29T23:59:59Z', 'UTC', 'week', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['2028-02-10T00:00:00Z', 'UTC', 'month', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
  ['2026-12-31T23:30:00Z', 'Europe/Berlin', 'month', '2026-12-31T23:00:00Z', '2027-01-31T23:00:00Z'],
  ['2026-10-31T12:00:00Z', 'America/New_York', 'month', '2026-10-01T04:00:00Z', '2026-11-01T04:00:00Z'],
]

for (const [now, zone, period, begin, end] of PERIODS) {
  test(`the ${period} of ${now} in ${zone}`, () => {
    const { beginMs, endMs } = calendarPeriod(Date.parse(now), period, zoneOf(zone))
    const texts = [beginMs, endMs].map((ms) => new Date(ms).toISOString().replace('.000', ''))
    assert.deepEqual(texts, [begin, end])
  })
}

test("a quota restarts with the month, even if the worker's clock is a few seconds off", () => {
  const limit = quotaLimit({ limit: 10, per: 'month' })
  const state = { at: 0, used: 0, before: 0 }
  const end = Date.parse('2026-12-01T00:00:00Z')
  const take = (workerMs: number, storeMs = workerMs) => takeTokens(state, limit.rule(workerMs), 4, storeMs)
  assert.equal(take(end - 86_400_000).remaining, 6)
  // The clock of the store is behind: it is November there.
  assert.equal(take(end + 2000, end - 1000).remaining, 2)
  assert.equal(take(end + 3000).remaining, 6)
  assert.equal(take(end + 3_600_000).remaining, 2)
  assert.equal(take(end + 31 * 86_400_000).remaining, 6)
})

test('a rate of half a token per minute becomes one per two minutes, and per-second rates are even', () => {
  const ruleOf = (limit: string) => rateLimits({ limit })[0]!.rule(0)
  assert.deepEqual(ruleOf('0.5/m'), { algorithm: 'gcra', limit: 1, periodMs: 120_000, burst: 1 })
  assert.deepEqual(ruleOf('500/s'), { algorithm: 'gcra', limit: 500, periodMs: 1000, burst: 50 })
  assert.deepEqual(ruleOf('20/s'), { algorithm: 'gcra', limit: 20, periodMs: 1000, burst: 10 })
  assert.deepEqual(ruleOf('5/s'), { algorithm: 'gcra', limit: 5, periodMs: 1000, burst: 5 })
  assert.deepEqual(ruleOf('100/m'), { algorithm: 'gcra', limit: 100, periodMs: 60_000, burst: 100 })
  const { limit, periodMs } = ruleOf('2.5/s')
  assert.equal(limit / periodMs, 2.5 / 1000)
  assert.equal(rateLimits({ limit: [{ limit: '10/s', burst: 3 }, '5/m'], burst: 7 }).length, 2)
  assert.throws(() => ruleOf('0/s'), /must be more than 0/)
  assert.throws(() => rateLimits({ limit: '5/s', algorithm: 'fixed', burst: 5 }), /'burst' has no effect/)
  assert.throws(() => quotaLimit({ limit: 1, per: 'day', timeZone: 'Mars/Base' }), /not a time zone/)
})

test('client-supplied keys are bounded in length and cannot reach another counter', () => {
  const prefix = counterPrefix('rate-limit', `p${'x'.repeat(500)}`)
  assert.ok(prefix.length <= 100)
  for (const key of ['acme', '', 'a\nb', 'x'.repeat(1_000_000), '\ud800', '7\n\nacme']) {
    const name = counterName(prefix, { limit: 0, place: 'r\n1', key: counterKey(key) })
    assert.ok(name.length <= 200, key.slice(0, 10))
    assert.equal(readCounterName(name, prefix)?.key, counterKey(key))
  }
  assert.notEqual(counterKey('x'.repeat(81)), counterKey('x'.repeat(82)))
  // A client that sends the shown form of a long key gets another counter. For an operator, it names the counter.
  for (const long of ['x'.repeat(81), 'a\nb', '\ud800']) {
    const shown = counterKey(long)
    assert.notEqual(counterKey(shown), shown)
    assert.equal(namedCounterKey(shown), shown)
    assert.equal(namedCounterKey(long), shown)
  }
  for (const plain of ['~', 'a~b', `a~${'b'.repeat(21)}`, `~${'b'.repeat(23)}`])
    assert.equal(counterKey(plain), plain)
  assert.notEqual(counterPrefix('quota', 'a'), counterPrefix('rate-limit', 'a'))
  assert.equal(readCounterName('other', prefix), null)
})
