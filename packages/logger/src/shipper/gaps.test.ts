import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gaps } from './gaps.js'

const at = (ms: number) => ({ wallMs: ms, mono: ms })

test('a gap is reported once after it has ended, with all its losses', () => {
  const gaps = new Gaps('me', 3)
  assert.equal(gaps.take(at(100_000)), null)
  gaps.note({ dropped: 5, reason: 'spool_full' }, at(100_000))
  gaps.note({ dropped: 2, reason: 'disk_full' }, at(101_000))
  gaps.note({ indexed: 7 }, at(102_500))
  assert.equal(gaps.take(at(102_900)), null)
  const record = JSON.parse(gaps.take(at(103_000)) ?? '')
  assert.deepEqual(record.log, {
    ...{ dropped: 7, reasons: { spool_full: 5, disk_full: 2 } },
    since: new Date(100_000).toISOString(),
  })
  assert.deepEqual([record.id, record.event.kind, record.gw.worker], ['me-gap-1', 'gap', 3])
  assert.equal(gaps.take(at(200_000)), null)
})

test('gaps that follow each other at once are reported together', () => {
  const gaps = new Gaps('me', 3)
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(100_000))
  assert.notEqual(gaps.take(at(103_000)), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(104_000))
  assert.equal(gaps.take(at(107_000)), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(108_000))
  assert.equal(JSON.parse(gaps.take(at(114_000)) ?? '').log.dropped, 2)
})

test('a gap is reported in time though the clock is set back by an hour in between', () => {
  const gaps = new Gaps('me', 3)
  gaps.note({ dropped: 1, reason: 'spool_full' }, { wallMs: 7_200_000, mono: 100_000 })
  const record = JSON.parse(gaps.take({ wallMs: 3_603_000, mono: 103_000 }) ?? 'null')
  assert.equal(record?.['@timestamp'], new Date(3_603_000).toISOString())
})
