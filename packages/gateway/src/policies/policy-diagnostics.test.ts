import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic, loadDocument } from '@sluice/config'
import { catalog } from '@sluice/policies'

/** Returns the messages of `gw validate` for a policy with these options, without the location. */
function said(use: string, parameters: object): string[] {
  const policies = [{ use, with: parameters }]
  const document = { version: 1, routes: [{ id: 'a', match: { path: '/a' }, respond: {}, policies }] }
  const result = loadDocument({ text: JSON.stringify(document), name: 'a' }, { catalog, env: {} })
  const found = result.ok ? result.warnings : result.diagnostics
  return found.map((one) => formatDiagnostic(one).replace(/^a:\d+:\d+: /, ''))
}

const WITH = 'routes[0].policies[0].with'

test('backend-auth without credentials, or with two kinds, lists the options', () => {
  const none = `${WITH} needs 'basic', 'apiKey', 'bearer', 'oauth2', 'digest' or 'awsSigV4' (add one of them)`
  assert.deepEqual(said('backend-auth', {}), [none])
  assert.deepEqual(said('backend-auth', { passThrough: true }), [none])
  const bearer = { token: 'a' }
  assert.deepEqual(said('backend-auth', { bearer }), [])
  assert.deepEqual(said('backend-auth', { bearer, basic: { username: 'a', password: 'b' } }), [
    `${WITH} has 'basic' and 'bearer'; only one is allowed (keep one of them)`,
  ])
})

test('saml without a provider is told how one is described', () => {
  const audience = 'https://api.example.com'
  assert.deepEqual(said('saml', { audience }), [
    `${WITH} has no 'idp' (add idp: { metadata: FILE }, or { entityId: NAME, certificates: [PEM] })`,
  ])
  for (const idp of [{}, { certificates: ['x'] }])
    assert.deepEqual(said('saml', { audience, idp }), [
      `${WITH}.idp needs 'metadata' or 'entityId' (add one of them)`,
    ])
})

test('jwt without an audience check causes a warning', () => {
  const jwks = { discovery: 'https://login.example.com' }
  const [warning, ...more] = said('jwt', { jwks })
  assert.match(warning ?? '', /^warning: jwt does not check the audience of tokens.*\(add audiences: /)
  assert.deepEqual(more, [])
  assert.deepEqual(said('jwt', { jwks, audiences: ['orders'] }), [])
  assert.deepEqual(said('jwt', { jwks, requiredClaims: { aud: 'orders' } }), [])
})

test('response-cache whose key names cookies says what becomes of the others', () => {
  const key = { cookies: ['lang'] }
  const [bypass] = said('response-cache', { key })
  assert.match(bypass ?? '', /^warning: requests with cookies other than 'key.cookies' bypass the cache/)
  const [shared] = said('response-cache', { key, allow: { cookies: true } })
  assert.match(shared ?? '', /^warning: clients share responses even if their cookies differ/)
  for (const quiet of [{ key, allow: { cookies: false } }, { allow: { cookies: true } }, {}])
    assert.deepEqual(said('response-cache', quiet), [])
})
