import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Catalog, definePolicy, type Policy, substitute } from '@sluice/core'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { startCacheServer } from '../cache-server/start-cache-server.js'
import type { CacheSettings } from '../cache-server/store/settings.js'
import { CACHE_SETTINGS } from '../cache-server/testing/cache-process.js'
import { until } from '../testing/gateway.js'
import { httpOrigin, rawOrigin } from '../testing/origin.js'
import { serve, testKeys } from './testing/key-tests.js'

/** Responds with 200 if the cache has a value, 204 if not, and 503 while it is unavailable. PUT stores a value. */
const ASKING: Catalog = new Map([
  [
    'ask',
    definePolicy({
      name: 'ask',
      summary: 'A test.',
      schema: { type: 'object' } as unknown as Policy['schema'],
      compile: (_, { cache }) => {
        const kept = { bytes: Buffer.from('kept'), contentType: '' }
        const put = () => cache.put('s', 'a', kept, 60_000).then(() => 201)
        const get = () => cache.get('s', 'a').then((value) => (value === null ? 204 : 200))
        return {
          name: 'ask',
          onRequest: async ({ method }) =>
            substitute(await (method === 'PUT' ? put() : get()).catch(() => 503), [], null),
        }
      },
    }),
  ],
])

/** Returns the port of a cache server that has the value. */
async function withValue(t: TestContext, settings: Partial<CacheSettings>): Promise<number> {
  const server = await startCacheServer({ ...CACHE_SETTINGS, ...settings })
  t.after(async () => {
    server.stop()
    await server.ended
  })
  assert.equal(await (await ask(t, cacheOf(server.port, settings), 'PUT'))(), 201)
  return server.port
}

function cacheOf(port: number, { tls = null, token }: Partial<CacheSettings>): object {
  const url = `${tls === null ? 'http' : 'https'}://localhost:${port}`
  return {
    url,
    timeout: '10s',
    ...(token ? { token } : {}),
    ...(tls === null ? {} : { tls: { insecure: true } }),
  }
}

/** Sends a request to a gateway with this cache. */
async function ask(t: TestContext, cache: object, method = 'GET'): Promise<() => Promise<number>> {
  const route = { respond: { status: 500 }, policies: [{ use: 'ask', with: {} }] }
  const { url } = await serve(t, { route, cache, catalog: ASKING })
  return async () => (await fetch(url, { method })).status
}

async function certificate(t: TestContext): Promise<{ readonly certFile: string; readonly keyFile: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-cache-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(certFile, FAKE_CERTIFICATES.localhost.cert)
  writeFileSync(keyFile, FAKE_CERTIFICATES.localhost.key)
  return { certFile, keyFile }
}

testKeys(
  'cache',
  {
    url: async (t) => {
      const port = await withValue(t, {})
      assert.equal(await (await ask(t, { url: `http://127.0.0.1:${port}/`, timeout: '10s' }))(), 200)
    },
    token: async (t) => {
      const token = 'the token of the server'
      const cache = { url: `http://127.0.0.1:${await withValue(t, { token })}`, timeout: '10s' }
      assert.equal(await (await ask(t, cache))(), 503)
      assert.equal(await (await ask(t, { ...cache, token }))(), 200)
    },
    timeout: async (t) => {
      const { url } = await rawOrigin(t, () => {})
      assert.equal(await (await ask(t, { url, timeout: '20ms' }))(), 503)
    },
    connections: async (t) => {
      const waiting: (() => void)[] = []
      const server = await httpOrigin(t, (_, res) => void waiting.push(() => res.writeHead(404).end()))
      const call = await ask(t, { url: server.url, timeout: '10s', connections: 2 })
      const calls = Array.from({ length: 5 }, call)
      for (let answered = 0; answered < 5; answered++) {
        await until(() => waiting.length > 0)
        assert.ok(waiting.length <= 2)
        waiting.shift()?.()
      }
      assert.deepEqual(await Promise.all(calls), Array(5).fill(204))
    },
    'tls.caFile': async (t) => {
      const tls = await certificate(t)
      const cache = { url: `https://localhost:${await withValue(t, { tls })}`, timeout: '10s' }
      assert.equal(await (await ask(t, cache))(), 503)
      assert.equal(await (await ask(t, { ...cache, tls: { caFile: tls.certFile } }))(), 200)
    },
    'tls.insecure': async (t) => {
      const port = await withValue(t, { tls: await certificate(t) })
      const cache = { url: `https://localhost:${port}`, timeout: '10s', tls: { insecure: true } }
      assert.equal(await (await ask(t, cache))(), 200)
    },
  },
  ['serve.'],
)
