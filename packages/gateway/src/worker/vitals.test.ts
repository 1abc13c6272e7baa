import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CAPTURE_MEMORY, CapturedBody } from '@sluice/core'
import type { Sample } from '../telemetry/sample.js'
import { until } from '../testing/gateway.js'
import { Vitals } from './vitals.js'

function opened(t: TestContext): Vitals {
  const vitals = new Vitals()
  t.after(() => vitals.close())
  return vitals
}

function reading(samples: readonly Sample[], name: string, labels = 'worker="3"'): number {
  const found = samples.find((sample) => sample.name === name && sample.labels === labels)
  assert.ok(found, `${name}{${labels}} is missing`)
  return found.value
}

/** Blocks the event loop. */
function hang(forMs: number): void {
  const endMono = performance.now() + forMs
  while (performance.now() < endMono) Math.sqrt(2)
}

test('a hang shows once in the longest delay, and in every skipped measurement', async (t) => {
  const vitals = opened(t)
  const name = 'gw_worker_loop_delay_seconds'
  await until(() => reading(vitals.samples(3), `${name}_count`) > 0)
  hang(300)
  let longestMs = 0
  await until(() => {
    longestMs = Math.max(longestMs, vitals.lag.takeMs())
    return longestMs >= 200
  })
  const samples = vitals.samples(3)
  const late = reading(samples, `${name}_count`) - reading(samples, `${name}_bucket`, 'worker="3",le="0.1"')
  assert.ok(late >= 5, `${late} looks were later than 100 ms`)
  assert.ok(reading(samples, `${name}_sum`) >= 0.2)
  assert.ok(vitals.lag.takeMs() < longestMs)
})

test('buckets of the delays grow with their bounds and end with all of them', async (t) => {
  const vitals = opened(t)
  await until(() => reading(vitals.samples(3), 'gw_worker_loop_delay_seconds_count') > 2)
  const samples = vitals.samples(3)
  const buckets = samples.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value)
  assert.deepEqual(
    buckets,
    buckets.toSorted((a, b) => a - b),
  )
  assert.equal(buckets.at(-1), reading(samples, 'gw_worker_loop_delay_seconds_count'))
})

test('garbage collections are counted with the time they took', async (t) => {
  const vitals = opened(t)
  await until(() => {
    // Garbage too large for one collection of the young generation.
    Array.from({ length: 100_000 }, (_, i) => ({ i }))
    return reading(vitals.samples(3), 'gw_worker_gc_total') >= 2
  })
  assert.ok(reading(vitals.samples(3), 'gw_worker_gc_seconds_total') > 0)
  assert.ok(reading(vitals.samples(3), 'gw_worker_heap_used_bytes') > 1_000_000)
})

test('the memory of captured bodies is reported, and how many were truncated', (t) => {
  const vitals = opened(t)
  const held = (): number => reading(vitals.samples(3), 'gw_worker_capture_held_bytes')
  const cut = (): number => reading(vitals.samples(3), 'gw_worker_capture_cut_total')
  const [heldBefore, cutBefore] = [held(), cut()]
  const kept = new CapturedBody({ maxBodyBytes: 4096, sha256: false }, [])
  kept.add(Buffer.alloc(100))
  assert.equal(held() - heldBefore, 100)
  const others = 64 * 1024 ** 2 - CAPTURE_MEMORY.heldBytes
  assert.ok(CAPTURE_MEMORY.take(others))
  const starved = new CapturedBody({ maxBodyBytes: 4096, sha256: false }, [])
  for (let i = 0; i < 3; i++) starved.add(Buffer.alloc(100))
  assert.equal(cut() - cutBefore, 1)
  CAPTURE_MEMORY.giveBack(others)
  for (const body of [kept, starved]) body.release()
  assert.equal(held(), heldBefore)
})
