import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spreadOf } from '../measure/spread.js'
import type { Point } from '../model/summary.js'
import { readSummary } from '../report/read-summary.js'
import { samplePolicyRun, sampleRun } from '../testing/sample-run.js'
import { samplePoint, sampleSummary } from '../testing/sample-summary.js'
import { capacityFor } from './capacity.js'
import type { CapacityWish } from './evidence.js'

const WISH: CapacityWish = { perSecond: 5000, bodyBytes: 0, policies: [], method: 'GET', log: 'none' }

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

test('cores and tier follow from the cost of a request and 30 % headroom', () => {
  const { size, missing, usedPoints } = capacityFor([sampleSummary([costing(100)])], WISH)
  assert.deepEqual(missing, [])
  assert.equal(size!.microsPerRequest, 100)
  assert.ok(Math.abs(size!.cores - 0.5 / 0.7) < 1e-9)
  assert.deepEqual([size!.tier, size!.replicas], ['W1', 1])
  assert.deepEqual(
    size!.guide.map(({ upToPerSecond }) => Math.round(upToPerSecond)),
    [7000, 14_000, 28_000, 56_000],
  )
  assert.match(usedPoints[0]!, /W1 GET, 100 connections, 1 worker/)
})

test('a load at the edge of a tier still fits, one beyond it needs the next', () => {
  const tierOf = (perSecond: number): unknown[] => {
    const { size } = capacityFor([sampleSummary([costing(100)])], { ...WISH, perSecond })
    return [size!.tier, size!.replicas]
  }
  assert.deepEqual(tierOf(6999), ['W1', 1])
  assert.deepEqual(tierOf(7001), ['W2', 1])
  assert.deepEqual(tierOf(55_999), ['W8', 1])
  assert.deepEqual(tierOf(120_000), ['W8', 3])
})

test('tiers that were not measured are named as extrapolated', () => {
  const { size, notes } = capacityFor([sampleSummary([costing(100)])], WISH)
  assert.deepEqual(
    size!.guide.map(({ isMeasured }) => isMeasured),
    [true, false, false, false],
  )
  assert.match(notes.join('\n'), /W2, W4, W8 not measured: extrapolated/)
  assert.doesNotMatch(capacityFor([sampleRun()], WISH).notes.join('\n'), /not measured/)
})

test('sizes between measured ones are interpolated, beyond them extrapolated, and the answer says so', () => {
  const summary = sampleSummary([post(50, 1000), post(70, 5000)])
  const answer = (bodyBytes: number): [number, string] => {
    const { size, notes } = capacityFor([summary], { ...WISH, method: 'POST', bodyBytes })
    return [Math.round(size!.microsPerRequest), notes[0]!]
  }
  assert.equal(answer(1024)[0], 50)
  assert.deepEqual(answer(3000), [60, 'the cost of 2.93 KB is interpolated from 1,000 B and 4.88 KB'])
  assert.equal(answer(9000)[0], 90)
  assert.match(answer(9000)[1], /EXTRAPOLATED/)
  assert.equal(answer(10)[0], 50)
})

test('one size does not answer for larger ones', () => {
  const { size, missing } = capacityFor([sampleSummary([post(50, 1000)])], {
    ...WISH,
    method: 'POST',
    bodyBytes: 50_000,
  })
  assert.equal(size, null)
  assert.match(missing[0]!, /a POST of 48.8 KB, or two smaller sizes/)
})

test('policies add what they were measured to add', () => {
  const run = samplePolicyRun()
  const plain = capacityFor([run], WISH).size!
  const { size, notes } = capacityFor([run], { ...WISH, policies: ['jwt', 'header'] })
  assert.deepEqual(
    size!.shares.map(({ what }) => what),
    ['passing the request on', 'jwt', 'header'],
  )
  assert.ok(size!.microsPerRequest > plain.microsPerRequest + 35)
  assert.match(notes.join('\n'), /together what each costs alone/)
})

test('a policy that nobody measured is asked for', () => {
  const { size, missing } = capacityFor([sampleRun()], { ...WISH, policies: ['xslt'] })
  assert.equal(size, null)
  assert.deepEqual(missing, ['the policy xslt: gw bench policy xslt'])
})

test('the traffic log counts only when it was measured', () => {
  const logged = { ...WISH, log: 'elasticsearch' } as const
  assert.match(
    capacityFor([sampleSummary([costing(100)])], logged).missing[0]!,
    /traffic log in Elasticsearch/,
  )
  const run = sampleRun()
  assert.ok(
    capacityFor([run], logged).size!.microsPerRequest > capacityFor([run], WISH).size!.microsPerRequest,
  )
})

test('points that are no result, of peers, or at fixed rates are no evidence', () => {
  const points = [
    costing(100, { invalid: ['errors'] }),
    costing(100, { contestant: 'nginx' }),
    costing(100, { kind: 'fixed-rate', targetPerSecond: 100 }),
    costing(100, { suite: 'wso2-mi', scenario: 'xslt-1kb' }),
  ]
  assert.equal(capacityFor([sampleSummary(points)], WISH).size, null)
})

test('what is left open follows from what was measured', () => {
  const open = { perSecond: 1000, bodyBytes: null, policies: [] }
  const { wish } = capacityFor([sampleRun()], open)
  assert.deepEqual([wish.method, wish.bodyBytes, wish.log], ['GET', 0, 'elasticsearch'])
  const posts = capacityFor([sampleSummary([post(50, 1000), post(70, 5000)])], open)
  assert.deepEqual([posts.wish.method, posts.wish.bodyBytes, posts.wish.log], ['POST', 5000, 'none'])
})

test('an answer reads as a guide from load to tier', () => {
  const { lines } = capacityFor([sampleSummary([costing(100)])], WISH)
  assert.equal(lines[0], '5,000 GET a second, traffic log off: W1')
  assert.ok(lines.includes('< 7,000 a second: W1 (1 core, 2 GB)'))
  assert.ok(lines.includes('> 56,000 a second: W8 × N'))
  const missing = capacityFor([sampleSummary([])], WISH).lines
  assert.match(missing.join('\n'), /no answer.*\n {2}a GET without policies/)
})

test('runs answer together: the body from the one, the policy from the other, the newest first', () => {
  const policies = { ...samplePolicyRun(), startedAt: '2026-02-01T00:00:00.000Z' }
  const old = { ...sampleSummary([costing(900)]), startedAt: '2026-01-01T00:00:00.000Z' }
  const fresh = { ...sampleSummary([costing(100)]), startedAt: '2026-03-01T00:00:00.000Z' }
  const { size, usedPoints } = capacityFor([old, fresh, policies], { ...WISH, policies: ['jwt'] })
  assert.equal(size!.shares[0]!.micros, 100)
  assert.equal(size!.shares[1]!.what, 'jwt')
  assert.ok(usedPoints.some((name) => name.startsWith('policies: ')))
})

test('runs of different processors do not answer together, and of different speed only with a note', () => {
  const one = sampleSummary([costing(100)])
  const other = { ...one, id: 'other', host: { ...one.host, cpuModel: 'Z80' } }
  assert.throws(() => capacityFor([one, other], WISH), /of different processors, whose microseconds differ/)
  const slow = { ...one, host: { ...one.host, cpuScore: one.host.cpuScore / 2 } }
  assert.match(capacityFor([one, slow], WISH).notes.join('\n'), /not equally fast in all of these runs/)
  assert.throws(() => capacityFor([], WISH), /no run to answer from/)
})

test('what requests and policies cost stands beside a plain GET and the call without the policy', () => {
  const { costs, lines } = capacityFor([sampleSummary([costing(50), post(60, 1000), post(75, 5000)])], WISH)
  assert.deepEqual(
    costs.requests.map(({ micros, times }) => [micros, times]),
    [
      [50, 1],
      [60, 1.2],
      [75, 1.5],
    ],
  )
  assert.ok(lines.includes('requests, beside GET 1.00 ×: POST 1,000 B 1.20 ×, POST 4.88 KB 1.50 ×'))
  const [jwt] = capacityFor([samplePolicyRun()], WISH).costs.policies.filter(({ what }) =>
    what.startsWith('jwt'),
  )
  assert.ok(jwt!.micros > 0 && jwt!.times! > 1)
})

test('memory follows from numbers of connections, and asks for more pods where it does not suffice', () => {
  const at = (connections: number, rssBytes: number): Point => costing(100, { connections, rssBytes })
  const run = sampleSummary([at(100, 110e6), at(500, 150e6), at(1000, 200e6)])
  const { memory, size, lines } = capacityFor([run], { ...WISH, connections: 100_000 })
  assert.equal(Math.round(memory!.perThousandBytes), 100_000_000)
  assert.equal(Math.round(memory!.baseBytes), 100_000_000)
  // 70 % of 2 GiB, less what it takes by itself, hold some 14,000 connections.
  assert.deepEqual([size!.tier, size!.replicas], ['W1', 8])
  assert.deepEqual(size!.autoscaler, { averageUtilization: 70, minReplicas: 4, maxReplicas: 12 })
  assert.match(lines.join('\n'), /memory: 95\.4 MB and 95\.4 MB for each 1,000 connections under load/)
  assert.equal(capacityFor([sampleSummary([costing(100)])], WISH).memory, null)
})

test('the runs that were kept answer the example of the documentation', () => {
  const results = fileURLToPath(new URL('../../results/', import.meta.url))
  const runs = readdirSync(results)
    .filter((name) => /^\d{4}-/.test(name))
    .filter((name) => readdirSync(join(results, name)).includes('summary.json'))
    .map((name) => readSummary(join(results, name, 'summary.json')))
  const wish = { perSecond: 5000, bodyBytes: 5120, policies: ['basic-auth'] }
  const { size, missing } = capacityFor(runs, wish)
  assert.deepEqual(missing, [])
  assert.deepEqual(
    size!.shares.map(({ what }) => what),
    ['passing the request on', 'basic-auth'],
  )
})

test('CPU time that alone is a result answers where there is no better, and the answer says so', () => {
  const bounded = costing(120, { invalid: ['not gateway-bound'], costInvalid: [], busyShare: 0.9 })
  const alone = capacityFor([sampleSummary([bounded])], WISH)
  assert.equal(alone.size!.microsPerRequest, 120)
  assert.ok(alone.size!.guide.every(({ isMeasured }) => !isMeasured))
  assert.match(alone.notes.join('\n'), /W1 GET, .* at 90 %, CPU time alone is a result, not the throughput/)
  const better = capacityFor([sampleSummary([bounded, costing(100)])], WISH)
  assert.equal(better.size!.microsPerRequest, 100)
  assert.doesNotMatch(better.notes.join('\n'), /CPU time alone/)
})
