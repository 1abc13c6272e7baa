import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { consumerOf, type Exchange } from '@sluice/core'
import { keyPair, setFields } from '@sluice/core/testing'
import { linesOf } from '../../shared/message/request-facts.js'
import { exchange, schemaMistakes } from '../../testing.js'
import { queryParameter } from './component.js'
import { contentDigest } from './content-digest.js'
import { httpSignature } from './policy.js'
import {
  BODY,
  type Config,
  code,
  compile,
  header,
  keys,
  pair,
  pem,
  replaceHeader,
  request,
  rsa,
  run,
  signed,
  signingKey,
  TARGET,
} from './testing/messages.js'

test('a request that is signed over method, target and body passes and names the consumer', async () => {
  const x = signed(request())
  assert.equal(await code({}, x), '')
  assert.deepEqual(
    x.consumer,
    consumerOf('http-signature', 'acme', { credential: 'k1', groups: ['partners'] }),
  )
  assert.equal(
    await code({}, signed(request(), { components: ['@method', '@target-uri', 'content-digest'] })),
    '',
  )
})

test('the question mark of an empty query is part of the target that is signed', async () => {
  for (const components of [
    ['@method', '@target-uri', 'content-digest'],
    ['@method', '@authority', '@request-target', '@path', '@query', 'content-digest'],
  ]) {
    const x = signed(request({ query: '', hasEmptyQuery: true }), { components })
    assert.equal(await code({}, x), '')
    const other = signed(request({ query: '', hasEmptyQuery: true }), { components })
    setFields(other, { hasEmptyQuery: false })
    assert.equal(await code({}, other), 'GW_SIGNATURE_INVALID')
  }
})

test('a request without a body needs no digest', async () => {
  const headers = ['accept', '*/*']
  assert.equal(
    await code({}, signed(request({ method: 'GET', contentLength: 0, headers })), new Uint8Array(0)),
    '',
  )
})

test('no signature is distinguished from a wrong one', async () => {
  const outcome = await run({}, request())
  assert.equal(outcome?.status, 401)
  assert.equal(outcome?.problem?.code, 'GW_SIGNATURE_MISSING')
  assert.match(outcome?.problem?.detail ?? '', /"@method", "@target-uri" or .*"content-digest" of a body/)
  assert.deepEqual(outcome?.headers.slice(2), ['www-authenticate', 'Signature'])
  assert.equal(await code({ label: 'other' }, signed(request())), 'GW_SIGNATURE_MISSING')
  assert.equal(await code({ tag: 'app' }, signed(request(), { tag: 'app2' })), 'GW_SIGNATURE_MISSING')
  assert.equal(await code({ tag: 'app', label: 'l' }, signed(request(), { tag: 'app', label: 'l' })), '')
})

test('names of hosts are compared without case and without the default port', async () => {
  const x = signed(request())
  setFields(x, { authority: 'api.EXAMPLE.com' })
  assert.equal(await code({}, x), '')
})

test('a large body is hashed elsewhere, to the same verdict', async () => {
  const large = Buffer.alloc(300_000, 'x')
  const field = await contentDigest(large, 'sha-512')
  const make = (): Exchange => signed(request({ contentLength: -1, headers: ['content-digest', field] }))
  assert.equal(await code({}, make(), large), '')
  assert.equal(await code({}, make(), large.subarray(1)), 'GW_SIGNATURE_INVALID')
})

test('contentDigest: off does not buffer the body, if-covered checks covered digests', async () => {
  const off = await compile({ verify: { keys, contentDigest: 'off' } })
  assert.equal(off.onRequestBody, undefined)
  assert.equal(await off.onRequest!(signed(request(), { components: TARGET })), null)
  const config = { contentDigest: 'if-covered' as const }
  assert.equal(await code(config, signed(request(), { components: TARGET })), '')
  assert.equal(await code(config, signed(request()), Buffer.from('x')), 'GW_SIGNATURE_INVALID')
})

test('structured fields are covered strictly, by member and as bytes', async () => {
  const headers = [...request().headers, 'x-d', 'a=1,  b=2;x ', 'x-d', 'c=(1   2)', 'priority', 'u=1,i']
  const components = [...TARGET, 'content-digest', 'x-d;key="c"', 'priority;sf', 'x-d;bs', 'x-own;sf']
  const x = signed(request({ headers }), { components: components.slice(0, -1) })
  x.headers[x.headers.indexOf('priority') + 1] = 'u=1 ,  i=?1'
  assert.equal(await code({}, x), '')
  replaceHeader(x, 'x-d', () => 'a=1, b=2;x')
  assert.equal(await code({}, x), 'GW_SIGNATURE_INVALID')
  assert.throws(() => signed(request(), { components }), /type of the field 'x-own'/)
})

test('strip removes the signature before the upstream', async () => {
  const x = signed(request())
  assert.equal(await code({ strip: true }, x), '')
  assert.deepEqual(x.headers, request().headers)
})

test('requests to the upstream are signed as they are sent, for each attempt', async () => {
  const step = await compile({
    sign: { key: { id: 'gw', algorithm: 'rsa-pss-sha512', key: pem(rsa.privateKey) }, tag: 'gateway' },
  })
  const x = request({
    body: BODY,
    attempts: { target: 'http://10.0.0.5:9000', sentHost: 'Orders.internal:80', sentPath: '/v2/a' },
  })
  assert.equal(await step.onRequestBody!(x, BODY), null)
  await step.onAttempt!(x)
  const first = header(x, 'signature')
  await step.onAttempt!(x)
  assert.notEqual(header(x, 'signature'), first)
  assert.equal(linesOf(x.headers, 'signature').length, 1)
  assert.match(
    header(x, 'signature-input'),
    /^sluice=\("@method" "@target-uri" "content-digest"\);created=\d+;alg="rsa-pss-sha512";keyid="gw";tag="gateway"$/,
  )
  const arrived = exchange({
    ...x,
    scheme: 'http',
    authority: 'orders.internal',
    rawPath: '/v2/a',
    headers: x.headers,
  })
  const upstream = [{ id: 'gw', algorithm: 'rsa-pss-sha512' as const, key: pem(rsa.publicKey) }]
  assert.equal(await code({ keys: upstream }, arrived), '')
})

test('responses are signed together with their request, and verified', async () => {
  const step = await compile({
    signResponse: {
      key: signingKey,
      components: ['@status', 'content-digest', '@method;req', '@path;req', 'x-absent'],
    },
  })
  const x = request({
    status: 201,
    responseHeaders: ['content-type', 'application/json'],
    attempts: { sentPath: request().rawPath },
  })
  assert.equal(await step.onResponse!(x), null)
  assert.deepEqual(x.responseHeaders, ['content-type', 'application/json'])
  assert.equal(await step.onResponseBody!(x, BODY), null)
  const verifying = await compile({ verifyResponse: { keys } })
  const verdict = async (change: Partial<Exchange>, body: Uint8Array = BODY): Promise<string> => {
    const copy = exchange({ ...x, ...change })
    const outcome = (await verifying.onResponse!(copy)) ?? (await verifying.onResponseBody!(copy, body))
    return outcome?.problem?.code ?? ''
  }
  assert.equal(await verdict({}), '')
  assert.equal(await verdict({ status: 200 }), 'GW_RESPONSE_INVALID')
  assert.equal(await verdict({ method: 'PUT' }), 'GW_RESPONSE_INVALID')
  assert.equal(await verdict({ responseHeaders: [] }), 'GW_RESPONSE_INVALID')
  assert.equal(await verdict({}, Buffer.from('x')), 'GW_RESPONSE_INVALID')
})

test('a response without a body is signed by its head', async () => {
  const step = await compile({ signResponse: { key: signingKey } })
  for (const fields of [{ method: 'HEAD', status: 200 }, { status: 204 }, { status: 304 }]) {
    const x = request({ ...fields, responseHeaders: [] })
    assert.equal(await step.onResponse!(x), null)
    assert.match(x.responseHeaders[1] ?? '', /^sluice=\("@status"\)/)
  }
})

test('query parameters are compared decoded, and ambiguous ones are refused', () => {
  assert.equal(queryParameter('a=1+2&b', 'a'), '1%202')
  assert.equal(queryParameter('a=1+2&b', 'b'), '')
  assert.equal(queryParameter('%61=x!', 'a'), 'x%21')
  assert.equal(queryParameter('a=1&%61=2', 'a'), null)
  assert.equal(queryParameter('a=%FF', 'a'), null)
  assert.equal(queryParameter('a=%zz', 'a'), null)
  assert.equal(queryParameter('b=1', 'a'), null)
})

test('invalid configurations are rejected with a remedy', async () => {
  const small = keyPair('rsa', { modulusLength: 1024 })
  const other = keyPair('ec', { namedCurve: 'P-384' })
  const bad: [Config, RegExp][] = [
    [{ verify: { keys: [...keys, ...keys] } }, /is listed twice/],
    [
      { verify: { keys: [{ id: 'a', algorithm: 'rsa-pss-sha512', key: pem(small.publicKey) }] } },
      /1024 bits/,
    ],
    [
      { verify: { keys: [{ id: 'a', algorithm: 'ecdsa-p256-sha256', key: pem(other.publicKey) }] } },
      /secp384r1/,
    ],
    [
      { verify: { keys: [{ id: 'a', algorithm: 'rsa-v1_5-sha256', key: pem(pair.publicKey) }] } },
      /type ed25519/,
    ],
    [{ verify: { keys: [{ id: 'a', algorithm: 'hmac-sha256', key: 'short' }] } }, /at least 16/],
    [{ verify: { keys: [{ id: 'a', algorithm: 'ed25519', key: 'hello' }] } }, /neither PEM nor a JWK/],
    [{ verify: { keys, components: ['@nonsense'] } }, /not supported/],
    [{ verify: { keys, components: ['a b'] } }, /not a field name/],
    [{ verify: { keys, components: ['x-a', 'X-A'] } }, /is listed twice/],
    [{ sign: { key: { ...signingKey, key: pem(pair.publicKey) } } }, /is a public key/],
    [
      { verify: { keys: [{ id: 'a', algorithm: 'ed25519', key: pem(pair.privateKey) }] } },
      /is a private key; use the public one/,
    ],
    [
      { verify: { keys: [{ id: 'a', algorithm: 'ed25519', key: pem(pair.publicKey), groups: ['g'] }] } },
      /no 'consumer'/,
    ],
  ]
  for (const [config, expected] of bad) await assert.rejects(compile(config), expected)
  assert.deepEqual(schemaMistakes(httpSignature, { verify: { keys } }), [])
  assert.notDeepEqual(schemaMistakes(httpSignature, {}), [])
  assert.notDeepEqual(schemaMistakes(httpSignature, { verify: { keys: [] } }), [])
  const sha1 = { keys: [{ id: 'a', algorithm: 'rsa-sha1', key: 'k' }] }
  assert.notDeepEqual(schemaMistakes(httpSignature, { verify: sha1 }), [])
})

test('messages about keys never hold the key', async () => {
  const secret = randomBytes(12).toString('hex').slice(0, 14)
  const config: Config = { verify: { keys: [{ id: 'a', algorithm: 'hmac-sha256', key: secret }] } }
  await assert.rejects(compile(config), (error: Error) => !error.message.includes(secret))
})
