import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { dummyHash, hashPassword, parsePasswordHash, verifyPassword } from './password.js'

/** A low-cost hash, to save time. */
function cheapHash(password: string, salt = 'saltsalt'): string {
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 })
  return `$scrypt$ln=10,r=8,p=1$${unpadded(Buffer.from(salt))}$${unpadded(key)}`
}

test('a hashed password verifies, another one does not, and no two hashes are equal', async () => {
  const hash = await hashPassword('pass:wörd')
  assert.match(hash, /^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.equal(await verifyPassword('pass:wörd', hash), true)
  assert.equal(await verifyPassword('pass:word', hash), false)
  assert.notEqual(await hashPassword('pass:wörd'), hash)
})

test('a hash made by another scrypt verifies', async () => {
  assert.equal(await verifyPassword('s3cret', cheapHash('s3cret')), true)
  assert.equal(await verifyPassword('', cheapHash('s3cret')), false)
})

test('composed and decomposed characters are one password', async () => {
  assert.equal(await verifyPassword('e\u0301t\u00e9', cheapHash('\u00e9t\u00e9')), true)
})

test('invalid and too costly hashes are refused without quoting them', () => {
  const good = cheapHash('a')
  const parts = good.split('$')
  const withCost = (cost: string) => ['', 'scrypt', cost, parts[3], parts[4]].join('$')
  const refused: [string, RegExp][] = [
    ['', /is not a scrypt hash/],
    ['hunter2', /is not a scrypt hash; use the output of 'gw hash-password'/],
    ['$2b$12$abcdefghijklmnopqrstuv', /is not a scrypt hash/],
    [`${good}=`, /is not a scrypt hash/],
    [withCost('ln=9,r=8,p=1'), /outside of the limits/],
    [withCost('ln=18,r=8,p=1'), /outside of the limits/],
    [withCost('ln=15,r=0,p=1'), /outside of the limits/],
    [withCost('ln=15,r=8,p=0'), /outside of the limits/],
    [withCost('ln=17,r=8,p=99'), /outside of the limits/],
    [`$scrypt$ln=15,r=8,p=1$c2FsdA$${parts[4]}`, /unusual length/],
    [`$scrypt$ln=15,r=8,p=1$${parts[3]}$c2hvcnQ`, /unusual length/],
  ]
  for (const [text, message] of refused) {
    assert.throws(
      () => parsePasswordHash(text),
      (error: Error) => {
        return (
          error instanceof RangeError && message.test(error.message) && !error.message.includes('hunter2')
        )
      },
      text,
    )
  }
  for (const cost of ['ln=17,r=8,p=1', 'ln=16,r=8,p=2', 'ln=14,r=8,p=5'])
    assert.ok(parsePasswordHash(withCost(cost)))
})

test('a dummy hash costs the same and is a hash itself', async () => {
  const model = parsePasswordHash(cheapHash('a'))
  const dummy = dummyHash(model)
  assert.deepEqual(parsePasswordHash(dummy.text), dummy)
  assert.deepEqual(dummyHash(model), dummy)
  assert.equal(dummy.logCost, model.logCost)
  assert.equal(dummy.key.length, model.key.length)
  assert.equal(await verifyPassword('a', dummy.text), false)
})

test('a password that no client can send is not hashed', async () => {
  await assert.rejects(hashPassword(''), RangeError)
  await assert.rejects(hashPassword('a\nb'), /control characters/)
})
