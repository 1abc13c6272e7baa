import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Eventual, withDefaults } from '@sluice/core'
import type { KeySet, SignatureKey } from '../../crypto/jose/key-set.js'
import { Issuer } from '../../crypto/jose/testing/issuer.js'
import { signatureCheck } from '../../crypto/keys/signature.js'
import { exchange, testEnv } from '../../testing.js'
import { type JwtConfig, jwtSchema } from './schema.js'
import { TokenGate } from './token-gate.js'

// A set of keys that is not in the configuration: one that is fetched answers late, and changes while requests run.

const NOW = Date.parse('2030-01-01T00:00:00Z')
const issuer = new Issuer('ES256', 'a')
const claims = { sub: 'ann', exp: NOW / 1000 + 600 }

class ChangingKeys implements KeySet {
  generation = 1
  keys: readonly SignatureKey[] = [keyOf(issuer)]
  isLate = false
  asked = 0

  candidates(): ReturnType<KeySet['candidates']> {
    this.asked++
    return this.isLate ? Promise.resolve(this.keys) : this.keys
  }
}

function keyOf({ kid, publicKey }: Issuer): SignatureKey {
  return { kid, issuer: null, check: signatureCheck('ES256', publicKey) }
}

function admission(keys: KeySet): (token: string) => Eventual {
  const config = withDefaults(jwtSchema, {}) as JwtConfig
  const gate = new TokenGate(config, keys, testEnv())
  return (token) => gate.admit(exchange({ startedAt: NOW, headers: ['authorization', `Bearer ${token}`] }))
}

test('a key set that must be fetched makes requests wait once', async () => {
  const keys = new ChangingKeys()
  keys.isLate = true
  const admit = admission(keys)
  const token = await issuer.token(claims)
  const first = admit(token)
  assert.ok(first instanceof Promise)
  assert.equal(await first, null)
  assert.equal(admit(token), null)
  assert.equal(keys.asked, 1)
})

test('requests with one token that wait for the keys have it checked once', async () => {
  const keys = new ChangingKeys()
  keys.isLate = true
  const admit = admission(keys)
  const token = await issuer.token(claims)
  const outcomes = await Promise.all(Array.from({ length: 1000 }, () => admit(token)))
  assert.ok(outcomes.every((outcome) => outcome === null))
  assert.equal(keys.asked, 1)
})

test('tokens are verified again after the keys have changed', async () => {
  const keys = new ChangingKeys()
  const admit = admission(keys)
  const token = await issuer.token(claims)
  assert.equal(admit(token), null)
  keys.keys = []
  assert.equal(admit(token), null, 'it is remembered while the set says that nothing changed')
  keys.generation++
  assert.equal((await admit(token))?.problem?.code, 'GW_TOKEN_SIGNATURE')
})

test('a token verified with outdated keys is not cached', async () => {
  const keys = new ChangingKeys()
  keys.isLate = true
  const admit = admission(keys)
  const token = await issuer.token(claims)
  const waiting = admit(token)
  keys.generation++
  keys.isLate = false
  keys.keys = []
  assert.equal((await admit(token))?.problem?.code, 'GW_TOKEN_SIGNATURE')
  assert.equal(await waiting, null)
  assert.equal((await admit(token))?.problem?.code, 'GW_TOKEN_SIGNATURE')
})

test('a token that was refused is checked again once the issuer may be asked for new keys', async () => {
  const renewed = new Issuer('ES256', 'a')
  let mayAsk = false
  const keys = Object.assign(new ChangingKeys(), {
    isRenewable: false,
    renewed: () => (mayAsk ? Promise.resolve([keyOf(renewed)]) : null),
  })
  const admit = admission(keys)
  const token = await renewed.token(claims)
  for (let i = 0; i < 3; i++)
    assert.equal(
      (await admit(token))?.problem?.code,
      'GW_TOKEN_SIGNATURE',
      'the issuer was asked a moment ago',
    )
  assert.equal(keys.asked, 1, 'and the refusal is remembered')
  mayAsk = keys.isRenewable = true
  assert.equal(await admit(token), null)
})
