import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point } from '../model/summary.js'
import { samplePoint } from '../testing/sample-summary.js'
import { rivalTables } from './rival-tables.js'

function bounded(contestant: string, busyShare: number): Point {
  return samplePoint({ contestant, busyShare, invalid: ['not gateway-bound'], costInvalid: [] })
}

test('where CPU time alone is a result it stands side by side, with how busy each was, and no throughput', () => {
  const tables = rivalTables([bounded('sluice', 0.92), bounded('nginx', 0.85)])
  assert.equal(tables.length, 1)
  assert.deepEqual(tables[0]!.rows, [['W1 GET', '100', '46.0 at 92 %', '46.0 at 85 %', '1.00']])
  assert.match(tables[0]!.remark!, /at 92 %/)
})

test('there is no ratio to a contestant that was much less busy, since each of its requests cost it more', () => {
  const [costs] = rivalTables([samplePoint(), bounded('nginx', 0.7)])
  assert.deepEqual(costs!.rows, [['W1 GET', '100', '46.0', '46.0 at 70 %', '–']])
})

test('throughput of those that have a result stands below', () => {
  const full = [samplePoint(), samplePoint({ contestant: 'envoy' }), bounded('nginx', 0.92)]
  const [costs, rates] = rivalTables(full)
  assert.deepEqual(costs!.headings.slice(-2), ['sluice / envoy', 'sluice / nginx'])
  assert.deepEqual(rates!.headings, ['scenario', 'connections', 'sluice requests/s', 'envoy requests/s'])
  assert.equal(rivalTables(full.slice(0, 2))[0]!.remark, null)
  assert.deepEqual(rivalTables([samplePoint()]), [])
})
