import assert from 'node:assert/strict'
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { keyPair } from '@sluice/core/testing'
import fc from 'fast-check'
import { CompactSign, compactVerify } from 'jose'
import { decode } from '../../shared/encoding/byte-text.js'
import { importJwk } from '../keys/key-material.js'
import { signatureCheck, signer } from '../keys/signature.js'
import { isKeyFor, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../keys/signature-algorithm.js'
import { parseJoseHeader } from './jws-header.js'
import { SIGNATURE_VECTORS } from './testing/rfc-vectors.js'

interface Pair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const rsa = keyPair('rsa', { modulusLength: 2048 })
const secret = createSecretKey(randomBytes(64))
const symmetric: Pair = { publicKey: secret, privateKey: secret }
const PAIRS: Readonly<Record<SignatureAlgorithm, Pair>> = {
  ES256: keyPair('ec', { namedCurve: 'P-256' }),
  ES384: keyPair('ec', { namedCurve: 'P-384' }),
  ES512: keyPair('ec', { namedCurve: 'P-521' }),
  EdDSA: keyPair('ed25519'),
  Ed25519: keyPair('ed25519'),
  PS256: rsa,
  PS384: rsa,
  PS512: rsa,
  RS256: rsa,
  RS384: rsa,
  RS512: rsa,
  HS256: symmetric,
  HS384: symmetric,
  HS512: symmetric,
}

/** Verifies a token in compact form like the policies do. */
function isAccepted(token: string, alg: SignatureAlgorithm, key: KeyObject): boolean {
  const segments = token.split('.')
  const signature = decode(segments[2] ?? '', 'base64url')
  if (segments.length !== 3 || signature === null || decode(segments[1]!, 'base64url') === null) return false
  if (parseJoseHeader(segments[0]!)?.alg !== alg) return false
  return signatureCheck(alg, key).verifies(Buffer.from(`${segments[0]}.${segments[1]}`), signature)
}

async function isAcceptedByJose(token: string, alg: string, key: KeyObject): Promise<boolean> {
  return compactVerify(token, key, { algorithms: [alg] }).then(
    () => true,
    () => false,
  )
}

for (const { source, alg, jwk, token } of SIGNATURE_VECTORS) {
  test(`the signature of ${source} (${alg}) is right, and wrong with any bit changed`, () => {
    const { key } = importJwk(jwk, 'verify')
    const name = alg as SignatureAlgorithm
    assert.equal(isAccepted(token, name, key), true)
    const at = token.lastIndexOf('.')
    const signature = decode(token.slice(at + 1), 'base64url')!
    for (const bit of [0, 7, signature.length * 4, signature.length * 8 - 1]) {
      const changed = Buffer.from(signature)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      assert.equal(isAccepted(`${token.slice(0, at)}.${changed.toString('base64url')}`, name, key), false)
    }
  })
}

for (const alg of SIGNATURE_ALGORITHMS) {
  const { publicKey, privateKey } = PAIRS[alg]

  test(`what jose signs with ${alg} is accepted, and jose accepts what is signed here`, async () => {
    const payload = randomBytes(300)
    const token = await new CompactSign(payload).setProtectedHeader({ alg }).sign(privateKey)
    assert.equal(isAccepted(token, alg, publicKey), true)
    const input = `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${payload.toString('base64url')}`
    const signature = await signer(alg, privateKey)(Buffer.from(input))
    assert.equal(await isAcceptedByJose(`${input}.${signature.toString('base64url')}`, alg, publicKey), true)
  })

  test(`the check of ${alg} off the event loop says the same`, async () => {
    const input = randomBytes(70_000)
    const signature = await signer(alg, privateKey)(input)
    const check = signatureCheck(alg, publicKey)
    assert.equal(check.verifies(input, signature), true)
    assert.equal(await check.verifiesLater(input, signature), true)
    signature[signature.length - 1]! ^= 1
    assert.equal(await check.verifiesLater(input, signature), false)
    assert.equal(await check.verifiesLater(input, signature.subarray(1)), false)
  })

  test(`a mutated ${alg} token is accepted as jose accepts it, or more strictly`, async () => {
    const token = await new CompactSign(Buffer.from('{"sub":"a"}'))
      .setProtectedHeader({ alg })
      .sign(privateKey)
    const position = fc.nat(token.length - 1)
    const character = fc.constantFrom('A', 'B', '_', '-', '.', '=', ' ', '+', '\n', 'é', '')
    await fc.assert(
      fc.asyncProperty(position, character, async (at, inserted) => {
        const changed = token.slice(0, at) + inserted + token.slice(at + 1)
        const isOurs = isAccepted(changed, alg, publicKey)
        const isTheirs = await isAcceptedByJose(changed, alg, publicKey)
        assert.equal(isOurs, changed === token)
        if (isOurs) assert.equal(isTheirs, true)
      }),
      { numRuns: 40 },
    )
  })

  test(`${alg} takes no key of another kind`, () => {
    for (const other of SIGNATURE_ALGORITHMS) {
      const { publicKey: key } = PAIRS[other]
      if (isKeyFor(alg, key))
        assert.equal(PAIRS[other].publicKey.asymmetricKeyType, publicKey.asymmetricKeyType)
      else assert.throws(() => signatureCheck(alg, key), /does not fit/)
    }
  })
}

test('a public key is never a secret', () => {
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  const input = Buffer.from('eyJhbGciOiJIUzI1NiJ9.e30')
  const forged = createHmac('sha256', pem).update(input).digest()
  assert.throws(() => signatureCheck('HS256', rsa.publicKey), /does not fit HS256/)
  assert.equal(signatureCheck('RS256', rsa.publicKey).verifies(input, forged), false)
})

test('zeros, the order of the curve and short or long signatures are refused by ECDSA', () => {
  const check = signatureCheck('ES256', PAIRS.ES256.publicKey)
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
  const zero = Buffer.alloc(32)
  const one = Buffer.from(zero)
  one[31] = 1
  for (const [r, s] of [
    [zero, zero],
    [zero, one],
    [one, zero],
    [order, order],
    [order, one],
    [one, one],
  ] as const)
    assert.equal(check.verifies(Buffer.from('a'), Buffer.concat([r, s])), false)
  for (const length of [0, 1, 63, 65, 128])
    assert.equal(check.verifies(Buffer.from('a'), Buffer.alloc(length)), false)
})

test('an ECDSA signature in DER, which is another encoding, is refused', () => {
  const der = Buffer.from('3006020101020101', 'hex')
  assert.equal(signatureCheck('ES256', PAIRS.ES256.publicKey).verifies(Buffer.from('a'), der), false)
})

test('an Ed25519 signature whose S is not reduced is refused', async () => {
  const { publicKey, privateKey } = PAIRS.EdDSA
  const input = Buffer.from('a')
  const signature = await signer('EdDSA', privateKey)(input)
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  let s = 0n
  for (let i = 63; i >= 32; i--) s = s * 256n + BigInt(signature[i]!)
  s += order
  const malleated = Buffer.from(signature)
  for (let i = 32; i < 64; i++, s /= 256n) malleated[i] = Number(s % 256n)
  assert.equal(signatureCheck('EdDSA', publicKey).verifies(input, signature), true)
  assert.equal(signatureCheck('EdDSA', publicKey).verifies(input, malleated), false)
})

test('an RSA signature with other bytes in front, or as a larger number, is refused', async () => {
  const input = Buffer.from('a')
  const signature = await signer('RS256', rsa.privateKey)(input)
  const check = signatureCheck('RS256', rsa.publicKey)
  assert.equal(check.verifies(input, Buffer.concat([Buffer.alloc(1), signature])), false)
  assert.equal(check.verifies(input, Buffer.alloc(256, 255)), false)
  assert.equal(check.verifies(input, Buffer.alloc(256)), false)
})

test('base64url is taken in its one canonical form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64url')
      assert.deepEqual(decode(text, 'base64url'), Buffer.from(bytes))
    }),
  )
  for (const text of [
    'AB',
    'AAB',
    'A',
    'AAAAA',
    'AA==',
    'AA=',
    'AA\n',
    ' AA',
    'A+',
    'A/',
    'Aé',
    'AA.',
    'A A A',
  ])
    assert.equal(decode(text, 'base64url'), null, text)
  for (const text of ['', 'AA', 'AQ', 'AAA', 'AAE', 'AAAA', '-_-_'])
    assert.notEqual(decode(text, 'base64url'), null, text)
})
