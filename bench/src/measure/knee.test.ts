import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadResult } from '../model/engine.js'
import { sampleSpectrum } from '../testing/sample-summary.js'
import { isWithinSlo, KNEE_STEPS, KneeSearch, type KneeStep, nextRate } from './knee.js'
import type { Repetition } from './repetition.js'

const SATURATION = 10_000

/** Searches where every rate below `knee` is good enough, and answers the rates in the order of the search. */
function search(knee: number, saturation = SATURATION): KneeStep[] {
  const steps: KneeStep[] = []
  for (;;) {
    const perSecond = nextRate(saturation, steps)
    if (perSecond === null) return steps
    steps.push({ perSecond, isWithin: perSecond < knee })
  }
}

function best(steps: readonly KneeStep[]): number | undefined {
  const good = steps.filter(({ isWithin }) => isWithin).map(({ perSecond }) => perSecond)
  return good.toSorted((a, b) => b - a)[0]
}

test('the highest rate is found within some hundredths of the saturation', () => {
  for (const knee of [2200, 3333, 5000, 7777, 9800]) {
    const found = best(search(knee))!
    assert.ok(found < knee && knee - found <= SATURATION * 0.013 * 2, `${found} of ${knee}`)
  }
})

test('a search halves what is left, begins in its middle and takes six steps', () => {
  assert.deepEqual(
    search(7100).map(({ perSecond }) => perSecond),
    [6000, 8000, 7000, 7500, 7250, 7125],
  )
  assert.equal(KNEE_STEPS, 6)
})

test('a search ends near the saturation where all is good, and at a fifth of it where nothing is', () => {
  const all = search(Number.POSITIVE_INFINITY)
  assert.ok(best(all)! > SATURATION * 0.98 && best(all)! < SATURATION)
  const nothing = search(0)
  assert.equal(best(nothing), undefined)
  assert.ok(nothing.at(-1)!.perSecond > SATURATION * 0.2 && nothing.at(-1)!.perSecond < SATURATION * 0.22)
})

test('no rate is tried twice, and none below one a second', () => {
  const rates = search(4, 5).map(({ perSecond }) => perSecond)
  assert.ok(rates.length < KNEE_STEPS)
  assert.equal(new Set(rates).size, rates.length)
  assert.deepEqual(search(1, 0.4), [])
})

const P99 = sampleSpectrum(1000).percentiles.find(({ percentile }) => percentile === 99)!.micros

function isWithin(changes: Partial<LoadResult>, sloMicros = P99 + 1): boolean {
  const errors = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  const result = { requests: 100_000, seconds: 10, errors, latency: sampleSpectrum(1000), busyShare: 0.5 }
  return isWithinSlo({ ...result, ...changes }, 10_000, sloMicros)
}

test('a rate is good enough when its P99 is below the limit, next to nothing failed and it was held', () => {
  const errors = (timeout: number) => ({ connect: 0, timeout, reset: 0, status: 0, other: 0 })
  assert.ok(isWithin({}))
  assert.ok(!isWithin({}, P99))
  assert.ok(isWithin({ errors: errors(100) }))
  assert.ok(!isWithin({ errors: errors(101) }))
  assert.ok(!isWithin({ requests: 94_999 }))
  assert.ok(!isWithin({ latency: null }))
  assert.ok(!isWithinSlo(null, 10_000, P99 + 1))
})

/** A repetition at a rate that was held, with a P99 of a millisecond for each 1,000 requests a second. */
function held(perSecond: number): Repetition {
  const errors = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  const percentiles = [{ percentile: 99, micros: perSecond }]
  const latency = sampleSpectrum(1000, { percentiles })
  const result: LoadResult = { requests: perSecond, seconds: 1, errors, latency, busyShare: 0.5 }
  return {
    ...{ result, failure: null, cpuMicros: 1, busyShare: 0.9, foreignShare: 0 },
    ...{ rssBytes: 1, diagnostics: [] },
  }
}

/** A measured search; `most` steps are made at the most. */
function measuredSearch(sloMicros: number, most = KNEE_STEPS): KneeSearch {
  const search = new KneeSearch(SATURATION, sloMicros)
  for (let i = 0; i < most && search.next !== null; i++) search.add(search.next, held(search.next))
  return search
}

test('a search ends with its best step, as it was measured', () => {
  const { perSecond, repetition, failure } = measuredSearch(7200).outcome!
  assert.deepEqual([perSecond, repetition.result?.requests, failure], [7125, 7125, null])
})

test('a search that found no rate ends with the lowest it tried, and says so', () => {
  const { perSecond, failure } = measuredSearch(1000).outcome!
  assert.equal(failure, `no rate from ${perSecond} requests a second on had a P99 below 1 ms`)
  assert.ok(perSecond < SATURATION * 0.22)
})

test('a search that was stopped has no outcome', () => {
  assert.equal(measuredSearch(7200, 0).outcome, null)
  assert.equal(measuredSearch(7200, 5).outcome, null)
})
