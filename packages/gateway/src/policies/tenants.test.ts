import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { loadDocument } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { closedPort, httpOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'
import { Browser, errorOf } from './testing/browser.js'
import { startLoginProvider } from './testing/login-provider.js'
import { startSite } from './testing/login-site.js'

const [OURS, PARTNER, STRANGER] = [
  '11111111-aaaa-4aaa-8aaa-111111111111',
  '22222222-bbbb-4bbb-8bbb-222222222222',
  '33333333-cccc-4ccc-8ccc-333333333333',
] as const

/** A multi-tenant issuer like Microsoft Entra ID. */
async function startTenants(t: TestContext, more: { readonly issuer?: string; readonly jwk?: object } = {}) {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: '1', use: 'sig', ...more.jwk }
  const origin = await httpOrigin(t, (req, res) => {
    if (req.url === '/keys') res.end(JSON.stringify({ keys: [jwk] }))
    else if (req.url !== '/common/v2.0/.well-known/openid-configuration') res.writeHead(404).end()
    else
      res.end(
        JSON.stringify({
          issuer: more.issuer ?? `${origin.url}/{tenantid}/v2.0`,
          jwks_uri: `${origin.url}/keys`,
        }),
      )
  })
  const issuerOf = (tenant: string): string => `${origin.url}/${tenant}/v2.0`
  const sign = (claims: Readonly<Record<string, unknown>>): Promise<string> =>
    new SignJWT({ sub: 'ann', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .setExpirationTime('1h')
      .sign(privateKey)
  return { url: origin.url, discovery: `${origin.url}/common/v2.0`, issuerOf, sign }
}

async function startTrusting(t: TestContext, jwks: object) {
  const policy = JSON.stringify({ use: 'jwt', with: { jwks: { timeout: '10s', ...jwks } } })
  const text = `version: 1\nroutes: [{ id: a, respond: { status: 204 }, policies: [${policy}] }]\n`
  const { url, events } = await startLogged(
    t,
    { routes: loadOrThrow(text, catalog).plan.routes },
    {},
    { catalog },
  )
  const ask = async (token: string): Promise<string | number> => {
    const { status, headers } = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    return headers.get('x-gw-error') ?? status
  }
  return { ask, events }
}

test('tokens of the tenants that are listed are accepted, and no others', async (t) => {
  const provider = await startTenants(t)
  const { issuerOf, discovery, sign } = provider
  const { ask } = await startTrusting(t, { discovery, tenants: [OURS, PARTNER.toUpperCase()] })
  for (const tenant of [OURS, PARTNER])
    assert.equal(await ask(await sign({ iss: issuerOf(tenant), tid: tenant })), 204)
  const [iss, tid] = [issuerOf(OURS), OURS]
  const replaced = `${provider.url}/${OURS}/v2.0`
  for (const claims of [
    { iss: issuerOf(STRANGER), tid: STRANGER },
    // The issuer of one tenant with the id of another.
    { iss: issuerOf(STRANGER), tid },
    { iss, tid: STRANGER },
    { iss: issuerOf(PARTNER), tid },
    { iss },
    { tid },
    { iss: issuerOf('{tenantid}'), tid: '{tenantid}' },
    { iss: issuerOf('{tenantid}'), tid },
    { iss: discovery, tid },
    { iss: issuerOf('*'), tid: '*' },
    { iss: issuerOf(''), tid: '' },
    { iss: issuerOf(OURS.toUpperCase()), tid: OURS.toUpperCase() },
    { iss: issuerOf(`${OURS}\n`), tid: `${OURS}\n` },
    { iss: issuerOf(`${STRANGER}/../${OURS}`), tid: `${STRANGER}/../${OURS}` },
    { iss: issuerOf("$&$'"), tid: "$&$'" },
    { iss: `${replaced}/`, tid },
    { iss: replaced.replace('http:', 'https:'), tid },
    { iss: `${replaced}#${issuerOf(STRANGER)}`, tid },
    { iss: `https://evil.example/${OURS}/v2.0`, tid },
  ])
    assert.equal(await ask(await sign(claims)), 'GW_TOKEN_ISSUER', JSON.stringify(claims))
  for (const claims of [
    { iss, tid: [OURS] },
    { iss, tid: { OURS } },
    { iss, tid: 1 },
  ])
    assert.equal(await ask(await sign(claims)), 'GW_TOKEN_ISSUER', JSON.stringify(claims))
  assert.equal(await ask(await sign({ iss: [iss], tid })), 'GW_TOKEN_MALFORMED')
})

test('every tenant is accepted where the document says so, with the id that its issuer has', async (t) => {
  const { issuerOf, discovery, sign } = await startTenants(t)
  const { ask } = await startTrusting(t, { discovery, tenants: ['*'] })
  assert.equal(await ask(await sign({ iss: issuerOf(STRANGER), tid: STRANGER })), 204)
  for (const claims of [
    { iss: issuerOf(STRANGER), tid: OURS },
    { iss: issuerOf('common'), tid: 'common' },
    { iss: issuerOf(`${OURS}${OURS}`), tid: `${OURS}${OURS}` },
  ])
    assert.equal(await ask(await sign(claims)), 'GW_TOKEN_ISSUER', JSON.stringify(claims))
})

test('a key of one tenant signs for no other', async (t) => {
  const { issuerOf, sign } = await startTenants(t)
  const own = await startTenants(t, { jwk: { issuer: issuerOf(PARTNER) }, issuer: issuerOf('{tenantid}') })
  const { ask } = await startTrusting(t, { discovery: own.discovery, tenants: ['*'] })
  assert.equal(await ask(await own.sign({ iss: issuerOf(PARTNER), tid: PARTNER })), 204)
  assert.equal(await ask(await own.sign({ iss: issuerOf(OURS), tid: OURS })), 'GW_TOKEN_ISSUER')
  assert.equal(await ask(await sign({ iss: issuerOf(PARTNER), tid: PARTNER })), 'GW_TOKEN_SIGNATURE')
  const shared = await startTenants(t, {
    jwk: { issuer: issuerOf('{tenantid}') },
    issuer: issuerOf('{tenantid}'),
  })
  const other = await startTrusting(t, { discovery: shared.discovery, tenants: ['*'] })
  assert.equal(await other.ask(await shared.sign({ iss: issuerOf(OURS), tid: OURS })), 204)
})

test('multi-tenant metadata for a single-tenant configuration, or vice versa, are refused', async (t) => {
  for (const [issuer, tenants, reason] of [
    [undefined, undefined, /\{tenantid\}\/v2\.0\\", not of .*; list the accepted 'tenants'"/],
    [
      'https://login.example.com/v2.0',
      [OURS],
      /not of a multi-tenant issuer with \{tenantid\}; remove 'tenants'"/,
    ],
    ['https://{tenantid}.example/{tenantid}', ['*'], /not of a multi-tenant issuer/],
    ['https://login.example.com/{tenantid}\n/v2.0', ['*'], /not of a multi-tenant issuer/],
    ['{tenantid}', ['*'], /not of a multi-tenant issuer/],
  ] as const) {
    const { discovery, sign } = await startTenants(t, issuer === undefined ? {} : { issuer })
    const { ask, events } = await startTrusting(t, { discovery, ...(tenants !== undefined && { tenants }) })
    for (const iss of [discovery, issuer ?? 'x'])
      assert.equal(await ask(await sign({ iss, tid: OURS })), 'GW_AUTH_UNAVAILABLE', issuer)
    const failed = events.find(({ event }) => event === 'jwt_keys_failed')
    assert.match(JSON.stringify(failed?.fields), reason)
  }
})

test('users of listed tenants can log in, and sessions end when the tenant is removed', async (t) => {
  const provider = await startLoginProvider(t)
  const issuerOf = (tenant: string): string => `${provider.issuer}/${tenant}/v2.0`
  const issuer = issuerOf('common')
  const settings = { issuer, tenants: [OURS, PARTNER], forwardClaims: {} }
  const { url } = await startSite(t, provider, settings)
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: '1', use: 'sig', issuer: issuerOf('{tenantid}') }
  let claims: Readonly<Record<string, unknown>> = {}
  let idToken = ''
  const answers: Readonly<Record<string, () => object>> = {
    '/common/v2.0/.well-known/openid-configuration': () => ({
      issuer: issuerOf('{tenantid}'),
      ...{ authorization_endpoint: `${provider.issuer}/auth`, token_endpoint: `${provider.issuer}/token` },
      jwks_uri: `${provider.issuer}/keys`,
    }),
    '/keys': () => ({ keys: [jwk] }),
    '/token': () => ({ access_token: 'at', token_type: 'Bearer', expires_in: 3600, id_token: idToken }),
  }
  provider.intervene = (req, res) => {
    const answer = answers[req.url!]
    if (answer !== undefined) res.end(JSON.stringify(answer()))
    return answer !== undefined
  }
  const logIn = async (browser: Browser, iss?: string): Promise<Response> => {
    const login = new URL((await browser.ask(`${url}/a`)).headers.get('location')!)
    idToken = await new SignJWT({
      sub: 'ann',
      email: 'a@b',
      nonce: login.searchParams.get('nonce')!,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .setAudience('gw')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
    const query = { code: 'c', state: login.searchParams.get('state')!, ...(iss !== undefined && { iss }) }
    return browser.ask(`${provider.redirectUri}?${new URLSearchParams(query)}`)
  }
  const partner = new Browser()
  claims = { iss: issuerOf(PARTNER), tid: PARTNER }
  assert.equal((await logIn(partner, issuerOf(PARTNER))).headers.get('location'), `${url}/a`)
  assert.equal((await partner.ask(`${url}/a`)).status, 200)
  for (const iss of [issuer, issuerOf('{tenantid}'), issuerOf(STRANGER), `${issuerOf(OURS)}/`, ''])
    assert.deepEqual(errorOf(await logIn(new Browser(), iss)), [400, 'GW_LOGIN_FAILED'], iss)
  for (claims of [
    { iss: issuerOf(STRANGER), tid: STRANGER },
    { iss: issuerOf(STRANGER), tid: OURS },
    { iss: issuerOf(OURS), tid: STRANGER },
    { iss: issuerOf(OURS) },
    { iss: issuer, tid: OURS },
  ])
    assert.deepEqual(
      errorOf(await logIn(new Browser())),
      [503, 'GW_AUTH_UNAVAILABLE'],
      JSON.stringify(claims),
    )
  for (const [tenants, status] of [
    [[PARTNER], 200],
    [['*'], 200],
    [[OURS], 302],
    [undefined, 503],
  ] as const) {
    // Another route, or the same one after a reload.
    const other = await startSite(
      t,
      provider,
      { issuer, tenants, forwardClaims: {} },
      { port: await closedPort() },
    )
    for (const [name, value] of partner.jarOf(url)) partner.jarOf(other.url).set(name, value)
    assert.equal((await partner.ask(`${other.url}/a`)).status, status, String(tenants))
  }
})

test('gw validate warns of risky tenants and refuses invalid ones', () => {
  const entra = 'https://login.microsoftonline.com/common/v2.0'
  const secrets = ['a secret of the gateway, which is long enough']
  const oidc = { clientId: 'a', clientSecret: 'b', redirectUri: 'https://a.example/', session: { secrets } }
  const said = (use: string, parameters: object): string[] => {
    const routes = [{ id: 'a', respond: {}, policies: [{ use, with: parameters }] }]
    const result = loadDocument(
      { text: JSON.stringify({ version: 1, routes }), name: 'a' },
      { catalog, env: {} },
    )
    return (result.ok ? result.warnings : result.diagnostics).map(({ message }) => message)
  }
  const both = (tenants: string[] | undefined, more: object = {}): string[][] => [
    said('jwt', { audiences: ['a'], jwks: { discovery: entra, ...(tenants && { tenants }) }, ...more }),
    said('oidc', { issuer: entra, ...oidc, ...(tenants && { tenants }), ...more }),
  ]
  for (const [tenants, more, expected] of [
    [undefined, {}, /multi-tenant issuer, so no token is accepted/],
    [['*'], {}, /accepts users of every tenant/],
    [
      [OURS, PARTNER],
      { consumerClaim: 'email' },
      /'consumerClaim' is 'email', which every tenant can set freely/,
    ],
    [['common'], {}, /tenants/],
    [[`${OURS}x`], {}, /tenants/],
    [[], {}, /tenants/],
  ] as const)
    for (const messages of both(tenants as string[] | undefined, more)) {
      assert.equal(messages.length, 1, messages.join('\n'))
      assert.match(messages[0]!, expected)
    }
  assert.deepEqual(both([OURS]), [[], []])
  assert.deepEqual(both([OURS], { consumerClaim: 'email' }), [[], []])
})
