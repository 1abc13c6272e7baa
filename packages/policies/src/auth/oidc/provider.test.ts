import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { MemoryStore, withDefaults } from '@sluice/core'
import { testEnv } from '../../testing.js'
import { Provider } from './provider.js'
import { type OidcConfig, oidcSchema } from './schema.js'

/** Starts a provider that serves its metadata, and workers that share a store. */
async function start(t: TestContext) {
  const it = { calls: 0, isDown: false }
  const server = createServer((_, response) => {
    it.calls++
    const address = (name: string) => ({ [`${name}_endpoint`]: `${issuer}/${name}` })
    const metadata = { issuer, ...address('authorization'), ...address('token') }
    response.writeHead(it.isDown ? 503 : 200).end(JSON.stringify(metadata))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const store = new MemoryStore()
  const worker = (): Provider => {
    const env = testEnv(new Map([['state', store]]))
    t.after(() => env.close())
    const redirectUri = 'http://127.0.0.1/back'
    const written = { issuer, clientId: 'a', clientSecret: 'b', redirectUri, session: { secrets: [] } }
    return new Provider(withDefaults(oidcSchema, written) as OidcConfig, env)
  }
  return { it, issuer, worker }
}

test('one worker fetches the metadata for all workers, including later ones', async (t) => {
  const { it, issuer, worker } = await start(t)
  const found = await Promise.all([worker(), worker(), worker()].map((one) => one.metadata()))
  found.push(await worker().metadata())
  assert.deepEqual([...new Set(found.map(({ tokenEndpoint }) => tokenEndpoint))], [`${issuer}/token`])
  assert.equal(it.calls, 1)
})

test('metadata that could not be fetched are not cached', async (t) => {
  const { it, worker } = await start(t)
  it.isDown = true
  await assert.rejects(worker().metadata(), /answered 503/)
  it.isDown = false
  await worker().metadata()
  assert.equal(it.calls, 2)
})
