import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LookupFunction } from 'node:net'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { startLogged } from '../testing/traffic-records.js'
import { type Network, systemNetwork } from '../upstream/transport/network.js'

/** Starts a gateway that accepts tokens of an issuer. */
async function gatewayTrusting(t: TestContext, jwks: object, more: object = {}) {
  return (await startTrusting(t, jwks, more)).ask
}

async function startTrusting(
  t: TestContext,
  jwks: object,
  more: object = {},
  network: Network = systemNetwork(),
) {
  const policy = JSON.stringify({ use: 'jwt', with: { jwks: { timeout: '10s', ...jwks }, ...more } })
  const text = `version: 1\nroutes: [{ id: a, respond: { status: 204 }, policies: [${policy}] }]\n`
  const { routes } = loadOrThrow(text, catalog).plan
  const { url, events, records } = await startLogged(t, { routes }, {}, { catalog, network })
  const ask = async (token: string): Promise<number> =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
  return { ask, events, records }
}

interface IssuerKey {
  readonly jwk: JWK
  sign(claims?: Readonly<Record<string, unknown>>, expiry?: number): Promise<string>
}

async function keyOf(kid: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
  const sign: IssuerKey['sign'] = (claims = {}, expiry) =>
    new SignJWT({ sub: 'ann', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setExpirationTime(expiry ?? '1h')
      .sign(privateKey)
  return { jwk, sign }
}

const answerKeys = (keys: () => unknown[]) => (_: IncomingMessage, res: ServerResponse) =>
  res.end(JSON.stringify({ keys: keys() }))

test('keys are fetched once, refreshed after a change, and survive an outage', async (t) => {
  const [first, second, stranger] = await Promise.all([keyOf('1'), keyOf('2'), keyOf('3')])
  let published = [first.jwk]
  let calls = 0
  let isDown = false
  const issuer = await httpOrigin(t, (req, res) => {
    calls++
    if (isDown) req.socket.destroy()
    else answerKeys(() => published)(req, res)
  })
  const ask = await gatewayTrusting(t, { url: `${issuer.url}/keys?a=1` })
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, i) => first.sign({ n: i })))
  assert.ok((await Promise.all(tokens.map(ask))).every((status) => status === 204))
  assert.equal(calls, 1)
  published = [second.jwk]
  const late = await second.sign()
  assert.deepEqual(await Promise.all([ask(late), ask(late), ask(late)]), [204, 204, 204])
  assert.equal(calls, 2)
  assert.equal(await ask(tokens[0]!), 401, 'the issuer has withdrawn the key')
  assert.equal(await ask(await stranger.sign()), 401)
  isDown = true
  assert.equal(await ask(await second.sign({ n: 2 })), 204)
})

test('discovery finds the keys of an issuer, which sign for no other', async (t) => {
  const key = await keyOf('1')
  let metadata: object = {}
  const issuer = await httpOrigin(t, (req, res) => {
    if (req.url === '/realm/.well-known/openid-configuration') res.end(JSON.stringify(metadata))
    else if (req.url === '/certs') answerKeys(() => [key.jwk])(req, res)
    else res.writeHead(404).end()
  })
  const iss = `${issuer.url}/realm`
  metadata = { issuer: iss, jwks_uri: `${issuer.url}/certs` }
  const ask = await gatewayTrusting(t, { discovery: iss })
  assert.equal(await ask(await key.sign({ iss })), 204)
  assert.equal(await ask(await key.sign({ iss: 'https://other.example' })), 401)
  metadata = { issuer: 'https://other.example', jwks_uri: `${issuer.url}/certs` }
  const mixedUp = await startTrusting(t, { discovery: iss })
  assert.equal(await mixedUp.ask(await key.sign({ iss })), 503)
  const reason = `the metadata is of the issuer "https://other.example", not of "${iss}"`
  const [failed] = mixedUp.events.filter(({ event }) => event === 'jwt_keys_failed')
  assert.deepEqual(failed?.fields, { endpoint: iss, reason })
  const [record] = await mixedUp.records()
  assert.equal(record?.error?.['reason'], reason)
})

test('metadata cannot point to link-local addresses, in any spelling or by name', async (t) => {
  const asked: string[] = []
  const lookup: LookupFunction = (name, _, done) => {
    asked.push(name)
    done(null, [{ address: '169.254.169.254', family: 4 }])
  }
  const network = { ...systemNetwork(), lookup }
  const places = [
    ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518'],
    ...['[::ffff:169.254.169.254]', '[fe80::1]', '[fd00:ec2::254]', '100.100.100.200', 'keys.test'],
  ]
  for (const place of places) {
    const issuer = await httpOrigin(t, (_, res) =>
      res.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `http://${place}:1/certs` })),
    )
    const { ask, events } = await startTrusting(t, { discovery: issuer.url }, {}, network)
    const key = await keyOf('1')
    assert.equal(await ask(await key.sign({ iss: issuer.url })), 503, place)
    const failed = events.find(({ event }) => event === 'jwt_keys_failed')
    assert.match(JSON.stringify(failed), /are not allowed|no address that is allowed/, place)
  }
  assert.deepEqual(asked, ['keys.test'])
})

test('an issuer that is down, late or invalid causes 503', async (t) => {
  const key = await keyOf('1')
  const token = await key.sign()
  const text = JSON.stringify({ keys: [key.jwk] })
  const secret = { kty: 'oct', kid: '1', k: Buffer.alloc(32).toString('base64url') }
  const answers: Readonly<Record<string, (res: ServerResponse) => void>> = {
    'another status': (res) => res.writeHead(500).end(text),
    'a redirect': (res) => res.writeHead(302, { location: '/keys' }).end(text),
    'no JSON': (res) => res.end('<html>'),
    'no set': (res) => res.end('{"keys":{}}'),
    'an empty set': (res) => res.end('{"keys":[]}'),
    'a set twice': (res) => res.end(`{"keys":[],${text.slice(1)}`),
    'only a secret': (res) => res.end(JSON.stringify({ keys: [secret] })),
    'too much': (res) => res.end(text + ' '.repeat(1024 * 1024)),
    'nothing for 2 s': (res) => void setTimeout(() => res.end(text), 2000).unref(),
    'half an answer': (res) => {
      res.writeHead(200, { 'content-length': text.length })
      res.write(text.slice(0, 9), () => res.destroy())
    },
  }
  await Promise.all(
    Object.entries(answers).map(async ([name, answer]) => {
      const issuer = await httpOrigin(t, (_, res) => answer(res))
      const ask = await gatewayTrusting(
        t,
        { url: issuer.url, timeout: '500ms' },
        { algorithms: ['ES256', 'HS256'] },
      )
      assert.equal(await ask(token), 503, name)
    }),
  )
  const away = await gatewayTrusting(t, { url: `http://127.0.0.1:${await closedPort()}` })
  assert.equal(await away(token), 503)
  const garbage = await rawOrigin(t, (socket) => void socket.end('\x00\x01 no http \xff'))
  assert.equal(await (await gatewayTrusting(t, { url: garbage.url }))(token), 503)
})

test('unusable keys in a set are skipped, and a public key never serves as a secret', async (t) => {
  const key = await keyOf('1')
  const issuer = await httpOrigin(
    t,
    answerKeys(() => [
      { kty: 'EC', kid: 'odd', crv: 'secp256k1', x: 'AA', y: 'AA' },
      { kty: 'OKP', kid: 'broken' },
      { kty: 'lattice', kid: 'new' },
      { ...key.jwk, kid: 'enc', use: 'enc' },
      7,
      key.jwk,
    ]),
  )
  const ask = await gatewayTrusting(t, { url: issuer.url }, { algorithms: ['ES256', 'HS256'] })
  assert.equal(await ask(await key.sign()), 204)
  const confused = await new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg: 'HS256', kid: '1' })
    .setExpirationTime('1h')
    .sign(Buffer.from(JSON.stringify(key.jwk)))
  assert.equal(await ask(confused), 401)
})

test('a token cannot choose the location of its keys', async (t) => {
  const [known, forged] = await Promise.all([keyOf('1'), keyOf('2')])
  let calls = 0
  const thief = await httpOrigin(t, (req, res) => {
    calls++
    answerKeys(() => [forged.jwk])(req, res)
  })
  const issuer = await httpOrigin(
    t,
    answerKeys(() => [known.jwk]),
  )
  const ask = await gatewayTrusting(t, { url: issuer.url })
  const { privateKey } = await generateKeyPair('ES256')
  for (const header of [{ jku: thief.url }, { x5u: thief.url }, { jwk: forged.jwk }, { kid: thief.url }]) {
    const token = await new SignJWT({ sub: 'ann', iss: thief.url })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .setExpirationTime('1h')
      .sign(privateKey)
    assert.equal(await ask(token), 401)
  }
  assert.equal(calls, 0)
})

test('old and new tokens are accepted during a key rotation', async (t) => {
  const [first, second] = await Promise.all([keyOf('1'), keyOf('2')])
  let published = [first.jwk]
  const issuer = await httpOrigin(
    t,
    answerKeys(() => published),
  )
  const ask = await gatewayTrusting(t, { url: issuer.url, refresh: '1s' })
  assert.equal(await ask(await first.sign()), 204)
  published = [first.jwk, second.jwk]
  const tokens = await Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? first : second).sign({ n: i })),
  )
  assert.ok((await Promise.all(tokens.map(ask))).every((status) => status === 204))
  await until(async () => (await ask(await second.sign({ n: 'last' }))) === 204)
})

const REFUSED: readonly (readonly [jwks: object, reason: RegExp])[] = [
  [{}, /needs exactly one of file, inline, url and discovery/],
  [{ url: 'https://a.example/', discovery: 'https://a.example' }, /needs exactly one of/],
  [{ discovery: 'https://a.example/.well-known/openid-configuration' }, /use the issuer, without/],
  [{ url: 'ftp://a.example/' }, /'jwks.url' is not a valid address/],
  [{ url: 'https://ann:pw@a.example/' }, /'jwks.url' has a user/],
  [{ url: 'https://a.example/', timeout: '1m' }, /'jwks.timeout' must be/],
]
test('where the clock of the issuer is 10 minutes ahead or behind, clockSkew decides', async (t) => {
  const key = await keyOf('1')
  const issuer = await httpOrigin(
    t,
    answerKeys(() => [key.jwk]),
  )
  const now = Math.floor(Date.now() / 1000)
  const signed = (from: number, to: number): Promise<string> =>
    key.sign({ nbf: now + from, iat: now + from }, now + to)
  const [ahead, behind, right] = await Promise.all([signed(600, 1200), signed(-1200, -600), signed(0, 600)])
  const strict = await gatewayTrusting(t, { url: issuer.url })
  assert.deepEqual([await strict(ahead), await strict(behind), await strict(right)], [401, 401, 204])
  const patient = await gatewayTrusting(t, { url: issuer.url }, { clockSkew: '11m' })
  assert.deepEqual([await patient(ahead), await patient(behind), await patient(right)], [204, 204, 204])
})

test('invalid settings are refused on load', async (t) => {
  for (const [jwks, reason] of REFUSED) {
    await assert.rejects(gatewayTrusting(t, { timeout: undefined, ...jwks }), reason)
  }
})

test('keys in a content coding are read, and a bomb is refused', async (t) => {
  const key = await keyOf('1')
  const body = Buffer.from(JSON.stringify({ keys: [key.jwk] }))
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))
  for (const [coding, bytes, expected] of [
    ['gzip', gzipSync(body), 204],
    ['X-GZIP', gzipSync(body), 204],
    ['deflate', deflateSync(body), 204],
    ['br', brotliCompressSync(body), 204],
    ['gzip', body, 503],
    ['gzip', gzipSync(body).subarray(0, 40), 503],
    ['gzip', bomb, 503],
  ] as const) {
    const issuer = await httpOrigin(t, (_, res) =>
      res.writeHead(200, { 'content-encoding': coding }).end(bytes),
    )
    const ask = await gatewayTrusting(t, { url: issuer.url })
    assert.equal(await ask(await key.sign()), expected, `${coding} ${bytes.length}`)
  }
})

test('two keys under one id are both tried, and no more than four', async (t) => {
  const keys = await Promise.all(Array.from({ length: 6 }, () => keyOf('1')))
  const issuer = await httpOrigin(
    t,
    answerKeys(() => keys.map(({ jwk }) => jwk)),
  )
  const ask = await gatewayTrusting(t, { url: issuer.url })
  const statuses = []
  for (const key of keys) statuses.push(await ask(await key.sign()))
  assert.deepEqual(statuses, [204, 204, 204, 204, 401, 401])
})

test('a reused key id is fetched again, at most every 10 s for wrong signatures', async (t) => {
  const [first, second, forger] = await Promise.all([keyOf('1'), keyOf('1'), keyOf('1')])
  let published = first.jwk
  let calls = 0
  const issuer = await httpOrigin(t, (req, res) => {
    calls++
    answerKeys(() => [published])(req, res)
  })
  const ask = await gatewayTrusting(t, { url: issuer.url })
  assert.equal(await ask(await first.sign()), 204)
  published = second.jwk
  assert.equal(await ask(await second.sign()), 204)
  assert.equal(await ask(await first.sign({ jti: 'late' })), 401, 'the old key counts no longer')
  for (let i = 0; i < 20; i++) assert.equal(await ask(await forger.sign({ jti: String(i) })), 401)
  assert.equal(calls, 2)
})
