import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadDocument } from '@sluice/config'
import { catalog } from '@sluice/policies'

const SECRET = 'a secret of the gateway, which is long enough'

/** Returns the warnings of `gw validate` for a document whose routes have these paths. */
function warningsOf(paths: readonly (string | null)[], settings: object = {}, shared = true): string[] {
  const policy = {
    use: 'oidc',
    with: {
      ...{ issuer: 'https://login.example.com', clientId: 'shop', clientSecret: 'x' },
      ...{ redirectUri: 'https://shop.example.com/oauth2/callback', session: { secrets: [SECRET] } },
      ...settings,
    },
  }
  const document = {
    version: 1,
    policies: shared ? [{ id: 'login', ...policy }] : [],
    routes: paths.map((path, i) => ({
      id: `r${i}`,
      match: path === null ? {} : { path },
      respond: {},
      policies: [shared ? 'login' : policy],
    })),
  }
  const source = { text: JSON.stringify(document), name: 'gateway.yaml' }
  const result = loadDocument(source, { catalog, env: {} })
  assert.ok(result.ok, JSON.stringify(result))
  return result.warnings.map(({ message }) => message)
}

test('a callback or logout path without an oidc route causes a warning', () => {
  const callback = "no route with oidc matches the path '/oauth2/callback', which the policy answers"
  const logout = { logout: { path: '/bye' } }
  for (const paths of [
    [null],
    ['/*'],
    ['/oauth2/*', '/app/*'],
    ['/oauth2/callback', '/app'],
    ['/{a}/{b}'],
    ['~^/o'],
  ])
    assert.deepEqual(warningsOf(paths), [], paths.join())
  assert.deepEqual(warningsOf(['/app/*']), [callback])
  assert.deepEqual(warningsOf(['/app/*', '/admin/*'], {}, false), [callback])
  assert.deepEqual(warningsOf(['/oauth2/*'], logout), [callback.replace('/oauth2/callback', '/bye')])
  assert.deepEqual(warningsOf(['/oauth2/*', '/bye'], logout), [])
})

test('a path with escapes, a token in the cookie field or two tokens in one header are refused', async () => {
  const { compile } = catalog.get('oidc')!
  const base = {
    issuer: 'https://a.example',
    clientId: 'a',
    clientSecret: 'x',
    session: { secrets: [SECRET] },
  }
  const compiled = (settings: object) => () =>
    compile({ ...base, redirectUri: 'https://b.example/c', ...settings } as never, {} as never)
  assert.throws(compiled({ redirectUri: 'https://b.example/a%20b' }), /must not contain escapes/)
  assert.throws(compiled({ redirectUri: 'http://b.example/c' }), /does not use TLS/)
  assert.throws(compiled({ redirectUri: 'https://user@b.example/c' }), /not a valid address/)
  assert.throws(compiled({ redirectUri: 'https://b.example/c?d' }), /a normalized origin and path/)
  assert.throws(compiled({ accessTokenHeader: 'Cookie' }), /is already used/)
  assert.throws(compiled({ idTokenHeader: 'x-a', forwardClaims: { email: 'x-a' } }), /is already used/)
  assert.throws(compiled({ idTokenHeader: 'x-a', accessTokenHeader: 'X-A' }), /both tokens/)
})
