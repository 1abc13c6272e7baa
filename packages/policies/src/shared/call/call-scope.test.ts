import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { MemoryStore, type Policy } from '@sluice/core'
import { forwardAuth } from '../../auth/forward-auth/policy.js'
import { oauth2Introspection } from '../../auth/oauth2-introspection/policy.js'
import { exchange, testEnv } from '../../testing.js'
import { apiCall } from '../../transform/api-call/policy.js'

/** Starts a server that counts its calls. */
async function counted(t: TestContext) {
  const state = { calls: 0, url: '' }
  const server = createServer((_, res) => {
    state.calls++
    res.end(`{"n":${state.calls},"active":true,"sub":"a"}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return state
}

/** Sends one request through a policy in each of two workers of a gateway. */
async function callsOf(policy: Policy, config: object, server: { calls: number }): Promise<number> {
  server.calls = 0
  const store = new MemoryStore()
  for (let worker = 0; worker < 2; worker++) {
    const env = testEnv(new Map([['state', store]]))
    const step = await policy.compile(config as never, env, { id: 'p' })
    assert.equal(await step!.onRequest!(exchange({ headers: ['authorization', 'Bearer t'] })), null)
    env.close()
  }
  return server.calls
}

test('the workers of a gateway share decisions and answers unless the document says otherwise, and those of calls where it says so', async (t) => {
  const server = await counted(t)
  const auth = (cache?: object) => callsOf(forwardAuth, { url: server.url, ...(cache && { cache }) }, server)
  assert.deepEqual([await auth(), await auth({}), await auth({ scope: 'worker' })], [2, 1, 2])
  assert.equal(await auth({ ttl: '0ms' }), 2)
  const call = (cache?: object) =>
    callsOf(apiCall, { calls: [{ name: 'c', url: server.url, ...(cache && { cache }) }] }, server)
  assert.deepEqual(
    [await call(), await call({}), await call({ scope: 'gateway' }), await call({ scope: 'cluster' })],
    [2, 2, 1, 1],
  )
  const client = { url: server.url, clientId: 'c', clientSecret: 's' }
  const introspection = (cache: object) => callsOf(oauth2Introspection, { ...client, cache }, server)
  assert.deepEqual([await introspection({}), await introspection({ scope: 'worker' })], [1, 2])
  assert.equal(await introspection({ ttl: '0ms' }), 2)
})
