import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point } from '../model/summary.js'
import { samplePoint } from '../testing/sample-summary.js'
import { referenceBeside, referenceFor } from './reference.js'
import type { Reference, ReferencePoint } from './reference-point.js'

const SUITES = ['apinizer', 'apinizer-cache', 'apinizer-classic', 'wso2-mi', 'wso2-platform']

function reference(suite: string): Reference {
  return referenceFor(suite)!
}

function row(suite: string, scenario: string, users: number | null): ReferencePoint {
  return reference(suite).points.find((each) => each.scenario === scenario && each.users === users)!
}

test('every suite that repeats a report has its figures, labelled with hardware', () => {
  for (const suite of SUITES) {
    assert.ok(reference(suite).points.length > 0, suite)
    assert.match(reference(suite).hardware, /CPU/)
  }
  assert.equal(referenceFor('policies'), null)
})

test('no figure is missing, none stands twice, and percentiles never fall', () => {
  for (const suite of SUITES) {
    const keys = reference(suite).points.map((each) => `${each.scenario} ${each.users}`)
    assert.equal(new Set(keys).size, keys.length, suite)
    for (const { perSecond, cpus, latency } of reference(suite).points) {
      assert.ok(perSecond > 0 && cpus > 0)
      const steps = [latency.p50, latency.p90, latency.p95, latency.p99].filter((step) => step !== null)
      assert.deepEqual(
        steps,
        steps.toSorted((a, b) => a - b),
      )
    }
  }
})

test('the numbers of rows are those of the reports', () => {
  const counts = SUITES.map((suite) => reference(suite).points.length)
  assert.deepEqual(counts, [
    3 * (6 + 8 + 8 + 10),
    8,
    4 + 7 + 8 + 9 + 9 + 3 + 6 + 6 + 9 + 3 + 5 + 5 + 7,
    64,
    20,
  ])
})

test('figures are those of the reports', () => {
  assert.equal(row('apinizer', 'w4-get', 2000).perSecond, 9078)
  assert.deepEqual(row('apinizer', 'w4-post-1kb', 250).latency.p99, 35_700)
  assert.equal(row('apinizer', 'w8-get-elasticsearch', 3000).perSecond, 14_256)
  assert.equal(row('apinizer-cache', 'w8-put', null).perSecond, 13_069)
  assert.equal(row('apinizer-classic', 'd-get', 100).perSecond, 15_812)
  assert.equal(row('apinizer-classic', 'd-basic-auth-get', 100).perSecond, 14_843)
  assert.equal(row('wso2-mi', 'direct-500b', 100).perSecond, 9324.51)
  assert.equal(row('wso2-mi', 'cbr-100kb', 1000).latency.p99, 31_487)
  assert.equal(row('wso2-mi', 'xslt-10kb', 100).perSecond, 272.58)
  assert.equal(row('wso2-platform', 'w2-50b', 100).perSecond, 5805.39)
  assert.equal(row('wso2-platform', 'w4-50b-set-header', 1000).latency.p99, 193)
})

test('rows right below a round rate are told from overload, peaks and W4 are not', () => {
  assert.equal(row('apinizer', 'w1-get', 100).kind, 'fixed-rate')
  assert.equal(row('apinizer', 'w1-get', 500).kind, 'saturation')
  assert.equal(row('apinizer', 'w2-post-5kb-elasticsearch', 250).kind, 'fixed-rate')
  assert.equal(row('apinizer', 'w8-get', 2000).kind, 'fixed-rate')
  assert.ok(reference('apinizer').points.every(({ cpus, kind }) => cpus !== 4 || kind === 'saturation'))
})

function beside(changes: Partial<Point>): number | undefined {
  const point = samplePoint(changes)
  return referenceBeside(point, reference(point.suite))?.perSecond
}

test('a point finds the row that was measured like it', () => {
  assert.equal(beside({ connections: 500 }), 1638)
  assert.equal(beside({ connections: 100, kind: 'fixed-rate' }), 1447)
  assert.equal(beside({ suite: 'apinizer-cache', connections: 64 }), 2169)
})

test('a point finds no row that was measured otherwise', () => {
  assert.equal(beside({ connections: 300 }), undefined)
  assert.equal(beside({ connections: 100 }), undefined, 'that row is of a fixed rate')
  assert.equal(beside({ connections: 500, scenario: 'w1-put' }), undefined)
  assert.equal(beside({ connections: 500, invalid: ['not quiet'] }), undefined)
})
