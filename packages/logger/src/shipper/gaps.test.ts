import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gaps } from './gaps.js'

test('a gap is told once, when it is over, with everything that was lost in it', () => {
  const gaps = new Gaps('me', 3)
  assert.equal(gaps.take(100_000), null)
  gaps.note({ dropped: 5, reason: 'spool_full' }, 100_000)
  gaps.note({ dropped: 2, reason: 'disk_full' }, 101_000)
  gaps.note({ indexed: 7 }, 102_500)
  assert.equal(gaps.take(102_900), null)
  const record = JSON.parse(gaps.take(103_000) ?? '')
  assert.deepEqual(record.log, {
    ...{ dropped: 7, reasons: { spool_full: 5, disk_full: 2 } },
    since: new Date(100_000).toISOString(),
  })
  assert.deepEqual([record.id, record.event.kind, record.gw.worker], ['me-gap-1', 'gap', 3])
  assert.equal(gaps.take(200_000), null)
})

test('gaps that follow each other at once are told together', () => {
  const gaps = new Gaps('me', 3)
  gaps.note({ dropped: 1, reason: 'spool_full' }, 100_000)
  assert.notEqual(gaps.take(103_000), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, 104_000)
  assert.equal(gaps.take(107_000), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, 108_000)
  assert.equal(JSON.parse(gaps.take(114_000) ?? '').log.dropped, 2)
})
