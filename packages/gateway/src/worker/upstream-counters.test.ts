import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bundleOf, type PlanOverrides, startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

/** Grace period of an upstream that no snapshot uses, in milliseconds. */
const GRACE_MS = 10_000

test('counters of an upstream continue when it is changed, removed and added again', async (t) => {
  const { url } = await httpOrigin(t, (_, res) => res.end('ok'))
  const overrides: PlanOverrides = { upstreams: [{ urls: [url] }] }
  const gateway = await startGateway(t, overrides)
  const { plane } = gateway
  const attempts = (): number | undefined =>
    plane
      .samples()
      .find(({ name, labels }) => name === 'gw_upstream_attempts_total' && labels.includes('upstream="up"'))
      ?.value
  const call = async (): Promise<void> => {
    await (await fetch(gateway.url)).arrayBuffer()
  }
  /** Waits until the previous upstream has been closed. */
  const change = async (t: TestContext, next: PlanOverrides): Promise<void> => {
    const prepared = await plane.prepare(bundleOf(next))
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const activated = prepared.activate()
    t.mock.timers.tick(GRACE_MS)
    t.mock.timers.reset()
    await activated
  }
  await call()
  await gateway.reload({ upstreams: [{ urls: [url], maxPending: 7 }] })
  assert.equal(attempts(), 1)
  await call()
  assert.equal(attempts(), 2)
  await change(t, { upstreams: [{ name: 'other', urls: [url] }] })
  assert.equal(attempts(), 2)
  await change(t, overrides)
  await call()
  assert.equal(attempts(), 3)
})
