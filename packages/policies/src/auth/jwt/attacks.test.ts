import assert from 'node:assert/strict'
import { createHmac, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import type { Outcome, Step } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { CompactEncrypt, jwtVerify } from 'jose'
import { encode, Issuer, signedToken } from '../../crypto/jose/testing/issuer.js'
import { exchange, testEnv, type Written } from '../../testing.js'
import { jwt } from './policy.js'

type JwtConfig = Written<typeof jwt>

const NOW = Date.parse('2030-01-01T00:00:00Z')
const seconds = NOW / 1000
const ec = new Issuer('ES256', 'ec')
const rsa = new Issuer('RS256', 'rsa')
const secret = createSecretKey(Buffer.alloc(32, 7))
const config: JwtConfig = {
  keys: [
    { jwk: ec.jwk() },
    { kid: 'rsa', pem: rsa.pem() },
    { kid: 'hs', secret: secret.export().toString('hex'), secretEncoding: 'hex' },
  ],
  algorithms: ['ES256', 'RS256', 'HS256'],
}
const step = jwt.compile(config, testEnv()) as Step
const good = { sub: 'ann', exp: seconds + 600 }
const claims = JSON.stringify(good)

function admit(token: string, by = step): Outcome {
  const x = exchange({ headers: ['authorization', `Bearer ${token}`], startedAt: NOW })
  const outcome = by.onRequest?.(x) ?? null
  assert.ok(!(outcome instanceof Promise))
  if (outcome !== null) assert.equal(x.consumer, null)
  return outcome
}

function codeOf(token: string): string {
  return admit(token)?.problem?.code ?? ''
}

/** A token with this header, signed well by the EC key. */
function headed(header: string, payload = claims): Promise<string> {
  return signedToken('ES256', ec.key, { header, payload })
}

test('alg none is refused in any spelling, with and without a signature', async () => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
    const input = `${encode(JSON.stringify({ alg }))}.${encode(claims)}`
    assert.equal(codeOf(`${input}.`), 'GW_TOKEN_MALFORMED', alg)
    assert.equal(codeOf(`${input}.AA`), 'GW_TOKEN_SIGNATURE', alg)
    assert.equal(codeOf(await headed(JSON.stringify({ alg, kid: 'ec' }))), 'GW_TOKEN_SIGNATURE', alg)
  }
})

test('a public key in any spelling is not accepted as an HS secret', () => {
  const pem = rsa.pem()
  const der = rsa.publicKey.export({ type: 'spki', format: 'der' })
  for (const key of [pem, pem.trim(), pem.replaceAll('\n', '\r\n'), der, rsa.jwk(), ec.pem(), ec.jwk()]) {
    for (const kid of [undefined, 'rsa', 'ec', 'hs']) {
      const input = `${encode(JSON.stringify({ alg: 'HS256', kid }))}.${encode(claims)}`
      const mac = createHmac('sha256', key).update(input).digest('base64url')
      assert.equal(codeOf(`${input}.${mac}`), 'GW_TOKEN_SIGNATURE')
    }
  }
})

test('an algorithm that the key could do and the policy does not allow is refused', async () => {
  for (const alg of ['RS384', 'RS512', 'PS256', 'PS512'] as const) {
    const token = await signedToken(alg, rsa.key, {
      header: JSON.stringify({ alg, kid: 'rsa' }),
      payload: claims,
    })
    assert.equal(codeOf(token), 'GW_TOKEN_SIGNATURE', alg)
  }
  for (const alg of ['es256', 'ES256 ', 'ES256K', 'toString', '__proto__', 'constructor'])
    assert.equal(codeOf(await headed(JSON.stringify({ alg, kid: 'ec' }))), 'GW_TOKEN_SIGNATURE', alg)
})

test('a key id is looked up in a map and nowhere else', async () => {
  const paths = [
    '../../../../dev/null',
    '/dev/null',
    'file:///etc/passwd',
    "x' UNION SELECT 'a",
    'a|id',
    '__proto__',
    '',
  ]
  for (const kid of paths) {
    const empty = createSecretKey(Buffer.alloc(1))
    const token = await signedToken('HS256', empty, {
      header: JSON.stringify({ alg: 'HS256', kid }),
      payload: claims,
    })
    assert.equal(codeOf(token), 'GW_TOKEN_SIGNATURE', kid)
  }
  for (const kid of ['x'.repeat(257), 5, null, ['ec'], { a: 1 }, true])
    assert.equal(codeOf(await headed(JSON.stringify({ alg: 'ES256', kid }))), 'GW_TOKEN_MALFORMED')
})

test('keys and key URLs inside a token are ignored', async () => {
  const attacker = new Issuer('ES256', 'ec')
  const jwk = JSON.parse(attacker.jwk()) as object
  for (const more of [
    { jwk },
    { jku: 'http://127.0.0.1:1/keys' },
    { x5u: 'http://127.0.0.1:1/cert' },
    { x5c: ['MIIB'] },
    { jwk, jku: 'http://127.0.0.1:1', x5t: 'a' },
  ]) {
    assert.equal(codeOf(await attacker.token(good, more)), 'GW_TOKEN_SIGNATURE')
    assert.equal(codeOf(await ec.token(good, more)), '', 'they do no harm beside a good signature')
  }
})

test('crit and b64 are refused, known or not', async () => {
  for (const more of [
    { crit: ['exp'], exp: 1 },
    { crit: ['b64'], b64: true },
    { crit: ['b64'], b64: false },
    { crit: [] },
    { crit: 'b64' },
    { crit: ['alg'] },
    { crit: ['x'] },
    { crit: null },
    { b64: false },
    { b64: true },
  ])
    assert.equal(codeOf(await ec.token(good, more)), 'GW_TOKEN_MALFORMED', JSON.stringify(more))
})

test('a duplicate name is refused in header and claims', async () => {
  assert.equal(codeOf(await headed('{"alg":"none","alg":"ES256","kid":"ec"}')), 'GW_TOKEN_MALFORMED')
  assert.equal(codeOf(await headed('{"alg":"ES256","kid":"ec","\\u0061lg":"ES256"}')), 'GW_TOKEN_MALFORMED')
  const header = '{"alg":"ES256","kid":"ec"}'
  for (const payload of [
    `{"sub":"root","sub":"ann","exp":${good.exp}}`,
    `{"exp":1,"sub":"ann","exp":${good.exp}}`,
    `{"sub":"ann","exp":${good.exp},"a":{"b":1,"b":2}}`,
  ])
    assert.equal(codeOf(await headed(header, payload)), 'GW_TOKEN_MALFORMED', payload)
})

test('a header or a payload that is not a JSON object is refused', async () => {
  for (const header of ['', '[]', 'null', '"ES256"', '{"alg":', '{"alg":5}', '{}', '\u{feff}{"alg":"ES256"}'])
    assert.equal(codeOf(await headed(header)), 'GW_TOKEN_MALFORMED', header)
  for (const payload of ['[]', 'null', '1', '"a"', '{', 'not json'])
    assert.equal(codeOf(await headed('{"alg":"ES256"}', payload)), 'GW_TOKEN_MALFORMED', payload)
  const notUtf8 = Buffer.from(`{"sub":"\xff","exp":${good.exp}}`, 'latin1')
  assert.equal(
    codeOf(await signedToken('ES256', ec.key, { header: '{"alg":"ES256"}', payload: notUtf8 })),
    'GW_TOKEN_MALFORMED',
  )
})

test('claims of another type than RFC 7519 has are refused', async () => {
  for (const change of [
    '"exp":"4102444800"',
    '"exp":null',
    '"exp":true',
    '"exp":[4102444800]',
    '"exp":1e999',
    '"exp":-1e999',
    '"exp":4102444800,"nbf":"0"',
    '"exp":4102444800,"iat":"0"',
    '"exp":4102444800,"iss":5',
    '"exp":4102444800,"iss":["a"]',
    '"exp":4102444800,"aud":5',
    '"exp":4102444800,"aud":["a",5]',
    '"exp":4102444800,"aud":{"a":1}',
    '"exp":4102444800,"jti":5',
  ])
    assert.equal(
      codeOf(await headed('{"alg":"ES256"}', `{"sub":"a",${change}}`)),
      'GW_TOKEN_MALFORMED',
      change,
    )
  assert.equal(codeOf(await headed('{"alg":"ES256"}', '{"sub":5,"exp":4102444800}')), 'GW_TOKEN_MALFORMED')
  assert.equal(codeOf(await headed('{"alg":"ES256"}', '{"sub":"a","exp":4102444800.5}')), '')
  assert.equal(codeOf(await headed('{"alg":"ES256"}', '{"sub":"a","exp":-4102444800}')), 'GW_TOKEN_EXPIRED')
})

test('a token has one spelling: no padding, spaces, other alphabets or stray bits', async () => {
  const token = await ec.token(good)
  const [header, payload, signature] = token.split('.') as [string, string, string]
  assert.equal(admit(token), null, 'so that a copy in the cache could match')
  const last = signature.at(-1)!
  const sibling = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const stray = sibling[sibling.indexOf(last) ^ 1]!
  for (const varied of [
    `${token}=`,
    `${token}==`,
    ` ${header}. ${payload}.${signature}`,
    `${header}.${payload} .${signature}`,
    `${header}.${payload}.${signature} `,
    `${header}=.${payload}.${signature}`,
    `${header}.${payload}\t.${signature}`,
    `${header}.${payload}.${signature.slice(0, -1)}${stray}`,
    `${token}.`,
    `.${token}`,
    `${header}..${signature}`,
    `${header}.${payload}`,
    `${header}.${payload}.`,
    `${header}.${payload}.${signature}.${signature}`,
    `${header}.${payload}.${signature}é`,
    `${header}%2e${payload}.${signature}`,
    `"${token}"`,
  ])
    assert.equal(codeOf(varied), 'GW_TOKEN_MALFORMED', varied)
})

test('a signature is for its own token', async () => {
  const [one, other] = [await ec.token(good), await ec.token({ ...good, sub: 'root' })]
  const [a, b] = [one.split('.'), other.split('.')]
  for (const mixed of [
    [a[0], b[1], a[2]],
    [b[0], a[1], b[2]],
  ])
    assert.equal(codeOf(mixed.join('.')), 'GW_TOKEN_SIGNATURE')
  assert.equal(codeOf(`${a[0]}.${a[1]}.${encode(Buffer.alloc(64))}`), 'GW_TOKEN_SIGNATURE')
})

test('a token inside of a token, and an encrypted one, are refused', async () => {
  const inner = await ec.token(good)
  assert.equal(codeOf(await headed('{"alg":"ES256","cty":"JWT"}', inner)), 'GW_TOKEN_MALFORMED')
  assert.equal(
    codeOf(await headed('{"alg":"ES256","cty":"JWT"}', JSON.stringify(inner))),
    'GW_TOKEN_MALFORMED',
  )
  const encrypted = await new CompactEncrypt(Buffer.from(claims))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(Buffer.alloc(32, 7))
  assert.equal(codeOf(encrypted), 'GW_TOKEN_MALFORMED')
})

test('a token of 1 MB is refused unread, and one at the limit is read', async () => {
  const long = await ec.token({ ...good, pad: 'x'.repeat(1024 * 1024) })
  assert.equal(codeOf(long), 'GW_TOKEN_MALFORMED')
  const wide = jwt.compile({ ...config, maxTokenBytes: '2mb' }, testEnv()) as Step
  assert.equal(admit(long, wide), null)
  const exact = jwt.compile({ ...config, maxTokenBytes: `${long.length}b` }, testEnv()) as Step
  assert.equal(admit(long, exact), null)
  const less = jwt.compile({ ...config, maxTokenBytes: `${long.length - 1}b` }, testEnv()) as Step
  assert.equal(admit(long, less)?.problem?.code, 'GW_TOKEN_MALFORMED')
})

test('documents made to be slow are not', async () => {
  const wide = jwt.compile({ ...config, maxTokenBytes: '2mb' }, testEnv()) as Step
  const beforeMs = cpuMs()
  const names = Array.from({ length: 40_000 }, (_, i) => `"${i}":{}`).join(',')
  for (const token of [
    `${'a'.repeat(1_000_000)}.${'b'.repeat(500_000)}`,
    '.'.repeat(1_000_000),
    'a.'.repeat(500_000),
    await headed(`{"alg":"ES256","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    await headed(`{"alg":"none","a":"${'\\\\'.repeat(200_000)}"}`),
  ])
    assert.notEqual(admit(token, wide), null)
  assert.equal(admit(await headed('{"alg":"ES256"}', `{"sub":"a","exp":${good.exp},${names}}`), wide), null)
  assert.ok(cpuMs() - beforeMs < 10_000)
})

test('no text gets in that jose would keep out', async () => {
  const token = await ec.token(good)
  const part = fc.constantFrom(...token.split('.'), '', 'e30', 'eyJhbGciOiJub25lIn0', 'AA', '=', ' ')
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const text = parts.join('.')
      const isOurs = admit(text) === null
      const isTheirs = await jwtVerify(text, ec.publicKey, { currentDate: new Date(NOW) }).then(
        () => true,
        () => false,
      )
      assert.equal(isOurs, text === token)
      if (isOurs) assert.equal(isTheirs, true)
    }),
    { numRuns: 300 },
  )
})

test('failures are not cached', async () => {
  const forged = `${(await ec.token(good)).slice(0, -4)}AAAA`
  const grows = jwt.compile({ ...config, cacheEntries: 2 }, testEnv()) as Step
  for (let i = 0; i < 50; i++) assert.notEqual(admit(`${forged}${i}`, grows), null)
  const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => ec.token({ ...good, sub })))
  for (const token of [...tokens, ...tokens]) assert.equal(admit(token, grows), null)
})
