import assert from 'node:assert/strict'
import { sign as signBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Exchange, Outcome, Policy, Step } from '@sluice/core'
import { keyPair } from '@sluice/core/testing'
import { httpSignature } from '../../auth/http-signature/policy.js'
import { BODY, keys, pem, request, signed } from '../../auth/http-signature/testing/messages.js'
import { jws } from '../../content/jws/policy.js'
import { verify } from '../../content/verify/policy.js'
import { exchange, testEnv } from '../../testing.js'
import { Issuer } from '../jose/testing/issuer.js'
import type { SignatureChecks } from './signature-checks.js'
import { checksOnThreads, checksWithoutRoom } from './testing/checks.js'

// Behaviour of every policy that verifies signatures of callers while a flood of them uses up the event loop.

interface Case {
  readonly policy: Policy
  readonly config: unknown
  /** Returns a request with a valid or an invalid signature. */
  message(isRight: boolean): Promise<{ x: Exchange; body: Uint8Array }>
}

const issuer = new Issuer('ES256', 'main')
const ed = keyPair('ed25519')

const CASES: Readonly<Record<string, Case>> = {
  'http-signature': {
    policy: httpSignature,
    config: { verify: { keys } },
    async message(isRight) {
      const x = signed(request())
      if (!isRight) x.method = 'PUT'
      return { x, body: BODY }
    },
  },
  jws: {
    policy: jws,
    config: { verify: { keys: [{ jwk: issuer.jwk() }], algorithms: ['ES256'] } },
    async message(isRight) {
      const token = await (isRight ? issuer : new Issuer('ES256', 'main')).token({ amount: 12 })
      return { x: exchange({ method: 'POST' }), body: Buffer.from(token) }
    },
  },
  verify: {
    policy: verify,
    config: {
      keys: [{ id: 'k', key: pem(ed.publicKey) }],
      signatures: [{ from: 'body', signature: 'header.x-sig', algorithm: 'Ed25519', keys: ['k'] }],
    },
    async message(isRight) {
      const body = Buffer.from('{"amount":12}')
      const signature = signBytes(null, isRight ? body : Buffer.from('x'), ed.privateKey)
      return { x: exchange({ method: 'POST', body, headers: ['x-sig', signature.toString('base64')] }), body }
    },
  },
}

async function answer({ policy, config, message }: Case, checks: SignatureChecks, isRight: boolean) {
  const table = new Map<string, unknown>([['signature-checks', checks]])
  const step = (await policy.compile(config as never, testEnv(table))) as Step
  const { x, body } = await message(isRight)
  const outcome: Outcome = (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
  return outcome?.status ?? 200
}

for (const [name, one] of Object.entries(CASES)) {
  test(`${name}: on a thread the answer is what it is on the event loop`, async () => {
    assert.equal(await answer(one, checksOnThreads(), true), 200)
    assert.ok([401, 500].includes(await answer(one, checksOnThreads(), false)))
  })

  test(`${name}: no signature is checked on an event loop that has no time`, async () => {
    const checks = checksOnThreads()
    checks.spend = () => assert.fail('it was')
    assert.equal(await answer(one, checks, true), 200)
  })

  test(`${name}: a request for whose check there is no room is asked to come back`, async () => {
    assert.equal(await answer(one, checksWithoutRoom(), true), 503)
  })
}
