import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PolicyUse } from '@sluice/config'
import { consumerOf, refusal } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const WAIT_MS = 30

/** A policy that waits when it sees the request and again when it sees the response. */
const WAITING = fakeCatalog({
  onRequest: () => new Promise((resolve) => setTimeout(resolve, WAIT_MS, null)),
  onResponse: () => new Promise((resolve) => setTimeout(resolve, WAIT_MS, null)),
})

type Values = ReadonlyMap<string, number>

/** Starts a gateway with an upstream, sends requests one by one, and returns its metrics. */
async function metricsAfter(
  t: TestContext,
  requests: number,
  options: Parameters<typeof startGateway>[2],
  policies: readonly PolicyUse[] = FAKE_POLICIES,
): Promise<Values> {
  const origin = await httpOrigin(t, (_, res) => setTimeout(() => res.end('ok'), WAIT_MS))
  const routes = [{ id: 'all', policies }]
  const gateway = await startGateway(t, { upstreams: [{ urls: [origin.url] }], routes }, options)
  for (let i = 0; i < requests; i++) await (await fetch(gateway.url)).arrayBuffer()
  return new Map(gateway.plane.samples().map(({ name, labels, value }) => [`${name}{${labels}}`, value]))
}

test('a policy is timed over its phases, in the first request and then in one of 16', async (t) => {
  const values = await metricsAfter(t, 17, { catalog: WAITING })
  const labels = `{route="all",policy="${FAKE_POLICIES[0]!.id}"}`
  assert.equal(values.get(`gw_policy_duration_seconds_count${labels}`), 2)
  const seconds = values.get(`gw_policy_duration_seconds_sum${labels}`)!
  // Timers can fire a millisecond early.
  assert.ok(seconds >= (4 * (WAIT_MS - 1)) / 1000, `${seconds}`)
})

test('a policy whose condition does not match is not timed', async (t) => {
  const skipped = FAKE_POLICIES.map((use) => ({ ...use, when: 'req.method == "POST"' }))
  const values = await metricsAfter(t, 1, { catalog: WAITING }, skipped)
  assert.ok([...values.keys()].every((key) => !key.startsWith('gw_policy_duration')))
})

test('a refusal of a policy is counted for the route, the policy, the worker and the group of the consumer', async (t) => {
  const catalog = fakeCatalog({
    onRequest: (x) => {
      x.identify(consumerOf('api-key', 'acme', { groups: ['gold'] }))
      return refusal('GW_BAD_REQUEST', 'no')
    },
  })
  const values = await metricsAfter(t, 2, { catalog })
  const policy = FAKE_POLICIES[0]!.id
  assert.equal(values.get(`gw_policy_errors_total{route="all",policy="${policy}",code="GW_BAD_REQUEST"}`), 2)
  assert.equal(values.get('gw_errors_total{route="all",code="GW_BAD_REQUEST"}'), 2)
  assert.equal(values.get('gw_consumer_errors_total{group="gold",code="GW_BAD_REQUEST"}'), 2)
  const workers = [...values].filter(([key]) => key.startsWith('gw_worker_errors_total{worker='))
  assert.deepEqual(
    workers.map(([, value]) => value),
    [2],
  )
})
