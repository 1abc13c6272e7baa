import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog, hashKey } from '@sluice/policies'
import { explainRequest } from '../explain/explain-request.js'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

// Policies that decide by a JSON body refuse bodies with a duplicate name, because the upstream could read the other
// value.

const ROLE = `req.body.json("$.role")`
const ANN = `{ use: api-key, with: { keys: [{ id: ann, sha256: ${hashKey('k')} }] } }`
const KEY = `{ use: api-key, with: { keys: [{ id: a, sha256: ${'a'.repeat(64)} }] }, when: '${ROLE} == "admin"' }`
const SCRIPT = 'export function onRequest(ctx) { if (ctx.req.body.json().role === "admin") ctx.respond(401) }'

/** Options of the routes. Each route refuses the role `admin` or counts by it. */
const READERS: Readonly<Record<string, string>> = {
  'the condition of a policy': `policies: [${KEY}]`,
  'the condition of a policy that may fail': `policies: [{ onError: continue, ${KEY.slice(1)}]`,
  'the condition of a route': `match: { path: /*, when: '${ROLE} != "admin"' }`,
  authorize: `policies: [${ANN}, { use: authorize, with: { phase: body, allow: authenticated, deny: [{ when: '${ROLE} == "admin"' }] } }]`,
  'the key of a limit': `policies: [{ use: rate-limit, with: { limit: 100/s, key: '${ROLE}' } }]`,
  'the cost of a limit': `policies: [{ use: rate-limit, with: { limit: 100/s, cost: '${ROLE} == "admin" ? 9 : 1' } }]`,
  'the key of a cache': `policies: [{ use: cache, with: { operation: lookup, space: s, key: '${ROLE}', into: vars.x } }]`,
  'a script': `policies: [{ use: script, with: { body: request, script: { inline: '${SCRIPT}' } } }]`,
}

const REPEATED = [
  '{"role":"admin","role":"user"}',
  '{"role":"user","role":"user"}',
  '{"role":"admin","rol\\u0065":"user"}',
  '{"role":"user","other":[{"a":1,"b":{"c":1,"c":1}}]}',
  '{"role":"user","__proto__":1,"__proto__":2}',
  '{"role":"user","":1,"":2}',
  '{"role":"user","a":"\\\\","a":":\\""}',
]
const CLEAN = [
  '{"role":"user","__proto__":{"role":"x"}}',
  '{"role":"user","list":[{"role":"a"},{"role":"b"}],"text":"\\\\\\"role\\": \\": ,"}',
  ' { "role" : "user" , "a:b" : "c:\\"d" , "toString" : {} } ',
]

/** The same body, large enough to be read on a worker thread. */
function large(body: string): string {
  return `${body.slice(0, body.lastIndexOf('}'))},"filling":"${'x'.repeat(60_000)}"}`
}

for (const [reader, route] of Object.entries(READERS)) {
  test(`${reader} refuses a body with a name twice, and takes others`, async (t) => {
    const seen: string[] = []
    const origin = await httpOrigin(t, (req, res) => {
      seen.push(req.url!)
      req.resume().on('end', () => res.end())
    })
    const isRoute = reader === 'the condition of a route'
    const bundle = loadOrThrow(
      `version: 1
upstreams: { up: { targets: ['${origin.url}'] } }
routes:
  - { id: a, upstream: up, ${route} }
${isRoute ? "  - { id: other, match: { path: '/*' }, upstream: up }" : ''}
`,
      catalog,
    )
    const upstreams = [{ urls: [origin.url], name: 'up' }]
    const { url } = await startGateway(t, { upstreams, routes: bundle.plan.routes }, { catalog })
    const send = async (body: string, path: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-api-key': 'k' }
      const response = await fetch(url + path, { method: 'POST', body, headers })
      await response.arrayBuffer()
      return response.status
    }
    for (const body of REPEATED.flatMap((one) => [one, large(one)]))
      assert.equal(await send(body, '/refused'), 400, body.slice(0, 100))
    assert.deepEqual(seen, [])
    if (isRoute) {
      const request = { method: 'POST', url: '/', headers: [], clientIp: '192.0.2.1' }
      const explained = await explainRequest(bundle, catalog, { ...request, body: Buffer.from(REPEATED[0]!) })
      assert.deepEqual([explained.outcome, explained.refusal?.status], ['refused', 400])
    }
    for (const body of CLEAN.flatMap((one) => [one, large(one)]))
      assert.equal(await send(body, '/taken'), 200, body.slice(0, 100))
  })
}
