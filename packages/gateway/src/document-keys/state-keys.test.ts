import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Catalog, definePolicy, type Policy, substitute } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { startWholeNode } from '../state/testing/redis-cluster.js'
import { RedisServer, redisSkip } from '../state/testing/redis-server.js'
import { slowBridge } from '../state/testing/slow-bridge.js'
import { until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'
import { serve, testKeys } from './testing/key-tests.js'

/** Responds with the number of requests, counted by all gateways with the same state; `away` without a store. */
const COUNTING: Catalog = new Map([
  [
    'count',
    definePolicy({
      name: 'count',
      summary: 'A test.',
      schema: { type: 'object' } as unknown as Policy['schema'],
      compile: (_, env) => {
        const store = env.state.store('cluster')
        return {
          name: 'count',
          onRequest: () =>
            store.add('count', 1, 600_000).then(
              (sum) => substitute(200, [], Buffer.from(String(sum))),
              () => substitute(200, [], Buffer.from('away')),
            ),
        }
      },
    }),
  ],
])

/** Takes a token of a limit that is never used up. */
const TAKING: Catalog = new Map([
  [
    'take',
    definePolicy({
      name: 'take',
      summary: 'A test.',
      schema: { type: 'object' } as unknown as Policy['schema'],
      compile: (_, env) => {
        const rule = { algorithm: 'fixed', limit: 1e9, burst: 1e9, periodMs: 3_600_000 } as const
        const answer = (text: string) => substitute(200, [], Buffer.from(text))
        return {
          name: 'take',
          onRequest: () =>
            env.state
              .store('cluster')
              .take('limit', rule, 1)
              .then(
                () => answer('taken'),
                (error) => answer(String(error).includes('is slow') ? 'slow' : 'away'),
              ),
        }
      },
    }),
  ],
])

/** Sends a request to a gateway with this state. */
async function counter(t: TestContext, state: object): Promise<() => Promise<string>> {
  const route = { respond: { status: 204 }, policies: [{ use: 'count', with: {} }] }
  const { url } = await serve(t, { route, state, catalog: COUNTING })
  return async () => (await fetch(url)).text()
}

/** Returns the first response of a gateway whose store is available. */
async function firstCount(t: TestContext, state: object): Promise<string> {
  const ask = await counter(t, state)
  let answer = 'away'
  await until(async () => {
    answer = await ask()
    return answer !== 'away'
  })
  return answer
}

if (redisSkip === false) {
  testKeys('state', {
    url: async (t) => {
      const { port } = await RedisServer.start(t)
      const url = `redis://127.0.0.1:${port}`
      assert.deepEqual([await firstCount(t, { url }), await firstCount(t, { url })], ['1', '2'])
      assert.equal(await firstCount(t, { url: `${url}/3` }), '1')
    },
    cluster: async (t) => {
      const { port } = await startWholeNode(t)
      assert.equal(await firstCount(t, { cluster: [`redis://127.0.0.1:${port}`] }), '1')
    },
    username: async (t) => {
      const server = await RedisServer.start(t)
      await until(() => server.cli('acl', 'setuser', 'gate', 'on', '>secret', '~*', '+@all') === 'OK')
      server.cli('acl', 'setuser', 'default', 'off')
      const url = `redis://127.0.0.1:${server.port}`
      assert.equal(await firstCount(t, { url, username: 'gate', password: 'secret' }), '1')
    },
    password: async (t) => {
      const { port } = await RedisServer.start(t, ['--requirepass', 'secret'])
      assert.equal(await firstCount(t, { url: `redis://127.0.0.1:${port}`, password: 'secret' }), '1')
    },
    keyPrefix: async (t) => {
      const server = await RedisServer.start(t)
      assert.equal(await firstCount(t, { url: `redis://127.0.0.1:${server.port}`, keyPrefix: 'shop:' }), '1')
      assert.equal(server.cli('keys', '*'), 'shop:count')
    },
    timeout: async (t) => {
      const server = await RedisServer.start(t)
      const ask = await counter(t, { url: `redis://127.0.0.1:${server.port}`, timeout: '20ms' })
      await until(async () => (await ask()) !== 'away')
      server.signal('SIGSTOP')
      assert.equal(await ask(), 'away')
    },
    slowAfter: async (t) => {
      const server = await RedisServer.start(t)
      const bridge = await slowBridge(t, server.port)
      const route = { respond: { status: 204 }, policies: [{ use: 'take', with: {} }] }
      const state = { url: `redis://127.0.0.1:${bridge.port}`, timeout: '10s', slowAfter: '20ms' }
      const { url } = await serve(t, { route, state, catalog: TAKING })
      const ask = async () => (await fetch(url)).text()
      await until(async () => (await ask()) === 'taken')
      bridge.delayMs = 60
      await until(async () => (await ask()) === 'slow')
    },
    'tls.caFile': async (t) => {
      const { url, caFile } = await secureServer(t)
      assert.equal(await firstCount(t, { url, tls: { caFile } }), '1')
    },
    'tls.servername': async (t) => {
      const { url, caFile } = await secureServer(t)
      const byAddress = url.replace('localhost', '127.0.0.1')
      assert.equal(await firstCount(t, { url: byAddress, tls: { caFile, servername: 'localhost' } }), '1')
    },
    'tls.insecure': async (t) => {
      const { url } = await secureServer(t)
      assert.equal(await firstCount(t, { url, tls: { insecure: true } }), '1')
    },
  })
}

async function secureServer(t: TestContext): Promise<{ readonly url: string; readonly caFile: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-state-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const [caFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(caFile, FAKE_CERTIFICATES.localhost.cert)
  writeFileSync(keyFile, FAKE_CERTIFICATES.localhost.key)
  const port = await closedPort()
  const files = ['--tls-cert-file', caFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', caFile]
  await RedisServer.start(t, ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files])
  return { url: `rediss://localhost:${port}`, caFile }
}
