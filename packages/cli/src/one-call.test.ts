import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { origin, startGateway } from './testing.js'

const REQUESTS = 1000
/** Of the other server: so long its answer is waited for. */
const ANSWER_MS = 300

test(`${REQUESTS} requests that ask the same of another server make one call, whatever workers they come to`, async (t) => {
  const calls: string[] = []
  const server = await origin(t, async (req, res) => {
    calls.push(req.url!)
    await delay(ANSWER_MS)
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ active: true, sub: 'ann' }))
  })
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 3
routes:
  - id: token
    match: { path: /token }
    policies:
      - use: oauth2-introspection
        with: { url: "${server}/introspect", timeout: 20s, clientId: gw, clientSecret: "\${env:CLIENT_SECRET}" }
    respond: { body: "ok" }
  - id: decision
    match: { path: /decision }
    policies: [{ use: forward-auth, with: { url: "${server}/decide", timeout: 20s, cache: {} } }]
    respond: { body: "ok" }
log: { sink: none }
`,
    [],
    { env: { CLIENT_SECRET: 'secret' } },
  )
  for (const path of ['/token', '/decision']) {
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, () => statusOf(gateway.url + path)))
    assert.deepEqual([...new Set(statuses)], [200], path)
  }
  assert.deepEqual(
    calls.map((path) => path.slice(0, 11)),
    ['/introspect', '/decide'],
  )
})

/** On a connection of its own. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer t' }
    http.get(url, { agent: false, headers }, (res) => resolve(res.resume().statusCode!)).on('error', reject)
  })
}
