import assert from 'node:assert/strict'
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { type CompileEnv, type Exchange, type Outcome, Overload } from '@sluice/core'
import { cpuMs, keyPair } from '@sluice/core/testing'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { encode } from '../../crypto/jose/testing/issuer.js'
import { COMPRESSED_7520, ENCRYPTION_VECTORS, PLAINTEXT_7520 } from '../../crypto/jose/testing/rfc-vectors.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { ENCRYPTIONS, type Encryption, KEY_ALGORITHMS, type KeyAlgorithm } from './key-algorithm.js'
import { jwe } from './policy.js'
import type { jweSchema } from './schema.js'

type JweConfig = Static<typeof jweSchema>

interface Pair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const rsa = keyPair('rsa', { modulusLength: 2048 })
const p256 = keyPair('ec', { namedCurve: 'P-256' })
const x25519 = keyPair('x25519')
const SIZES: Readonly<Record<string, number>> = {
  A128GCM: 16,
  A256GCM: 32,
  'A128CBC-HS256': 32,
  'A256CBC-HS512': 64,
}

function pairFor(alg: KeyAlgorithm, enc: Encryption): Pair {
  if (alg.startsWith('RSA')) return rsa
  if (alg.startsWith('ECDH')) return alg === 'ECDH-ES' ? x25519 : p256
  const key = createSecretKey(randomBytes(alg === 'dir' ? SIZES[enc]! : alg.startsWith('A128') ? 16 : 32))
  return { publicKey: key, privateKey: key }
}

const jwkOf = (key: KeyObject, more: object = {}): string =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), ...more })
const decrypting = (key: KeyObject, alg: KeyAlgorithm, enc: Encryption = 'A256GCM'): JweConfig => ({
  decrypt: { keys: [{ jwk: jwkOf(key) }], algorithms: [alg], encryptions: [enc] },
})
const TEXT = '{"amount":12}'
const text = (bytes: Uint8Array | null): string => Buffer.from(bytes!).toString()

async function run(
  config: JweConfig,
  body: string | Uint8Array,
  { env = testEnv(), ...fields }: Partial<Exchange> & { env?: CompileEnv } = {},
) {
  const step = jwe.compile(config, env)
  assert.ok(step !== null && !(step instanceof Promise))
  const bytes = Buffer.from(body as string)
  const isResponse = config.phase === 'response'
  const x = exchange({
    method: 'POST',
    ...(isResponse ? { status: 200, responseBody: bytes } : { body: bytes }),
    ...fields,
  })
  const outcome = (await (isResponse
    ? step.onResponseBody?.(x, bytes)
    : step.onRequestBody?.(x, bytes))) as Outcome
  return { x, outcome, code: outcome?.problem?.code ?? '' }
}

for (const alg of KEY_ALGORITHMS) {
  test(`${alg} agrees with jose in both directions`, async () => {
    for (const enc of ENCRYPTIONS) {
      const { publicKey, privateKey } = pairFor(alg, enc)
      const theirs = await new CompactEncrypt(Buffer.from(TEXT))
        .setProtectedHeader({ alg, enc })
        .encrypt(publicKey)
      const opened = await run(decrypting(privateKey, alg, enc), theirs)
      assert.equal(opened.outcome, null)
      assert.equal(text(opened.x.body), TEXT)
      assert.deepEqual(opened.x.headers, ['content-type', 'application/json'])
      const config: JweConfig = {
        encrypt: { key: { kid: 'k', jwk: jwkOf(publicKey) }, algorithm: alg, encryption: enc, cty: 'json' },
      }
      const { x } = await run(config, TEXT)
      assert.deepEqual(x.headers, ['content-type', 'application/jose'])
      const { plaintext, protectedHeader } = await compactDecrypt(text(x.body), privateKey)
      assert.equal(text(plaintext), TEXT)
      assert.equal(protectedHeader.kid, 'k')
      assert.equal(protectedHeader.cty, 'json')
    }
  })
}

for (const { source, alg, enc, jwk, message } of ENCRYPTION_VECTORS) {
  test(`the message of ${source} (${alg}, ${enc}) is decrypted`, async () => {
    const config = {
      decrypt: { keys: [{ jwk: JSON.stringify(jwk) }], algorithms: [alg], encryptions: [enc] },
    } as JweConfig
    const { x, outcome } = await run(config, message)
    assert.equal(outcome, null)
    assert.equal(text(x.body), PLAINTEXT_7520)
  })
}

test('a compressed message is refused, although it is right', async () => {
  const { alg, enc, jwk, message } = COMPRESSED_7520
  const config = {
    decrypt: { keys: [{ jwk: JSON.stringify(jwk) }], algorithms: [alg], encryptions: [enc] },
  } as JweConfig
  assert.equal((await run(config, message)).code, 'GW_DECRYPT_FAILED')
})

test('long bodies take the way over the threads, and come back the same', async () => {
  const long = `{"pad":"${'é'.repeat(60_000)}"}`
  const { publicKey, privateKey } = rsa
  const sealed = await run({ encrypt: { key: { jwk: jwkOf(publicKey) }, algorithm: 'RSA-OAEP-256' } }, long)
  assert.equal(
    (await run(decrypting(privateKey, 'RSA-OAEP-256'), sealed.x.body!)).x.body!.length,
    Buffer.byteLength(long),
  )
})

test('whatever is wrong, the answer is the same', async () => {
  const message = await new CompactEncrypt(Buffer.from(TEXT))
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
    .encrypt(rsa.publicKey)
  const [head, key, iv, sealed, tag] = message.split('.') as [string, string, string, string, string]
  const flipped = (segment: string): string => {
    const bytes = Buffer.from(segment, 'base64url')
    bytes[bytes.length - 1]! ^= 1
    return bytes.toString('base64url')
  }
  const config = decrypting(rsa.privateKey, 'RSA-OAEP-256')
  const header = (more: object): string =>
    encode(JSON.stringify({ alg: 'RSA-OAEP-256', enc: 'A256GCM', ...more }))
  const { outcome: first } = await run(config, [head, flipped(key), iv, sealed, tag].join('.'))
  assert.equal(first?.status, 400)
  for (const broken of [
    [head, flipped(key), iv, sealed, tag],
    [head, key, flipped(iv), sealed, tag],
    [head, key, iv, flipped(sealed), tag],
    [head, key, iv, sealed, flipped(tag)],
    [head, key, iv, sealed, tag.slice(0, 4)],
    [head, '', iv, sealed, tag],
    [head, key.slice(0, 100), iv, sealed, tag],
    [head, encode(Buffer.alloc(256)), iv, sealed, tag],
    [head, encode(Buffer.alloc(256, 255)), iv, sealed, tag],
    [head, key, '', sealed, tag],
    [head, key, iv, sealed, ''],
    [header({ zip: 'DEF' }), key, iv, sealed, tag],
    [header({ crit: ['x'], x: 1 }), key, iv, sealed, tag],
    [header({ enc: 'A128GCM' }), key, iv, sealed, tag],
    [header({ enc: 'A128CBC-HS256' }), key, iv, sealed, tag],
    [header({ enc: ['A256GCM'] }), key, iv, sealed, tag],
    [header({ alg: 'RSA1_5' }), key, iv, sealed, tag],
    [header({ alg: 'RSA-OAEP' }), key, iv, sealed, tag],
    [header({ alg: 'dir' }), '', iv, sealed, tag],
    [header({ alg: 'none' }), key, iv, sealed, tag],
    [header({ kid: 5 }), key, iv, sealed, tag],
    [header({ kid: '../key' }), key, iv, sealed, tag],
    [encode('{"alg":"RSA-OAEP-256","enc":"A256GCM","enc":"A256GCM"}'), key, iv, sealed, tag],
    [encode('[]'), key, iv, sealed, tag],
    [`${head}=`, key, iv, sealed, tag],
    [head, key, iv, `${sealed} `, tag],
    [head, key, iv, sealed, `${tag}\n`],
    [head, key, iv, sealed, tag, ''],
    [head, key, iv, sealed],
    ['a'.repeat(20_000), key, iv, sealed, tag],
    [TEXT],
    [''],
  ]) {
    const { outcome, x } = await run(config, broken.join('.'))
    assert.deepEqual(outcome, first, broken.join('.').slice(0, 80))
    assert.equal(text(x.body), broken.join('.'), 'nothing was put in the place of the body')
  }
})

test('PBES2 with a huge count costs nothing', async () => {
  const header = encode(
    JSON.stringify({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2_000_000_000, p2s: 'AAAAAAAAAAA' }),
  )
  const key = createSecretKey(randomBytes(32))
  const beforeMs = cpuMs()
  const { code } = await run(decrypting(key, 'A256KW'), `${header}.AAAA.AAAA.AAAA.AAAA`)
  assert.equal(code, 'GW_DECRYPT_FAILED')
  assert.ok(cpuMs() - beforeMs < 10_000)
})

test('an ephemeral key on no curve, of another curve or with a private part is refused', async () => {
  const good = p256.publicKey.export({ format: 'jwk' })
  const other = keyPair('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
  const config = decrypting(p256.privateKey, 'ECDH-ES')
  for (const epk of [
    { ...good, y: good.x },
    { ...good, x: encode(Buffer.alloc(32)), y: encode(Buffer.alloc(32)) },
    { ...good, x: 'AA' },
    other,
    { ...other, crv: 'P-256' },
    p256.privateKey.export({ format: 'jwk' }),
    x25519.publicKey.export({ format: 'jwk' }),
    { kty: 'oct', k: 'AAAA' },
    'epk',
    null,
    undefined,
  ]) {
    const header = encode(JSON.stringify({ alg: 'ECDH-ES', enc: 'A256GCM', epk }))
    const message = `${header}..${encode(randomBytes(12))}.${encode(randomBytes(20))}.${encode(randomBytes(16))}`
    assert.equal((await run(config, message)).code, 'GW_DECRYPT_FAILED', JSON.stringify(epk))
  }
  const zero = { kty: 'OKP', crv: 'X25519', x: encode(Buffer.alloc(32)) }
  const header = encode(JSON.stringify({ alg: 'ECDH-ES', enc: 'A256GCM', epk: zero }))
  const message = `${header}..${encode(randomBytes(12))}.${encode(randomBytes(20))}.${encode(randomBytes(16))}`
  assert.equal((await run(decrypting(x25519.privateKey, 'ECDH-ES'), message)).code, 'GW_DECRYPT_FAILED')
})

test('keys are found by kid', async () => {
  const other = keyPair('ec', { namedCurve: 'P-256' })
  const config: JweConfig = {
    decrypt: {
      keys: [{ kid: 'a', jwk: jwkOf(p256.privateKey) }],
      jwks: {
        inline: JSON.stringify({ keys: [JSON.parse(jwkOf(other.privateKey, { kid: 'b', use: 'enc' }))] }),
      },
      algorithms: ['ECDH-ES+A256KW'],
    },
  }
  const sealed = (kid: string | undefined, { publicKey }: Pair): Promise<string> =>
    new CompactEncrypt(Buffer.from(TEXT))
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ...(kid && { kid }) })
      .encrypt(publicKey)
  assert.equal((await run(config, await sealed('a', p256))).outcome, null)
  assert.equal((await run(config, await sealed('b', other))).outcome, null)
  assert.equal((await run(config, await sealed(undefined, other))).outcome, null)
  assert.equal((await run(config, await sealed('a', other))).code, 'GW_DECRYPT_FAILED')
  assert.equal((await run(config, await sealed('c', other))).code, 'GW_DECRYPT_FAILED')
})

test('responses fail as the fault of the upstream, and are left alone without body', async () => {
  const { decrypt } = decrypting(rsa.privateKey, 'RSA-OAEP-256')
  const config: JweConfig = { phase: 'response', ...(decrypt && { decrypt }) }
  assert.equal((await run(config, TEXT)).code, 'GW_RESPONSE_INVALID')
  assert.equal((await run(config, '', { status: 304 })).outcome, null)
  const encrypt: JweConfig = {
    phase: 'response',
    encrypt: { key: { jwk: jwkOf(rsa.publicKey) }, algorithm: 'RSA-OAEP-256' },
  }
  const { x } = await run(encrypt, TEXT)
  assert.equal(text((await run(config, x.responseBody!)).x.responseBody), TEXT)
  const gzip = { responseHeaders: ['content-encoding', 'gzip'] }
  assert.equal((await run(encrypt, TEXT, gzip)).code, 'GW_RESPONSE_INVALID')
})

test('an empty request is not encrypted, and a coded one is refused', async () => {
  const config: JweConfig = { encrypt: { key: { jwk: jwkOf(rsa.publicKey) }, algorithm: 'RSA-OAEP-256' } }
  const { x, outcome } = await run(config, '')
  assert.equal(outcome, null)
  assert.deepEqual(x.headers, [])
  assert.equal((await run(config, TEXT, { headers: ['content-encoding', 'br'] })).code, 'GW_MEDIA_TYPE')
})

test('too many messages at once are refused, and a full pool too', async () => {
  const message = await new CompactEncrypt(Buffer.from(TEXT))
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
    .encrypt(rsa.publicKey)
  const step = jwe.compile(decrypting(rsa.privateKey, 'RSA-OAEP-256'), testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const outcomes = await Promise.all(
    Array.from({ length: 70 }, () => step.onRequestBody!(exchange({ method: 'POST' }), Buffer.from(message))),
  )
  const refused = outcomes.filter((outcome) => outcome?.problem?.code === 'GW_OVERLOADED')
  assert.equal(refused.length, 6)
  assert.deepEqual(refused[0]?.headers.slice(2), ['retry-after', '1'])
  assert.equal(outcomes.filter((outcome) => outcome === null).length, 64)
  assert.equal(await step.onRequestBody!(exchange({ method: 'POST' }), Buffer.from(message)), null)
  const env: CompileEnv = {
    ...testEnv(),
    offload: () => ({ run: () => Promise.reject(new Overload('full')) }),
  }
  assert.equal(
    (await run(decrypting(rsa.privateKey, 'RSA-OAEP-256'), 'x'.repeat(40_000), { env })).code,
    'GW_OVERLOADED',
  )
})

test('configuration mistakes are reported with a remedy', () => {
  const compile = (config: JweConfig) => () => jwe.compile(config, testEnv())
  const small = keyPair('rsa', { modulusLength: 1024 })
  const keys = [{ secret: 'x'.repeat(32) }]
  assert.throws(compile({}), /write either 'decrypt' or 'encrypt'/)
  assert.throws(compile({ decrypt: { algorithms: ['dir'] } }), /configure 'keys', 'jwks' or both/)
  assert.throws(
    compile(decrypting(rsa.publicKey, 'RSA-OAEP-256')),
    /is a public key; a private one is required to decrypt/,
  )
  assert.throws(
    compile(decrypting(small.privateKey, 'RSA-OAEP-256')),
    /RSA key of 1024 bits; use 2048 or more/,
  )
  assert.throws(
    compile(decrypting(rsa.privateKey, 'ECDH-ES')),
    /key 1 does not fit any of the allowed algorithms, which are ECDH-ES/,
  )
  assert.throws(
    compile({ decrypt: { keys, algorithms: ['dir', 'A256KW'] } }),
    /fits several algorithms \(dir and A256KW\); set the intended one/,
  )
  assert.throws(
    compile({ decrypt: { keys: [{ secret: 'short' }], algorithms: ['A256KW'] } }),
    /does not fit any/,
  )
  assert.throws(
    compile({ encrypt: { key: { jwk: jwkOf(rsa.privateKey) }, algorithm: 'RSA-OAEP-256' } }),
    /is a private key; use the public one, which is sufficient to encrypt/,
  )
  assert.throws(
    compile({ encrypt: { key: { jwk: jwkOf(rsa.publicKey, { use: 'sig' }) }, algorithm: 'RSA-OAEP-256' } }),
    /'use' or 'key_ops' does not allow 'encrypt'/,
  )
  const twice = [
    { kid: 'a', jwk: jwkOf(rsa.privateKey) },
    { kid: 'a', jwk: jwkOf(rsa.privateKey) },
  ]
  assert.throws(
    compile({ decrypt: { keys: twice, algorithms: ['RSA-OAEP-256'] } }),
    /key 2 has the same kid 'a' as another key/,
  )
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { decrypt: { keys: [{ jwk: '{}' }], algorithms: ['dir'] } }
  assert.deepEqual(schemaMistakes(jwe, defaulted), [])
  assert.deepEqual(defaulted, {
    phase: 'request',
    decrypt: {
      keys: [{ jwk: '{}', secretEncoding: 'utf8' }],
      algorithms: ['dir'],
      encryptions: ['A256GCM'],
      contentType: 'application/json',
    },
  })
  for (const config of [
    { decrypt: { keys: [{ jwk: '{}' }] } },
    { decrypt: { algorithms: ['RSA1_5'] } },
    { decrypt: { algorithms: ['PBES2-HS256+A128KW'] } },
    { encrypt: { key: {}, algorithm: 'dir', encryption: 'A192GCM' } },
  ])
    assert.notDeepEqual(schemaMistakes(jwe, config), [], JSON.stringify(config))
})
