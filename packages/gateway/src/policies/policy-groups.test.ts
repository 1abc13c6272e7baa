import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyDiagnostics } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { explainRequest } from '../explain/explain-request.js'
import { policyMistakes } from '../explain/policy-mistakes.js'
import { startGateway } from '../testing/gateway.js'

const TEXT = `version: 1
policies:
  - { id: mark, use: header, with: { response: { append: { x-order: shared } } } }
policyGroups:
  standard:
    - { use: header, with: { response: { append: { x-order: first } } } }
    - mark
  strict:
    - { use: ip-filter, with: { deny: [127.0.0.1] } }
routes:
  - id: a
    match: { path: /a }
    respond: { status: 200 }
    policies:
      - standard
      - { use: header, with: { response: { append: { x-order: own } } } }
  - { id: b, match: { path: /b }, respond: { status: 200 }, policies: [standard, strict] }
  - { id: c, match: { path: /c }, respond: { status: 200 } }
`

test('policies of a group run in place and in order, on every route with the group', async (t) => {
  const bundle = loadOrThrow(TEXT, catalog)
  const gateway = await startGateway(t, { routes: bundle.plan.routes }, { catalog })
  const [a, b, c] = await Promise.all(['/a', '/b', '/c'].map((path) => fetch(gateway.url + path)))
  assert.deepEqual([a!.status, a!.headers.get('x-order')], [200, 'first, shared, own'])
  assert.deepEqual([b!.status, b!.headers.get('x-order')], [403, 'first, shared'])
  assert.deepEqual([c!.status, c!.headers.get('x-order')], [200, null])
  const request = { method: 'GET', url: '/b', headers: [], body: null, clientIp: '127.0.0.1' }
  const { route } = await explainRequest(bundle, catalog, request)
  assert.deepEqual(
    route!.policies.map(({ id }) => id),
    ['standard/1', 'mark', 'strict/1'],
  )
})

test('a policy of a group that does not compile is reported once, where it is written', async () => {
  const text = TEXT.replace('deny: [127.0.0.1]', 'deny: [127.0.0.256]').replace(
    '[standard, strict]',
    '[strict]',
  )
  const wrong = text.replace(
    'respond: { status: 200 } }\n',
    'respond: { status: 200 }, policies: [strict] }\n',
  )
  const mistakes = await policyMistakes(loadOrThrow(wrong, catalog), catalog)
  assert.deepEqual(mistakes.map(({ route }) => route).sort(), ['b', 'c'])
  const found = policyDiagnostics({ text: wrong, name: 'gateway.yaml' }, mistakes, catalog)
  assert.deepEqual(
    found.map(({ line, column, path }) => [line, column, path]),
    [[9, 39, 'policyGroups.strict[0].with.deny']],
  )
})
