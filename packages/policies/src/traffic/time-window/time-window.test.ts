import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '@sluice/core'
import { zoneOf } from '@sluice/core'
import fc from 'fast-check'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { compileDayTest, weekdayOf } from './dates.js'
import { timeWindow } from './policy.js'
import type { TimeWindowConfig } from './schema.js'

const DAY_MS = 86_400_000

function gate(config: TimeWindowConfig): (moment: string | number) => Reply | null {
  const step = timeWindow.compile(config, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  return (moment) => {
    const startedAt = typeof moment === 'string' ? Date.parse(moment) : moment
    const outcome = step.onRequest!(exchange({ startedAt }))
    assert.ok(!(outcome instanceof Promise))
    return outcome
  }
}

function retryAfter(reply: Reply | null): string | undefined {
  const at = reply?.headers.indexOf('retry-after') ?? -1
  return at === -1 ? undefined : reply!.headers[at + 1]
}

/** Returns the local time from `toLocaleString`, an independent way to the same result. */
function wallClock(moment: number, timeZone: string): { weekday: string; time: string } {
  const text = new Date(moment).toLocaleString('en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const [weekday, time] = text.split(/,? /) as [string, string]
  return { weekday: weekday.toLowerCase(), time }
}

test('requests pass within a window, and get Retry-After outside of it', () => {
  const ask = gate({ windows: [{ days: ['mon'], from: '09:00', to: '17:00' }] })
  assert.equal(ask('2030-01-07T09:00:00Z'), null)
  assert.equal(ask('2030-01-07T16:59:59.999Z'), null)
  const early = ask('2030-01-07T08:59:00Z')
  assert.equal(early?.status, 403)
  assert.equal(early?.problem?.code, 'GW_TIME_RESTRICTED')
  assert.equal(retryAfter(early), '60')
  const late = ask('2030-01-07T17:00:00Z')
  assert.equal(retryAfter(late), String((7 * 24 - 8) * 3600))
})

test('restrict inverts the windows, and retryAfter: false omits the field', () => {
  const ask = gate({ mode: 'restrict', windows: [{ from: '22:00', to: '02:00' }] })
  assert.equal(ask('2030-01-07T21:59:59Z'), null)
  assert.equal(retryAfter(ask('2030-01-07T23:00:00Z')), '10800')
  assert.equal(retryAfter(ask('2030-01-08T01:59:59Z')), '1')
  assert.equal(ask('2030-01-08T02:00:00Z'), null)
  const silent = gate({ mode: 'restrict', windows: [{}], retryAfter: false })('2030-01-07T12:00:00Z')
  assert.equal(retryAfter(silent), undefined)
})

test('a window across midnight belongs to its first day', () => {
  const ask = gate({ windows: [{ days: ['fri'], from: '22:00', to: '06:00' }] })
  assert.equal(ask('2030-01-04T22:00:00Z'), null)
  assert.equal(ask('2030-01-05T05:59:59Z'), null)
  assert.notEqual(ask('2030-01-04T05:00:00Z'), null)
  assert.notEqual(ask('2030-01-05T06:00:00Z'), null)
  assert.notEqual(ask('2030-01-05T22:30:00Z'), null)
})

test('adjacent and nested windows are merged', () => {
  const ask = gate({
    windows: [
      { from: '08:00', to: '12:00' },
      { from: '12:00', to: '13:00' },
      { from: '09:00', to: '10:00' },
    ],
  })
  for (const time of ['08:00', '09:59', '10:00', '12:00', '12:59']) {
    assert.equal(ask(`2030-01-07T${time}:00Z`), null, time)
  }
  assert.notEqual(ask('2030-01-07T13:00:00Z'), null)
})

test('dates may have a year, be yearly, or be ranges across its end', () => {
  const ask = gate({ windows: [{ dates: ['2030-05-01', '12-24..01-02', '02-29'] }] })
  for (const day of ['2030-05-01', '2030-12-24', '2031-01-02', '2033-12-31', '2032-02-29']) {
    assert.equal(ask(`${day}T12:00:00Z`), null, day)
  }
  for (const day of ['2031-05-01', '2030-12-23', '2031-01-03', '2031-02-28', '2031-03-01']) {
    assert.notEqual(ask(`${day}T12:00:00Z`), null, day)
  }
})

test('a past date never opens again, so there is no Retry-After', () => {
  const reply = gate({ windows: [{ dates: ['2020-01-01'] }] })('2030-01-01T00:00:00Z')
  assert.equal(reply?.status, 403)
  assert.equal(retryAfter(reply), undefined)
})

test('summer time: the skipped hour does not open, the repeated hour opens twice', () => {
  const ask = gate({ timeZone: 'Europe/Berlin', windows: [{ from: '02:15', to: '02:45' }] })
  // 2030-03-31: 01:59:59 is followed by 03:00:00, at 01:00 UTC.
  for (let minute = 0; minute < 180; minute += 5) {
    assert.notEqual(ask(Date.parse('2030-03-31T00:00:00Z') + minute * 60_000), null)
  }
  assert.equal(retryAfter(ask('2030-03-31T00:30:00Z')), String(23 * 3600 + 45 * 60))
  // 2030-10-27: 02:00 to 03:00 occurs twice, from 00:00 and from 01:00 UTC.
  assert.equal(ask('2030-10-27T00:15:00Z'), null)
  assert.notEqual(ask('2030-10-27T00:45:00Z'), null)
  assert.equal(retryAfter(ask('2030-10-27T00:45:00Z')), '1800')
  assert.equal(ask('2030-10-27T01:15:00Z'), null)
  assert.notEqual(ask('2030-10-27T01:45:00Z'), null)
})

test('in zones with odd offsets and odd changes the verdict follows local time', () => {
  const zones = [
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/New_York',
    'Pacific/Apia',
    'Europe/Istanbul',
  ]
  const from = Date.parse('2025-01-01T00:00:00Z')
  const moments = fc.integer({ min: from, max: from + 10 * 365 * DAY_MS })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.array(moments, { minLength: 1, maxLength: 8 }),
      (zone, asked) => {
        const ask = gate({
          timeZone: zone,
          windows: [{ days: ['sun', 'wed'], from: '01:10', to: '02:50:30' }],
        })
        for (const moment of asked) {
          const { weekday, time } = wallClock(moment, zone)
          const isOpen = (weekday === 'sun' || weekday === 'wed') && time >= '01:10:00' && time < '02:50:30'
          assert.equal(ask(moment) === null, isOpen, `${zone} ${new Date(moment).toISOString()}`)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('Retry-After names the first open second', () => {
  const from = Date.parse('2030-03-29T00:00:00Z')
  const moments = fc.integer({ min: from, max: from + 6 * DAY_MS }).map((ms) => Math.floor(ms / 1000) * 1000)
  const times = fc.integer({ min: 0, max: 1439 }).map((minutes) => {
    const [hour, minute] = [Math.floor(minutes / 60), minutes % 60]
    return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
  })
  const modes = fc.constantFrom('allow' as const, 'restrict' as const)
  fc.assert(
    fc.property(moments, times, times, modes, (moment, start, to, mode) => {
      const ask = gate({ mode, timeZone: 'Europe/Berlin', windows: [{ from: start, to }] })
      const seconds = retryAfter(ask(moment))
      if (seconds === undefined) return
      const opensAt = moment + Number(seconds) * 1000
      assert.equal(ask(opensAt), null)
      assert.notEqual(ask(opensAt - 1000), null)
      for (let at = moment; at < opensAt; at += 61_000) assert.notEqual(ask(at), null)
    }),
    { numRuns: 200 },
  )
})

test('a clock that is set back recomputes the verdict', () => {
  const ask = gate({ windows: [{ from: '09:00', to: '17:00' }] })
  assert.equal(ask('2030-01-07T10:00:00Z'), null)
  assert.notEqual(ask('2030-01-07T08:00:00Z'), null)
  assert.equal(retryAfter(ask('2030-01-06T18:00:00Z')), String(15 * 3600))
})

test('the verdict is computed once per interval, not per request', () => {
  let looks = 0
  const { offsetAt } = zoneOf('UTC')
  assert.equal(offsetAt(Date.parse('2030-01-01T00:00:00.5Z')), 0)
  const original = Intl.DateTimeFormat.prototype.formatToParts
  Intl.DateTimeFormat.prototype.formatToParts = function (date) {
    looks++
    return original.call(this, date)
  }
  try {
    const ask = gate({ windows: [{ from: '09:00', to: '17:00' }] })
    const from = Date.parse('2030-01-07T10:00:00Z')
    for (let i = 0; i < 10_000; i++) ask(from + i * 60)
  } finally {
    Intl.DateTimeFormat.prototype.formatToParts = original
  }
  assert.equal(looks, 1)
})

test('days of the week and dates agree with the calendar', () => {
  assert.equal(weekdayOf(0), 3)
  assert.equal(weekdayOf(-4), 6)
  assert.throws(() => compileDayTest('2030-02-30'), /not a day of the calendar/)
  assert.throws(() => compileDayTest('13-01'), /not a day of the calendar/)
  assert.throws(() => compileDayTest('2030-05-02..2030-05-01'), /ends before it begins/)
  assert.throws(() => compileDayTest('2030-05-02..06-01'), /use the same form for both/)
  assert.throws(() => compileDayTest('tomorrow'), /is not a date/)
})

test('an unknown time zone and a start at 24:00 are refused', () => {
  assert.throws(() => gate({ timeZone: 'Mars/Olympus', windows: [{}] }), /'Mars\/Olympus' is not a time zone/)
  assert.throws(() => gate({ windows: [{ from: '24:00' }] }), /window 1: 'from' cannot be 24:00/)
})

test('the schema accepts documented options and refuses others', () => {
  const defaulted = { windows: [{}] }
  assert.deepEqual(schemaMistakes(timeWindow, defaulted), [])
  assert.deepEqual(defaulted, {
    windows: [{ from: '00:00', to: '24:00' }],
    mode: 'allow',
    timeZone: 'UTC',
    retryAfter: true,
  })
  for (const config of [
    {},
    { windows: [] },
    { windows: [{ days: ['monday'] }] },
    { windows: [{ from: '9:00' }] },
    { windows: [{ to: '24:01' }] },
    { windows: [{ dates: ['1.5.2030'] }] },
    { windows: [{}], mode: 'deny' },
    { windows: [{ weekday: 'mon' }] },
  ]) {
    assert.notDeepEqual(schemaMistakes(timeWindow, config), [], JSON.stringify(config))
  }
})
