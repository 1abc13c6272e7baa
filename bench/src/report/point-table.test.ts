import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/spread.js'
import { samplePoint } from '../testing/sample-summary.js'
import { pointTable } from './point-table.js'

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
