import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeGap } from '../spool/gap-file.js'
import { scratchDir } from '../testing.js'
import { Gaps } from './gaps.js'

const at = (ms: number) => ({ wallMs: ms, mono: ms })

function open() {
  const root = scratchDir()
  const dir = join(root, 'me')
  mkdirSync(dir)
  const gaps = new Gaps(root, 'me', 3)
  /** Returns the record reported now, or null. */
  const take = (now: ReturnType<typeof at>, isLast = false): string | null => {
    let record: string | null = null
    const append = (json: string): boolean => {
      record = json
      return true
    }
    gaps.report(now, append, isLast)
    return record
  }
  return { root, dir, gaps, take }
}

test('a gap is reported once after it has ended, with all its losses', () => {
  const { gaps, take } = open()
  assert.equal(take(at(100_000)), null)
  gaps.note({ dropped: 5, reason: 'spool_full' }, at(100_000))
  gaps.note({ dropped: 2, reason: 'disk_full' }, at(101_000))
  gaps.note({ indexed: 7 }, at(102_500))
  assert.equal(take(at(102_900)), null)
  const record = JSON.parse(take(at(103_000)) ?? '')
  assert.deepEqual(record.log, {
    ...{ dropped: 7, reasons: { spool_full: 5, disk_full: 2 } },
    since: new Date(100_000).toISOString(),
  })
  assert.deepEqual([record.id, record.event.kind, record.gw.worker], ['me-gap-1', 'gap', 3])
  assert.equal(take(at(200_000)), null)
})

test('gaps that follow each other at once are reported together', () => {
  const { gaps, take } = open()
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(100_000))
  assert.notEqual(take(at(103_000)), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(104_000))
  assert.equal(take(at(107_000)), null)
  gaps.note({ dropped: 1, reason: 'spool_full' }, at(108_000))
  assert.equal(JSON.parse(take(at(114_000)) ?? '').log.dropped, 2)
})

test('a gap is reported in time though the clock is set back by an hour in between', () => {
  const { gaps, take } = open()
  gaps.note({ dropped: 1, reason: 'spool_full' }, { wallMs: 7_200_000, mono: 100_000 })
  const record = JSON.parse(take({ wallMs: 3_603_000, mono: 103_000 }) ?? 'null')
  assert.equal(record?.['@timestamp'], new Date(3_603_000).toISOString())
})

test('a gap is kept until there is room for its record, with what is lost for that', () => {
  const { gaps, take } = open()
  gaps.note({ dropped: 5, reason: 'spool_full' }, at(100_000))
  gaps.report(at(103_000), () => {
    gaps.note({ dropped: 2, reason: 'spool_full' }, at(103_000))
    return false
  })
  assert.equal(JSON.parse(take(at(120_000)) ?? '').log.dropped, 7)
})

test('the next owner gets the losses that were not reported, and reports them with its own', () => {
  const former = open()
  former.gaps.save()
  former.gaps.note({ dropped: 5, reason: 'spool_full' }, at(100_000))
  former.gaps.note({ dropped: 2, reason: 'disk_full' }, at(101_000))
  const gap = takeGap(former.dir)!
  assert.deepEqual(gap, { reasons: { spool_full: 5, disk_full: 2 }, sinceMs: 100_000 })
  const next = open()
  next.gaps.note({ dropped: 1, reason: 'disk_full' }, at(200_000))
  next.gaps.note({ gaps: [gap] }, at(201_000))
  const { log } = JSON.parse(next.take(at(201_000), true) ?? '')
  assert.deepEqual(log, {
    ...{ dropped: 8, reasons: { disk_full: 3, spool_full: 5 } },
    since: new Date(100_000).toISOString(),
  })
  next.gaps.close()
  assert.deepEqual(readdirSync(next.root), [])
})

test('losses that could not be reported before closing are left to the next owner', () => {
  const { dir, gaps } = open()
  gaps.note({ dropped: 5, reason: 'spool_full' }, at(100_000))
  gaps.report(at(100_000), () => false, true)
  gaps.close()
  assert.equal(takeGap(dir)?.reasons['spool_full'], 5)
  assert.equal(takeGap(dir), null)
})
