import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { startLogged } from '../testing/traffic-records.js'

/** Starts a gateway with these policies in front of an origin that echoes requests, or responds with `reply`. */
async function serve(t: TestContext, uses: readonly [string, object][], reply?: string) {
  const seen: { url: string; body: string }[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push({ url: req.url!, body })
    res.writeHead(200, { 'content-type': 'application/json' }).end(reply ?? body)
  })
  const policies = uses.map(([use, config]) => ({
    ...{ id: use, use, with: config, when: null, onError: 'fail' as const },
  }))
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] }
  const gateway = await startLogged(t, overrides, { fields: 'full' }, { catalog })
  return { seen, gateway }
}

const PACKS = { packs: ['sqli', 'xss', 'path-traversal', 'command-injection'] }

test('an attack is refused without naming the rule, never reaches the upstream, and is in the log', async (t) => {
  const { seen, gateway } = await serve(t, [['content-filter', PACKS]])
  const refused = await fetch(`${gateway.url}/a?q=1%27%20union%20select%201`)
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_CONTENT_BLOCKED')
  assert.doesNotMatch(await refused.text(), /sqli|union/)
  const passed = await fetch(`${gateway.url}/a?q=fine`, { method: 'POST', body: '{"a":"also fine"}' })
  assert.equal(await passed.text(), '{"a":"also fine"}')
  assert.deepEqual(
    seen.map(({ url }) => url),
    ['/a?q=fine'],
  )
  const [record] = await gateway.records()
  assert.equal((record!['vars'] as Record<string, string>)['content-filter.rule'], 'sqli/union-select')
  assert.equal(record!.error!['code'], 'GW_CONTENT_BLOCKED')
})

test('patterns across chunk boundaries are found', async (t) => {
  const { seen, gateway } = await serve(t, [['content-filter', PACKS]])
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (const piece of ['<scr', 'ipt', '>']) {
    client.send(`${piece.length}\r\n${piece}\r\n`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.send('0\r\n\r\n')
  await until(() => statusesOf(client.text).length > 0)
  assert.deepEqual(statusesOf(client.text), [403])
  assert.equal(seen.length, 0)
})

test('a large body is filtered on a worker thread', async (t) => {
  const rule = { name: 'pin', pattern: '\\d{4}', targets: ['body:$..pin'], action: 'mask' }
  const { seen, gateway } = await serve(t, [['content-filter', { rules: [rule] }]])
  const body = JSON.stringify({ pin: '1234', fill: 'x'.repeat(100_000) })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(gateway.url, { method: 'POST', body, headers })
  assert.equal(answer.status, 200)
  assert.match(seen[0]!.body, /^\{"pin":"\*\*\*","fill":"xxx/)
})

test('a filter of responses replaces what must not leave', async (t) => {
  const rule = { name: 'trace', pattern: 'at [\\w.]+\\(', targets: ['body'], phase: 'response' }
  const { gateway } = await serve(
    t,
    [['content-filter', { rules: [rule] }]],
    '{"error":"at main.run(Main.java)"}',
  )
  const answer = await fetch(gateway.url)
  assert.equal(answer.status, 403)
  assert.doesNotMatch(await answer.text(), /main/)
})

test('redact changes what the client gets, with the right length', async (t) => {
  const rules = [
    { keys: ['password'], action: 'delete' },
    { types: ['card'], keepLast: 4 },
  ]
  const reply = '{"user":{"password":"x","card":"4111 1111 1111 1111"}}'
  const { gateway } = await serve(t, [['redact', { rules }]], reply)
  const answer = await fetch(gateway.url)
  const text = await answer.text()
  assert.equal(text, '{"user":{"card":"***1111"}}')
  assert.equal(answer.headers.get('content-length'), String(text.length))
})
