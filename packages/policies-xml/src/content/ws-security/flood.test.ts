import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome, Step } from '@sluice/core'
import { checksOnThreads } from '@sluice/policies/crypto/keys/testing/checks'
import { exchange, makeCertificate, testEnv } from '@sluice/policies/testing'
import { wsSecurity } from './policy.js'
import { added, signWith, trust } from './testing/run.js'
import { soapMessage } from './testing/soap.js'

// Behaviour while a flood of callers with signatures uses up the event loop.

const client = makeCertificate({ name: 'client' })

async function answer(checks: ReturnType<typeof checksOnThreads>, isRight: boolean): Promise<number> {
  const table = new Map<string, unknown>([['signature-checks', checks]])
  const config = { request: { check: { signature: trust(client) } } }
  const step = (await wsSecurity.compile(config as never, testEnv(table))) as Step
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(client) })
  const body = Buffer.from(isRight ? text : text.replace(/(SignatureValue>)./, '$1/'))
  const x = exchange({ method: 'POST', body, headers: ['content-type', 'text/xml'] })
  const outcome: Outcome = (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
  return outcome?.status ?? 200
}

test('on a thread the answer is what it is on the event loop', async () => {
  assert.equal(await answer(checksOnThreads(), true), 200)
  assert.equal(await answer(checksOnThreads(), false), 500)
})

test('no signature is checked on an event loop that has no time', async () => {
  const checks = checksOnThreads()
  checks.spend = () => assert.fail('it was')
  assert.equal(await answer(checks, true), 200)
})
