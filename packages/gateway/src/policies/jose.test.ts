import assert from 'node:assert/strict'
import { type KeyObject, sign } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { keyPair } from '@sluice/core/testing'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

interface Seen {
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

interface Use {
  readonly use: string
  readonly with: object
  readonly when?: string
}

const issuer = keyPair('ec', { namedCurve: 'P-256' })
const rsa = keyPair('rsa', { modulusLength: 2048 })
const jwk = (key: KeyObject): string => JSON.stringify(key.export({ format: 'jwk' }))
const encode = (text: string): string => Buffer.from(text).toString('base64url')

function token(claims: object, { privateKey } = issuer): string {
  const input = `${encode('{"alg":"ES256"}')}.${encode(JSON.stringify(claims))}`
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3600

function routesWith(uses: readonly Use[]) {
  const policies = uses.map((use, i) => ({
    id: `${use.use}-${i}`,
    use: use.use,
    with: use.with,
    when: use.when ?? null,
    onError: 'fail' as const,
  }))
  return [{ id: 'all', policies }]
}

/** Starts a gateway with these policies in front of an origin that echoes the body. */
async function serve(t: TestContext, uses: readonly Use[]) {
  const seen: Seen[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push({ headers: req.headers, body })
    res.writeHead(200, { 'content-type': 'text/plain' }).end(body)
  })
  const upstreams = [{ urls: [origin.url] }]
  const gateway = await startGateway(t, { upstreams, routes: routesWith(uses) }, { catalog })
  return {
    gateway,
    seen,
    reload: (next: readonly Use[]) => gateway.reload({ upstreams, routes: routesWith(next) }),
  }
}

test('a token names the consumer for conditions and for the upstream, which does not see it', async (t) => {
  const { gateway, seen } = await serve(t, [
    { use: 'jwt', with: { keys: [{ jwk: jwk(issuer.publicKey) }], forwardClaims: { sub: 'x-user' } } },
    {
      use: 'header',
      with: { request: { set: { 'x-level': 'gold' } } },
      when: 'jwt.claims["plan.level"] == "gold" && consumer.id == "ann"',
    },
  ])
  const call = (bearer: string) =>
    fetch(gateway.url, { headers: { authorization: `Bearer ${bearer}`, 'x-user': 'root' } })
  const good = token({ sub: 'ann', exp: inAnHour(), plan: { level: 'gold' } })
  for (let i = 0; i < 2; i++) assert.equal((await call(good)).status, 200)
  assert.equal((await call(token({ sub: 'bob', exp: inAnHour() }))).status, 200)
  assert.deepEqual(
    seen.map(({ headers }) => [headers['x-user'], headers['x-level'], headers['authorization']]),
    [
      ['ann', 'gold', undefined],
      ['ann', 'gold', undefined],
      ['bob', undefined, undefined],
    ],
  )
})

test('refused tokens get their code and challenge and never reach the upstream', async (t) => {
  const { gateway, seen } = await serve(t, [{ use: 'jwt', with: { keys: [{ jwk: jwk(issuer.publicKey) }] } }])
  const none = await fetch(gateway.url)
  assert.equal(none.status, 401)
  assert.equal(none.headers.get('www-authenticate'), 'Bearer')
  const problem = (await none.json()) as { code: string }
  assert.equal(problem.code, 'GW_AUTH_MISSING')
  const stranger = keyPair('ec', { namedCurve: 'P-256' })
  for (const [bearer, code] of [
    [token({ sub: 'ann', exp: inAnHour() - 7200 }), 'GW_TOKEN_EXPIRED'],
    [token({ sub: 'ann', exp: inAnHour() }, stranger), 'GW_TOKEN_SIGNATURE'],
    ['abc', 'GW_TOKEN_MALFORMED'],
    [token({ exp: inAnHour() }), 'GW_TOKEN_CLAIMS'],
  ] as const) {
    const answer = await fetch(gateway.url, { headers: { authorization: `Bearer ${bearer}` } })
    assert.equal(answer.headers.get('x-gw-error'), code)
    assert.ok(!(await answer.text()).includes(bearer))
  }
  assert.equal(seen.length, 0)
})

test('a reload with another key voids cached verifications', async (t) => {
  const use = (key: KeyObject): Use[] => [{ use: 'jwt', with: { keys: [{ jwk: jwk(key) }] } }]
  const { gateway, reload } = await serve(t, use(issuer.publicKey))
  const headers = { authorization: `Bearer ${token({ sub: 'ann', exp: inAnHour() })}` }
  for (let i = 0; i < 2; i++) assert.equal((await fetch(gateway.url, { headers })).status, 200)
  await reload(use(keyPair('ec', { namedCurve: 'P-256' }).publicKey))
  assert.equal((await fetch(gateway.url, { headers })).headers.get('x-gw-error'), 'GW_TOKEN_SIGNATURE')
})

for (const [size, body] of [
  ['short', '{"amount":12}'],
  ['long', JSON.stringify({ pad: 'ü'.repeat(100_000) })],
] as const) {
  test(`a ${size} body is signed on its way back and checked on its way there`, async (t) => {
    const { gateway, seen } = await serve(t, [
      { use: 'jws', with: { verify: { keys: [{ jwk: jwk(issuer.publicKey) }], algorithms: ['ES256'] } } },
      {
        use: 'jws',
        with: { phase: 'response', sign: { key: { jwk: jwk(issuer.privateKey) }, algorithm: 'ES256' } },
      },
    ])
    const input = `${encode('{"alg":"ES256"}')}.${encode(body)}`
    const signature = sign('sha256', Buffer.from(input), {
      key: issuer.privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    const signed = `${input}.${signature.toString('base64url')}`
    const post = (text: string) => fetch(gateway.url, { method: 'POST', body: text })
    const answer = await post(signed)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/jose')
    const [, payload] = (await answer.text()).split('.')
    assert.equal(Buffer.from(payload!, 'base64url').toString(), body)
    assert.equal(seen[0]?.body, body)
    assert.equal(seen[0]?.headers['content-type'], 'application/json')
    assert.equal(
      (await post(`${signed.slice(0, -8)}AAAAAAAA`)).headers.get('x-gw-error'),
      'GW_SIGNATURE_INVALID',
    )
    assert.equal(seen.length, 1)
  })

  test(`a ${size} body is encrypted on its way back, and decrypted on its way there`, async (t) => {
    const back: Use[] = [
      {
        use: 'jwe',
        with: {
          phase: 'response',
          encrypt: { key: { jwk: jwk(rsa.publicKey) }, algorithm: 'RSA-OAEP-256' },
        },
      },
    ]
    const there: Use[] = [
      {
        use: 'jwe',
        with: { decrypt: { keys: [{ jwk: jwk(rsa.privateKey) }], algorithms: ['RSA-OAEP-256'] } },
      },
    ]
    const { gateway, seen, reload } = await serve(t, back)
    const post = (text: string) => fetch(gateway.url, { method: 'POST', body: text })
    const sealed = await (await post(body)).text()
    assert.match(sealed, /^[\w-]+(\.[\w-]+){4}$/)
    await reload(there)
    const answer = await post(sealed)
    assert.equal(await answer.text(), body)
    assert.equal(seen[1]?.body, body)
    assert.equal(
      (await post(`${sealed.slice(0, -8)}AAAAAAAA`)).headers.get('x-gw-error'),
      'GW_DECRYPT_FAILED',
    )
    assert.equal(seen.length, 2)
  })
}
