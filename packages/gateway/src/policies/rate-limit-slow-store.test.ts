import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { RedisServer, redisSkip, statePlanOf } from '../state/testing/redis-server.js'
import { slowBridge } from '../state/testing/slow-bridge.js'
import { startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const skip = redisSkip

/** Starts a gateway with limits in a server behind a bridge. */
async function limitedBehind(t: TestContext, port: number, config: object) {
  const origin = await httpOrigin(t, (_, res) => res.end())
  const policy = { id: 'p', use: 'rate-limit', with: config, when: null, onError: 'fail' as const }
  const gateway = await startGateway(
    t,
    {
      upstreams: [{ urls: [origin.url] }],
      routes: [{ id: 'all', policies: [policy] }],
      state: statePlanOf(port, { timeoutMs: 120_000, slowAfterMs: 150 }),
    },
    { catalog },
  )
  const sample = (name: string): number | undefined =>
    gateway.plane.samples().find((found) => found.name === name)?.value
  const ask = async (): Promise<number> => {
    const answer = await fetch(gateway.url)
    await answer.arrayBuffer()
    return answer.status
  }
  await until(() => sample('gw_state_connections') === 1)
  return { gateway, ask, sample }
}

/** Returns the number of scripts that the server has run. */
function scriptsRun(server: RedisServer): number {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(server.cli('info', 'commandstats'))?.[1] ?? 0)
}

test('a used-up limit refuses without asking a slow server, in each worker', { skip }, async (t) => {
  const server = await RedisServer.start(t)
  const bridge = await slowBridge(t, server.port)
  const workers = await Promise.all([1, 2, 3].map(() => limitedBehind(t, bridge.port, { limit: '10/d' })))
  bridge.delayMs = 100
  const statuses = await Promise.all(workers.flatMap(({ ask }) => Array.from({ length: 20 }, () => ask())))
  assert.equal(statuses.filter((status) => status === 200).length, 10)
  for (const { ask } of workers) await until(async () => (await ask()) === 429)
  // From now on the server's responses are lost.
  bridge.delayMs = 3_600_000
  for (const { ask } of workers) for (let i = 0; i < 100; i++) assert.equal(await ask(), 429)
  assert.ok(scriptsRun(server) < 60, `${scriptsRun(server)} scripts`)
})

test('a slow server is handled by onStoreDown until it is fast again', { skip }, async (t) => {
  const server = await RedisServer.start(t)
  const bridge = await slowBridge(t, server.port)
  const limited = await limitedBehind(t, bridge.port, {
    limit: '1000000/d',
    onStoreDown: 'closed',
    key: 'req.header["none"]',
  })
  const { ask, sample, gateway } = limited
  const events = (name: string): number => gateway.events.filter(({ event }) => event === name).length
  assert.equal(await ask(), 200)
  bridge.delayMs = 400
  await until(async () => (await ask()) === 503)
  assert.deepEqual([sample('gw_state_slow'), events('state_slow')], [1, 1])
  assert.equal(events('limit_store_down'), 1)
  bridge.delayMs = 0
  await until(async () => (await ask()) === 200)
  assert.deepEqual([sample('gw_state_slow'), events('state_fast_again')], [0, 1])
  assert.equal(events('state_slow'), 1)
})
