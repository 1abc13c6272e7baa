import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { linesOf, receivedRequest } from '../message/request-facts.js'
import { exchange, schemaMistakes, testEnv } from '../testing.js'
import { contentDigest, type DigestAlgorithm } from './content-digest.js'
import { httpSignature } from './policy.js'
import { queryParameter } from './query-parameter.js'
import type { httpSignatureSchema, RequestVerificationConfig, SigningConfig } from './schema.js'
import { MessageSigner } from './signer.js'

type Config = Static<typeof httpSignatureSchema>

function pem(key: KeyObject): string {
  return String(key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }))
}

const pair = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signingKey = { id: 'k1', algorithm: 'ed25519' as const, key: pem(pair.privateKey) }
const keys = [
  {
    id: 'k1',
    algorithm: 'ed25519' as const,
    key: pem(pair.publicKey),
    consumer: 'acme',
    groups: ['partners'],
  },
]
function digestField(body: Uint8Array, algorithm: DigestAlgorithm): string {
  const field = contentDigest(body, algorithm)
  assert.ok(typeof field === 'string')
  return field
}

const BODY = Buffer.from('{"a":1}')
const TARGET = ['@method', '@authority', '@path', '@query']

function request(fields: Partial<Exchange> = {}): Exchange {
  return exchange({
    method: 'POST',
    authority: 'API.example.com:443',
    scheme: 'https',
    rawPath: '/caf%C3%A9/%7Euser',
    path: '/café/~user',
    query: 'q=a%20b&q=+',
    contentLength: BODY.length,
    headers: ['content-type', 'application/json', 'content-digest', digestField(BODY, 'sha-256')],
    ...fields,
  })
}

/** Signs as a client would. */
function signed(x: Exchange, config: Partial<SigningConfig> = {}, atMs = x.startedAt): Exchange {
  const components = [
    ...TARGET,
    ...(linesOf(x.headers, 'content-digest').length > 0 ? ['content-digest'] : []),
  ]
  const signature = new MessageSigner('request', { key: signingKey, components, ...config }).sign({
    message: { request: receivedRequest(x), response: null },
    headers: x.headers,
    body: null,
    nowMs: atMs,
  })
  assert.equal(signature, null)
  return x
}

async function compile(config: Config, table?: Map<string, unknown>): Promise<Step> {
  const step = await httpSignature.compile(config, testEnv(table))
  assert.ok(step !== null)
  return step
}

async function run(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body: Uint8Array = BODY,
): Promise<Outcome> {
  const step = await compile({ verify: { keys, ...config } })
  return (await step.onRequest!(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
}

async function code(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body?: Uint8Array,
): Promise<string> {
  return (await run(config, x, body))?.problem?.code ?? ''
}

async function detail(
  config: Partial<RequestVerificationConfig>,
  x: Exchange,
  body?: Uint8Array,
): Promise<string> {
  return (await run(config, x, body))?.problem?.detail ?? ''
}

function header(x: Exchange, name: string): string {
  return x.headers[x.headers.indexOf(name) + 1]!
}

function replaceHeader(x: Exchange, name: string, change: (value: string) => string): Exchange {
  x.headers[x.headers.indexOf(name) + 1] = change(header(x, name))
  return x
}

test('a request that is signed over method, target and body passes and names the consumer', async () => {
  const x = signed(request())
  assert.equal(await code({}, x), '')
  assert.deepEqual(x.consumer, { id: 'acme', name: 'acme', auth: 'http-signature', groups: ['partners'] })
  assert.equal(
    await code({}, signed(request(), { components: ['@method', '@target-uri', 'content-digest'] })),
    '',
  )
})

test('a request without a body needs no digest', async () => {
  const headers = ['accept', '*/*']
  assert.equal(
    await code({}, signed(request({ method: 'GET', contentLength: 0, headers })), new Uint8Array(0)),
    '',
  )
})

test('no signature is told from a wrong one', async () => {
  const outcome = await run({}, request())
  assert.equal(outcome?.status, 401)
  assert.equal(outcome?.problem?.code, 'GW_SIGNATURE_MISSING')
  assert.match(outcome?.problem?.detail ?? '', /"@method", "@target-uri" or .*"content-digest" of a body/)
  assert.deepEqual(outcome?.headers.slice(2), ['www-authenticate', 'Signature'])
  assert.equal(await code({ label: 'other' }, signed(request())), 'GW_SIGNATURE_MISSING')
  assert.equal(await code({ tag: 'app' }, signed(request(), { tag: 'app2' })), 'GW_SIGNATURE_MISSING')
  assert.equal(await code({ tag: 'app', label: 'l' }, signed(request(), { tag: 'app', label: 'l' })), '')
})

test('whatever was signed and then changed is refused', async () => {
  const changes: Partial<Exchange>[] = [
    { method: 'PUT' },
    { authority: 'api.example.org' },
    { scheme: 'http', authority: 'api.example.com:443' },
    { rawPath: '/caf%c3%a9/%7Euser' },
    { rawPath: '/caf%C3%A9/~user' },
    { query: 'q=a+b&q=+' },
    { query: 'q=+&q=a%20b' },
    { query: '' },
  ]
  for (const change of changes) {
    const x = Object.assign(signed(request()), change)
    assert.equal(await code({}, x), 'GW_SIGNATURE_INVALID', JSON.stringify(change))
  }
})

test('names of hosts are compared without case and without the default port', async () => {
  const x = signed(request())
  x.authority = 'api.EXAMPLE.com'
  assert.equal(await code({}, x), '')
})

test('a body that is not the signed one, and a digest that is not covered, are refused', async () => {
  assert.match(await detail({}, signed(request()), Buffer.from('{"a":2}')), /content-digest/)
  assert.match(await detail({}, signed(request(), { components: TARGET })), /does not cover/)
  const chunked = signed(request({ contentLength: -1 }), { components: TARGET })
  assert.equal(await code({}, chunked), 'GW_SIGNATURE_INVALID')
  const weak = request({ headers: ['content-digest', 'md5=:AAAA:'] })
  assert.equal(await code({}, signed(weak)), 'GW_SIGNATURE_INVALID')
  const two = digestField(BODY, 'sha-512')
  const wrong = digestField(Buffer.from('x'), 'sha-256')
  assert.equal(
    await code({}, signed(request({ headers: ['content-digest', two, 'content-digest', wrong] }))),
    'GW_SIGNATURE_INVALID',
  )
  const both = request({ headers: ['content-digest', two, 'content-digest', digestField(BODY, 'sha-256')] })
  assert.equal(await code({}, signed(both)), '')
})

test('a digest changed behind the signature is refused', async () => {
  const x = signed(request())
  const other = Buffer.from('{"a":2}')
  replaceHeader(x, 'content-digest', () => digestField(other, 'sha-256'))
  assert.equal(await code({}, x, other), 'GW_SIGNATURE_INVALID')
})

test('a large body is hashed elsewhere, to the same verdict', async () => {
  const large = Buffer.alloc(300_000, 'x')
  const field = await contentDigest(large, 'sha-512')
  const make = (): Exchange => signed(request({ contentLength: -1, headers: ['content-digest', field] }))
  assert.equal(await code({}, make(), large), '')
  assert.equal(await code({}, make(), large.subarray(1)), 'GW_SIGNATURE_INVALID')
})

test('contentDigest: off collects no body, if-covered checks what is covered', async () => {
  const off = await compile({ verify: { keys, contentDigest: 'off' } })
  assert.equal(off.onRequestBody, undefined)
  assert.equal(await off.onRequest!(signed(request(), { components: TARGET })), null)
  const config = { contentDigest: 'if-covered' as const }
  assert.equal(await code(config, signed(request(), { components: TARGET })), '')
  assert.equal(await code(config, signed(request()), Buffer.from('x')), 'GW_SIGNATURE_INVALID')
})

test('what has to be covered is, whichever way the signature says it', async () => {
  const config = { components: ['@method', 'x-tenant', '@query-param;name="id"'] }
  const make = (components: string[]): Exchange =>
    signed(request({ query: 'id=7', headers: [...request().headers, 'x-tenant', 'a'] }), { components })
  const all = ['@method', 'x-tenant', '@query-param;name="id"', 'content-digest']
  assert.equal(await code(config, make(all)), '')
  for (const left of all) {
    const components = all.filter((each) => each !== left)
    assert.match(await detail(config, make(components)), /does not cover/, left)
  }
  const bytes = make(all.map((each) => (each === 'x-tenant' ? 'x-tenant;bs' : each)))
  assert.match(await detail(config, bytes), /does not cover/)
})

test('a list of components that was changed is refused', async () => {
  const dropped = replaceHeader(signed(request()), 'signature-input', (value) =>
    value.replace(' "@query"', ''),
  )
  assert.equal(await code({ components: ['@method'] }, dropped), 'GW_SIGNATURE_INVALID')
  const swapped = replaceHeader(signed(request()), 'signature-input', (value) =>
    value.replace('"@method" "@authority"', '"@authority" "@method"'),
  )
  assert.equal(await code({}, swapped), 'GW_SIGNATURE_INVALID')
  const twice = replaceHeader(signed(request()), 'signature-input', (value) =>
    value.replace('"@method"', '"@method" "@method"'),
  )
  assert.match(await detail({}, twice), /cannot be read/)
})

test('the age of a signature has bounds on both sides', async () => {
  const at = (offsetMs: number, config: Partial<SigningConfig> = {}): Exchange => {
    const x = request()
    return signed(x, config, x.startedAt + offsetMs)
  }
  assert.equal(await code({ maxAge: '2m' }, at(-115_000)), '')
  assert.match(await detail({ maxAge: '2m' }, at(-125_000)), /too old, ahead/)
  assert.equal(await code({}, at(50_000)), '')
  assert.match(await detail({}, at(65_000)), /too old, ahead/)
  assert.equal(await code({ maxAge: '1h' }, at(-10_000, { expiresIn: '1m' })), '')
  assert.match(await detail({ maxAge: '1h' }, at(-70_000, { expiresIn: '1m' })), /expired/)
  const timeless = replaceHeader(at(0), 'signature-input', (value) => value.replace(/;created=\d+/, ''))
  assert.match(await detail({}, timeless), /no 'created'/)
  const later = replaceHeader(at(-400_000), 'signature-input', (value) =>
    value.replace(/created=\d+/, `created=${Math.floor(Date.now() / 1000)}`),
  )
  assert.match(await detail({}, later), /not that of a known key/)
})

test('the algorithm is the one of the key, whatever the message says', async () => {
  const asHmac = signed(request(), {
    key: { id: 'k1', algorithm: 'hmac-sha256', key: pem(pair.publicKey) },
    includeAlg: false,
  })
  assert.equal(await code({}, asHmac), 'GW_SIGNATURE_INVALID')
  const named = signed(request(), { key: { id: 'k1', algorithm: 'hmac-sha256', key: pem(pair.publicKey) } })
  assert.equal(await code({}, named), 'GW_SIGNATURE_INVALID')
  const lying = replaceHeader(signed(request()), 'signature-input', (value) =>
    value.replace('ed25519', 'none'),
  )
  assert.equal(await code({}, lying), 'GW_SIGNATURE_INVALID')
  const unknown = signed(request(), { key: { ...signingKey, id: 'k2' } })
  const other = generateKeyPairSync('ed25519')
  const wrong = signed(request(), { key: { ...signingKey, key: pem(other.privateKey) } })
  assert.equal(await detail({}, unknown), await detail({}, wrong))
})

test('a nonce is needed and taken once, also across reloads', async () => {
  const table = new Map<string, unknown>()
  const config: Config = { verify: { keys, replay: { maxEntries: 2 }, contentDigest: 'off' } }
  const x = signed(request(), { nonce: true })
  const again = request({ headers: [...x.headers] })
  assert.equal((await compile(config, table)).onRequest!(x), null)
  const replayed = (await (await compile(config, table)).onRequest!(again)) as Outcome
  assert.match(replayed?.problem?.detail ?? '', /used before/)
  const step = await compile(config, table)
  assert.match(
    ((await step.onRequest!(signed(request()))) as Outcome)?.problem?.detail ?? '',
    /needs a 'nonce'/,
  )
  assert.equal(await step.onRequest!(signed(request(), { nonce: true })), null)
  assert.equal(((await step.onRequest!(signed(request(), { nonce: true }))) as Outcome)?.status, 503)
  const afterwards = request({ startedAt: Date.now() + 7 * 60_000 })
  assert.equal(await step.onRequest!(signed(afterwards, { nonce: true })), null)
})

test('a body that fails its digest uses up no nonce', async () => {
  const step = await compile({ verify: { keys, replay: {} } })
  const x = signed(request(), { nonce: true })
  const again = request({ headers: [...x.headers] })
  await step.onRequest!(x)
  assert.equal(((await step.onRequestBody!(x, Buffer.from('other'))) as Outcome)?.status, 401)
  await step.onRequest!(again)
  assert.equal(await step.onRequestBody!(again, BODY), null)
})

test('fields that are truncated, oversized, doubled or in another shape are refused', async () => {
  const good = signed(request())
  const input = header(good, 'signature-input')
  const signature = header(good, 'signature')
  const pairs: [string, string][] = [
    [input.slice(0, -1), signature],
    [input, signature.slice(0, -1)],
    [input, signature.replace('==:', ':')],
    [input, signature.replace('sluice=:', 'sluice=:AAAA')],
    [input, `${signature.slice(0, 12)}:`],
    [input, 'sluice="text"'],
    [input, 'sluice'],
    [input.replace('(', '(('), signature],
    [input, ''],
    ['', signature],
    [`${input}, ${input}`, signature],
    [input, `${signature}, ${signature}`],
    [`${input}, other=()`, signature],
    [`${input},`, signature],
    [input.replace('created=', 'created="'), signature],
    [input.replace(/created=\d+/, 'created="1"'), signature],
    [input.replace('keyid="k1"', 'keyid=k1'), signature],
    [`${input};keyid="k1"`, signature],
    ['('.repeat(8000), signature],
    [
      Array.from({ length: 9 }, (_, i) => `s${i}=()`).join(', '),
      Array.from({ length: 9 }, (_, i) => `s${i}=:AA==:`).join(', '),
    ],
  ]
  for (const [changedInput, changedSignature] of pairs) {
    const headers = [...request().headers, 'signature-input', changedInput, 'signature', changedSignature]
    assert.equal(
      await code({}, request({ headers })),
      'GW_SIGNATURE_INVALID',
      `${changedInput} ${changedSignature}`,
    )
  }
})

test('lines of a field are one value, of signatures and of what they cover', async () => {
  const headers = [...request().headers, 'x-a', ' 1', 'x-a', '2 ']
  const x = signed(request({ headers }), { components: [...TARGET, 'content-digest', 'x-a'] })
  x.headers = x.headers.filter((_, i) => (x.headers[i - (i % 2)] ?? '') !== 'x-a')
  x.headers.push('x-a', '1, 2', 'signature-input', 'zz=()', 'signature', 'zz=:AAAA:')
  assert.equal(await code({}, x), '')
})

test('one valid signature among others is enough', async () => {
  const x = signed(request())
  replaceHeader(x, 'signature-input', (value) => `first=("@method");created=1;keyid="nobody", ${value}`)
  replaceHeader(x, 'signature', (value) => `first=:AAAA:, ${value}`)
  assert.equal(await code({}, x), '')
})

test('what is not supported is refused by name', async () => {
  const withComponent = (component: string): Exchange =>
    replaceHeader(signed(request()), 'signature-input', (value) =>
      value.replace('("@method"', `("@method" ${component}`),
    )
  const texts: [string, RegExp][] = [
    ['"x-t";tr', /trailers \('tr'\) are not supported/],
    ['"@foo"', /"@foo": it is not supported/],
    ['"@status"', /only a response has a status/],
    ['"date";req', /'req' is for signatures of responses/],
    ['"X-Upper"', /not a field name in lower case/],
    ['"x-own";sf', /shape of the field 'x-own' is not known/],
    ['"x-a";bs;key="b"', /'bs' goes neither/],
    ['"x-a";zz', /'zz' is not supported/],
    ['"x-a";bs=?0', /take no value/],
    ['"@query-param"', /needs the parameter 'name'/],
    ['"@query-param";name="q"', /does not have it, or not once/],
    ['"x-absent"', /does not have it/],
    ['"connection"', /does not have it/],
  ]
  for (const [component, expected] of texts)
    assert.match(await detail({}, withComponent(component)), expected, component)
})

test('structured fields are covered strictly, by member and as bytes', async () => {
  const headers = [...request().headers, 'x-d', 'a=1,  b=2;x ', 'x-d', 'c=(1   2)', 'priority', 'u=1,i']
  const components = [...TARGET, 'content-digest', 'x-d;key="c"', 'priority;sf', 'x-d;bs', 'x-own;sf']
  const x = signed(request({ headers }), { components: components.slice(0, -1) })
  x.headers[x.headers.indexOf('priority') + 1] = 'u=1 ,  i=?1'
  assert.equal(await code({}, x), '')
  replaceHeader(x, 'x-d', () => 'a=1, b=2;x')
  assert.equal(await code({}, x), 'GW_SIGNATURE_INVALID')
  assert.throws(() => signed(request(), { components }), /shape of the field 'x-own'/)
})

test('strip removes the signature before the upstream', async () => {
  const x = signed(request())
  assert.equal(await code({ strip: true }, x), '')
  assert.deepEqual(x.headers, request().headers)
})

test('a condition that turns true late does not let a request in unseen', async () => {
  const step = await compile({ verify: { keys } })
  assert.equal(
    ((await step.onRequestBody!(request(), BODY)) as Outcome)?.problem?.code,
    'GW_SIGNATURE_MISSING',
  )
})

test('requests to the upstream are signed as they are sent, for each attempt', async () => {
  const step = await compile({
    sign: { key: { id: 'gw', algorithm: 'rsa-pss-sha512', key: pem(rsa.privateKey) }, tag: 'gateway' },
  })
  const x = request({
    body: BODY,
    target: 'http://10.0.0.5:9000',
    sentHost: 'Orders.internal:80',
    sentPath: '/v2/a',
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
    sentPath: request().rawPath,
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

test('query parameters are compared as what they mean, and refused where that is unclear', () => {
  assert.equal(queryParameter('a=1+2&b', 'a'), '1%202')
  assert.equal(queryParameter('a=1+2&b', 'b'), '')
  assert.equal(queryParameter('%61=x!', 'a'), 'x%21')
  assert.equal(queryParameter('a=1&%61=2', 'a'), null)
  assert.equal(queryParameter('a=%FF', 'a'), null)
  assert.equal(queryParameter('a=%zz', 'a'), null)
  assert.equal(queryParameter('b=1', 'a'), null)
})

test('configurations that cannot work are refused with what to do', async () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const bad: [Config, RegExp][] = [
    [{ verify: { keys: [...keys, ...keys] } }, /stands twice/],
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
    [{ verify: { keys, components: ['x-a', 'X-A'] } }, /stands twice/],
    [{ sign: { key: { ...signingKey, key: pem(pair.publicKey) } } }, /cannot be read as a private key/],
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
