import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spreadOf } from '../measure/point.js'
import type { Point } from '../model/summary.js'
import { samplePoint, sampleSpectrum, sampleSummary } from '../testing/samples.js'
import { parseLimits, rangeOfChange } from './changes.js'
import { type Comparison, compareSummaries, comparisonLines } from './comparison.js'

function rpsPoint(values: readonly number[]): Point {
  return samplePoint({ perSecond: spreadOf(values) })
}

function compared(before: readonly Point[], after: readonly Point[], limits = 'rps<-5%'): Comparison {
  return compareSummaries(sampleSummary(before), sampleSummary(after), parseLimits(limits))
}

function outcome(before: readonly number[], after: readonly number[]): string | undefined {
  return compared([rpsPoint(before)], [rpsPoint(after)]).points[0]!.verdicts[0]!.outcome
}

test('a fall far beyond the limit breaks it', () => {
  const comparison = compared([rpsPoint([1000, 1005, 995])], [rpsPoint([900, 905, 895])])
  assert.equal(comparison.points[0]!.verdicts[0]!.outcome, 'broken')
  assert.equal(comparison.isFailed, true)
})

test('a fall beyond the limit that may be noise is unclear and does not fail', () => {
  assert.equal(outcome([1000, 1100, 900], [940, 1090, 790]), 'unclear')
  const comparison = compared([rpsPoint([1000, 1100, 900])], [rpsPoint([940, 1090, 790])])
  assert.equal(comparison.isFailed, false)
})

test('a fall within the limit and a rise keep it', () => {
  assert.equal(outcome([1000, 1005, 995], [970, 975, 965]), 'kept')
  assert.equal(outcome([1000, 1005, 995], [1500, 1505, 1495]), 'kept')
})

test('a fall of exactly the limit keeps it', () => {
  assert.equal(outcome([1000, 1000, 1000], [950, 950, 950]), 'kept')
})

test('the same two runs get the same range each time', () => {
  const once = rangeOfChange([10, 12, 11], [13, 12, 15])
  assert.deepEqual(rangeOfChange([10, 12, 11], [13, 12, 15]), once)
  assert.ok(once![0] < once![1])
})

test('one repetition has no range, breaks nothing and is warned of', () => {
  const comparison = compared([rpsPoint([1000])], [rpsPoint([100])])
  assert.equal(comparison.points[0]!.changes.find(({ metric }) => metric === 'rps')!.range, null)
  assert.equal(comparison.points[0]!.verdicts[0]!.outcome, 'unclear')
  assert.equal(comparison.isFailed, false)
  assert.match(comparison.warnings.join('\n'), /fewer than two repetitions/)
})

test('points of one side only are named', () => {
  const shared = samplePoint()
  const gone = samplePoint({ scenario: 'w2-get' })
  const added = samplePoint({ system: 'nginx' })
  const comparison = compared([shared, gone], [shared, added])
  assert.deepEqual(comparison.onlyBefore, ['w2-get sluice 100 connections saturation'])
  assert.deepEqual(comparison.onlyAfter, ['w1-get nginx 100 connections saturation'])
  assert.equal(comparison.points.length, 1)
})

test('with limits a result that has vanished fails, unless the run is meant to be a part', () => {
  const shared = rpsPoint([1000, 1000, 1000])
  const gone = samplePoint({ scenario: 'w2-get' })
  const comparison = compared([shared, gone], [shared])
  assert.equal(comparison.isFailed, true)
  assert.match(comparison.warnings.join('\n'), /^results of the earlier run alone: w2-get.*; with --partial/m)
  assert.equal(comparisonLines(comparison).at(-1), 'FAILED')
  const summaries = [sampleSummary([shared, gone]), sampleSummary([shared])] as const
  const partial = compareSummaries(...summaries, parseLimits('rps<-5%'), true)
  assert.equal(partial.isFailed, false)
  assert.doesNotMatch(partial.warnings.join('\n'), /earlier run alone/)
  assert.equal(compareSummaries(...summaries, []).isFailed, false)
})

test('what was no result before cannot vanish', () => {
  const shared = rpsPoint([1000, 1000, 1000])
  const bounded = samplePoint({ scenario: 'w2-get', invalid: ['not gateway-bound'], costInvalid: [] })
  assert.equal(compared([shared, bounded], [shared]).isFailed, false)
})

test('a rate that follows from another saturation has not vanished, unless it is no result any more', () => {
  const shared = rpsPoint([1000, 1000, 1000])
  const rate = (targetPerSecond: number, invalid: string[] = []): Point =>
    samplePoint({ kind: 'fixed-rate', targetPerSecond, invalid, costInvalid: invalid })
  const before = [shared, rate(500), rate(700)]
  assert.equal(compared(before, [shared, rate(600), rate(840)]).isFailed, false)
  assert.equal(compared(before, [shared, rate(600)]).isFailed, true)
  assert.equal(compared(before, [shared, rate(600), rate(840, ['not held'])]).isFailed, true)
})

test('a point that is no result is no evidence, and a comparison with nothing else fails', () => {
  const reasons = ['the generator was the bottleneck']
  const broken = { ...rpsPoint([100, 100, 100]), invalid: reasons, costInvalid: reasons }
  const comparison = compared([rpsPoint([1000, 1000, 1000])], [broken])
  assert.equal(comparison.points.length, 0)
  assert.match(comparison.noEvidence[0]!, /after: the generator was the bottleneck/)
  assert.equal(comparison.isFailed, true)
})

test('with limits, one that could not be checked fails, and so does a result that is none any more', () => {
  const point = rpsPoint([1000, 1000, 1000])
  assert.equal(compared([point], [point], 'rps<-5%').isFailed, false)
  assert.equal(compared([point], [point], 'rps<-5% or p99>+10%').isFailed, true)
  const peer = samplePoint({ system: 'nginx' })
  const reasons = ['5000 answers were not 2xx']
  const lost = { ...point, invalid: reasons, costInvalid: reasons }
  assert.equal(compared([point, peer], [lost, peer], 'cpu>+5%').isFailed, true)
  assert.equal(compared([lost, peer], [lost, peer], 'cpu>+5%').isFailed, false)
})

/** A point whose CPU time alone is a result. */
function bounded(micros: number, busyShare = 0.9): Point {
  const cpuMicrosPerRequest = spreadOf([0.99, 1, 1.01].map((factor) => factor * micros))
  return samplePoint({ cpuMicrosPerRequest, busyShare, invalid: ['not gateway-bound'], costInvalid: [] })
}

test('where CPU time alone is a result it is compared, and nothing else', () => {
  const comparison = compared([bounded(40)], [bounded(50)], 'cpu>+5%')
  const { points, noEvidence, isFailed } = comparison
  const lines = comparisonLines(comparison)
  assert.deepEqual(
    points[0]!.changes.map(({ metric }) => metric),
    ['cpu'],
  )
  assert.equal(isFailed, true)
  assert.match(lines[1]!, /^ {2}cpu {2}40 µs at 90 % → 50 µs at 90 % {2}\+25\.0 %/)
  assert.match(noEvidence[0]!, /, except CPU time \(before: not gateway-bound; after: not gateway-bound\)/)
})

test('a limit fails when its own figure is no result any more', () => {
  const whole = samplePoint({ cpuMicrosPerRequest: spreadOf([40, 40, 40]), busyShare: 0.96 })
  assert.equal(compared([whole], [bounded(40)], 'cpu>+5%').isFailed, false)
  assert.equal(compared([whole], [bounded(40)], 'rps<-5%').isFailed, true)
  const lost = { ...bounded(40), costInvalid: ['errors'] }
  assert.equal(compared([whole, bounded(40)], [lost, bounded(40)], 'cpu>+5%').isFailed, true)
})

test('CPU times of systems that were not busy alike are no evidence', () => {
  const { points, noEvidence } = compareSummaries(
    sampleSummary([samplePoint()]),
    sampleSummary([bounded(60, 0.7)]),
    [],
  )
  assert.deepEqual(points, [])
  assert.match(noEvidence[0]!, /CPU use differed/)
})

test('runs of different suites are not compared', () => {
  const [one, other] = ['apinizer', 'policies'].map((suite) => sampleSummary([rpsPoint([1])], { suite }))
  assert.throws(() => compareSummaries(one!, other!, []), /different suites, apinizer and policies/)
})

test('without limits nothing fails, and what was not compared is not called ok', () => {
  const comparison = compareSummaries(sampleSummary([]), sampleSummary([]), [])
  assert.equal(comparison.isFailed, false)
  assert.equal(comparisonLines(comparison).at(-1), 'nothing was compared')
  assert.equal(comparisonLines(compared([rpsPoint([1000])], [rpsPoint([900])])).at(-1), 'ok')
})

test('fixed-rate points are matched by the rate that comes closest', () => {
  const at = (rate: number): Point => samplePoint({ kind: 'fixed-rate', targetPerSecond: rate })
  const comparison = compared([at(1000), at(1400)], [at(1410), at(1010), at(1800)], 'cpu>+5%')
  assert.deepEqual(
    comparison.points.map(({ before, after }) => [before.targetPerSecond, after.targetPerSecond]),
    [
      [1000, 1010],
      [1400, 1410],
    ],
  )
  assert.equal(comparison.onlyAfter.length, 1)
})

test('latency is compared at fixed rates and never at overload', () => {
  const latency = (p50: number, kind: Point['kind']): Point =>
    samplePoint({
      kind,
      targetPerSecond: kind === 'saturation' ? null : 500,
      latency: sampleSpectrum(p50),
      repetitions: [1, 1.01, 0.99].map((factor) => ({
        p50Micros: p50 * factor,
        p99Micros: 4 * p50 * factor,
        rssBytes: 1,
      })),
    })
  const slower = compared([latency(100, 'fixed-rate')], [latency(200, 'fixed-rate')], 'p99>+10%')
  assert.equal(slower.isFailed, true)
  const overload = compared([latency(100, 'saturation')], [latency(200, 'saturation')], 'p99>+10%')
  assert.deepEqual(overload.points[0]!.verdicts, [])
  assert.match(overload.warnings.join('\n'), /p99>\+10% was not checked/)
})

test('runs of different machines are warned of', () => {
  const elsewhere = sampleSummary([samplePoint()])
  const { warnings } = compareSummaries(
    sampleSummary([samplePoint()]),
    { ...elsewhere, host: { ...elsewhere.host, cpuModel: 'Other CPU' } },
    [],
  )
  assert.match(warnings[0]!, /different machines: Sample CPU 3.0 GHz, Other CPU/)
})

test('a comparison can be read line by line', () => {
  const lines = comparisonLines(compared([rpsPoint([1000, 1005, 995])], [rpsPoint([900, 905, 895])]))
  assert.equal(lines[0], 'w1-get sluice 100 connections saturation')
  assert.match(lines[1]!, /^ {2}rps {2}1,000 → 900 {2}−10\.0 % \(95 %: /)
  assert.ok(lines.includes('  BROKEN: rps<-5%'))
  assert.equal(lines.at(-1), 'FAILED')
})
