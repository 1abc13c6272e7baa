import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  BANS_LIFTED,
  banName,
  type CompileEnv,
  MemoryStore,
  type Reply,
  type StateStore,
  StateUnavailable,
  type Step,
} from '@sluice/core'
import { exchange, schemaMistakes, type TestEnv, testEnv } from '../../testing.js'
import { clientBan } from './policy.js'

type Config = Parameters<typeof clientBan.compile>[0]

/** One worker of a gateway: the policy, and what runs each second in it. */
class BanWorker {
  readonly env: TestEnv
  readonly #step: Step
  readonly #jobs: (() => unknown)[] = []
  readonly #table: Map<string, unknown>

  constructor(config: Config, store: StateStore, table = new Map<string, unknown>()) {
    this.#table = table
    this.env = testEnv(table)
    const env: CompileEnv = {
      ...this.env,
      state: { ...this.env.state, store: () => store },
      schedule: (_, job) => void this.#jobs.push(job),
    }
    this.#step = clientBan.compile(config, env, { id: 'p' }) as Step
  }

  /** What a caller gets, of an upstream that answers with a status. */
  async call(clientIp: string, status = 401, headers: string[] = []): Promise<Reply | null> {
    const x = exchange({ clientIp, headers })
    const refused = (await this.#step.onRequest!(x)) as Reply | null
    if (refused !== null) return refused
    x.status = status
    this.#step.onResponse!(x)
    // The store is asked behind the response.
    for (let i = 0; i < 5; i++) await turn()
    return null
  }

  async second(): Promise<void> {
    for (const job of this.#jobs) await job()
    for (let i = 0; i < 5; i++) await turn()
  }

  count(result: string): number {
    return this.env.counter('gw_client_bans_total', { policy: 'p', result }).value
  }

  /** The worker after a reload. */
  reloaded(config: Config, store: StateStore): BanWorker {
    return new BanWorker(config, store, this.#table)
  }
}

function worker(config: Config = {}, store: StateStore = new MemoryStore()): BanWorker {
  return new BanWorker({ threshold: 3, ...config }, store)
}

const IP = '198.51.100.7'

async function fail(one: BanWorker, times: number, ip = IP): Promise<void> {
  for (let i = 0; i < times; i++) assert.equal(await one.call(ip), null)
}

test('a caller that reaches the threshold is refused, and no other caller', async () => {
  const one = worker({ ban: '90s' })
  await fail(one, 3)
  const refused = await one.call(IP)
  assert.equal(refused?.status, 429)
  assert.deepEqual(refused?.headers, ['x-gw-error', 'GW_CLIENT_BANNED', 'retry-after', '90'])
  assert.equal(await one.call('198.51.100.8', 200), null)
  assert.deepEqual([one.count('banned'), one.count('refused')], [1, 1])
  assert.doesNotMatch(JSON.stringify(one.env.reports), /198/)
})

test('status: 403 is 403', async () => {
  const one = worker({ status: 403 })
  await fail(one, 3)
  assert.equal((await one.call(IP))?.status, 403)
})

test('successes do not count, and do not make up for failures', async () => {
  const one = worker()
  await fail(one, 2)
  for (let i = 0; i < 50; i++) assert.equal(await one.call(IP, 200), null)
  await fail(one, 1)
  assert.notEqual(await one.call(IP), null)
})

test('workers count together; those that did not see the last failure learn of the ban within a second', async () => {
  const store = new MemoryStore()
  const [a, b, c] = [worker({}, store), worker({}, store), worker({}, store)]
  await fail(a, 1)
  await fail(b, 1)
  await fail(c, 1)
  assert.notEqual(await c.call(IP), null)
  assert.equal(await a.call(IP, 200), null)
  await a.second()
  assert.notEqual(await a.call(IP), null)
  assert.equal(await b.call(IP), null)
  await b.second()
  assert.notEqual(await b.call(IP), null)
  assert.deepEqual(
    [a, b, c].map((one) => one.count('banned')),
    [0, 0, 1],
  )
})

test('a ban that was lifted ends in each worker within a second, and no other one does', async () => {
  const store = new MemoryStore()
  const [a, b] = [worker({}, store), worker({}, store)]
  const other = '198.51.100.8'
  await fail(a, 3)
  await fail(a, 3, other)
  await b.second()
  assert.notEqual(await b.call(IP), null)
  await store.delete(banName('p', 'ban', IP))
  await store.add(banName('p', 'changes'), BANS_LIFTED, 1000)
  for (const one of [a, b]) {
    await one.second()
    assert.equal(await one.call(IP, 200), null)
    assert.notEqual(await one.call(other), null)
  }
})

test('a share counts all responses, and needs some of them', async () => {
  const store = new MemoryStore()
  const config = { threshold: '50%', minRequests: 10 }
  const [a, b] = [worker(config, store), worker(config, store)]
  await fail(a, 9)
  for (let i = 0; i < 20; i++) await b.call(IP, 200)
  await b.second()
  // 11 of 31.
  await fail(a, 2)
  assert.equal(await a.call(IP, 200), null)
  // 21 of 42.
  await fail(a, 10)
  assert.notEqual(await a.call(IP), null)
})

test('an IPv6 address is banned with its /64 network', async () => {
  const one = worker()
  for (const ip of ['2001:db8:0:1::1', '2001:DB8:0:1:ffff::2', '2001:db8::1:0:0:0:3']) await fail(one, 1, ip)
  assert.notEqual(await one.call('2001:db8:0:1:aaaa:bbbb:cccc:dddd'), null)
  assert.equal(await one.call('2001:db8:0:2::1', 200), null)
})

test('requests without a key or from an ignored address are not counted', async () => {
  const keyed = worker({ key: 'req.header["x-tenant"]', threshold: 1 })
  for (let i = 0; i < 5; i++) {
    assert.equal(await keyed.call(IP), null)
    assert.equal(await keyed.call(IP, 401, ['x-tenant', '']), null)
  }
  assert.equal(await keyed.call(IP, 401, ['x-tenant', 'a']), null)
  assert.notEqual(await keyed.call(IP, 401, ['x-tenant', 'a']), null)
  const ignoring = worker({ ignore: ['198.51.100.0/24'], threshold: 1 })
  await fail(ignoring, 5)
  await fail(ignoring, 1, '203.0.113.1')
  assert.notEqual(await ignoring.call('203.0.113.1'), null)
})

test('a ban ends; with growth the next one lasts longer, up to the longest', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const one = worker({ threshold: 1, ban: '10s', growth: 3, maxBan: '40s' })
  for (const seconds of [10, 30, 40]) {
    await fail(one, 1)
    const refused = await one.call(IP)
    assert.equal(refused?.headers[3], String(seconds))
    t.mock.timers.setTime(Date.now() + seconds * 1000)
    assert.equal(await one.call(IP, 200), null)
  }
})

test('a dry run denies no request and marks requests it would have denied', async () => {
  const one = worker({ dryRun: true })
  await fail(one, 5)
  assert.equal(one.count('shadow'), 2)
})

test('without a store each worker bans on its own, or nobody new, and known bans stay in effect', async () => {
  const store = new MemoryStore()
  let isAway = false
  const shaky = new Proxy(store, {
    get:
      (target, name: keyof StateStore) =>
      async (...args: never[]) => {
        if (isAway) throw new StateUnavailable('away')
        return (target[name] as (...all: never[]) => unknown)(...args)
      },
  })
  for (const onStoreDown of ['local', 'open'] as const) {
    isAway = false
    const one = worker({ onStoreDown }, shaky)
    await fail(one, 3, '203.0.113.9')
    isAway = true
    assert.notEqual(await one.call('203.0.113.9'), null)
    await one.second()
    await fail(one, 3, '203.0.113.10')
    assert.equal((await one.call('203.0.113.10')) !== null, onStoreDown === 'local')
    assert.equal(one.env.reports.filter(({ event }) => event === 'ban_store_down').length, 1)
    await store.deleteAll('')
  }
})

test('a reload forgets no ban', async () => {
  const store = new MemoryStore()
  const one = worker({}, store)
  await fail(one, 3)
  assert.notEqual(await one.reloaded({ threshold: 3, ban: '1h' }, store).call(IP), null)
})

test('while a store answers nothing, callers that fail take bounded memory', async () => {
  const never: StateStore = Object.assign(new MemoryStore(), { add: () => new Promise<never>(() => {}) })
  const one = worker({}, never)
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 30_000; i++) void one.call(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  await turn()
  assert.ok(one.count('dropped') > 0)
  assert.ok(process.memoryUsage().heapUsed - before < 150 * 1024 * 1024)
})

test('the schema accepts what is documented, and invalid counters are rejected', () => {
  assert.deepEqual(schemaMistakes(clientBan, {}), [])
  for (const config of [
    { threshold: 0 },
    { threshold: '10' },
    { status: 401 },
    { growth: 0 },
    { ignore: [] },
    { keys: 'a' },
  ])
    assert.notDeepEqual(schemaMistakes(clientBan, config), [], JSON.stringify(config))
  assert.throws(() => clientBan.compile({ count: 'nonsense' }, testEnv()), /under 'count':/)
  assert.throws(() => worker({ key: 'res.header["a"]' }), /reads the response/)
  assert.throws(() => worker({ ignore: ['10.0.0.300'] }), /under 'ignore':/)
})
