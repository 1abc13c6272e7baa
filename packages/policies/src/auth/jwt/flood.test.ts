import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Eventual, withDefaults } from '@sluice/core'
import type { KeySet } from '../../crypto/jose/key-set.js'
import { encode, Issuer } from '../../crypto/jose/testing/issuer.js'
import { signatureCheck } from '../../crypto/keys/signature.js'
import { SignatureChecks } from '../../crypto/keys/signature-checks.js'
import { checksOnThreads, checksWithoutRoom } from '../../crypto/keys/testing/checks.js'
import { exchange, testEnv } from '../../testing.js'
import { type JwtConfig, jwtSchema } from './schema.js'
import { TokenGate } from './token-gate.js'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const issuer = new Issuer('RS256', 'a')
const good = await issuer.token({ sub: 'ann', exp: NOW / 1000 + 600 })

/** The same token with another signature, one for each number. */
function forged(i: number): string {
  const signature = Buffer.alloc(256)
  signature.writeUInt32BE(i, 100)
  return `${good.slice(0, good.lastIndexOf('.'))}.${encode(signature)}`
}

/** A gate, and how many signatures it has had compared, each of which takes 1 ms of the clock. */
function gateOver(checks: SignatureChecks, clock = { nowMs: 0 }) {
  const { verifies, verifiesLater } = signatureCheck('RS256', issuer.publicKey)
  const gate = { compared: 0, admit: (_token: string): Eventual => null }
  const check = {
    verifies: (...args: Parameters<typeof verifies>) => {
      gate.compared++
      clock.nowMs++
      return verifies(...args)
    },
    verifiesLater: (...args: Parameters<typeof verifies>) => {
      gate.compared++
      return verifiesLater(...args)
    },
  }
  const keys: KeySet = { generation: 1, candidates: () => [{ kid: 'a', issuer: null, check }] }
  const env = testEnv(new Map<string, unknown>([['signature-checks', checks]]))
  const tokens = new TokenGate(withDefaults(jwtSchema, {}) as JwtConfig, keys, env)
  gate.admit = (token) =>
    tokens.admit(exchange({ startedAt: NOW, headers: ['authorization', `Bearer ${token}`] }))
  return gate
}

test('2,000 forged tokens at once are refused with 401 or 503, and leave the event loop to others', async () => {
  const clock = { nowMs: 0 }
  const gate = gateOver(new SignatureChecks(() => clock.nowMs), clock)
  assert.equal(gate.admit(good), null)
  const outcomes = Array.from({ length: 2000 }, (_, i) => gate.admit(forged(i)))
  assert.equal(gate.admit(good), null, 'a token that was verified waits for nothing')
  const waiting = outcomes.filter((outcome) => outcome instanceof Promise).length
  assert.equal(waiting, 258)
  assert.ok(gate.compared < 30)
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const replies = await Promise.all(outcomes)
  isOver = true
  for (const reply of replies) assert.ok(reply !== null && [401, 503].includes(reply.status))
  assert.ok(turns > 1)
})

test('a token that is sent again with the same wrong signature is not checked again', async () => {
  const gate = gateOver(checksOnThreads())
  const token = forged(1)
  for (let i = 0; i < 100; i++) assert.equal((await gate.admit(token))?.problem?.code, 'GW_TOKEN_SIGNATURE')
  assert.equal(gate.compared, 1)
})

test('forged tokens push no verified one out', async () => {
  const gate = gateOver(new SignatureChecks(() => 0))
  assert.equal(gate.admit(good), null)
  for (let i = 0; i < 5000; i++) await gate.admit(forged(i))
  const { compared } = gate
  assert.equal(gate.admit(good), null)
  assert.equal(gate.compared, compared)
})

test('on a thread a token is verified as it is on the event loop, and remembered', async () => {
  const gate = gateOver(checksOnThreads())
  const first = gate.admit(good)
  assert.ok(first instanceof Promise)
  assert.equal(await first, null)
  assert.equal(gate.admit(good), null)
})

test('a token for whose check there is no room is asked to come back, and is not held against it', async () => {
  const reply = await gateOver(checksWithoutRoom()).admit(good)
  assert.equal(reply?.status, 503)
  assert.deepEqual(reply.headers, ['x-gw-error', 'GW_OVERLOADED', 'retry-after', '1'])
})
