import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Outage } from './outage.js'

/** Replaces the clock and random numbers. The returned function advances the clock. */
function frozen(t: TestContext, drawn: number): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(Math, 'random', () => drawn)
  return async (ms) => {
    t.mock.timers.tick(ms)
    // Effects of a timer happen in microtasks.
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
}

/** Calls `mayTry` and adds its answer to a list. */
function ask(outage: Outage, answers: boolean[]): void {
  void outage.mayTry().then((mayTry) => answers.push(mayTry))
}

/** Returns the wait of a call made now, in milliseconds. */
async function waitOf(outage: Outage, tick: (ms: number) => Promise<void>): Promise<number> {
  const answers: boolean[] = []
  ask(outage, answers)
  let waited = 0
  for (; answers.length === 0; waited += 50) await tick(50)
  return waited
}

test('while the output works, all deliveries may start at once', async () => {
  const outage = new Outage()
  assert.deepEqual(await Promise.all([outage.mayTry(), outage.mayTry()]), [true, true])
  assert.equal(outage.failures, 0)
})

test('waits double up to five seconds and have no end', async (t) => {
  const tick = frozen(t, 1)
  const outage = new Outage()
  const waits: number[] = []
  for (let i = 0; i < 12; i++) {
    outage.failed()
    waits.push(await waitOf(outage, tick))
  }
  assert.deepEqual(waits.slice(0, 6), [200, 400, 800, 1600, 3200, 5000])
  assert.deepEqual(waits.slice(6), Array(6).fill(5000))
  outage.worked()
  assert.equal(await outage.mayTry(), true)
})

test('jitter takes from the whole range, but for a tenth of a second', async (t) => {
  const tick = frozen(t, 0)
  const outage = new Outage()
  for (let i = 0; i < 8; i++) outage.failed()
  assert.equal(await waitOf(outage, tick), 100)
})

test('a target is left alone for as long as it asks, an hour at most', async (t) => {
  const tick = frozen(t, 0)
  const outage = new Outage()
  outage.failed(5000)
  assert.equal(await waitOf(outage, tick), 5000)
  outage.failed(86_400_000)
  assert.equal(await waitOf(outage, tick), 3_600_000)
})

test('one tries, the others wait for its outcome', async (t) => {
  const tick = frozen(t, 0)
  const outage = new Outage()
  outage.failed()
  const answers: boolean[] = []
  for (let i = 0; i < 3; i++) ask(outage, answers)
  await tick(0)
  await tick(60_000)
  assert.deepEqual(answers, [true])
  outage.failed()
  await tick(0)
  await tick(60_000)
  assert.deepEqual(answers, [true, true])
  outage.worked()
  await tick(0)
  assert.deepEqual(answers, [true, true, true])
})

test('at the end, all waits are over and no attempts are allowed', async (t) => {
  const tick = frozen(t, 0)
  const outage = new Outage()
  outage.failed()
  const answers: boolean[] = []
  for (let i = 0; i < 2; i++) ask(outage, answers)
  await tick(0)
  outage.end()
  await tick(0)
  assert.deepEqual(answers, [false, false])
  assert.equal(await outage.mayTry(), false)
})
