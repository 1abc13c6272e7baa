import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Eventual, Exchange, Outcome, Step } from '@sluice/core'
import { consumerOf } from '@sluice/core'
import fc from 'fast-check'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { concurrencyLimit } from './policy.js'
import type { concurrencyLimitSchema } from './schema.js'
import { Semaphores } from './semaphore.js'
import { CHECK_INTERVAL_MS, Throttle } from './throttle.js'

type ConcurrencyLimitConfig = Static<typeof concurrencyLimitSchema>

interface Gate {
  enter(x: Exchange): Eventual
  leave(x: Exchange): void
  readonly semaphores: Semaphores
}

function gate(t: TestContext, config: ConcurrencyLimitConfig, table = new Map<string, unknown>()): Gate {
  const env = testEnv(table)
  t.after(() => env.close())
  const step = concurrencyLimit.compile(config, env) as Step
  const semaphores = [...table.values()].at(-1) as Semaphores
  return { enter: (x) => step.onRequest!(x), leave: (x) => step.onFinish!(x), semaphores }
}

function refused(outcome: Eventual): boolean {
  assert.ok(!(outcome instanceof Promise))
  return outcome !== null
}

/** Lets promises settle that can. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test('as many as max are under way; one more is refused until one has ended', (t) => {
  const { enter, leave } = gate(t, { limit: 2 })
  const [a, b, c, d] = [exchange(), exchange(), exchange(), exchange()]
  assert.equal(enter(a), null)
  assert.equal(enter(b), null)
  const reply = enter(c) as Outcome
  assert.equal(reply?.status, 503)
  assert.deepEqual(reply?.headers, ['x-gw-error', 'GW_CONCURRENCY_LIMITED', 'retry-after', '1'])
  leave(c)
  assert.ok(refused(enter(d)), 'one that was refused gives nothing back')
  leave(a)
  assert.equal(enter(exchange()), null)
})

test('the log learns how many more would have had a permit', (t) => {
  const named = gate(t, { name: 'orders', limit: 2 })
  const [a, b, c] = [exchange(), exchange(), exchange()]
  for (const x of [a, b, c]) named.enter(x)
  assert.deepEqual(
    [a, b, c].map((x) => [x.record.limitName, x.record.limitRemaining]),
    [
      ['orders', 1],
      ['orders', 0],
      ['orders', 0],
    ],
  )
  const nameless = exchange()
  gate(t, { limit: 5 }).enter(nameless)
  assert.deepEqual([nameless.record.limitName, nameless.record.limitRemaining], ['concurrency-limit', 4])
})

test('a permit is given back once, however often the end is reported', (t) => {
  const { enter, leave } = gate(t, { limit: 1 })
  const a = exchange()
  enter(a)
  leave(a)
  leave(a)
  assert.equal(enter(exchange()), null)
  assert.ok(refused(enter(exchange())))
})

test('a step listed twice in a chain takes one permit', (t) => {
  const { enter, leave, semaphores } = gate(t, { limit: 1 })
  const a = exchange()
  assert.equal(enter(a), null)
  assert.equal(enter(a), null)
  leave(a)
  assert.equal(semaphores.size, 0)
})

test('keys are counted apart, and forgotten with their last request', (t) => {
  const { enter, leave, semaphores } = gate(t, { limit: 1, key: ['consumer', 'header:X-Tenant'] })
  const consumer = consumerOf('api-key', 'acme')
  const requests = [
    exchange({ consumer }),
    exchange({ consumer, headers: ['x-tenant', 'a'] }),
    exchange({ consumer, headers: ['x-tenant', 'a', 'x-tenant', 'b'] }),
    exchange({ headers: ['x-tenant', 'a'] }),
    exchange({ headers: ['x-tenant', 'a'.repeat(10_000)] }),
  ]
  for (const x of requests) assert.equal(enter(x), null)
  assert.equal(semaphores.size, 5)
  assert.ok(refused(enter(exchange({ consumer, headers: ['x-tenant', 'a'] }))))
  for (const x of requests) leave(x)
  assert.equal(semaphores.size, 0)
})

test('by route, by address, and without a key all together', (t) => {
  const byRoute = gate(t, { limit: 1 })
  assert.equal(byRoute.enter(exchange({ route: { id: 'a' } })), null)
  assert.equal(byRoute.enter(exchange({ route: { id: 'b' } })), null)
  assert.ok(refused(byRoute.enter(exchange({ route: { id: 'a' } }))))
  const byAddress = gate(t, { limit: 1, key: ['ip'] })
  assert.equal(byAddress.enter(exchange({ clientIp: '192.0.2.1' })), null)
  assert.equal(byAddress.enter(exchange({ clientIp: '192.0.2.2' })), null)
  const together = gate(t, { limit: 1, key: [] })
  assert.equal(together.enter(exchange({ route: { id: 'a' } })), null)
  assert.ok(refused(together.enter(exchange({ route: { id: 'b' } }))))
})

test('waiting requests get permits in order, and a full queue refuses the next one', async (t) => {
  const { enter, leave } = gate(t, { limit: 1, queue: { limit: 2, timeout: '20s' } })
  const [a, b, c, d] = [exchange(), exchange(), exchange(), exchange()]
  enter(a)
  const order: string[] = []
  const second = (enter(b) as Promise<Outcome>).then((reply) => order.push(`b ${reply}`))
  const third = (enter(c) as Promise<Outcome>).then((reply) => order.push(`c ${reply}`))
  assert.ok(refused(enter(d)))
  leave(a)
  await second
  assert.deepEqual(order, ['b null'])
  leave(b)
  await third
  assert.deepEqual(order, ['b null', 'c null'])
})

test('no request overtakes a waiting one', (t) => {
  const table = new Map<string, unknown>()
  const small = gate(t, { name: 'n', limit: 1, queue: { limit: 1 } }, table)
  const large = gate(t, { name: 'n', limit: 5 }, table)
  small.enter(exchange())
  assert.ok(small.enter(exchange()) instanceof Promise)
  assert.ok(refused(large.enter(exchange())))
})

test('a request that waits too long is refused and leaves the queue', async (t) => {
  const { enter, leave, semaphores } = gate(t, { limit: 1, queue: { limit: 1, timeout: '5ms' } })
  const [a, b] = [exchange(), exchange()]
  enter(a)
  const keepAlive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(keepAlive))
  const reply = await enter(b)
  assert.equal(reply?.problem?.code, 'GW_CONCURRENCY_LIMITED')
  leave(b)
  leave(a)
  assert.equal(semaphores.size, 0)
})

test('a client that goes away while it waits is not given a permit', async (t) => {
  const { enter, leave, semaphores } = gate(t, { limit: 1, queue: { limit: 5, timeout: '20s' } })
  const [a, b, c] = [exchange(), exchange(), exchange()]
  enter(a)
  void enter(b)
  const third = enter(c)
  leave(b)
  leave(a)
  assert.equal(await third, null)
  assert.equal(semaphores.heldOf('test'), 1)
  leave(c)
  assert.equal(semaphores.size, 0)
})

test('uses of one name count together, each by its own max, also over a reload', (t) => {
  const table = new Map<string, unknown>()
  const old = gate(t, { name: 'n', limit: 3 }, table)
  const [a, b] = [exchange(), exchange()]
  old.enter(a)
  old.enter(b)
  const fresh = gate(t, { name: 'n', limit: 2 }, table)
  assert.ok(refused(fresh.enter(exchange())))
  old.leave(a)
  assert.equal(fresh.enter(exchange()), null)
  assert.equal(gate(t, { limit: 2 }, table).enter(exchange()), null)
})

test('after 10,000 requests with random outcomes nothing is held', async (t) => {
  const { enter, leave, semaphores } = gate(t, { limit: 7, key: ['ip'], queue: { limit: 3, timeout: '20s' } })
  const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
  const open: Exchange[] = []
  const isGranted = new Set<Exchange>()
  let random = 1
  const next = (bound: number): number => {
    random = (random * 48_271) % 2_147_483_647
    return random % bound
  }
  for (let i = 0; i < 10_000; i++) {
    const x = exchange({ clientIp: addresses[next(3)]! })
    open.push(x)
    const outcome = enter(x)
    if (outcome === null) isGranted.add(x)
    else if (outcome instanceof Promise) void outcome.then((reply) => reply === null && isGranted.add(x))
    // Answered, aborted while it waits, refused: the end is reported for each of them, sometimes twice.
    while (open.length > next(60)) {
      const [ended] = open.splice(next(open.length), 1)
      leave(ended!)
      if (next(10) === 0) leave(ended!)
      isGranted.delete(ended!)
    }
    if (i % 100 === 0) {
      await nextTurn()
      for (const clientIp of addresses) {
        const granted = open.filter((one) => isGranted.has(one) && one.clientIp === clientIp).length
        assert.equal(semaphores.heldOf(clientIp), granted)
        assert.ok(granted <= 7)
      }
    }
  }
  for (const x of open) leave(x)
  assert.equal(semaphores.size, 0)
})

test('in any order of arrivals and ends, no more than max hold a permit and none is idle', () => {
  const limits = { max: 3, queue: 4, waitMs: 60_000, throttle: null }
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 200 }), (steps) => {
      const semaphores = new Semaphores()
      const permits: NonNullable<ReturnType<Semaphores['acquire']>>[] = []
      for (const step of steps) {
        if (step < 5) {
          const permit = semaphores.acquire('k', limits)
          if (permit !== null) permits.push(permit)
        } else if (permits.length > 0) semaphores.release(permits[(step * 7) % permits.length]!)
        const held = permits.filter(({ state }) => state === 'held').length
        const waiting = permits.filter(({ state }) => state === 'waiting').length
        assert.equal(semaphores.heldOf('k'), held)
        assert.ok(held <= 3 && waiting <= 4)
        assert.ok(waiting === 0 || held === 3)
      }
      for (const permit of permits) semaphores.release(permit)
      assert.equal(semaphores.size, 0)
    }),
  )
})

test('a late event loop lowers the limit, down to min, and time raises it again', () => {
  const throttle = new Throttle(50, 2, 0)
  const semaphores = new Semaphores()
  const limits = { max: 10, queue: 0, waitMs: 1000, throttle }
  let nowMono = 0
  const check = (lateMs: number): void => {
    nowMono += CHECK_INTERVAL_MS + lateMs
    throttle.check(nowMono)
  }
  check(50)
  assert.equal(throttle.share, 1)
  check(51)
  assert.equal(throttle.share, 0.75)
  for (let i = 0; i < 7; i++) semaphores.acquire('k', limits)
  assert.equal(semaphores.acquire('k', limits), null)
  for (let i = 0; i < 50; i++) check(500)
  const few = new Semaphores()
  assert.notEqual(few.acquire('k', limits), null)
  assert.notEqual(few.acquire('k', limits), null)
  assert.equal(few.acquire('k', limits), null)
  for (let i = 0; i < 25; i++) check(0)
  assert.equal(throttle.share, 1)
})

test('a wait that the pipeline would cut short is refused', (t) => {
  assert.throws(() => gate(t, { limit: 1, queue: { limit: 1, timeout: '30s' } }), /use at most 25s/)
})

test('the schema accepts what is documented and rejects everything else', (t) => {
  const defaulted = { limit: 5, queue: { limit: 1 }, adaptive: {} }
  assert.deepEqual(schemaMistakes(concurrencyLimit, defaulted), [])
  assert.deepEqual(defaulted, {
    limit: 5,
    key: ['route'],
    queue: { limit: 1, timeout: '1s' },
    adaptive: { lag: '50ms', min: 1 },
    retryAfter: '1s',
  })
  assert.ok(gate(t, defaulted).enter(exchange()) === null)
  for (const config of [
    {},
    { limit: 0 },
    { limit: 1.5 },
    { limit: 1, key: ['path'] },
    { limit: 1, key: ['header:'] },
    { limit: 1, queue: {} },
    { limit: 1, queue: { limit: 1, timeout: 'soon' } },
    { limit: 1, max: 2 },
  ]) {
    assert.notDeepEqual(schemaMistakes(concurrencyLimit, config), [], JSON.stringify(config))
  }
})
