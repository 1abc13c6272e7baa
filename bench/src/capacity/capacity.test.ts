import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { readSummary } from '../report/results.js'
import { samplePoint, sampleSummary } from '../testing/samples.js'
import { cacheCapacity, cacheCapacityLines } from './cache-capacity.js'
import { type CapacityQuery, capacityFor, capacityLines } from './capacity.js'

const QUERY: CapacityQuery = { perSecond: 5000, bodyBytes: 0, policies: [], connections: 0 }

/** A point that spends all of one core on requests of this cost. */
function costing(micros: number, changes: Partial<Point> = {}): Point {
  return samplePoint({
    perSecond: spreadOf([1_000_000 / micros]),
    cpuMicrosPerRequest: spreadOf([micros]),
    ...changes,
  })
}

function post(micros: number, bodyBytes: number): Point {
  return costing(micros, { scenario: `w1-post-${bodyBytes}`, method: 'POST', bodyBytes })
}

/** A run of the suite policies: a GET of 50 µs without one and with these. */
const POLICIES = sampleSummary(
  Object.entries({ base: 0, jwt: 38, header: 1 }).map(([name, added]) =>
    costing(50 + added, { suite: 'policies', scenario: `${name}-get`, tier: null }),
  ),
  { suite: 'policies' },
)

test('cores and tier follow from the cost of a request and 30 % headroom', () => {
  const { size, missing, notes } = capacityFor([sampleSummary([costing(100)])], QUERY)
  assert.deepEqual(missing, [])
  assert.equal(size!.microsPerRequest, 100)
  assert.ok(Math.abs(size!.cores - 0.5 / 0.7) < 1e-9)
  assert.deepEqual([size!.tier, size!.replicas], ['W1', 1])
  assert.deepEqual(
    size!.guide.map(({ upToPerSecond, isMeasured }) => [Math.round(upToPerSecond), isMeasured]),
    [
      [7000, true],
      [14_000, false],
      [28_000, false],
      [56_000, false],
    ],
  )
  assert.match(notes.join('\n'), /W2, W4, W8 not measured: extrapolated/)
})

test('a load at the edge of a tier still fits, one beyond it needs the next', () => {
  const tierOf = (perSecond: number): unknown[] => {
    const { size } = capacityFor([sampleSummary([costing(100)])], { ...QUERY, perSecond })
    return [size!.tier, size!.replicas]
  }
  assert.deepEqual(tierOf(6999), ['W1', 1])
  assert.deepEqual(tierOf(7001), ['W2', 1])
  assert.deepEqual(tierOf(55_999), ['W8', 1])
  assert.deepEqual(tierOf(120_000), ['W8', 3])
})

test('sizes between measured ones are interpolated, beyond them extrapolated, and the answer says so', () => {
  const summary = sampleSummary([post(50, 1000), post(70, 5000)])
  const answer = (bodyBytes: number): [number, string] => {
    const { size, notes } = capacityFor([summary], { ...QUERY, bodyBytes })
    return [Math.round(size!.microsPerRequest), notes[0]!]
  }
  assert.equal(answer(1024)[0], 50)
  assert.deepEqual(answer(3000), [60, 'the cost of 2.93 KB is interpolated from 1,000 B and 4.88 KB'])
  assert.equal(answer(9000)[0], 90)
  assert.match(answer(9000)[1], /EXTRAPOLATED/)
  assert.equal(answer(10)[0], 50)
})

test('policies add what they were measured to add, and one that nobody measured is asked for', () => {
  const { size, notes } = capacityFor([POLICIES], { ...QUERY, policies: ['jwt', 'header'] })
  assert.deepEqual(
    size!.shares.map(({ micros }) => micros),
    [50, 38, 1],
  )
  assert.match(notes.join('\n'), /the same together as one by one/)
  const { size: none, missing } = capacityFor([POLICIES], { ...QUERY, policies: ['xslt'] })
  assert.equal(none, null)
  assert.deepEqual(missing, ['the policy xslt: gw bench policy xslt'])
})

test('the traffic log counts where it was measured', () => {
  const logged = costing(110, { scenario: 'w1-get-elasticsearch', log: 'elasticsearch' })
  const { log, size } = capacityFor([sampleSummary([costing(100), logged])], QUERY)
  assert.deepEqual([log, size!.microsPerRequest], ['elasticsearch', 110])
})

test('points that are no result, of peers, or at fixed rates are no evidence', () => {
  const points = [
    costing(100, { invalid: ['errors'], costInvalid: ['errors'] }),
    costing(100, { system: 'nginx' }),
    costing(100, { kind: 'fixed-rate', targetPerSecond: 100 }),
    costing(100, { suite: 'wso2-mi', scenario: 'xslt-1kb' }),
  ]
  const answer = capacityFor([sampleSummary(points)], QUERY)
  assert.equal(answer.size, null)
  assert.match(capacityLines(QUERY, answer).join('\n'), /no answer.*\n {2}a GET without policies/)
})

test('CPU time that alone is a result answers where there is no better', () => {
  const bounded = costing(120, { invalid: ['not gateway-bound'], busyShare: 0.9 })
  assert.equal(capacityFor([sampleSummary([bounded])], QUERY).size!.microsPerRequest, 120)
  assert.equal(capacityFor([sampleSummary([bounded, costing(100)])], QUERY).size!.microsPerRequest, 100)
})

test('runs answer together: the newest first, and none of another processor', () => {
  const old = { ...sampleSummary([costing(900)]), startedAt: '2026-01-01T00:00:00.000Z' }
  const fresh = { ...sampleSummary([costing(100)]), startedAt: '2026-03-01T00:00:00.000Z' }
  const { size } = capacityFor([old, fresh, POLICIES], { ...QUERY, policies: ['jwt'] })
  assert.deepEqual([size!.shares[0]!.micros, size!.shares.length], [100, 2])
  const other = { ...fresh, id: 'other', host: { ...fresh.host, cpuModel: 'Z80' } }
  assert.throws(() => capacityFor([old, other], QUERY), /of different processors/)
  assert.throws(() => capacityFor([], QUERY), /no run to answer from/)
})

test('memory follows from numbers of connections, and asks for more pods where it does not suffice', () => {
  const at = (connections: number, rssBytes: number): Point => costing(100, { connections, rssBytes })
  const run = sampleSummary([at(100, 110e6), at(500, 150e6), at(1000, 200e6)])
  const query = { ...QUERY, connections: 100_000 }
  const answer = capacityFor([run], query)
  assert.equal(Math.round(answer.memory!.perThousandBytes), 100_000_000)
  assert.equal(Math.round(answer.memory!.baseBytes), 100_000_000)
  // 70 % of 2 GiB, less what it takes by itself, hold some 14,000 connections.
  assert.deepEqual([answer.size!.tier, answer.size!.replicas], ['W1', 8])
  assert.deepEqual(answer.size!.autoscaler, { averageUtilization: 70, minReplicas: 4, maxReplicas: 12 })
  const lines = capacityLines(query, answer)
  assert.equal(lines[0], '5,000 GET/s, traffic log off: W1 × 8')
  assert.match(lines.join('\n'), /memory: 95\.4 MB, plus 95\.4 MB per 1,000 connections under load/)
  assert.equal(capacityFor([sampleSummary([costing(100)])], QUERY).memory, null)
})

test('the capacity of the cache follows from its reads and writes, and never answers for the gateway', () => {
  const cache = (scenario: string, micros: number): Point =>
    costing(micros, { suite: 'apinizer-cache', scenario, method: scenario.includes('get') ? 'GET' : 'PUT' })
  const points = [
    cache('w1-get', 20),
    cache('w1-put', 25),
    cache('w1-get-10kb', 50),
    cache('w1-put-10kb', 40),
  ]
  const runs = [sampleSummary(points, { suite: 'apinizer-cache' })]
  const small = cacheCapacity(runs, { perSecond: 30_000, bodyBytes: 1000 })
  assert.deepEqual(
    small.operations.map(({ method, tier, replicas }) => [method, tier, replicas]),
    [
      ['GET', 'W1', 1],
      ['PUT', 'W2', 1],
    ],
  )
  const large = { perSecond: 5000, bodyBytes: 5120 }
  assert.match(
    cacheCapacityLines(large, cacheCapacity(runs, large)).join('\n'),
    /5,000 GET\/s of 10 KB: W1 × 1, 50 µs/,
  )
  const unknown = { perSecond: 5000, bodyBytes: 20_000 }
  assert.match(
    cacheCapacityLines(unknown, cacheCapacity(runs, unknown)).join('\n'),
    /no answer.*apinizer-cache/s,
  )
  assert.equal(capacityFor(runs, QUERY).size, null)
})

test('the runs that were kept answer the example of the documentation', () => {
  const results = fileURLToPath(new URL('../../results/', import.meta.url))
  const runs = readdirSync(results)
    .filter((name) => /^\d{4}-/.test(name))
    .filter((name) => readdirSync(join(results, name)).includes('summary.json'))
    .map((name) => readSummary(join(results, name, 'summary.json')))
  const { size, missing } = capacityFor(runs, { ...QUERY, bodyBytes: 5120, policies: ['basic-auth'] })
  assert.deepEqual(missing, [])
  assert.equal(size!.shares.length, 2)
})
