import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange, LocalCache, MemoryStore } from '@sluice/core'
import { type Closer, SharedTable } from '../lib/shared-table.js'
import { ThreadPool } from '../lib/threads/thread-pool.js'
import { memoryStores } from '../state/stores.js'
import { Metrics } from '../telemetry/metrics.js'
import { systemNetwork } from '../upstream/transport/network.js'
import { SnapshotEnv } from './compile-env.js'

interface Bench {
  readonly env: SnapshotEnv
  readonly closers: Closer[]
  readonly reported: string[]
}

function bench(shared = new SharedTable(() => {})): Bench {
  const closers: Closer[] = []
  const reported: string[] = []
  const report = (event: string, fields: Readonly<Record<string, unknown>>): void => {
    reported.push(`${event} ${fields['error']}`)
  }
  const threads = new ThreadPool(1, () => {})
  const cache = new LocalCache(new MemoryStore())
  const kept = { cache, catalog: {}, metrics: new Metrics(), state: memoryStores(), network: systemNetwork() }
  return {
    env: new SnapshotEnv({ ...kept, shared, threads, closers, report }),
    closers,
    reported,
  }
}

test('each slot has its own value per exchange', () => {
  const { env } = bench()
  const [a, b] = [env.slot<number>(), env.slot<number | undefined>()]
  const [x, y] = [new Exchange(), new Exchange()]
  a.set(x, 1)
  b.set(x, 2)
  a.set(x, 3)
  b.set(y, undefined)
  assert.deepEqual([a.get(x), b.get(x), a.get(y), b.get(y)], [3, 2, undefined, undefined])
  assert.equal(x.slots.length, 4)
})

test('a slot is not mistaken for a value that is a slot', () => {
  const { env } = bench()
  const [a, b] = [env.slot<unknown>(), env.slot<unknown>()]
  const x = new Exchange()
  a.set(x, 'of a')
  assert.equal(b.get(x), undefined)
  b.set(x, 'of b')
  assert.deepEqual([a.get(x), b.get(x)], ['of a', 'of b'])
})

test('shared values of policies outlive their snapshot, in their own namespace', () => {
  const shared = new SharedTable(() => {})
  const first = bench(shared)
  const made = first.env.shared('cache', () => ({}))
  for (const close of first.closers) close()
  assert.equal(
    bench(shared).env.shared('cache', () => ({})),
    made,
  )
  assert.notEqual(shared.acquire('cache', () => ({})).value, made)
})

test('a job repeats until the snapshot closes; failures are reported and do not stop it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { env, closers, reported } = bench()
  let runs = 0
  env.schedule(1000, () => {
    runs++
    if (runs === 1) throw new Error('broken')
  })
  for (let i = 0; i < 2; i++) {
    t.mock.timers.tick(1000)
    await Promise.resolve()
  }
  assert.equal(runs, 2)
  assert.deepEqual(reported, ['job_failed Error: broken'])
  for (const close of closers) close()
  t.mock.timers.tick(5000)
  assert.equal(runs, 2)
})

test('a job that is still running is not started again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { env } = bench()
  const ends: (() => void)[] = []
  env.schedule(1000, () => new Promise<void>((resolve) => ends.push(resolve)))
  t.mock.timers.tick(3000)
  assert.equal(ends.length, 1)
  ends[0]!()
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(1000)
  assert.equal(ends.length, 2)
})

test('a job that is to run once a month does not run at once', (t) => {
  const intervals: unknown[] = []
  t.mock.method(globalThis, 'setInterval', (_: () => void, everyMs: number) => {
    intervals.push(everyMs)
    return { unref() {} }
  })
  bench().env.schedule(30 * 86_400_000, () => {})
  assert.deepEqual(intervals, [2 ** 31 - 1])
})

test('the jobs of one document are bounded', () => {
  const { env, closers } = bench()
  for (let i = 0; i < 1000; i++) env.schedule(60_000, () => {})
  assert.throws(() => env.schedule(60_000, () => {}), /more than 1000 periodic jobs/)
  for (const close of closers) close()
})

test('resources of a policy are closed with the snapshot', () => {
  const { env, closers } = bench()
  const close = (): void => {}
  env.onClose(close)
  assert.deepEqual(closers, [close])
})
