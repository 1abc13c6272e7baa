import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Outcome } from '@sluice/core'
import { keyPair, setFields } from '@sluice/core/testing'
import type { SigningConfig } from './schema.js'
import {
  BODY,
  type Config,
  code,
  compile,
  detail,
  digestField,
  header,
  keys,
  pair,
  pem,
  replaceHeader,
  request,
  signed,
  signingKey,
  TARGET,
} from './testing/messages.js'

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

test('a digest changed after the signature is refused', async () => {
  const x = signed(request())
  const other = Buffer.from('{"a":2}')
  replaceHeader(x, 'content-digest', () => digestField(other, 'sha-256'))
  assert.equal(await code({}, x, other), 'GW_SIGNATURE_INVALID')
})

test('required components must be covered, however the signature lists them', async () => {
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
  assert.match(await detail({}, twice), /are not valid/)
})

test('the age of a signature has bounds on both sides', async () => {
  const at = (offsetMs: number, config: Partial<SigningConfig> = {}): Exchange => {
    const x = request()
    return signed(x, config, x.startedAt + offsetMs)
  }
  assert.equal(await code({ maxAge: '2m' }, at(-115_000)), '')
  assert.match(await detail({ maxAge: '2m' }, at(-125_000)), /too old, in the future/)
  assert.equal(await code({}, at(50_000)), '')
  assert.match(await detail({}, at(65_000)), /too old, in the future/)
  assert.equal(await code({ maxAge: '1h' }, at(-10_000, { expiresIn: '1m' })), '')
  assert.match(await detail({ maxAge: '1h' }, at(-70_000, { expiresIn: '1m' })), /expired/)
  const timeless = replaceHeader(at(0), 'signature-input', (value) => value.replace(/;created=\d+/, ''))
  assert.match(await detail({}, timeless), /no 'created'/)
  const later = replaceHeader(at(-400_000), 'signature-input', (value) =>
    value.replace(/created=\d+/, `created=${Math.floor(Date.now() / 1000)}`),
  )
  assert.match(await detail({}, later), /not made for this request with a known key/)
})

test('the algorithm comes from the key, whatever the message claims', async () => {
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
  const other = keyPair('ed25519')
  const wrong = signed(request(), { key: { ...signingKey, key: pem(other.privateKey) } })
  assert.equal(await detail({}, unknown), await detail({}, wrong))
})

test('a nonce is needed and taken once, also across reloads', async () => {
  const table = new Map<string, unknown>()
  const config: Config = { verify: { keys, replay: { maxEntries: 2 }, contentDigest: 'off' } }
  const x = signed(request(), { nonce: true })
  const again = request({ headers: [...x.headers] })
  assert.equal(await (await compile(config, table)).onRequest!(x), null)
  const replayed = (await (await compile(config, table)).onRequest!(again)) as Outcome
  assert.match(replayed?.problem?.detail ?? '', /already been used/)
  const step = await compile(config, table)
  assert.match(
    ((await step.onRequest!(signed(request()))) as Outcome)?.problem?.detail ?? '',
    /requires a 'nonce'/,
  )
  assert.equal(await step.onRequest!(signed(request(), { nonce: true })), null)
  assert.equal(((await step.onRequest!(signed(request(), { nonce: true }))) as Outcome)?.status, 503)
  const afterwards = request({ startedAt: Date.now() + 7 * 60_000 })
  assert.equal(await step.onRequest!(signed(afterwards, { nonce: true })), null)
})

test('a body so slow that its nonce may have expired is refused', async () => {
  const step = await compile({ verify: { keys, replay: {} } })
  const x = signed(request(), { nonce: true })
  const slow = request({ headers: [...x.headers] })
  await step.onRequest!(x)
  assert.equal(await step.onRequestBody!(x, BODY), null)
  assert.equal(await step.onRequest!(slow), null)
  // Another request, long after, is what makes the cache forget.
  const later = signed(request({ startedAt: Date.now() + 7 * 60_000 }), { nonce: true })
  await step.onRequest!(later)
  assert.equal(await step.onRequestBody!(later, BODY), null)
  setFields(slow, { startedMono: slow.startedMono - 7 * 60_000 })
  const outcome = (await step.onRequestBody!(slow, BODY)) as Outcome
  assert.match(outcome?.problem?.detail ?? '', /too old/)
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

test('repeated field lines form one value, in signatures and in covered fields', async () => {
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
    ['"x-t";tr', /trailer fields \('tr'\) are not supported/],
    ['"@foo"', /"@foo": it is not supported/],
    ['"@status"', /only a response has a status/],
    ['"date";req', /'req' is only for signatures of responses/],
    ['"X-Upper"', /not a field name in lower case/],
    ['"x-own";sf', /needs the type of the field 'x-own'/],
    ['"x-a";bs;key="b"', /'bs' cannot be combined/],
    ['"x-a";zz', /'zz' is not supported/],
    ['"x-a";bs=?0', /must not have a value/],
    ['"@query-param"', /requires the parameter 'name'/],
    ['"@query-param";name="q"', /does not contain it exactly once/],
    ['"x-absent"', /does not contain it/],
    ['"connection"', /does not contain it/],
  ]
  for (const [component, expected] of texts)
    assert.match(await detail({}, withComponent(component)), expected, component)
})

test('a condition that turns true late does not let a request in unseen', async () => {
  const step = await compile({ verify: { keys } })
  assert.equal(
    ((await step.onRequestBody!(request(), BODY)) as Outcome)?.problem?.code,
    'GW_SIGNATURE_MISSING',
  )
})
