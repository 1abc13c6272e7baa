import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { loadOrThrow } from '@sluice/config/testing'
import { keyPair } from '@sluice/core/testing'
import { catalog } from '@sluice/policies'
import { Provider } from 'oidc-provider'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const SECRET = 'a-secret-of-the-gateway-that-is-long'
const AUDIENCE = 'urn:orders'
const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']

/** Starts oidc-provider with one client per authentication method. The clients get opaque tokens for `AUDIENCE`. */
async function startProvider(t: TestContext, publicJwk: object) {
  const introspected: number[] = []
  let serve: RequestListener = () => {}
  const origin = await httpOrigin(t, (req, res) => {
    if (req.url === '/token/introspection') res.on('finish', () => introspected.push(res.statusCode))
    serve(req, res)
  })
  const clients = METHODS.map((method) => ({
    ...{ client_id: method, token_endpoint_auth_method: method, grant_types: ['client_credentials'] },
    ...{ redirect_uris: [], response_types: [] },
    ...(method === 'private_key_jwt'
      ? { jwks: { keys: [publicJwk] }, token_endpoint_auth_signing_alg: 'ES256' }
      : { client_secret: SECRET }),
  }))
  const resourceIndicators = {
    enabled: true,
    defaultResource: () => AUDIENCE,
    useGrantedResource: () => true,
    getResourceServerInfo: () => ({ scope: 'read', audience: AUDIENCE, accessTokenFormat: 'opaque' }),
  }
  const enabled = { enabled: true }
  const features = {
    ...{ clientCredentials: enabled, introspection: enabled, revocation: enabled, resourceIndicators },
    devInteractions: { enabled: false },
  }
  const provider = new Provider(origin.url, {
    ...{ clients, features, scopes: ['read'] },
    clientAuthMethods: METHODS,
    enabledJWA: { clientAuthSigningAlgValues: ['ES256'] },
  })
  serve = provider.callback()
  const post = async (path: string, form: Record<string, string>): Promise<Response> => {
    const authorization = `Basic ${Buffer.from(`client_secret_basic:${SECRET}`).toString('base64')}`
    const response = await fetch(origin.url + path, {
      ...{ method: 'POST', headers: { authorization }, body: new URLSearchParams(form) },
    })
    assert.equal(response.status, 200, await response.clone().text())
    return response
  }
  const issue = async (): Promise<string> => {
    const response = await post('/token', { grant_type: 'client_credentials', scope: 'read' })
    return ((await response.json()) as { access_token: string }).access_token
  }
  return {
    url: origin.url,
    introspected,
    issue,
    revoke: (token: string) => post('/token/revocation', { token }),
  }
}

async function gatewayAsking(t: TestContext, settings: object) {
  const policy = JSON.stringify({ use: 'oauth2-introspection', with: { timeout: '20s', ...settings } })
  const echo = "{ use: header, with: { response: { set: { x-who: '{{consumer.id}}' } } } }"
  const text = `version: 1\nroutes: [{ id: a, respond: { status: 200 }, policies: [${policy}, ${echo}] }]\n`
  const { plan } = loadOrThrow(text, catalog)
  const gateway = await startGateway(t, { upstreams: [], routes: plan.routes }, { catalog })
  return async (token: string) => {
    const { status, headers } = await fetch(gateway.url, { headers: { authorization: `Bearer ${token}` } })
    return [status, headers.get('x-gw-error') ?? headers.get('x-who')]
  }
}

test('oidc-provider accepts every client authentication and reports active tokens', async (t) => {
  const { privateKey, publicKey } = keyPair('ec', { namedCurve: 'P-256' })
  const provider = await startProvider(t, { ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' })
  const url = `${provider.url}/token/introspection`
  const common = {
    ...{ url, issuers: [provider.url], audiences: [AUDIENCE], requiredScopes: ['read'] },
    requiredClaims: { token_type: 'Bearer' },
  }
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' })
  const proofs = {
    client_secret_basic: { clientAuth: 'basic', clientSecret: SECRET },
    client_secret_post: { clientAuth: 'post', clientSecret: SECRET },
    private_key_jwt: {
      clientAuth: 'private-key-jwt',
      privateKey: key,
      keyId: 'k',
      assertionAudience: provider.url,
    },
  }
  const token = await provider.issue()
  for (const [clientId, proof] of Object.entries(proofs)) {
    const ask = await gatewayAsking(t, { ...common, clientId, ...proof })
    assert.deepEqual(await ask(token), [200, 'client_secret_basic'], clientId)
    assert.deepEqual(await ask('of-nobody'), [401, 'GW_TOKEN_INACTIVE'], clientId)
    assert.deepEqual(await ask('eyJhbGciOiJub25lIn0.e30.'), [401, 'GW_TOKEN_INACTIVE'], clientId)
  }
  const own = { ...common, clientId: 'client_secret_basic', clientSecret: SECRET }
  const kept = await gatewayAsking(t, own)
  const unkept = await gatewayAsking(t, { ...own, cache: { ttl: '0ms' } })
  const other = await gatewayAsking(t, { ...own, audiences: ['urn:billing'] })
  assert.deepEqual(await other(token), [401, 'GW_TOKEN_AUDIENCE'])
  const before = provider.introspected.length
  for (let i = 0; i < 3; i++) assert.equal((await kept(token))[0], 200)
  assert.equal(provider.introspected.length, before + 1)
  assert.equal((await unkept(token))[0], 200)
  await provider.revoke(token)
  assert.deepEqual(await unkept(token), [401, 'GW_TOKEN_INACTIVE'])
  assert.equal((await kept(token))[0], 200, 'until its ttl is over')
  const stranger = await gatewayAsking(t, { ...own, clientSecret: 'wrong' })
  assert.deepEqual(await stranger(token), [503, 'GW_AUTH_UNAVAILABLE'])
})
