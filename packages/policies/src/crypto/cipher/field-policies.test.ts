import assert from 'node:assert/strict'
import { createCipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Exchange, Outcome, Policy, Step } from '@sluice/core'
import { keyPair } from '@sluice/core/testing'
import { decrypt } from '../../content/decrypt/policy.js'
import type { decryptSchema } from '../../content/decrypt/schema.js'
import { encrypt } from '../../content/encrypt/policy.js'
import type { encryptSchema } from '../../content/encrypt/schema.js'
import { sign } from '../../content/sign/policy.js'
import { verify } from '../../content/verify/policy.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'

type EncryptConfig = Static<typeof encryptSchema>

type DecryptConfig = Static<typeof decryptSchema>

const AES = randomBytes(32)
const OLD = randomBytes(32)
const rsa = keyPair('rsa', { modulusLength: 2048 })
const ed = keyPair('ed25519')
const ec = keyPair('ec', { namedCurve: 'P-384' })

function pem(key: KeyObject): string {
  return String(key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }))
}

const KEYS = [
  { id: 'new', key: AES.toString('base64') },
  { id: 'old', key: OLD.toString('hex'), encoding: 'hex' as const },
  { id: 'rsa', key: pem(rsa.privateKey) },
  { id: 'ed', key: pem(ed.privateKey) },
  { id: 'ec', key: pem(ec.privateKey) },
]
const PUBLIC_KEYS = [
  ...KEYS.slice(0, 2),
  { id: 'rsa', key: pem(rsa.publicKey) },
  { id: 'ed', key: pem(ed.publicKey) },
  { id: 'ec', key: pem(ec.publicKey) },
]

type SealField = EncryptConfig['fields'][number]
type OpenField = DecryptConfig['fields'][number]

async function compile(policy: Policy, config: unknown): Promise<Step> {
  assert.deepEqual(schemaMistakes(policy, config), [])
  const step = await policy.compile(config as never, testEnv())
  assert.ok(step !== null)
  return step
}

async function run(step: Step, x: Exchange): Promise<Outcome> {
  return (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, x.body ?? Buffer.alloc(0))) ?? null
}

function request(body: string | Uint8Array, headers: string[] = []): Exchange {
  return exchange({ method: 'POST', body: Buffer.from(body as string), headers: [...headers] })
}

function seal(field: Partial<SealField>, more: object = {}): Promise<Step> {
  const fields = [{ from: 'json.a', algorithm: 'aes-256-gcm', key: 'new', ...field }]
  return compile(encrypt, { keys: PUBLIC_KEYS, fields, ...more })
}

function open(field: Partial<OpenField>, more: object = {}): Promise<Step> {
  const fields = [{ from: 'json.a', algorithm: 'aes-256-gcm', keys: ['new', 'old'], ...field }]
  return compile(decrypt, { keys: KEYS, fields, ...more })
}

function bodyOf(x: Exchange): string {
  return Buffer.from(x.body!).toString()
}

test('what was encrypted is decrypted, by every algorithm', async () => {
  for (const [algorithm, key] of [
    ['aes-256-gcm', 'old'],
    ['rsa-oaep-256', 'rsa'],
    ['rsa-oaep-256+aes-256-gcm', 'rsa'],
    ['weak-aes-256-cbc', 'new'],
  ] as const) {
    const weak = { allowWeak: true }
    const x = request('{"n":12345678901234567890,"a":"grün"}')
    assert.equal(await run(await seal({ algorithm, key }, weak), x), null)
    assert.match(bodyOf(x), new RegExp(`^\\{"n":12345678901234567890,"a":"${key}:[A-Za-z0-9+/]+=*"\\}$`))
    assert.equal(await run(await open({ algorithm, keys: [key] }, weak), x), null, algorithm)
    assert.equal(bodyOf(x), '{"n":12345678901234567890,"a":"grün"}')
  }
})

test('no two values are encrypted alike', async () => {
  const step = await seal({})
  const seen = new Set<string>()
  for (let i = 0; i < 1000; i++) {
    const x = request('{"a":"same"}')
    await run(step, x)
    const iv = Buffer.from((JSON.parse(bodyOf(x)) as { a: string }).a.slice(4), 'base64').subarray(0, 12)
    seen.add(iv.toString('hex'))
  }
  assert.equal(seen.size, 1000)
})

test('the layout is the documented one', async () => {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', AES, iv)
  cipher.setAAD(Buffer.from('ctx'))
  const sealed = Buffer.concat([iv, cipher.update('{"b":2}'), cipher.final(), cipher.getAuthTag()])
  const x = request(JSON.stringify({ a: sealed.toString('base64') }))
  assert.equal(await run(await open({ context: 'ctx', as: 'json' }), x), null)
  assert.equal(bodyOf(x), '{"a":{"b":2}}')
})

test('every failure gets the same response', async () => {
  const step = await open({ context: '{{req.method}}' })
  const make = async (field: Partial<SealField>, text = '"secret"'): Promise<Buffer> => {
    const x = request(`{"a":${text}}`)
    await run(await seal({ writeKeyId: false, context: '{{req.method}}', ...field }), x)
    return Buffer.from((JSON.parse(bodyOf(x)) as { a: string }).a, 'base64')
  }
  const good = await make({})
  const flipped = (at: number): Buffer => {
    const copy = Buffer.from(good)
    copy[at < 0 ? copy.length + at : at]! ^= 1
    return copy
  }
  const values = [
    flipped(0),
    flipped(13),
    flipped(-1),
    good.subarray(0, -1),
    good.subarray(0, -12),
    good.subarray(0, 28),
    good.subarray(0, 11),
    Buffer.alloc(0),
    Buffer.concat([good, Buffer.from([0])]),
    await make({ context: 'other' }),
    await make({ key: 'new', context: '' }),
  ].map((bytes) => JSON.stringify({ a: bytes.toString('base64') }))
  const texts = [
    ...values,
    '{}',
    '{"a":null}',
    '{"a":"???"}',
    `{"a":"${good.toString('hex')}zz"}`,
    `{"a":"ghost:${good.toString('base64')}"}`,
    '{"a":7}',
    `{"a":"rsa:${good.toString('base64')}"}`,
  ]
  const outcomes = new Set<string>()
  for (const text of texts) outcomes.add(JSON.stringify(await run(step, request(text))))
  assert.equal(outcomes.size, 1)
  const [only] = outcomes
  assert.match(only!, /"status":400.*GW_DECRYPT_FAILED.*could not be decrypted/)
  assert.equal(await run(step, request(JSON.stringify({ a: good.toString('base64') }))), null)
})

test('an invalid padding looks like any other failure', async () => {
  const weak = { allowWeak: true }
  const step = await open({ algorithm: 'weak-aes-256-cbc', keys: ['new'] }, weak)
  const outcomes = new Set<string>()
  for (let i = 0; i < 300; i++) {
    const outcome = await run(
      step,
      request(JSON.stringify({ a: randomBytes(32 + (i % 3)).toString('base64') })),
    )
    if (outcome !== null) outcomes.add(JSON.stringify(outcome))
  }
  assert.equal(outcomes.size, 1)
  const oaep = await open({ algorithm: 'rsa-oaep-256', keys: ['rsa'] })
  for (const length of [255, 256, 257]) {
    const block = randomBytes(length)
    block[0] = 0
    outcomes.add(JSON.stringify(await run(oaep, request(JSON.stringify({ a: block.toString('base64') })))))
  }
  assert.equal(outcomes.size, 1)
})

test('a value names its key, and only a listed one is used', async () => {
  const x = request('{"a":"v"}')
  await run(await seal({ key: 'old' }), x)
  assert.match(bodyOf(x), /"old:/)
  const copy = request(bodyOf(x))
  assert.equal((await run(await open({ keys: ['new'] }), copy))?.problem?.code, 'GW_DECRYPT_FAILED')
  assert.equal(await run(await open({}), x), null)
  const unnamed = request('{"a":"v"}')
  await run(await seal({ key: 'old', writeKeyId: false }), unnamed)
  assert.equal(await run(await open({}), unnamed), null)
  const rsaUnnamed = request('{"a":"v"}')
  await run(await seal({ key: 'rsa', algorithm: 'rsa-oaep-256', writeKeyId: false }), rsaUnnamed)
  assert.equal(await run(await open({ keys: ['rsa'], algorithm: 'rsa-oaep-256' }), rsaUnnamed), null)
})

test('values move between locations, and the clear one does not stay behind', async () => {
  const x = request('{"a":"v","b":1}', ['x-sealed', 'forged'])
  assert.equal(await run(await seal({ to: 'header.x-sealed' }), x), null)
  assert.equal(bodyOf(x), '{"b":1}')
  const back = await open({ from: 'header.x-sealed', to: 'json.c.d' })
  assert.equal((await run(back, request(bodyOf(x), x.headers)))?.problem?.code, 'GW_DECRYPT_FAILED')
  assert.equal(await run(await open({ from: 'header.x-sealed', to: 'json.c' }), x), null)
  assert.equal(bodyOf(x), '{"b":1,"c":"v"}')
  const kept = request('{"a":"v"}')
  await run(await seal({ to: 'json.b', keepSource: true }), kept)
  assert.match(bodyOf(kept), /^\{"a":"v","b":"new:/)
  const masked = { from: 'header.X-A', to: 'query.b', algorithm: 'aes-256-gcm' as const }
  assert.deepEqual(encrypt.secretNames!({ keys: KEYS, fields: [{ ...masked, key: 'new' }] }), ['X-A'])
  assert.deepEqual(decrypt.secretNames!({ keys: KEYS, fields: [{ ...masked, keys: ['new'] }] }), ['b'])
})

test('a clear text cannot become a header line of its own', async () => {
  const x = request('{"a":"v\\r\\nx-admin: 1"}')
  await run(await seal({ to: 'header.x-s' }), x)
  const step = await open({ from: 'header.x-s', to: 'header.x-clear' })
  assert.equal(step.onRequestBody, undefined)
  assert.equal((await run(step, x))?.problem?.code, 'GW_DECRYPT_FAILED')
  assert.ok(!x.headers.includes('x-clear'))
})

test('whole bodies are encrypted raw or as text', async () => {
  for (const encoding of ['raw', 'base64url', 'hex'] as const) {
    const x = request('\u0000binary', ['content-type', 'image/png'])
    assert.equal(await run(await seal({ from: 'body', encoding }), x), null)
    assert.deepEqual(x.headers, [
      'content-type',
      encoding === 'raw' ? 'application/octet-stream' : 'text/plain',
    ])
    assert.equal(await run(await open({ from: 'body', encoding, contentType: 'image/png' }), x), null)
    assert.equal(bodyOf(x), '\u0000binary')
    assert.deepEqual(x.headers, ['content-type', 'image/png'])
  }
})

test('what is missing is refused, or skipped where that is allowed', async () => {
  assert.equal((await run(await seal({}), request('{}')))?.problem?.code, 'GW_BAD_REQUEST')
  const x = request('{}', ['x-sealed', 'forged'])
  assert.equal(await run(await seal({ optional: true, to: 'header.x-sealed' }), x), null)
  assert.deepEqual(x.headers, [])
  const y = request('{}', ['x-clear', 'forged'])
  assert.equal(await run(await open({ optional: true, to: 'header.x-clear' }), y), null)
  assert.deepEqual(y.headers, [])
  const long = request(JSON.stringify({ a: 'v'.repeat(200) }))
  assert.equal(
    (await run(await seal({ algorithm: 'rsa-oaep-256', key: 'rsa' }), long))?.problem?.code,
    'GW_BODY_UNPARSABLE',
  )
})

test('bodies are bounded and have to be plain', async () => {
  const step = await seal({}, { maxBodyBytes: '1kb' })
  const x = request('{"a":1}')
  await step.onRequest!(x)
  assert.equal(x.bodyLimit, 1024)
  assert.equal((await run(step, request('{"a":1}', ['content-encoding', 'br'])))?.status, 415)
  assert.equal((await run(step, request('{"a":1,"a":2}')))?.status, 400)
})

test('invalid responses are the upstream’s fault', async () => {
  const sealing = await seal({}, { phase: 'response' })
  assert.equal(sealing.onRequest, undefined)
  const x = exchange({ responseBody: Buffer.from('{"a":"v"}') })
  assert.equal(await sealing.onResponse!(x), null)
  assert.equal(x.responseBodyLimit, 1024 ** 2)
  assert.equal(await sealing.onResponseBody!(x, x.responseBody!), null)
  const opening = await open({}, { phase: 'response' })
  assert.equal(await opening.onResponseBody!(x, x.responseBody!), null)
  assert.equal(Buffer.from(x.responseBody!).toString(), '{"a":"v"}')
  for (const body of ['{"a":"new:AAAA"}', 'no json']) {
    assert.equal(
      ((await opening.onResponseBody!(x, Buffer.from(body))) as Outcome)?.problem?.code,
      'GW_RESPONSE_INVALID',
    )
  }
})

test('a policy that changes the body takes the digests and the ETag of the old one away', async () => {
  const about = ['content-digest', 'sha-256=:old:', 'etag', '"old"', 'accept-ranges', 'bytes', 'x-a', 'v']
  const left = async (step: Step, x: Exchange): Promise<string[]> => {
    assert.equal(await run(step, x), null)
    const { headers } = x
    x.headers = [...about]
    return headers
  }
  const signature = { from: 'json.a', algorithm: 'Ed25519' }
  const x = request('{"a":"v"}', about)
  const signing = { keys: KEYS, signatures: [{ ...signature, to: 'json.s', key: 'ed' }] }
  const stripping = {
    keys: PUBLIC_KEYS,
    signatures: [{ ...signature, signature: 'json.s', keys: ['ed'], strip: true }],
  }
  assert.deepEqual(await left(await compile(sign, signing), x), ['x-a', 'v'])
  assert.deepEqual(await left(await compile(verify, stripping), x), ['x-a', 'v'])
  assert.deepEqual(await left(await seal({}), x), ['x-a', 'v'])
  assert.deepEqual(await left(await open({}), x), ['x-a', 'v'])
  assert.equal(bodyOf(x), '{"a":"v"}')
  const beside = { keys: KEYS, signatures: [{ ...signature, to: 'header.x-a', key: 'ed' }] }
  assert.deepEqual((await left(await compile(sign, beside), x)).slice(0, -1), about.slice(0, -1))
})

test('signatures of locations are made and verified, and all have to be right', async () => {
  const signatures = [
    { from: 'body', to: 'header.x-body', algorithm: 'RS256', key: 'rsa' },
    { from: 'json.a', to: 'json.sig', algorithm: 'Ed25519', key: 'ed', encoding: 'hex' },
    { from: 'json.b', to: 'header.x-b', algorithm: 'ES384', key: 'ec', encoding: 'base64url', ecdsa: 'der' },
  ]
  const reversed = [signatures[1], signatures[2], signatures[0]]
  const signing = await compile(sign, { keys: KEYS, signatures: reversed })
  const x = request('{"a":"v","b":[1, 2]}')
  assert.equal(await run(signing, x), null)
  const checks = signatures.map(({ to, key, ...rest }) => ({
    ...rest,
    signature: to,
    keys: key === 'ed' ? ['ed'] : [key],
  }))
  const verifying = await compile(verify, { keys: PUBLIC_KEYS, signatures: checks })
  assert.equal(await run(verifying, x), null)
  const body = bodyOf(x)
  const verdict = async (text: string, headers = x.headers): Promise<string> =>
    (await run(verifying, request(text, headers)))?.problem?.code ?? ''
  assert.equal(await verdict(body), '')
  assert.equal(await verdict(`${body} `), 'GW_SIGNATURE_INVALID')
  assert.equal(await verdict(body, []), 'GW_SIGNATURE_MISSING')
  assert.equal(await verdict(body, x.headers.slice(0, 2)), 'GW_SIGNATURE_MISSING')
  const truncated = x.headers.map((value, i) => (i === 3 ? value.slice(0, -4) : value))
  assert.equal(await verdict(body, truncated), 'GW_SIGNATURE_INVALID')
  const doubled = [...x.headers, 'x-b', x.headers[3]!]
  assert.equal((await run(verifying, request(body, doubled)))?.status, 400)
})

test('the algorithm and the keys of a signature are those of the document', async () => {
  const make = async (algorithm: string, key: string): Promise<Exchange> => {
    const signatures = [{ from: 'body', to: 'header.x-s', algorithm, key }]
    const x = request('{"a":1}')
    await run(await compile(sign, { keys: KEYS, signatures }), x)
    return x
  }
  const check = async (
    x: Exchange,
    algorithm: string,
    keys: string[],
    more: object = {},
  ): Promise<string> => {
    const signatures = [{ from: 'body', signature: 'header.x-s', algorithm, keys, ...more }]
    return (await run(await compile(verify, { keys: PUBLIC_KEYS, signatures }), x))?.problem?.code ?? ''
  }
  assert.equal(await check(await make('RS256', 'rsa'), 'RS256', ['rsa']), '')
  assert.equal(await check(await make('RS256', 'rsa'), 'PS256', ['rsa']), 'GW_SIGNATURE_INVALID')
  assert.equal(await check(await make('RS256', 'rsa'), 'RS512', ['rsa']), 'GW_SIGNATURE_INVALID')
  assert.equal(await check(await make('PS256', 'rsa'), 'RS256', ['rsa']), 'GW_SIGNATURE_INVALID')
  assert.equal(
    await check(await make('ES384', 'ec'), 'ES384', ['ec'], { ecdsa: 'der' }),
    'GW_SIGNATURE_INVALID',
  )
  const stripped = await make('Ed25519', 'ed')
  assert.equal(await check(stripped, 'Ed25519', ['ed'], { strip: true }), '')
  assert.deepEqual(stripped.headers, [])
})

test('a signature may be missing only together with what it signs', async () => {
  const signatures = [
    { from: 'json.a', signature: 'header.x-s', algorithm: 'Ed25519', keys: ['ed'], optional: true },
  ]
  const step = await compile(verify, { keys: PUBLIC_KEYS, signatures })
  assert.equal(await run(step, request('{}')), null)
  assert.equal((await run(step, request('{"a":1}')))?.problem?.code, 'GW_SIGNATURE_MISSING')
  const alone = await run(step, request('{}', ['x-s', Buffer.alloc(64).toString('base64')]))
  assert.equal(alone?.problem?.code, 'GW_SIGNATURE_INVALID')
})

test('configurations that cannot work are refused with what to do', async () => {
  const field = { from: 'json.a', algorithm: 'aes-256-gcm', key: 'new' }
  const sealing = (change: object, more: object = {}): [Policy, object] => [
    encrypt,
    { keys: PUBLIC_KEYS, fields: [{ ...field, ...change }], ...more },
  ]
  const signature = { from: 'body', to: 'header.x', algorithm: 'ES384', key: 'ec' }
  const signing = (change: object): [Policy, object] => [
    sign,
    { keys: KEYS, signatures: [{ ...signature, ...change }] },
  ]
  const bad: [[Policy, object], RegExp][] = [
    [sealing({ algorithm: 'weak-aes-256-cbc' }), /allowWeak/],
    [sealing({ algorithm: 'weak-rsa1_5', key: 'rsa' }), /allowWeak/],
    [sealing({ algorithm: 'weak-aes-256-cbc', context: 'x' }, { allowWeak: true }), /cannot bind a context/],
    [sealing({ key: 'nobody' }), /not under 'keys'/],
    [sealing({ key: 'rsa' }), /not valid base64/],
    [sealing({ algorithm: 'rsa-oaep-256' }), /neither PEM/],
    [sealing({ algorithm: 'rsa-oaep-256', key: 'ed' }), /needs RSA/],
    [sealing({ algorithm: 'rsa-oaep-256', key: 'rsa' }, { keys: KEYS }), /'rsa' is a private key/],
    [sealing({ encoding: 'raw' }), /raw bytes/],
    [sealing({ contentType: 'x/y' }), /to: body/],
    [sealing({ from: 'nowhere' }), /not a valid location/],
    [sealing({ context: '{{nothing}}' }), /unknown variable/],
    [sealing({}, { keys: [{ id: 'new', key: randomBytes(16).toString('base64') }] }), /AES-256 needs 32/],
    [sealing({}, { keys: [KEYS[0], KEYS[0]] }), /duplicate key/],
    [
      [
        decrypt,
        { keys: KEYS, fields: [{ from: 'header.x', algorithm: 'aes-256-gcm', keys: ['new'], as: 'json' }] },
      ],
      /as: json/,
    ],
    [signing({ to: 'body' }), /cannot be written to/],
    [signing({ from: 'header.x' }), /cannot be written to/],
    [signing({ algorithm: 'ES256' }), /secp384r1/],
    [signing({ algorithm: 'RS256', key: 'rsa', ecdsa: 'der' }), /'ecdsa' is only for/],
    [
      [
        verify,
        {
          keys: PUBLIC_KEYS,
          signatures: [{ from: 'body', signature: 'body', algorithm: 'Ed25519', keys: ['ed'] }],
        },
      ],
      /own signature/,
    ],
    [
      [
        verify,
        {
          keys: KEYS,
          signatures: [{ from: 'body', signature: 'header.x', algorithm: 'Ed25519', keys: ['ed'] }],
        },
      ],
      /'ed' is a private key/,
    ],
  ]
  for (const [[policy, config], expected] of bad) await assert.rejects(compile(policy, config), expected)
  for (const algorithm of ['SHA1withRSA', 'RS1', 'none', 'HS256']) {
    assert.notDeepEqual(schemaMistakes(sign, { keys: KEYS, signatures: [{ ...signature, algorithm }] }), [])
  }
})

test('RSA with PKCS #1 v1.5 is decrypted only where a broken padding is hidden', async () => {
  const config = { algorithm: 'weak-rsa1_5' as const, keys: ['rsa'] }
  const x = request('{"a":"v"}')
  assert.equal(await run(await seal({ algorithm: 'weak-rsa1_5', key: 'rsa' }, { allowWeak: true }), x), null)
  const isHidden = process.versions.openssl >= '3.2'
  if (isHidden) assert.equal(await run(await open(config, { allowWeak: true }), x), null)
  else await assert.rejects(open(config, { allowWeak: true }), /cannot be decrypted safely/)
})
