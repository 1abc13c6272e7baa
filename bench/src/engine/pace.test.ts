import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/cli/testing'
import { OpenLoop } from './pace.js'
import type { PacedClient, SentRequest } from './paced-client.js'

/** A connection that answers at once. */
function client(plan: OpenLoop, asked: SentRequest[] = []): PacedClient {
  const self = {
    send: (ask: SentRequest): void => {
      asked.push(ask)
      setImmediate(() => plan.free(self))
    },
  } as unknown as PacedClient
  return self
}

/** Waits until a plan has sent its last request, and a little longer, in which it must send no other. */
async function over(
  t: TestContext,
  asked: readonly SentRequest[],
  plan: OpenLoop,
  total: number,
): Promise<void> {
  t.after(() => plan.stop())
  await until(() => asked.length >= total)
  await new Promise((resolve) => setTimeout(resolve, 100))
}

test('connections that open before a plan begins are idle and asked for nothing', () => {
  const plan = new OpenLoop(1000)
  const asked: SentRequest[] = []
  for (let i = 0; i < 3; i++) plan.free(client(plan, asked))
  assert.equal(plan.idle, 3)
  assert.deepEqual(asked, [])
})

test('a plan asks for as many as its rate says, and knows those of its lead-in, at any rate', async (t) => {
  for (const rate of [8342, 7331, 3333, 1]) {
    const plan = new OpenLoop(rate)
    const asked: SentRequest[] = []
    plan.free(client(plan, asked))
    plan.start(performance.now(), 0.5, 0.25)
    await over(t, asked, plan, Math.ceil(0.75 * rate))
    const early = asked.filter(({ isEarly }) => isEarly).length
    const measured = Math.ceil(0.75 * rate) - Math.ceil(rate / 2)
    assert.deepEqual([early, asked.length - early], [Math.ceil(rate / 2), measured])
    assert.equal(plan.measured, measured)
  }
})
