import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Overload, Overtime } from '@sluice/core'
import { ThreadPool } from './thread-pool.js'

function moduleOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** Adds up bytes, and reports its thread and the number of times it was compiled. */
const SUMS = moduleOf(`
  import { threadId } from 'node:worker_threads'
  globalThis.made ??= 0
  export function work({ factor }) {
    const made = ++globalThis.made
    return (bytes) => {
      if (bytes.length === 0) throw new Error('no bytes')
      return { sum: factor * bytes.reduce((a, b) => a + b, 0), made, threadId }
    }
  }`)
const STUCK = moduleOf('export function work() { return () => new Promise(() => {}) }')

/** Ends its thread, fails after its task, runs forever, or returns its input. */
const FRAGILE = moduleOf(`export function work() {
  return (what) => {
    if (what === 'end') process.exit(3)
    if (what === 'fail later') setTimeout(() => { throw new Error('later') }, 10)
    while (what === 'for ever');
    return what
  }
}`)

/** An exchange that has not ended. */
const GOING = { endedMono: 0 }

const faults: unknown[] = []

function poolFor(t: TestContext, threads = 1, taskMs?: number): ThreadPool {
  const pool = new ThreadPool(threads, (error) => faults.push(error), taskMs)
  t.after(() => pool.close())
  return pool
}

interface Sum {
  readonly sum: number
  readonly made: number
  readonly threadId: number
}

test('work is compiled once per configuration, on another thread, and its input stays here', async (t) => {
  const pool = poolFor(t)
  const double = pool.offload<Uint8Array, Sum>(SUMS, { factor: 2 })
  const bytes = Buffer.from([1, 2, 3])
  const first = await double.run(bytes, GOING)
  const again = await pool.offload<Uint8Array, Sum>(SUMS, { factor: 2 }).run(bytes, GOING)
  assert.deepEqual([first.sum, again.sum, first.made, again.made], [12, 12, 1, 1])
  assert.notEqual(first.threadId, 0)
  assert.equal(bytes.length, 3)
  const triple = await pool.offload<Uint8Array, Sum>(SUMS, { factor: 3 }).run(bytes, GOING)
  assert.deepEqual([triple.sum, triple.made], [18, 2])
})

test('an error thrown by the work is passed back with its message, and the thread goes on', async (t) => {
  const sums = poolFor(t).offload<Uint8Array, Sum>(SUMS, { factor: 1 })
  await assert.rejects(sums.run(new Uint8Array(0), GOING), /no bytes/)
  assert.equal((await sums.run(Uint8Array.of(5), GOING)).sum, 5)
})

test('tasks beyond the queue limit are refused', async (t) => {
  const pool = poolFor(t)
  const stuck = pool.offload<number, never>(STUCK, {})
  const waiting = Array.from({ length: 100 }, (_, i) => stuck.run(i, GOING).catch((error: unknown) => error))
  const first = await Promise.race(waiting)
  assert.ok(first instanceof Overload)
  await pool.close()
  const overloads = (await Promise.all(waiting)).filter((error) => error instanceof Overload)
  assert.ok(overloads.length >= 30 && overloads.length <= 40, `${overloads.length} of 100 were refused`)
})

test('a task that waits for a thread that dies gets another one', { timeout: 20_000 }, async (t) => {
  const fragile = poolFor(t).offload<string, string>(FRAGILE, {})
  await fragile.run('warm', GOING)
  const outcomes = await Promise.allSettled([
    fragile.run('end', GOING),
    fragile.run('a', GOING),
    fragile.run('b', GOING),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : '')),
    ['', 'a', 'b'],
  )
})

test('a failure after a task ends only its thread, and is reported', { timeout: 20_000 }, async (t) => {
  const fragile = poolFor(t).offload<string, string>(FRAGILE, {})
  faults.length = 0
  assert.equal(await fragile.run('fail later', GOING), 'fail later')
  while (faults.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.match(String(faults[0]), /later/)
  assert.equal(await fragile.run('after', GOING), 'after')
})

test('work that does not end is terminated, and the next task finds a thread', {
  timeout: 20_000,
}, async (t) => {
  const fragile = poolFor(t, 1, 2000).offload<string, string>(FRAGILE, {})
  await assert.rejects(fragile.run('for ever', GOING), /more than 2000 ms/)
  assert.equal(await fragile.run('after', GOING), 'after')
})

test('work may have its own time limit', { timeout: 20_000 }, async (t) => {
  const pool = poolFor(t)
  const fragile = pool.offload<string, string>(FRAGILE, {}, 500)
  await assert.rejects(fragile.run('for ever', GOING), Overtime)
  assert.equal(await pool.offload<string, string>(FRAGILE, {}).run('after', GOING), 'after')
})

test('tasks run in arrival order', async (t) => {
  const fragile = poolFor(t).offload<string, string>(FRAGILE, {})
  const order: string[] = []
  const names = ['a', 'b', 'c', 'd', 'e']
  await Promise.all(names.map(async (name) => order.push(await fragile.run(name, GOING))))
  assert.deepEqual(order, names)
})

test('work whose request has ended is not started when its turn comes', async (t) => {
  const pool = poolFor(t)
  const sums = pool.offload<Uint8Array, Sum>(SUMS, { factor: 1 })
  const first = sums.run(Uint8Array.of(1), GOING)
  const gone = { endedMono: 0 }
  const second = sums.run(Uint8Array.of(2), gone)
  const third = sums.run(Uint8Array.of(3), GOING)
  gone.endedMono = 1
  await assert.rejects(second, Overload)
  assert.equal((await first).sum, 1)
  assert.equal((await third).sum, 3)
})

test('tasks whose requests have ended make room for others when the queue is full', async (t) => {
  const pool = poolFor(t)
  const slow = pool.offload<string, string>(FRAGILE, {})
  const gone = { endedMono: 0 }
  const first = slow.run('first', GOING)
  const waiting = Array.from({ length: 64 }, (_, i) => slow.run(`${i}`, gone))
  await assert.rejects(slow.run('one too many', GOING), /queue for worker threads is full/)
  gone.endedMono = 1
  const late = slow.run('late', GOING)
  for (const each of waiting) await assert.rejects(each, /the request ended/)
  assert.deepEqual([await first, await late], ['first', 'late'])
})
