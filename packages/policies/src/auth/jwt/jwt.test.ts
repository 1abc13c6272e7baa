import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { consumerOf, type Exchange, type Outcome, type Step } from '@sluice/core'
import { keyPair } from '@sluice/core/testing'
import { Issuer, signedToken } from '../../crypto/jose/testing/issuer.js'
import { exchange, schemaMistakes, testEnv, type Written } from '../../testing.js'
import { jwt } from './policy.js'

type JwtConfig = Written<typeof jwt>

const NOW = Date.parse('2030-01-01T00:00:00Z')
const seconds = NOW / 1000
const issuer = new Issuer('ES256', 'main')
const keys = [{ jwk: issuer.jwk() }]
const good = { iss: 'https://login', sub: 'ann', aud: 'api', exp: seconds + 600 }

function compile(config: Partial<JwtConfig> = {}): Step {
  const step = jwt.compile({ keys, ...config }, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  return step
}

function admit(step: Step, x: Exchange): Outcome {
  const outcome = step.onRequest?.(x) ?? null
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

function bearing(token: string, fields: Partial<Exchange> = {}): Exchange {
  return exchange({ headers: ['authorization', `Bearer ${token}`], startedAt: NOW, ...fields })
}

/** The code of the refusal; '' when there is none. */
function codeOf(config: Partial<JwtConfig>, token: string, fields: Partial<Exchange> = {}): string {
  return admit(compile(config), bearing(token, fields))?.problem?.code ?? ''
}

test('a good token names the consumer, shows its claims and is removed', async () => {
  const x = bearing(await issuer.token({ ...good, name: 'Ann', realm: { roles: ['a', 'b'] } }))
  assert.equal(admit(compile({ nameClaim: 'name', groupsClaim: 'realm.roles' }), x), null)
  const { claims, ...known } = x.consumer!
  assert.equal(claims?.get('sub'), 'ann')
  const claimLists = new Map([['realm.roles', ['a', 'b']]])
  const { claims: _, ...expected } = consumerOf('jwt', 'ann', { name: 'Ann', groups: ['a', 'b'], claimLists })
  assert.deepEqual(known, expected)
  assert.deepEqual(x.headers, [])
  assert.equal(x.claims?.get('iss'), 'https://login')
  assert.equal(x.claims?.get('exp'), String(seconds + 600))
  assert.equal(x.claims?.get('realm'), '{"roles":["a","b"]}')
  assert.equal(x.claims?.get('realm.roles'), 'a b')
})

test('strip: false leaves the token in the request', async () => {
  const x = bearing(await issuer.token(good))
  assert.equal(admit(compile({ strip: false }), x), null)
  assert.equal(x.headers.length, 2)
})

test('without a token the answer names the scheme and no error', () => {
  for (const headers of [
    [],
    ['authorization', 'Basic abc'],
    ['authorization', 'Bearer'],
    ['authorization', ''],
  ]) {
    const refusal = admit(compile({ realm: 'a "b"' }), exchange({ headers }))
    assert.equal(refusal?.status, 401)
    assert.deepEqual(refusal?.headers, [
      'x-gw-error',
      'GW_AUTH_MISSING',
      'www-authenticate',
      'Bearer realm="a \\"b\\""',
    ])
  }
  assert.equal(admit(compile(), exchange())?.headers[3], 'Bearer')
})

test('a refusal says invalid_token, and never repeats the token', async () => {
  const token = await issuer.token({ ...good, exp: seconds - 61 })
  const refusal = admit(compile(), bearing(token))
  assert.equal(
    refusal?.headers[3],
    'Bearer error="invalid_token", error_description="the token has expired; request a new one"',
  )
  assert.ok(!JSON.stringify(refusal).includes(token.slice(10, 40)))
})

test('a refused request keeps its token, and gets neither consumer nor claims', async () => {
  const x = bearing(`${await issuer.token(good)}x`)
  assert.notEqual(admit(compile(), x), null)
  assert.equal(x.headers.length, 2)
  assert.equal(x.consumer, null)
  assert.equal(x.claims, null)
})

test('exp and nbf hold with the skew of clocks on either side', async () => {
  const cases: readonly [object, string][] = [
    [{ exp: seconds - 59 }, ''],
    [{ exp: seconds - 60 }, 'GW_TOKEN_EXPIRED'],
    [{ exp: seconds - 59.5 }, ''],
    [{ exp: -1 }, 'GW_TOKEN_EXPIRED'],
    [{ exp: 0 }, 'GW_TOKEN_EXPIRED'],
    [{ nbf: seconds + 60 }, ''],
    [{ nbf: seconds + 61 }, 'GW_TOKEN_NOT_YET_VALID'],
    [{ nbf: seconds - 1 }, ''],
    [{ exp: undefined }, 'GW_TOKEN_CLAIMS'],
  ]
  for (const [claims, code] of cases) {
    assert.equal(codeOf({}, await issuer.token({ ...good, ...claims })), code, JSON.stringify(claims))
  }
  assert.equal(codeOf({ requireExpiry: false }, await issuer.token({ sub: 'a' })), '')
  assert.equal(codeOf({ clockSkew: '0s' }, await issuer.token({ ...good, exp: seconds })), 'GW_TOKEN_EXPIRED')
  assert.equal(codeOf({ clockSkew: '0s' }, await issuer.token({ ...good, exp: seconds + 1 })), '')
})

test('the issuer and one of the audiences have to be right', async () => {
  const config = { issuers: ['https://login', 'https://other'], audiences: ['api', 'api2'] }
  const cases: readonly [object, string][] = [
    [{}, ''],
    [{ aud: ['x', 'api2'] }, ''],
    [{ iss: 'https://login/' }, 'GW_TOKEN_ISSUER'],
    [{ iss: undefined }, 'GW_TOKEN_ISSUER'],
    [{ aud: 'API' }, 'GW_TOKEN_AUDIENCE'],
    [{ aud: [] }, 'GW_TOKEN_AUDIENCE'],
    [{ aud: undefined }, 'GW_TOKEN_AUDIENCE'],
    [{ aud: 'api api2' }, 'GW_TOKEN_AUDIENCE'],
  ]
  for (const [claims, code] of cases) {
    assert.equal(codeOf(config, await issuer.token({ ...good, ...claims })), code, JSON.stringify(claims))
  }
})

test('all scopes are needed, from scope or scp, as text or list', async () => {
  const config = { requiredScopes: ['a:read', 'b'] }
  for (const claims of [
    { scope: 'b x a:read' },
    { scp: ['b', 'a:read'] },
    { scp: 'a:read b' },
    { scope: 'b', scp: ['a:read'] },
  ])
    assert.equal(codeOf(config, await issuer.token({ ...good, ...claims })), '', JSON.stringify(claims))
  for (const claims of [
    {},
    { scope: 'a:read' },
    { scope: 'a:readb' },
    { scp: ['a:read b'] },
    { scope: 5 },
    { scope: null },
  ])
    assert.equal(
      codeOf(config, await issuer.token({ ...good, ...claims })),
      'GW_SCOPE_MISSING',
      JSON.stringify(claims),
    )
  const refusal = admit(compile(config), bearing(await issuer.token(good)))
  assert.equal(refusal?.status, 403)
  assert.equal(refusal?.headers[3], 'Bearer error="insufficient_scope", scope="a:read b"')
})

test('claims are needed with their value and type', async () => {
  const config = {
    requiredClaims: {
      tenant: ['acme', 'globex'],
      verified: true,
      level: 2,
      'a.b': 'c',
      seen: [] as string[],
    },
  }
  const claims = { ...good, tenant: 'acme', verified: true, level: 2, a: { b: 'c' }, seen: 'x' }
  assert.equal(codeOf(config, await issuer.token(claims)), '')
  assert.equal(codeOf(config, await issuer.token({ ...claims, tenant: ['x', 'globex'] })), '')
  assert.equal(codeOf(config, await issuer.token({ ...claims, 'a.b': 'c', a: 1 })), '')
  for (const change of [
    { tenant: 'other' },
    { tenant: undefined },
    { tenant: { acme: 1 } },
    { verified: 'true' },
    { verified: 1 },
    { level: '2' },
    { a: { b: 'd' } },
    { a: 'b' },
    { seen: undefined },
    { seen: null },
  ]) {
    const refusal = admit(compile(config), bearing(await issuer.token({ ...claims, ...change })))
    assert.equal(refusal?.problem?.code, 'GW_TOKEN_CLAIMS', JSON.stringify(change))
    assert.equal(refusal?.status, 403)
    assert.match(refusal?.problem?.detail ?? '', new RegExp(`'${Object.keys(change)[0]!}`))
  }
})

test('properties of the prototype are not claims', async () => {
  for (const name of ['toString', 'constructor', '__proto__', 'a.constructor'])
    assert.equal(
      codeOf({ requiredClaims: { [name]: [] } }, await issuer.token({ ...good, a: {} })),
      'GW_TOKEN_CLAIMS',
      name,
    )
})

test('a token without the claim for the consumer is refused', async () => {
  for (const sub of [undefined, '', 'x'.repeat(257)])
    assert.equal(codeOf({}, await issuer.token({ ...good, sub })), 'GW_TOKEN_CLAIMS')
  assert.equal(codeOf({ consumerClaim: 'client_id' }, await issuer.token(good)), 'GW_TOKEN_CLAIMS')
  // The upstream could not be told who it is.
  for (const sub of ['ann\n', '\u0000', 'a\u001b[2Jb', 'a\u007f'])
    assert.equal(codeOf({}, await issuer.token({ ...good, sub })), 'GW_TOKEN_CLAIMS', JSON.stringify(sub))
  const x = bearing(await issuer.token({ exp: good.exp, client: { id: 7 } }))
  assert.equal(admit(compile({ consumerClaim: 'client.id' }), x), null)
  assert.equal(x.consumer?.id, '7')
})

test('a number that lost digits is not used as an id or claim', async () => {
  const id = 2 ** 53
  const token = await issuer.token({ ...good, id, ids: [1, id] })
  const codes = [{ consumerClaim: 'id' }, { requiredClaims: { id } }, { requiredClaims: { ids: id } }]
  for (const config of codes) assert.equal(codeOf(config, token), 'GW_TOKEN_CLAIMS')
  const x = bearing(token)
  x.headers.push('x-id', 'forged')
  assert.equal(admit(compile({ forwardClaims: { id: 'x-id', ids: 'x-ids' } }), x), null)
  assert.deepEqual([x.headers, x.claims?.get('id'), x.claims?.get('ids')], [[], undefined, undefined])
})

test('typ is compared without case and without application/', async () => {
  const typed = (typ: string) => issuer.token(good, { typ })
  for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+JWT'])
    assert.equal(codeOf({}, await typed(typ)), '', typ)
  assert.equal(codeOf({}, await issuer.token(good)), '')
  for (const typ of ['logout+jwt', 'dpop+jwt', 'JOSE', ''])
    assert.equal(codeOf({}, await typed(typ)), 'GW_TOKEN_MALFORMED', typ)
  assert.equal(codeOf({ types: ['at+jwt'] }, await typed('application/AT+jwt')), '')
  assert.equal(codeOf({ types: ['at+jwt'] }, await typed('JWT')), 'GW_TOKEN_MALFORMED')
  assert.equal(codeOf({ types: ['at+jwt'] }, await issuer.token(good)), 'GW_TOKEN_MALFORMED')
})

test('claims become headers, and fields sent by the client are removed', async () => {
  const config = {
    forwardClaims: { sub: 'X-User', 'org.id': 'x-org', groups: 'x-groups', missing: 'x-missing' },
  }
  const forged = ['x-user', 'root', 'x-org', '1', 'x-user', 'root2', 'x-missing', 'forged']
  const token = await issuer.token({ ...good, org: { id: 12 }, groups: ['a', 'b'] })
  const x = bearing(token, { headers: [...forged, 'authorization', `Bearer ${token}`, 'a', '1'] })
  assert.equal(admit(compile(config), x), null)
  assert.deepEqual(x.headers, ['a', '1', 'x-user', 'ann', 'x-org', '12', 'x-groups', 'a b'])
})

test('a name that an upstream may take for that of a claim is gone as well', async () => {
  const config = { forwardClaims: { sub: 'x-user-id', missing: 'x_org' } }
  const x = bearing(await issuer.token(good))
  x.headers.push('x_user_id', 'root', 'x-user_id', 'root', 'x-org', 'root', 'x_other', '1')
  assert.equal(admit(compile(config), x), null)
  assert.deepEqual(x.headers, ['x_other', '1', 'x-user-id', 'ann'])
})

test('a claim that is not valid in a header is not sent', async () => {
  const config = { forwardClaims: { sub: 'x-user' }, consumerClaim: 'id' }
  for (const sub of ['a\r\nx-admin: 1', 'a\nb', 'Jürgen', 'a\0', '']) {
    const x = bearing(await issuer.token({ ...good, id: 'a', sub }))
    x.headers.push('x-user', 'forged')
    assert.equal(admit(compile(config), x), null, sub)
    assert.deepEqual(x.headers, [], sub)
  }
})

test('a token in another header, a cookie or the query is found and taken out', async () => {
  const token = await issuer.token(good)
  const plain = exchange({ startedAt: NOW, headers: ['x-token', token] })
  assert.equal(admit(compile({ name: 'X-Token' }), plain), null)
  assert.deepEqual(plain.headers, [])
  const schemed = exchange({ startedAt: NOW, headers: ['x-token', `jwt  ${token}`] })
  assert.equal(admit(compile({ name: 'X-Token', scheme: 'JWT' }), schemed), null)
  const cookie = exchange({
    startedAt: NOW,
    headers: ['cookie', `a=1; sid="${token}"; b=2`, 'cookie', 'c=3'],
  })
  assert.equal(admit(compile({ tokenFrom: 'cookie', name: 'sid' }), cookie), null)
  assert.deepEqual(cookie.headers, ['cookie', 'a=1; b=2', 'cookie', 'c=3'])
  const alone = exchange({ startedAt: NOW, headers: ['cookie', `access_token=${token}`] })
  assert.equal(admit(compile({ tokenFrom: 'cookie' }), alone), null)
  assert.deepEqual(alone.headers, [])
  const query = exchange({ startedAt: NOW, query: `a=1&access_token=${token}&b=%2f` })
  assert.equal(admit(compile({ tokenFrom: 'query' }), query), null)
  assert.equal(query.query, 'a=1&b=%2f')
})

test('two tokens are refused, because the upstream might read the other one', async () => {
  const token = await issuer.token(good)
  const twice: readonly [Partial<JwtConfig>, Partial<Exchange>][] = [
    [{}, { headers: ['authorization', `Bearer ${token}`, 'authorization', `Bearer ${token}`] }],
    [{ tokenFrom: 'query' }, { query: `access_token=${token}&access%5ftoken=x` }],
    [{ tokenFrom: 'cookie' }, { headers: ['cookie', `access_token=${token}; access_token=x`] }],
    [{ tokenFrom: 'cookie' }, { headers: ['cookie', `access_token=${token}`, 'cookie', 'access_token=x'] }],
  ]
  for (const [config, fields] of twice) {
    const refusal = admit(compile(config), exchange({ startedAt: NOW, ...fields }))
    assert.equal(refusal?.problem?.code, 'GW_TOKEN_MALFORMED')
  }
})

test('keys are found by kid; tokens without one and keys without one are tried', async () => {
  const other = new Issuer('ES256', 'other')
  const nameless = new Issuer('EdDSA')
  const config = { keys: [...keys, { jwk: other.jwk() }, { pem: nameless.pem() }] }
  assert.equal(codeOf(config, await other.token(good)), '')
  assert.equal(codeOf(config, await nameless.token(good)), '')
  assert.equal(codeOf(config, await nameless.token(good, { kid: 'any' })), '')
  assert.equal(codeOf(config, await other.token(good, { kid: undefined })), '')
  assert.equal(codeOf(config, await other.token(good, { kid: 'main' })), 'GW_TOKEN_SIGNATURE')
  assert.equal(codeOf(config, await other.token(good, { kid: 'third' })), 'GW_TOKEN_SIGNATURE')
})

test('a token without kid is not tried with every one of many keys', async () => {
  const many = Array.from({ length: 5 }, (_, i) => new Issuer('ES256', `k${i}`))
  const config = { keys: many.map((one) => ({ jwk: one.jwk() })) }
  assert.equal(codeOf(config, await many[4]!.token(good)), '')
  assert.equal(codeOf(config, await many[4]!.token(good, { kid: undefined })), 'GW_TOKEN_SIGNATURE')
})

test('a key that belongs to an issuer signs for no other', async () => {
  const other = new Issuer('ES256', 'other')
  const config = {
    keys: [
      { jwk: issuer.jwk(), issuer: 'https://login' },
      { jwk: other.jwk(), issuer: 'https://other' },
    ],
    issuers: ['https://login', 'https://other'],
  }
  assert.equal(codeOf(config, await issuer.token(good)), '')
  assert.equal(codeOf(config, await other.token(good)), 'GW_TOKEN_ISSUER')
  assert.equal(codeOf(config, await other.token({ ...good, iss: 'https://other' })), '')
})

test('keys come from JWK, PEM, files, secrets and sets', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'jwt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const rsa = new Issuer('RS256', 'r')
  const [pemFile, jwkFile, setFile] = ['a.pem', 'a.json', 'set.json'].map((name) => join(folder, name))
  writeFileSync(pemFile!, rsa.pem())
  writeFileSync(jwkFile!, ` ${rsa.jwk()}`)
  const set = JSON.stringify({
    keys: [
      { kty: 'future' },
      JSON.parse(issuer.jwk({ use: 'sig', unknown: 1 })),
      JSON.parse(rsa.jwk({ use: 'enc' })),
    ],
  })
  writeFileSync(setFile!, set)
  assert.equal(codeOf({ keys: [{ file: pemFile! }] }, await rsa.token(good)), '')
  assert.equal(codeOf({ keys: [{ file: jwkFile! }] }, await rsa.token(good)), '')
  for (const jwks of [{ file: setFile! }, { inline: set }]) {
    const step = jwt.compile({ jwks }, testEnv()) as Step
    assert.equal(admit(step, bearing(await issuer.token(good))), null)
    assert.equal(admit(step, bearing(await rsa.token(good)))?.problem?.code, 'GW_TOKEN_SIGNATURE')
  }
})

test('a secret serves for HS only, and only where HS is allowed', async () => {
  const { createSecretKey } = await import('node:crypto')
  const bytes = Buffer.from('0123456789abcdef0123456789abcdef')
  const spelled = [
    { secret: bytes.toString() },
    { secret: bytes.toString('hex'), secretEncoding: 'hex' as const },
    { secret: bytes.toString('base64'), secretEncoding: 'base64' as const },
    { secret: bytes.toString('base64url'), secretEncoding: 'base64url' as const },
    { jwk: JSON.stringify({ kty: 'oct', k: bytes.toString('base64url'), alg: 'HS256' }) },
  ]
  const token = await signedToken('HS256', createSecretKey(bytes), {
    header: '{"alg":"HS256"}',
    payload: JSON.stringify(good),
  })
  for (const key of spelled) {
    assert.equal(codeOf({ keys: [key], algorithms: ['HS256'] }, token), '')
    assert.throws(() => compile({ keys: [key] }), /key 1 fits none of the allowed algorithms ES256/)
  }
})

test('a verified token is cached, but its times are checked again', async () => {
  const token = await issuer.token({ ...good, nbf: seconds - 10 })
  const step = compile({ forwardClaims: { sub: 'x-user' } })
  for (let i = 0; i < 3; i++) {
    const x = bearing(token)
    x.headers.push('x-user', 'forged')
    assert.equal(admit(step, x), null)
    assert.equal(x.consumer?.id, 'ann')
    assert.equal(x.claims?.get('sub'), 'ann')
    assert.deepEqual(x.headers, ['x-user', 'ann'])
  }
  const at = (ms: number): string => admit(step, bearing(token, { startedAt: ms }))?.problem?.code ?? ''
  assert.equal(at(NOW + 659_999), '')
  assert.equal(at(NOW + 660_000), 'GW_TOKEN_EXPIRED')
  assert.equal(at(NOW - 70_001), 'GW_TOKEN_NOT_YET_VALID')
  assert.equal(at(NOW), '')
})

test('a refusal for the claims is the same from memory', async () => {
  const step = compile({ audiences: ['other'] })
  const token = await issuer.token(good)
  for (let i = 0; i < 2; i++) assert.equal(admit(step, bearing(token))?.problem?.code, 'GW_TOKEN_AUDIENCE')
})

test('a reload with another key drops tokens signed by the old one', async () => {
  const token = await issuer.token(good)
  const table = new Map<string, unknown>()
  const before = jwt.compile({ keys }, testEnv(table)) as Step
  assert.equal(admit(before, bearing(token)), null)
  assert.equal(admit(before, bearing(token)), null)
  const replaced = new Issuer('ES256', 'main')
  const after = jwt.compile({ keys: [{ jwk: replaced.jwk() }] }, testEnv(table)) as Step
  assert.equal(admit(after, bearing(token))?.problem?.code, 'GW_TOKEN_SIGNATURE')
})

test('configuration mistakes are reported with a remedy', () => {
  const rsa = new Issuer('RS256')
  const privateJwk = JSON.stringify(rsa.key.export({ format: 'jwk' }))
  const privatePem = rsa.key.export({ type: 'pkcs8', format: 'pem' }) as string
  const flaws: readonly [Partial<JwtConfig>, RegExp][] = [
    [{ keys: [{}] }, /key 1 has none of jwk, pem, file, secret; set exactly one/],
    [{ keys: [{ kid: 'a', jwk: issuer.jwk(), pem: issuer.pem() }] }, /key 1 \('a'\) has jwk and pem of/],
    [{ keys: [{ jwk: privateJwk }] }, /is a private key; use the public one/],
    [{ keys: [{ pem: privatePem }] }, /is a private key; use the public one/],
    [{ keys: [{ pem: 'abc' }] }, /is not PEM/],
    [
      { keys: [{ pem: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----' }] },
      /is not readable as a public key in PEM/,
    ],
    [{ keys: [{ jwk: 'abc' }] }, /is not the JSON text of a JWK/],
    [{ keys: [{ jwk: '{"kty":"EC","kty":"EC"}' }] }, /is not the JSON text of a JWK/],
    [{ keys: [{ jwk: '{"keys":[]}' }] }, /use 'jwks' for it/],
    [{ keys: [{ jwk: issuer.jwk({ use: 'enc' }) }] }, /'use' or 'key_ops' does not allow 'verify'/],
    [{ keys: [{ jwk: issuer.jwk({ key_ops: ['sign'] }) }] }, /'use' or 'key_ops' does not allow 'verify'/],
    [{ keys: [{ jwk: issuer.jwk({ alg: 'ES512' }) }] }, /fits none of the allowed algorithms/],
    [{ keys: [{ jwk: issuer.jwk(), algorithms: ['RS256'] }] }, /fits none of the allowed algorithms/],
    [{ keys: [{ jwk: issuer.jwk({ kid: 5 }) }] }, /'kid' is not a text/],
    [{ keys: [...keys, ...keys] }, /key 2 has the same kid 'main' as another key for ES256/],
    [
      { keys: Array.from({ length: 5 }, () => ({ pem: issuer.pem() })) },
      /key 5 has no id, like 4 other keys for ES256/,
    ],
    [{ keys: [{ file: 'no/such/file' }] }, /key 1 no\/such\/file cannot be read \(there is no such file/],
    [{ keys: [{ secret: rsa.pem() }], algorithms: ['HS256'] }, /is a PEM; use 'pem'/],
    [
      { keys: [{ secret: 'abcd', secretEncoding: 'hex' }], algorithms: ['HS256'] },
      /secret of 2 bytes; HS256 needs at least 32/,
    ],
    [
      { keys: [{ secret: 'abc', secretEncoding: 'hex' }], algorithms: ['HS256'] },
      /has a secret that is empty or not valid hex/,
    ],
    [{ keys: [{ secret: 'ab c', secretEncoding: 'base64' }], algorithms: ['HS256'] }, /not valid base64/],
    [{ jwks: { inline: '[]' } }, /'jwks' is not a JSON object with a list 'keys'/],
    [{ jwks: { inline: '{"keys":[]}' } }, /'jwks' has no key for the allowed algorithms/],
    [{ jwks: {} }, /'jwks' needs exactly one of file, inline, url and discovery/],
    [{ forwardClaims: { a: 'host' } }, /rewrite.host/],
    [{ forwardClaims: { a: 'x-a', b: 'X-A' } }, /'x-a' is listed twice/],
    [{ forwardClaims: { a: 'Authorization' } }, /'authorization' contains the token/],
    [{ name: 'x-token', forwardClaims: { a: 'x_token' } }, /'x-token' contains the token/],
    [{ requiredScopes: ['a b'] }, /is not a valid scope/],
    [{ tokenFrom: 'query', scheme: 'Bearer' }, /'scheme' is only for a token in a header/],
    [{ tokenFrom: 'cookie', name: 'a;b' }, /is not a name for a cookie/],
    [{ name: 'a b' }, /is not a header name/],
    [{ scheme: 'Bearer ' }, /must be one word/],
    [{ realm: 'ü' }, /'realm' contains a character/],
  ]
  for (const [config, expected] of flaws) {
    assert.throws(() => compile(config), expected, JSON.stringify(config))
    try {
      compile(config)
    } catch (error) {
      assert.ok(!(error as Error).message.includes(privateJwk.slice(20, 60)))
    }
  }
  assert.throws(() => jwt.compile({}, testEnv()), /neither 'keys' nor 'jwks' is set/)
})

test('weak keys are refused, and taken with allowWeak', async () => {
  const small = keyPair('rsa', { modulusLength: 1024 }).publicKey
  const odd = keyPair('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey
  const pem = (key: typeof small): string => key.export({ type: 'spki', format: 'pem' }) as string
  assert.throws(
    () => compile({ keys: [{ pem: pem(small) }] }),
    /RSA key of 1024 bits; use 2048 or more, or set allowWeak/,
  )
  assert.throws(() => compile({ keys: [{ pem: pem(odd) }] }), /with the exponent 3; use 65537/)
  assert.throws(() => compile({ keys: [{ secret: 'short' }], algorithms: ['HS256'] }), /secret of 5 bytes/)
  for (const keys of [[{ pem: pem(small) }], [{ pem: pem(odd) }]]) compile({ keys, allowWeak: true })
  compile({ keys: [{ secret: 'short' }], algorithms: ['HS256'], allowWeak: true })
  const one = { ...JSON.parse(new Issuer('RS256').jwk()), e: 'AQ' }
  assert.throws(
    () => compile({ keys: [{ jwk: JSON.stringify(one) }], allowWeak: true }),
    /insecure exponent|is an unreadable JWK/,
  )
})

test('a key on no curve is refused', () => {
  const jwk = JSON.parse(issuer.jwk()) as Record<string, string>
  jwk['y'] = jwk['x']!
  assert.throws(() => compile({ keys: [{ jwk: JSON.stringify(jwk) }] }), /unreadable JWK/)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { keys: [{ jwk: '{}' }] }
  assert.deepEqual(schemaMistakes(jwt, defaulted), [])
  assert.deepEqual(defaulted, {
    keys: [{ jwk: '{}', secretEncoding: 'utf8' }],
    algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    allowWeak: false,
    clockSkew: '60s',
    requireExpiry: true,
    maxTokenBytes: '8kb',
    tokenFrom: 'header',
    strip: true,
    consumerClaim: 'sub',
    cacheEntries: 10_000,
  })
  for (const config of [
    { keys: [] },
    { keys, algorithms: ['none'] },
    { keys, algorithms: [] },
    { keys, tokenFrom: 'body' },
    { keys, requiredClaims: { a: { b: 1 } } },
    { keys: [{ jwk: {} }] },
    { keys: [{ jwk: '{}', other: 1 }] },
    { keys, cacheEntries: -1 },
    { keys, clockSkew: '60' },
  ]) {
    assert.notDeepEqual(schemaMistakes(jwt, config), [], JSON.stringify(config))
  }
})

test('the traffic log hears where the secret stands', () => {
  assert.deepEqual(jwt.secretNames?.({ keys }), ['authorization'])
  assert.deepEqual(jwt.secretNames?.({ keys, tokenFrom: 'query' }), ['access_token'])
  assert.deepEqual(jwt.secretNames?.({ keys, tokenFrom: 'cookie', name: 'sid' }), ['cookie'])
})
