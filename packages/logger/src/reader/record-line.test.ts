import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gaps } from '../shipper/gaps.js'
import { scratchDir } from '../testing.js'
import { formatRecordLine } from './record-line.js'

const RECORD = {
  '@timestamp': '2026-01-31T08:05:09.042Z',
  route: 'orders',
  consumer: { id: 'c-1', name: 'acme' },
  http: { method: 'POST' },
  url: { host: 'api.example.com', path: '/orders/42' },
  res: { status: 200 },
  up: { addr: 'http://10.0.0.5:9000' },
  t: { total: 12.5 },
  result: 'success',
}

test('a line shows a record in the order a person asks', () => {
  assert.equal(
    formatRecordLine(RECORD, { color: false }),
    '2026-01-31T08:05:09.042Z 200 POST api.example.com/orders/42 orders 12.5ms http://10.0.0.5:9000 acme',
  )
})

test('a failed exchange says how, with which code, by which policy and why', () => {
  const refused = { ...RECORD, result: 'blocked', error: { code: 'GW_IP_DENIED', policy: 'ip-filter' } }
  assert.match(formatRecordLine(refused, { color: false }), / acme blocked GW_IP_DENIED by ip-filter$/)
  const reasoned = { ...refused, error: { ...refused.error, reason: 'deny[0]\n' } }
  assert.match(formatRecordLine(reasoned, { color: false }), / by ip-filter \(deny\[0\]\\u\{a\}\)$/)
})

test('missing values are shown as a dash', () => {
  assert.equal(formatRecordLine({}, { color: false }), '- - - - - - - -')
})

test('the status is coloured on request only', () => {
  for (const [status, color] of [
    [200, 32],
    [301, 36],
    [404, 33],
    [503, 31],
    [0, 2],
  ] as const) {
    const line = formatRecordLine({ res: { status } }, { color: true })
    assert.ok(line.includes(`\u001b[${color}m${status}\u001b[0m`), JSON.stringify(line))
  }
  assert.ok(!formatRecordLine(RECORD, { color: false }).includes('\u001b'))
})

test('text from clients cannot control the terminal', () => {
  const hostile = { ...RECORD, url: { host: 'a\u001b[2Jb', path: '/\n\r\u009b\u202e\u0007\u2028x' } }
  const line = formatRecordLine(hostile, { color: false })
  assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\u2028]/u)
  assert.ok(line.includes('a\\u{1b}[2Jb/\\u{a}\\u{d}\\u{9b}\\u{202e}\\u{7}\\u{2028}x'), line)
})

test('the record of a gap says how many were lost, why and since when', () => {
  const gaps = new Gaps(scratchDir(), 'owner', 3)
  const at = (hour: number) => ({ wallMs: Date.UTC(2026, 0, 31, hour), mono: hour * 3_600_000 })
  gaps.note({ dropped: 20, reason: 'process_lost' }, at(8))
  gaps.note({ dropped: 2, reason: 'spool_full' }, at(8))
  let json = ''
  gaps.report(at(9), (record) => {
    json = record
    return true
  })
  const record = JSON.parse(json)
  record.gw.pod = 'pod-1'
  assert.equal(
    formatRecordLine(record, { color: true }),
    '2026-01-31T09:00:00.000Z gap: 22 records lost (process_lost 20, spool_full 2) by pod-1 worker 3 since 2026-01-31T08:00:00.000Z',
  )
})
