import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadDocument } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog, hashKey } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const [STAFF, GUEST] = ['k-staff', 'k-guest']
const ANN = `{ id: ann, sha256: ${hashKey(STAFF)}, groups: [staff] }`
const BOB = `{ id: bob, sha256: ${hashKey(GUEST)} }`
const KEYS = `{ use: api-key, with: { keys: [${ANN}, ${BOB}] } }`

function document(policies: string, target = 'http://127.0.0.1:1'): string {
  return `version: 1
upstreams: { up: { targets: ['${target}'] } }
routes:
  - id: a
    upstream: up
    policies: ${policies}
`
}

function mistakes(policies: string): string[] {
  const result = loadDocument({ text: document(policies), name: 'gateway.yaml' }, { catalog, env: {} })
  return result.ok ? [] : result.diagnostics.map(({ message, remedy }) => `${message} (${remedy})`)
}

test('the upstream learns the consumer only from the gateway, and only for allowed requests', async (t) => {
  const seen: unknown[] = []
  const origin = await httpOrigin(t, (req, res) => {
    seen.push(Object.entries(req.headers).filter(([name]) => /^x.consumer/.test(name)))
    res.end()
  })
  const when = `'req.method == "GET" && consumer.auth == "api-key"'`
  const rule = `{ use: authorize, with: { allow: [{ groups: [staff], when: ${when} }] } }`
  const fields = "x-consumer-id: '{{consumer.id}}', x-consumer-groups: '{{consumer.groups}}'"
  const tell = `{ use: header, with: { request: { set: { ${fields} } } } }`
  const text = document(`[${KEYS}, ${rule}, ${tell}]`, origin.url)
  const { plan } = loadOrThrow(text, catalog)
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url], name: 'up' }], routes: plan.routes },
    { catalog },
  )
  const forged = {
    ...{ 'x-consumer-id': 'root', 'x-consumer-groups': 'admins' },
    ...{ x_consumer_id: 'root', 'x-consumer_id': 'root', x_consumer_groups: 'admins' },
  }
  const status = async (key: string, method = 'GET'): Promise<number> => {
    const headers = key === '' ? forged : { ...forged, 'x-api-key': key }
    return (await fetch(gateway.url, { method, headers })).status
  }
  assert.deepEqual([await status(''), await status(GUEST), await status(STAFF, 'POST')], [401, 403, 403])
  assert.equal(await status(STAFF), 200)
  assert.deepEqual(seen, [
    [
      ['x-consumer-id', 'ann'],
      ['x-consumer-groups', 'staff'],
    ],
  ])
})

test('with two authentication policies both must succeed, and the first names the consumer', async (t) => {
  const eve = `{ id: eve, sha256: ${hashKey('k-eve')}, groups: [staff] }`
  const other = `{ id: second, use: api-key, with: { name: x-other, keys: [${eve}] } }`
  const echo = `{ use: header, with: { response: { set: { x-who: '{{consumer.id}}' } } } }`
  const text = document(`[${KEYS}, ${other}, ${echo}]`).replace(
    'upstream: up\n',
    'respond: { status: 200 }\n',
  )
  const { plan } = loadOrThrow(text.replace(/upstreams: .*\n/, ''), catalog)
  const gateway = await startGateway(t, { routes: plan.routes }, { catalog })
  const both = await fetch(gateway.url, { headers: { 'x-api-key': GUEST, 'x-other': 'k-eve' } })
  assert.deepEqual([both.status, both.headers.get('x-who')], [200, 'bob'])
  assert.equal((await fetch(gateway.url, { headers: { 'x-api-key': GUEST } })).status, 401)
})

test('no policy responds, caches or makes calls before an earlier authorization by the body', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    req.resume()
    res.end('of the upstream')
  })
  let calls = 0
  const other = await httpOrigin(t, (_, res) => {
    calls++
    res.end('{}')
  })
  const staff = '[{ groups: [staff] }]'
  const asJson = 'req.method == "POST" && req.body.json("$.a") == 1'
  const gates = {
    body: `{ use: authorize, with: { phase: body, allow: ${staff} } }`,
    condition: `{ use: authorize, with: { allow: ${staff} }, when: '${asJson}' }`,
  }
  const key = `space: s, key: '"k"', shared: true`
  const behind = {
    mock: '[{ use: mock, with: { body: of the gateway } }]',
    cache: `[{ use: cache, with: { operation: lookup, ${key}, into: reply } }, { use: cache, with: { operation: populate, ${key}, from: body } }]`,
    call: `[{ use: api-call, with: { calls: [{ name: c, url: '${other.url}', timeout: 20s }] } }]`,
  }
  for (const [gate, policy] of Object.entries(gates)) {
    for (const [what, more] of Object.entries(behind)) {
      const { plan } = loadOrThrow(document(`[${KEYS}, ${policy}, ${more.slice(1)}`, origin.url), catalog)
      const gateway = await startGateway(
        t,
        { upstreams: [{ urls: [origin.url], name: 'up' }], routes: plan.routes },
        { catalog },
      )
      const status = async (key: string): Promise<number> => {
        const options = { method: 'POST', body: '{"a":1}', headers: { 'x-api-key': key } }
        const response = await fetch(gateway.url, options)
        await response.arrayBuffer()
        return response.status
      }
      assert.equal(await status(STAFF), 200, `${gate} ${what}`)
      const before = calls
      assert.deepEqual([await status(GUEST), await status('none')], [403, 401], `${gate} ${what}`)
      assert.equal(calls, before)
      assert.equal(await status(STAFF), 200, `${gate} ${what}`)
    }
  }
  assert.ok(calls > 0)
})

test('authorize requires an authentication policy before it', () => {
  const rule = '{ use: authorize, with: { allow: authenticated } }'
  assert.deepEqual(mistakes(`[${KEYS}, ${rule}]`), [])
  const expected = /authorize needs an authentication policy before it \(add one such as/
  assert.match(mistakes(`[${rule}]`).join(), expected)
  assert.match(mistakes(`[${rule}, ${KEYS}]`).join(), expected)
  assert.match(mistakes(`[${KEYS.replace('{ use', '{ enabled: false, use')}, ${rule}]`).join(), expected)
  const token = '{ usernameToken: { users: [{ name: a, password: "${env:X}" }] } }'
  const soap = `{ use: ws-security, with: { request: { check: ${token} } } }`
  const source = { text: document(`[${soap}, ${rule}]`), name: 'gateway.yaml' }
  const late = loadDocument(source, { catalog, env: { X: 'secret' } })
  assert.match(late.ok ? '' : late.diagnostics.map(({ remedy }) => remedy).join(), /phase: body/)
})

test('a limit per consumer without earlier authentication causes a warning', () => {
  const limit = (settings: string) => `{ use: rate-limit, with: { limit: [5/m], ${settings} } }`
  const byConsumer = limit('key: consumer.id')
  for (const [policies, isWarned] of [
    [`[${byConsumer}, ${KEYS}]`, true],
    [`[${byConsumer}]`, true],
    [`[${KEYS}, ${byConsumer}]`, false],
    [`[${limit('key: consumer.id, onMissingKey: skip')}]`, false],
    [`[${limit('key: client.ip')}]`, false],
  ] as const) {
    const result = loadDocument({ text: document(policies), name: 'gateway.yaml' }, { catalog, env: {} })
    assert.ok(result.ok)
    const messages = result.warnings.map(({ message }) => message)
    assert.equal(messages.length, isWarned ? 1 : 0, `${policies} ${messages}`)
    if (isWarned) assert.match(messages[0]!, /all callers share one count/)
  }
})
