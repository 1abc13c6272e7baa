import assert from 'node:assert/strict'
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { keyPair } from '@sluice/core/testing'
import { decode, encode } from '../../shared/encoding/byte-text.js'
import { ReplayCache } from '../replay/replay-cache.js'
import { asymmetricKey, type WrittenKey } from './asymmetric-key.js'
import type { KeyPurpose, KeyUse } from './key-purpose.js'
import { secretBytes } from './secret-key.js'
import { asymmetricCheck, asymmetricSigner, signatureCheck, signer } from './signature.js'
import type { SignatureAlgorithm } from './signature-algorithm.js'

const pairs = {
  rsa: keyPair('rsa', { modulusLength: 2048 }),
  'rsa-pss': keyPair('rsa-pss', { modulusLength: 2048 }),
  p256: keyPair('ec', { namedCurve: 'P-256' }),
  p384: keyPair('ec', { namedCurve: 'P-384' }),
  ed25519: keyPair('ed25519'),
}

/** Returns the keys of a pair as a document contains them. */
function written({ publicKey: open, privateKey: secret }: { publicKey: KeyObject; privateKey: KeyObject }) {
  return {
    open: { id: 'k', key: String(open.export({ type: 'spki', format: 'pem' })) },
    secret: { id: 'k', key: String(secret.export({ type: 'pkcs8', format: 'pem' })) },
  }
}

test('keys are read from PEM and JWK', () => {
  const { privateKey: secret, publicKey: open } = pairs.p256
  const forms = [
    String(open.export({ type: 'spki', format: 'pem' })),
    `\n${JSON.stringify(open.export({ format: 'jwk' }))}`,
  ]
  for (const form of forms) assert.ok(asymmetricKey({ id: 'k', key: form }, to('verify')).equals(open))
  for (const form of privateForms(secret)) {
    assert.ok(asymmetricKey({ id: 'k', key: form }, to('sign')).equals(secret))
  }
})

/** Formats of a private key. */
function privateForms(key: KeyObject): string[] {
  const pems = (['pkcs8', 'sec1'] as const).map((type) => String(key.export({ type, format: 'pem' })))
  return [...pems, JSON.stringify(key.export({ format: 'jwk' }))]
}

test('the half of a key pair that a purpose does not need is refused', () => {
  const { privateKey: secret, publicKey: open } = pairs.p256
  const pem = String(open.export({ type: 'spki', format: 'pem' }))
  const bundles = privateForms(secret).map((form) => (form.startsWith('{') ? form : `${pem}${form}`))
  for (const key of [...privateForms(secret), ...bundles]) {
    for (const purpose of ['verify', 'encrypt'] as const) {
      assert.throws(() => asymmetricKey({ id: 'k', key }, to(purpose)), {
        message: `key 'k' is a private key; use the public one, which is sufficient to ${purpose}`,
      })
    }
  }
  for (const key of [pem, JSON.stringify(open.export({ format: 'jwk' }))]) {
    for (const purpose of ['sign', 'decrypt'] as const) {
      assert.throws(() => asymmetricKey({ id: 'k', key }, to(purpose)), {
        message: `key 'k' is a public key; a private one is required to ${purpose}`,
      })
    }
  }
})

test('a JWK is accepted only for its declared use', () => {
  const { privateKey: secret, publicKey: open } = pairs.rsa
  const written = (key: KeyObject, more: object): string =>
    JSON.stringify({ ...key.export({ format: 'jwk' }), ...more })
  const secretJwk = createSecretKey(randomBytes(32))
  const uses = {
    sig: ['sign', 'verify'],
    enc: ['encrypt', 'decrypt'],
    sign: ['sign'],
    verify: ['verify'],
    encrypt: ['encrypt'],
    decrypt: ['decrypt'],
    wrapKey: ['encrypt'],
    unwrapKey: ['decrypt'],
  }
  for (const [name, allowed] of Object.entries(uses)) {
    const more = name.length === 3 ? { use: name } : { key_ops: [name] }
    for (const purpose of ['sign', 'verify', 'encrypt', 'decrypt'] as const) {
      const half = purpose === 'sign' || purpose === 'decrypt' ? secret : open
      const read = [
        () => asymmetricKey({ id: 'k', key: written(half, more) }, to(purpose)),
        () => secretBytes(written(secretJwk, more), 'utf8', to(purpose), "key 'k'"),
      ]
      const message = `key 'k' is a JWK whose 'use' or 'key_ops' does not allow '${purpose}'`
      for (const load of read) {
        if (allowed.includes(purpose)) load()
        else assert.throws(load, { message })
      }
    }
  }
})

test('a JWK is used with the algorithm that it names, and no other', () => {
  const { privateKey: secret, publicKey: open } = pairs.rsa
  const written = (key: KeyObject, alg: string): WrittenKey => ({
    id: 'k',
    key: JSON.stringify({ ...key.export({ format: 'jwk' }), alg }),
  })
  asymmetricSigner('PS256', written(secret, 'PS256'))
  asymmetricCheck('PS256', written(open, 'PS256'))
  asymmetricCheck('Ed25519', written(pairs.ed25519.publicKey, 'EdDSA'))
  const message = "key 'k' is a JWK whose 'alg' is not RS256; change the algorithm or use another key"
  assert.throws(() => asymmetricSigner('RS256', written(secret, 'PS256')), { message })
  assert.throws(() => asymmetricCheck('RS256', written(open, 'RSA-OAEP')), { message })
  const { key } = written(createSecretKey(randomBytes(32)), 'HS512')
  const bytes = (...algorithms: string[]) => secretBytes(key, 'utf8', { purpose: 'sign', algorithms }, 's')
  assert.equal(bytes('HS512').length, 32)
  assert.throws(() => bytes('HS256'), /'alg' is not HS256/)
})

test('a JWK with a duplicate name is refused, because parsers disagree', () => {
  const jwk = JSON.stringify(pairs.p256.publicKey.export({ format: 'jwk' }))
  const key = jwk.replace('{', '{"u\\u0073e":"enc","use":"sig",')
  assert.throws(() => asymmetricKey({ id: 'k', key }, to('verify')), /has duplicate names/)
  const secret = `{"kty":"oct","k":"${'A'.repeat(22)}","k":"${'B'.repeat(22)}"}`
  assert.throws(() => secretBytes(secret, 'utf8', to('sign'), 's'), /has duplicate names/)
})

test('weak, encrypted and unknown keys are refused, and messages do not repeat them', () => {
  const pem = (type: 'rsa' | 'ec' | 'x25519' | 'dsa', options: object): string => {
    const { publicKey: key } = keyPair(type as 'rsa', options as { modulusLength: number })
    return String(key.export({ type: 'spki', format: 'pem' }))
  }
  const encrypted = pairs.ed25519.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'p',
  })
  const bad: [string, RegExp][] = [
    [pem('rsa', { modulusLength: 1024 }), /RSA key of 1024 bits/],
    [pem('rsa', { modulusLength: 2048, publicExponent: 3 }), /small exponent/],
    [pem('ec', { namedCurve: 'secp256k1' }), /curve secp256k1/],
    [pem('x25519', {}), /type x25519/],
    [String(encrypted), /encrypted/],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /is not readable as a public key in PEM/],
    ['{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0"}', /is a symmetric key/],
    ['{"kty":', /has duplicate names/],
    ['c2VjcmV0c2VjcmV0', /neither PEM nor a JWK/],
  ]
  for (const [text, expected] of bad) {
    assert.throws(
      () => asymmetricKey({ id: 'k', key: text }, to('verify')),
      (error: Error) =>
        expected.test(error.message) && !error.message.includes('c2VjcmV0') && error.cause === undefined,
      expected.source,
    )
  }
})

test('every algorithm verifies what it signed, and nothing else', async () => {
  const fitting = {
    Ed25519: ['ed25519'],
    ES256: ['p256'],
    ES384: ['p384'],
    PS256: ['rsa', 'rsa-pss'],
    PS384: ['rsa', 'rsa-pss'],
    PS512: ['rsa', 'rsa-pss'],
    RS256: ['rsa'],
    RS384: ['rsa'],
    RS512: ['rsa'],
  } as const
  const message = Buffer.from('message')
  for (const [name, kinds] of Object.entries(fitting)) {
    const algorithm = name as SignatureAlgorithm
    for (const [kind, pair] of Object.entries(pairs)) {
      const isFit = (kinds as readonly string[]).includes(kind)
      const { secret, open } = written(pair)
      if (!isFit) {
        assert.throws(() => asymmetricCheck(algorithm, open), /does not fit/, `${name} ${kind}`)
        assert.throws(() => asymmetricSigner(algorithm, secret), /does not fit/, `${name} ${kind}`)
        continue
      }
      const signature = await asymmetricSigner(algorithm, secret)(message)
      const { verifies } = asymmetricCheck(algorithm, open)
      assert.ok(verifies(message, signature), `${name} ${kind}`)
      assert.ok(!verifies(Buffer.from('Message'), signature))
      assert.ok(!verifies(message, signature.subarray(0, -1)))
      assert.ok(!verifies(message, Buffer.concat([signature, Buffer.from([0])])))
      assert.ok(!verifies(message, Buffer.alloc(0)))
      assert.ok(!verifies(message, Buffer.alloc(signature.length)))
    }
  }
  const { secret, open } = written(pairs.p256)
  const signature = await asymmetricSigner('ES256', secret, 'der')(message)
  assert.ok(asymmetricCheck('ES256', open, 'der').verifies(message, signature))
  assert.ok(!asymmetricCheck('ES256', open).verifies(message, signature))
})

test('an HMAC is compared whole', () => {
  const secret = createSecretKey(randomBytes(32))
  const signature = signer('HS256', secret)(Buffer.from('m')) as Buffer
  const { verifies } = signatureCheck('HS256', secret)
  assert.ok(verifies(Buffer.from('m'), signature))
  assert.ok(!verifies(Buffer.from('m'), signature.subarray(0, 16)))
  assert.ok(!verifies(Buffer.from('n'), signature))
})

test('secrets are read as they are encoded, and need 128 bits', () => {
  const bytes = Buffer.from('0123456789abcdef')
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    assert.deepEqual(secretBytes(bytes.toString(encoding), encoding, to('sign'), 's'), bytes)
  }
  const jwk = `{"kty":"oct","k":"${bytes.toString('base64url')}"}`
  assert.deepEqual(secretBytes(jwk, 'hex', to('sign'), 's'), bytes)
  assert.throws(() => secretBytes('0123456789abcde', 'utf8', to('sign'), 's'), /15 bytes/)
  assert.throws(() => secretBytes('not base64 at all!', 'base64', to('sign'), 's'), /not valid base64/)
  assert.throws(() => secretBytes('a'.repeat(5000), 'utf8', to('sign'), 's'), /longer than 4096/)
})

test('a value has only one valid spelling', () => {
  assert.equal(decode('QUI=', 'base64')?.toString(), 'AB')
  for (const text of ['QUI', 'QUJ=', 'QU I=', 'QUI=\n', 'QUI==', 'QUI_'])
    assert.equal(decode(text, 'base64'), null, text)
  for (const text of ['QUI=', 'QU+I']) assert.equal(decode(text, 'base64url'), null, text)
  for (const text of ['4', '4g', ' 41', '0x41']) assert.equal(decode(text, 'hex'), null, text)
  assert.equal(decode('4a4B', 'hex')?.toString(), 'JK')
  assert.equal(encode(Buffer.from('AB').subarray(1), 'hex'), '42')
})

test('used values are remembered while they could be replayed, up to a limit', () => {
  const cache = new ReplayCache(2, 100)
  assert.equal(cache.use('a', 0), 'first')
  assert.equal(cache.use('a', 99), 'replayed')
  assert.equal(cache.use('b', 50), 'first')
  assert.equal(cache.use('c', 60), 'full')
  assert.equal(cache.use('c', 100), 'full', 'its last millisecond is part of its time')
  assert.equal(cache.use('c', 101), 'first')
  assert.equal(cache.use('b', 120), 'replayed')
  assert.equal(cache.use('a', 300), 'first')
})

/** Returns the use for a purpose, without a specific algorithm. */
function to(purpose: KeyPurpose): KeyUse {
  return { purpose, algorithms: [] }
}
