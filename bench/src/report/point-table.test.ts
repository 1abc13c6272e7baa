import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/spread.js'
import { samplePoint, sampleSummary } from '../testing/sample-summary.js'
import { kneeTable } from './knee-table.js'
import { pointTable, wholePointTable } from './point-table.js'

test('the table has a row of headings and one for each point', () => {
  const held = samplePoint({
    kind: 'fixed-rate',
    targetPerSecond: 9000,
    perSecond: spreadOf([9000, 9000]),
  })
  const [head, saturated, fixed] = pointTable([samplePoint(), held])
  assert.equal(saturated!.length, head!.length)
  assert.equal(saturated![head!.indexOf('P50')], '(4.5 ms)')
  assert.equal(fixed![head!.indexOf('P50')], '4.5 ms')
  assert.equal(fixed![head!.indexOf('kind')], 'fixed rate 9,000/s')
  assert.equal(saturated![head!.indexOf('requests/s')], '20,033')
})

test('a point that is no result has its reasons and no figures', () => {
  const [head, row] = pointTable([samplePoint({ invalid: ['busy'] })])
  assert.equal(row!.length, head!.length)
  assert.equal(row!.at(-1), 'INVALID: busy')
  assert.equal(row![head!.indexOf('requests/s')], '')
})

test('a report also has how much load there could have been, where that was measured', () => {
  const measured = samplePoint({ ceilingPerSecond: 68_112, generatorBusyShare: 0.314 })
  const [head, ...rows] = wholePointTable(
    [measured, samplePoint(), { ...measured, invalid: ['busy'] }],
    sampleSummary([]).host,
  )
  const at = head!.indexOf('ceiling')
  assert.deepEqual(
    rows.map((row) => row[at]),
    ['3.4 ×', '–', ''],
  )
  assert.deepEqual(
    rows.map((row) => row[at + 1]),
    ['31 %', '–', '31 %'],
  )
  assert.ok(rows.every((row) => row.length === head!.length))
})

test('the highest rates have a table of their own, beside the saturation that they were searched below', () => {
  const knee = samplePoint({ kind: 'fixed-rate', targetPerSecond: 15_025, sloMicros: 50_000 })
  const row = ['W1 GET', 'sluice', '100', 'P99 < 50 ms', '15,025', '75 %', '17.5 ms']
  assert.deepEqual(kneeTable([samplePoint(), knee])!.slice(1), [row])
  assert.equal(pointTable([knee])[1]![3], 'highest rate with P99 < 50 ms')
  assert.equal(kneeTable([samplePoint(), { ...knee, invalid: ['busy'] }]), null)
})

test('a point whose CPU time alone is a result shows that and no other figure', () => {
  const point = samplePoint({ invalid: ['not gateway-bound'], costInvalid: [], busyShare: 0.92 })
  const [head, row] = pointTable([point])
  assert.equal(row!.at(-1), 'INVALID but for CPU: not gateway-bound')
  assert.equal(row![head!.indexOf('CPU µs')], '46 at 92 %')
  assert.deepEqual([row![head!.indexOf('requests/s')], row![head!.indexOf('P99')]], ['', ''])
})
