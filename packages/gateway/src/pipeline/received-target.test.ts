import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '../testing/gateway.js'
import { echoOrigin } from '../testing/origin.js'
import { sendRaw } from '../testing/raw-client.js'

/** Request targets, and what the upstream gets. */
const TARGETS: readonly (readonly [string, string])[] = [
  ['/a//b?q=1', '/a//b?q=1'],
  ['/a/%7e?', '/a/%7e'],
  ['/admin//../users?q=1', '/users?q=1'],
  ['/admin//%2e%2E/users', '/users'],
  ['/admin/../users', '/users'],
  ['/a/./b//c', '/a/b/c'],
  ['//a/b', '/a/b'],
]

test('a target is forwarded as received, but never so that it resolves to another path than was judged', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }] })
  for (const [sent, expected] of TARGETS) {
    const request = `GET ${sent} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    const { text } = await sendRaw(gateway.port, [request], { until: (got) => got.endsWith('}') })
    const seen = JSON.parse(text.slice(text.indexOf('{'))) as { readonly url: string }
    assert.equal(seen.url, expected, sent)
  }
})
