import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, type TestGateway } from '../testing/gateway.js'
import { echoOrigin } from '../testing/origin.js'
import { sendRaw } from '../testing/raw-client.js'

/** Request targets, and what the upstream gets. */
const TARGETS: readonly (readonly [string, string])[] = [
  ['/a//b?q=1', '/a/b?q=1'],
  ['/a/%7e%c3%a9?', '/a/~%C3%A9?'],
  ['/a//b?', '/a/b?'],
  ['/a??', '/a??'],
  ['/a;v=1/b', '/a;v=1/b'],
  ['/admin//../users?q=1', '/users?q=1'],
  ['/admin//%2e%2E/users', '/users'],
  ['/admin/../users', '/users'],
  ['/a/./b//c', '/a/b/c'],
  ['//a/b', '/a/b'],
]

/** The target requested from the upstream, or null if the gateway answers. */
async function forwarded(gateway: TestGateway, target: string): Promise<string | null> {
  const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  const { text } = await sendRaw(gateway.port, [request], { until: (got) => got.endsWith('}') })
  return (JSON.parse(text.slice(text.indexOf('{'))) as { readonly url?: string }).url ?? null
}

test('a target is forwarded in its canonical form', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  for (const [sent, expected] of TARGETS) assert.equal(await forwarded(gateway, sent), expected, sent)
})

test('a route that keeps escaped slashes forwards them, as a listener with strict paths never does', async (t) => {
  const origin = await echoOrigin(t)
  const upstreams = [{ urls: [origin.url] }]
  const routes = [{ id: 'all', encodedSlashes: 'keep' as const }]
  const keeping = await startGateway(t, { upstreams, routes })
  assert.equal(await forwarded(keeping, '/a/b%2fc%5Cd'), '/a/b%2Fc%5Cd')
  for (const target of ['/a/..%2fb', '/a%5C..', '/a%2F.;/b'])
    assert.equal(await forwarded(keeping, target), null)
  const strict = await startGateway(t, { upstreams, routes, listener: { paths: 'strict' } })
  assert.equal(await forwarded(strict, '/a/b%2Fc'), null)
  const refusing = await startGateway(t, { upstreams })
  assert.equal(await forwarded(refusing, '/a/b%2Fc'), null)
})
