import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Exchange, Outcome } from '@sluice/core'
import { CompactSign, compactVerify, FlattenedSign, flattenedVerify } from 'jose'
import { encode, Issuer, signedToken } from '../../crypto/jose/testing/issuer.js'
import { DETACHED_7797, SECRET_7515, SIGNATURE_VECTORS } from '../../crypto/jose/testing/rfc-vectors.js'
import { mac } from '../../crypto/keys/signature.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { jws } from './policy.js'
import type { jwsSchema } from './schema.js'

type JwsConfig = Static<typeof jwsSchema>

const issuer = new Issuer('ES256', 'main')
const rsa = new Issuer('RS256', 'rsa')
const keys = [{ jwk: issuer.jwk() }, { jwk: rsa.jwk() }]
const verify: JwsConfig['verify'] = { keys, algorithms: ['ES256', 'RS256'] }
const privatePem = (of: Issuer): string => of.key.export({ type: 'pkcs8', format: 'pem' }) as string
const signWith = { key: { kid: 'main', pem: privatePem(issuer) }, algorithm: 'ES256' as const }
const TEXT = '{"amount":12}'

async function run(config: JwsConfig, body: string | Uint8Array, fields: Partial<Exchange> = {}) {
  const step = jws.compile(config, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const bytes = Buffer.from(body as string)
  const isResponse = config.phase === 'response'
  const x = exchange({
    method: 'POST',
    ...(isResponse ? { status: 200, responseBody: bytes } : { body: bytes }),
    ...fields,
  })
  const outcome = await (isResponse ? step.onResponseBody?.(x, bytes) : step.onRequestBody?.(x, bytes))
  return { x, outcome: (outcome ?? null) as Outcome, code: outcome?.problem?.code ?? '' }
}

const text = (bytes: Uint8Array | null): string => Buffer.from(bytes!).toString()

test('a compact body is checked and unwrapped', async () => {
  const token = await issuer.token({ amount: 12 })
  const { x, outcome } = await run({ verify }, token, { headers: ['content-type', 'application/jose'] })
  assert.equal(outcome, null)
  assert.equal(text(x.body), TEXT)
  assert.deepEqual(x.headers, ['content-type', 'application/json'])
  assert.equal(x.vars?.get('jws'), 'main')
})

test('payload: keep leaves the body', async () => {
  const token = await issuer.token({ amount: 12 })
  const { x } = await run({ verify: { ...verify, payload: 'keep' } }, token)
  assert.equal(text(x.body), token)
})

test('the examples of the standards are accepted', async () => {
  for (const { alg, jwk, token, source } of SIGNATURE_VECTORS) {
    const config = { verify: { keys: [{ jwk: JSON.stringify(jwk) }], algorithms: [alg] } } as JwsConfig
    const [head, payload, signature] = token.split('.')
    const { x, outcome } = await run(config, token)
    assert.equal(outcome, null, source)
    assert.equal(text(x.body), Buffer.from(payload!, 'base64url').toString())
    const flattened = JSON.stringify({ payload, protected: head, signature })
    assert.equal((await run({ ...config, form: 'json' }, flattened)).outcome, null, source)
    const detached = { ...config, form: 'detached', unencoded: false } as const
    const headers = ['x-jws-signature', `${head}..${signature}`]
    assert.equal((await run(detached, Buffer.from(payload!, 'base64url'), { headers })).outcome, null, source)
  }
})

test('the detached example of RFC 7797 is accepted, and not for another body or without crit', async () => {
  const config: JwsConfig = {
    form: 'detached',
    verify: { keys: [{ jwk: JSON.stringify(SECRET_7515) }], algorithms: ['HS256'] },
  }
  const headers = ['x-jws-signature', DETACHED_7797.token]
  const good = await run(config, DETACHED_7797.payload, { headers })
  assert.equal(good.outcome, null)
  assert.equal(text(good.x.body), DETACHED_7797.payload)
  assert.equal((await run(config, '$.03', { headers })).code, 'GW_SIGNATURE_INVALID')
  assert.equal((await run({ ...config, unencoded: false }, '$.02', { headers })).code, 'GW_SIGNATURE_INVALID')
  const key = createSecretKey(Buffer.from(SECRET_7515.k, 'base64url'))
  for (const header of [
    '{"alg":"HS256","b64":false}',
    '{"alg":"HS256","b64":false,"crit":["b64","x"],"x":1}',
    '{"alg":"HS256"}',
  ]) {
    const input = `${encode(header)}.$.02`
    const token = `${encode(header)}..${encode(mac('sha256', key, Buffer.from(input)))}`
    const { code } = await run(config, '$.02', { headers: ['x-jws-signature', token] })
    assert.equal(code, 'GW_SIGNATURE_INVALID', header)
  }
})

test('jose and the policy accept signatures of the policy', async () => {
  for (const body of [TEXT, `{"pad":"${'x'.repeat(100_000)}"}`]) {
    const { x } = await run({ sign: { ...signWith, typ: 'order', cty: 'json' } }, body)
    const { payload, protectedHeader } = await compactVerify(x.body!, issuer.publicKey)
    assert.equal(text(payload), body)
    assert.deepEqual(protectedHeader, { alg: 'ES256', kid: 'main', typ: 'order', cty: 'json' })
    assert.deepEqual(x.headers, ['content-type', 'application/jose'])
    assert.equal(text((await run({ verify }, x.body!)).x.body), body)
    const flat = await run({ form: 'json', sign: signWith }, body)
    const checked = await flattenedVerify(JSON.parse(text(flat.x.body)), issuer.publicKey)
    assert.equal(text(checked.payload), body)
    const detached = await run({ form: 'detached', header: 'X-Sig', sign: signWith }, body, {
      headers: ['x-sig', 'forged'],
    })
    assert.equal(text(detached.x.body), body)
    const [name, value] = detached.x.headers
    assert.equal(name, 'x-sig')
    const [head, , signature] = value!.split('.')
    await flattenedVerify(
      { protected: head!, payload: Buffer.from(body), signature: signature! },
      issuer.publicKey,
    )
  }
})

test('signatures of jose are accepted', async () => {
  for (const body of [TEXT, 'x'.repeat(100_000)]) {
    const compact = await new CompactSign(Buffer.from(body))
      .setProtectedHeader({ alg: 'RS256', kid: 'rsa' })
      .sign(rsa.key)
    assert.equal((await run({ verify }, compact)).outcome, null)
    const flat = await new FlattenedSign(Buffer.from(body))
      .setProtectedHeader({ alg: 'ES256' })
      .setUnprotectedHeader({ kid: 'main' })
      .sign(issuer.key)
    const json = await run({ form: 'json', verify }, JSON.stringify(flat))
    assert.equal(text(json.x.body), body)
    const unencoded = await new FlattenedSign(Buffer.from(body))
      .setProtectedHeader({ alg: 'ES256', b64: false, crit: ['b64'] })
      .sign(issuer.key)
    const headers = ['x-jws-signature', `${unencoded.protected}..${unencoded.signature}`]
    assert.equal((await run({ form: 'detached', verify }, body, { headers })).outcome, null)
  }
})

test('a signature that is missing, unreadable or wrong is refused with its own code', async () => {
  const token = await issuer.token({ a: 1 })
  const forged = `${token.slice(0, -6)}AAAAAA`
  const cases: readonly [JwsConfig, string, readonly string[], string][] = [
    [{ verify }, '', [], 'GW_SIGNATURE_MISSING'],
    [{ verify }, TEXT, [], 'GW_BODY_UNPARSABLE'],
    [{ verify }, `${token}\n`, [], 'GW_BODY_UNPARSABLE'],
    [{ verify }, `${token}.${token}`, [], 'GW_BODY_UNPARSABLE'],
    [{ verify }, forged, [], 'GW_SIGNATURE_INVALID'],
    [{ form: 'json', verify }, token, [], 'GW_BODY_UNPARSABLE'],
    [{ form: 'json', verify }, '{"payload":"AA","signatures":[]}', [], 'GW_BODY_UNPARSABLE'],
    [{ form: 'detached', verify }, TEXT, [], 'GW_SIGNATURE_MISSING'],
    [{ form: 'detached', verify }, TEXT, ['x-jws-signature', 'a'], 'GW_SIGNATURE_INVALID'],
    [
      { form: 'detached', verify },
      TEXT,
      ['x-jws-signature', 'a', 'x-jws-signature', 'a'],
      'GW_SIGNATURE_INVALID',
    ],
    [
      { form: 'detached', verify },
      TEXT,
      ['x-jws-signature', token.replace(/\..*\./, '..')],
      'GW_SIGNATURE_INVALID',
    ],
  ]
  for (const [config, body, headers, expected] of cases) {
    const { code, outcome } = await run(config, body, { headers: [...headers] })
    assert.equal(code, expected, `${body} ${headers.join()}`)
    if (outcome?.status === 401) assert.ok(outcome.headers.includes('www-authenticate'))
  }
})

test('a response that is not signed well is the fault of the upstream', async () => {
  const token = await issuer.token({ amount: 12 })
  const config: JwsConfig = { phase: 'response', verify }
  const good = await run(config, token)
  assert.equal(text(good.x.responseBody), TEXT)
  assert.deepEqual(good.x.responseHeaders, ['content-type', 'application/json'])
  for (const body of ['', TEXT, `${token}A`])
    assert.equal((await run(config, body)).code, 'GW_RESPONSE_INVALID')
  assert.equal((await run(config, '', { status: 204 })).outcome, null)
  assert.equal((await run(config, '', { method: 'HEAD' })).outcome, null)
  const gzip = { responseHeaders: ['content-encoding', 'gzip'] }
  assert.equal((await run(config, token, gzip)).code, 'GW_RESPONSE_INVALID')
})

test('a request in a content coding is refused', async () => {
  const token = await issuer.token({})
  assert.equal(
    (await run({ verify }, token, { headers: ['content-encoding', 'gzip'] })).code,
    'GW_MEDIA_TYPE',
  )
  assert.equal((await run({ verify }, token, { headers: ['content-encoding', 'identity'] })).outcome, null)
})

test('attacks on the header are refused', async () => {
  const payload = TEXT
  for (const header of [
    '{"alg":"none"}',
    '{"alg":"HS256"}',
    '{"alg":"ES256","alg":"ES256"}',
    '{"alg":"ES256","crit":["x"],"x":1}',
    '{"alg":"ES256","b64":false,"crit":["b64"]}',
    '{"alg":"ES256","kid":"../main"}',
    '[]',
  ]) {
    const token = await signedToken('ES256', issuer.key, { header, payload })
    assert.match((await run({ verify }, token)).code, /GW_BODY_UNPARSABLE|GW_SIGNATURE_INVALID/, header)
  }
  const attacker = new Issuer('ES256', 'main')
  const token = await attacker.token({ a: 1 }, { jwk: JSON.parse(attacker.jwk()) })
  assert.equal((await run({ verify }, token)).code, 'GW_SIGNATURE_INVALID')
  assert.equal((await run({ verify }, token.padEnd(200_000, 'A'))).code, 'GW_SIGNATURE_INVALID')
})

test('the unprotected header of JSON may name the key and nothing else', async () => {
  const flat = await new FlattenedSign(Buffer.from('a')).setProtectedHeader({ alg: 'ES256' }).sign(issuer.key)
  for (const header of [
    { kid: 'main', alg: 'none' },
    { jwk: {} },
    { kid: 5 },
    'main',
    null,
    [],
    { kid: 'x'.repeat(257) },
  ])
    assert.equal(
      (await run({ form: 'json', verify }, JSON.stringify({ ...flat, header }))).code,
      'GW_BODY_UNPARSABLE',
    )
  const named = await new FlattenedSign(Buffer.from('a'))
    .setProtectedHeader({ alg: 'ES256', kid: 'main' })
    .sign(issuer.key)
  const twice = JSON.stringify({ ...named, header: { kid: 'main' } })
  assert.equal((await run({ form: 'json', verify }, twice)).code, 'GW_BODY_UNPARSABLE')
  const repeated = JSON.stringify(flat).replace('"payload":', '"payload":"AA","payload":')
  assert.equal((await run({ form: 'json', verify }, repeated)).code, 'GW_BODY_UNPARSABLE')
})

test('types reject tokens that the same key signs for other purposes', async () => {
  const config: JwsConfig = { verify: { ...verify, types: ['order+jws'] } as JwsConfig['verify'] & object }
  assert.equal((await run(config, await issuer.token({}, { typ: 'application/ORDER+jws' }))).outcome, null)
  assert.equal((await run(config, await issuer.token({}, { typ: 'JWT' }))).code, 'GW_SIGNATURE_INVALID')
  assert.equal((await run(config, await issuer.token({}))).code, 'GW_SIGNATURE_INVALID')
})

test('an empty request is not signed, and RSA signs later', async () => {
  const empty = await run({ sign: signWith }, '')
  assert.equal(empty.x.body?.length, 0)
  assert.deepEqual(empty.x.headers, [])
  const { x } = await run({ sign: { key: { pem: privatePem(rsa) }, algorithm: 'PS512' } }, TEXT)
  await compactVerify(x.body!, rsa.publicKey)
})

test('a limit of its own lowers those of the listener', () => {
  const config = { verify, maxBodyBytes: '1kb' }
  const [request, response] = [exchange(), exchange()]
  const on = jws.compile(config, testEnv()) as { onRequest(x: Exchange): null }
  assert.equal(on.onRequest(request), null)
  assert.equal(request.bodyLimit, 1024)
  const back = jws.compile({ ...config, phase: 'response' }, testEnv()) as { onResponse(x: Exchange): null }
  assert.equal(back.onResponse(response), null)
  assert.equal(response.responseBodyLimit, 1024)
})

test('configuration mistakes are reported with a remedy', () => {
  const compile = (config: JwsConfig) => () => jws.compile(config, testEnv())
  assert.throws(compile({}), /write either 'verify' or 'sign'/)
  assert.throws(compile({ verify, sign: signWith }), /write either 'verify' or 'sign'/)
  assert.throws(
    compile({ sign: { ...signWith, algorithm: 'RS256' } }),
    /the key under 'sign' does not fit RS256/,
  )
  assert.throws(
    compile({ sign: { key: { pem: issuer.pem() }, algorithm: 'ES256' } }),
    /is a public key; a private one is required to sign/,
  )
  assert.throws(compile({ sign: { key: { jwk: issuer.jwk() }, algorithm: 'ES256' } }), /is a public key/)
  assert.throws(
    compile({ sign: { key: { secret: 'short' }, algorithm: 'HS256' } }),
    /secret of 5 bytes; HS256 needs at least 32, or set allowWeak/,
  )
  assert.throws(compile({ form: 'detached', header: 'a b', verify }), /is not a valid header name/)
  compile({ allowWeak: true, sign: { key: { secret: 'short' }, algorithm: 'HS256' } })()
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { verify: { keys: [{ jwk: '{}' }], algorithms: ['ES256'] } }
  assert.deepEqual(schemaMistakes(jws, defaulted), [])
  assert.deepEqual(defaulted, {
    phase: 'request',
    form: 'compact',
    header: 'x-jws-signature',
    unencoded: true,
    allowWeak: false,
    verify: {
      keys: [{ jwk: '{}', secretEncoding: 'utf8' }],
      algorithms: ['ES256'],
      payload: 'unwrap',
      contentType: 'application/json',
    },
  })
  for (const config of [
    { verify: { keys: [], algorithms: ['ES256'] } },
    { verify: { keys: [{ jwk: '{}' }] } },
    { sign: { key: {}, algorithm: 'none' } },
    { form: 'general' },
    { verify: { algorithms: ['ES256'], contentType: 'a\r\nb: c' } },
  ])
    assert.notDeepEqual(schemaMistakes(jws, config), [], JSON.stringify(config))
})
