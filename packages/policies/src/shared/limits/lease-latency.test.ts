import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  type Grant,
  type LimitRule,
  MemoryStore,
  MemoryTable,
  rateLimits,
  type StateScope,
  StateUnavailable,
} from '@sluice/core'
import { testEnv } from '../../testing.js'
import { VERDICT, type Verdict } from './lease.js'
import { LeaseTable, SWEEP_MS } from './lease-table.js'
import { LimitStore } from './limit-store.js'

/** 2026-11-29 12:00:00.000 UTC. */
const BEGIN_MS = 1_795_953_600_000

/** A clock for all users of `performance.now`, moved by hand. */
class Clock {
  nowMono = 1000
  readonly #due: { readonly atMono: number; readonly run: () => void }[] = []

  constructor(t: TestContext) {
    t.mock.method(performance, 'now', () => this.nowMono)
  }

  after(ms: number): Promise<void> {
    return new Promise((run) => this.#due.push({ atMono: this.nowMono + ms, run }))
  }

  /** Moves the clock by one millisecond. */
  async tick(): Promise<void> {
    this.nowMono++
    let isMoved = false
    for (let i = 0; i < this.#due.length; ) {
      if (this.#due[i]!.atMono > this.nowMono) i++
      else {
        this.#due.splice(i, 1)[0]!.run()
        isMoved = true
      }
    }
    if (isMoved) await turn()
  }
}

/** A store with latency: half of the time passes before it decides, half on the way back. */
class FarStore extends MemoryStore {
  asked = 0
  given = 0
  isSlow = false
  readonly #clock: Clock
  readonly #delayMs: number

  constructor(clock: Clock, delayMs: number) {
    super(new MemoryTable(undefined, () => BEGIN_MS + clock.nowMono))
    this.#clock = clock
    this.#delayMs = delayMs
  }

  override async take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    if (this.isSlow) throw new StateUnavailable('slow')
    this.asked++
    await this.#clock.after(this.#delayMs / 2)
    const grant = await super.take(key, rule, amount)
    await this.#clock.after(this.#delayMs / 2)
    return grant
  }

  override async giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    this.given += amount
    return super.giveBack(key, rule, amount)
  }
}

interface Setup {
  readonly limit: string
  readonly algorithm?: 'gcra' | 'fixed'
  readonly delayMs: number
  readonly workers?: number
  readonly maxKeys?: number
}

interface Load extends Setup {
  /** Requests of all workers per millisecond. */
  readonly perMs: number
  readonly seconds: number
}

/** Workers with a remote store. */
function farWorkers(
  t: TestContext,
  { limit, algorithm = 'gcra', delayMs, workers = 1, maxKeys = 1000 }: Setup,
) {
  const clock = new Clock(t)
  const store = new FarStore(clock, delayMs)
  const limits = rateLimits({ limit, algorithm })
  const near = new MemoryStore()
  const state = { ...testEnv().state, store: (scope: StateScope) => (scope === 'cluster' ? store : near) }
  const env = { ...testEnv(), state }
  const tables = Array.from(
    { length: workers },
    () => new LeaseTable(limits, 'p', new LimitStore(env, 'cluster', 'local'), maxKeys),
  )
  /** Sends one request and moves the clock until it is decided. */
  const passes = async (table: LeaseTable, key = 'k', cost = 1) => {
    const entry = table.of('', key)
    const beganMono = clock.nowMono
    let verdict: Verdict = entry.take(cost, beganMono)
    if (verdict === VERDICT.unknown) {
      let isKnown = false
      const known = entry.takeWhenKnown(cost).finally(() => {
        isKnown = true
      })
      await turn()
      while (!isKnown) await clock.tick()
      verdict = await known
    }
    return { isAdmitted: verdict === VERDICT.allowed, waitedMs: clock.nowMono - beganMono }
  }
  return { clock, store, tables, passes }
}

/** Sends requests evenly to workers with one key. The first second is not counted. */
async function simulate(t: TestContext, load: Load) {
  const { perMs, seconds, workers = 4 } = load
  const { clock, store, tables } = farWorkers(t, { ...load, workers })
  const seen = { admitted: 0, refused: 0, admittedLate: 0, refusedLate: 0, longestMs: 0, asked: 0, total: 0 }
  let sent = 0
  const request = async (isCounted: boolean): Promise<void> => {
    const entry = tables[sent++ % workers]!.of('', 'k')
    const beganMono = clock.nowMono
    const verdict = entry.take(1, beganMono)
    const known = verdict === VERDICT.unknown ? await entry.takeWhenKnown(1) : verdict
    const waitedMs = clock.nowMono - beganMono
    if (known === VERDICT.allowed) seen.total++
    if (!isCounted) return
    const isAdmitted = known === VERDICT.allowed
    seen[isAdmitted ? 'admitted' : 'refused']++
    if (waitedMs > 0) seen[isAdmitted ? 'admittedLate' : 'refusedLate']++
    seen.longestMs = Math.max(seen.longestMs, waitedMs)
  }
  let due = 0
  const pending: Promise<void>[] = []
  for (let ms = 0; ms < (seconds + 1) * 1000; ms++) {
    if (ms === 1000) seen.asked = store.asked
    for (due += perMs; due >= 1; due--) pending.push(request(ms >= 1000))
    if (ms % SWEEP_MS === 0) for (const table of tables) table.sweep(clock.nowMono)
    await clock.tick()
  }
  seen.asked = store.asked - seen.asked
  for (let i = 0; i < 1000; i++) await clock.tick()
  await Promise.all(pending)
  return seen
}

for (const delayMs of [20, 100, 200]) {
  test(`no request waits for a store with ${delayMs} ms latency at four times the limit`, async (t) => {
    const seen = await simulate(t, { limit: '500/s', delayMs, perMs: 2, seconds: 10 })
    assert.deepEqual([seen.admittedLate, seen.refusedLate], [0, 0])
    assert.ok(seen.admitted >= 4950 && seen.total <= 50 + 500 * 11.01, JSON.stringify(seen))
    assert.ok(seen.asked < 2000, `${seen.asked} questions`)
  })
}

test('requests below the limit find tokens that were fetched ahead, and none is refused', async (t) => {
  const seen = await simulate(t, { limit: '500/s', delayMs: 100, perMs: 0.25, seconds: 10 })
  assert.deepEqual([seen.admitted, seen.admittedLate, seen.refused], [2500, 0, 0])
  assert.ok(seen.asked < 1000, `${seen.asked} questions`)
})

test('windows of a store with 100 ms latency grant exactly their tokens', async (t) => {
  const load = { limit: '500/s', algorithm: 'fixed', delayMs: 100, perMs: 2, seconds: 10 } as const
  const seen = await simulate(t, load)
  assert.ok(seen.admitted >= 4950 && seen.total <= 500 * 13, JSON.stringify(seen))
  // Requests that arrive while the first response of a window is pending.
  assert.ok(seen.refusedLate < 0.15 * seen.refused && seen.longestMs <= 150, JSON.stringify(seen))
})

test('a used-up window is refused without waiting until it ends, and is asked for once a second', async (t) => {
  const { clock, store, tables, passes } = farWorkers(t, { limit: '10/h', algorithm: 'fixed', delayMs: 100 })
  for (let i = 0; i < 15; i++) await passes(tables[0]!)
  const asked = store.asked
  for (let second = 0; second < 30; second++) {
    assert.deepEqual(await passes(tables[0]!), { isAdmitted: false, waitedMs: 0 })
    for (let i = 0; i < 1000; i++) await clock.tick()
    tables[0]!.sweep(clock.nowMono)
  }
  assert.ok(store.asked - asked <= 30, `${store.asked - asked} questions`)
  await store.deleteAll('p')
  for (let i = 0; i < 200; i++) await clock.tick()
  await passes(tables[0]!)
  for (let i = 0; i < 150; i++) await clock.tick()
  assert.deepEqual(await passes(tables[0]!), { isAdmitted: true, waitedMs: 0 }, 'a reset is noticed')
})

test('remembered used-up limits are bounded and expire', async (t) => {
  const { clock, tables, passes } = farWorkers(t, { limit: '1/h', delayMs: 0, maxKeys: 100 })
  for (let i = 0; i < 2000; i++) await passes(tables[0]!, `k${i % 1000}`)
  assert.equal(tables[0]!.size, 100)
  clock.nowMono += 70_000
  tables[0]!.sweep(clock.nowMono)
  assert.equal(tables[0]!.size, 0)
})

test('tokens of a slow store are returned when another store takes over', async (t) => {
  const { clock, store, tables, passes } = farWorkers(t, { limit: '100/h', algorithm: 'fixed', delayMs: 20 })
  for (let i = 0; i < 40; i++) await passes(tables[0]!)
  for (let i = 0; i < 100; i++) await clock.tick()
  const { tokens } = tables[0]!.of('', 'k').leases[0]!
  assert.ok(tokens > 0)
  store.isSlow = true
  assert.equal((await passes(tables[0]!, 'k', tokens + 1)).isAdmitted, true)
  assert.equal(store.given, tokens)
})
