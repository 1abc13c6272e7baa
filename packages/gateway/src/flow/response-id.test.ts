import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Step } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { sendRaw } from '../testing/raw-client.js'

/** The response hooks that a route may have, including none. */
const HOOKS: readonly Omit<Step, 'name'>[] = [
  {},
  { onRequest: () => null },
  { onResponse: () => null },
  { onResponseBody: () => null },
  { onResponse: () => null, onResponseBody: () => null },
]

/** The target's response by path, with an id of its own. */
async function serve(t: TestContext, step: Omit<Step, 'name'>): Promise<number> {
  const origin = await httpOrigin(t, (req, res) => {
    const status = Number(req.url!.slice(1))
    res.writeHead(status, { 'x-request-id': 'of-the-target' }).end(status === 200 ? 'body' : undefined)
  })
  const route = { id: 'all', policies: FAKE_POLICIES }
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [route] }
  const gateway = await startGateway(t, overrides, { catalog: fakeCatalog(step) })
  return Number(new URL(gateway.url).port)
}

for (const step of HOOKS) {
  const hooks = Object.keys(step).join(', ') || 'no hooks'
  test(`a response carries the id of its request, once: ${hooks}`, async (t) => {
    const port = await serve(t, step)
    const lines = ['GET /200', 'GET /200', 'HEAD /200', 'GET /204', 'GET /304', 'POST /200', 'GET /500']
    const heads = lines.map(
      (line, i) => `${line} HTTP/1.1\r\nhost: a\r\nx-number: ${i}\r\n${framing(line)}\r\n`,
    )
    const ids = new Set<string>()
    for (const head of heads) {
      const { text } = await sendRaw(port, [head], { until: (seen) => seen.includes('\r\n\r\n') })
      const found = [...text.matchAll(/\r\nx-request-id: ([^\r]*)\r\n/gi)].map((match) => match[1]!)
      assert.equal(found.length, 1, text)
      ids.add(found[0]!)
    }
    assert.equal(ids.size, heads.length)
    assert.ok(!ids.has('of-the-target'))
  })
}

function framing(line: string): string {
  return line.startsWith('POST') ? 'content-length: 0\r\n' : ''
}
