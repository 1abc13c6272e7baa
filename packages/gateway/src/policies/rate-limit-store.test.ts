import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { StatePlan } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { RedisCluster } from '../state/testing/redis-cluster.js'
import { RedisServer, redisSkip, statePlanOf } from '../state/testing/redis-server.js'
import { startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const skip = redisSkip

/** Starts a gateway with limits in a server. */
function limitedBy(t: TestContext, server: RedisServer, config: object) {
  return limitedIn(t, statePlanOf(server.port, { timeoutMs: 500 }), config)
}

async function limitedIn(t: TestContext, state: StatePlan, config: object) {
  const origin = await httpOrigin(t, (_, res) => res.end())
  const policy = {
    id: 'p',
    use: 'rate-limit',
    with: { limit: '10/d', ...config },
    when: null,
    onError: 'fail' as const,
  }
  const gateway = await startGateway(
    t,
    {
      upstreams: [{ urls: [origin.url] }],
      routes: [{ id: 'all', policies: [policy] }],
      state,
    },
    { catalog },
  )
  const ask = async (who = ''): Promise<number> => {
    const answer = await fetch(gateway.url, { headers: { who } })
    await answer.arrayBuffer()
    return answer.status
  }
  const asked = async (count: number): Promise<number[]> => {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) statuses.push(await ask())
    return statuses
  }
  const isConnected = () =>
    gateway.plane.samples().some(({ name, value }) => name === 'gw_state_connections' && value === 1)
  await until(isConnected)
  return { ask, asked, gateway }
}

const passed = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length

test('the server is killed: each gateway counts for itself until it is back', { skip }, async (t) => {
  const server = await RedisServer.start(t)
  const a = await limitedBy(t, server, { scope: 'cluster' })
  const b = await limitedBy(t, server, {})
  let together = passed([...(await a.asked(8)), ...(await b.asked(8))])
  // A gateway returns the tokens that it leased in advance but does not need.
  await until(async () => {
    together += passed([await a.ask(), await b.ask()])
    return together >= 10
  })
  assert.equal(together, 10)
  await server.kill()
  await until(() => a.gateway.events.length > 0 && b.gateway.events.length > 0)
  // A key that the server refused is not requested again within a second.
  await until(async () => (await a.ask()) === 200)
  assert.equal(passed(await a.asked(30)), 9)
  await until(async () => (await b.ask()) === 200)
  assert.equal(passed(await b.asked(30)), 9)
  assert.ok(a.gateway.events.some(({ event }) => event === 'limit_store_down'))
  server.run()
  await until(async () => passed([await a.ask(), await b.ask()]) > 0)
})

test('the server is killed: open lets all pass, closed refuses with 503, scope gateway does not notice', {
  skip,
}, async (t) => {
  const server = await RedisServer.start(t)
  const open = await limitedBy(t, server, { onStoreDown: 'open' })
  const closed = await limitedBy(t, server, { onStoreDown: 'closed', limit: '1000/d', key: '"c"' })
  const own = await limitedBy(t, server, { scope: 'gateway' })
  assert.equal(await open.ask(), 200)
  assert.equal(await closed.ask(), 200)
  await server.kill()
  assert.equal(passed(await open.asked(30)), 30)
  await until(async () => (await closed.ask()) === 503)
  assert.deepEqual(await closed.asked(3), [503, 503, 503])
  const refused = await fetch(closed.gateway.url)
  assert.deepEqual(
    [refused.headers.get('x-gw-error'), refused.headers.get('retry-after')],
    ['GW_LIMITER_UNAVAILABLE', '1'],
  )
  assert.equal(passed(await own.asked(30)), 10)
  server.run()
  await until(async () => (await closed.ask()) === 200)
})

test('a hanging server delays one request until its deadline, and no others', { skip }, async (t) => {
  const server = await RedisServer.start(t)
  const { asked } = await limitedBy(t, server, {})
  assert.equal(passed(await asked(1)), 1)
  server.signal('SIGSTOP')
  const statuses = await asked(30)
  server.signal('SIGCONT')
  assert.ok(
    passed(statuses) <= 10 + 9 && statuses.every((status) => status === 200 || status === 429),
    String(statuses),
  )
})

test('a node of a cluster is killed: its keys are refused, those of the other nodes are counted further on', {
  skip,
}, async (t) => {
  const cluster = await RedisCluster.start(t)
  // Long enough that only the killed node is down, also on a busy machine.
  const plan = statePlanOf(0, { url: null, cluster: cluster.urls, timeoutMs: 5000 })
  const limited = await limitedIn(t, plan, { key: 'req.header["who"]', onStoreDown: 'closed' })
  await cluster.primaries[1]!.kill()
  const callers = Array.from({ length: 30 }, (_, i) => `caller-${i}`)
  for (let i = 0; i < 10; i++) {
    const statuses = await Promise.all(callers.map((caller) => limited.ask(caller)))
    assert.deepEqual([...new Set(statuses)].sort(), [200, 503])
    if (i > 0) continue
    for (const [at, status] of statuses.entries()) if (status === 503) callers[at] = ''
    assert.ok(callers.filter((caller) => caller !== '').length > 10)
  }
  const counted = callers.filter((caller) => caller !== '')
  assert.deepEqual(new Set(await Promise.all(counted.map((caller) => limited.ask(caller)))), new Set([429]))
  const reports = limited.gateway.events.filter(({ event }) => event === 'limit_store_down')
  assert.ok(reports.length > 0 && reports.length < 30, `${reports.length} reports`)
})
