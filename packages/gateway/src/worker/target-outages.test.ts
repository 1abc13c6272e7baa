import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, type UpstreamOverrides } from '../testing/gateway.js'
import { httpOrigin, type Origin } from '../testing/origin.js'
import type { TargetOutage } from './messages.js'

const HEALTH = {
  path: '/',
  intervalMs: 7000,
  jitter: 0,
  timeoutMs: 1,
  unhealthyAfter: 1,
  healthyAfter: 1,
  statuses: [],
  body: null,
  bodyPattern: null,
  host: null,
  headers: [],
}

const outage = ({ url }: Origin, why: 'unhealthy' | 'drained', upstream = 'up'): TargetOutage => ({
  upstream,
  target: url,
  isHealthy: why !== 'unhealthy',
  isDrained: why === 'drained',
})

const named = (t: Parameters<typeof httpOrigin>[0], name: string): Promise<Origin> =>
  httpOrigin(t, (_, res) => res.end(name))

async function ask(url: string): Promise<string> {
  const response = await fetch(url)
  const code = response.headers.get('x-gw-error')
  return code === null ? response.text() : `${code} ${response.headers.get('retry-after')}`
}

test('targets out of service are skipped, also for failover, until none is left', async (t) => {
  const [first, second] = [await named(t, 'first'), await named(t, 'second')]
  const upstream: UpstreamOverrides = {
    urls: [],
    targets: [
      { url: first.url, weight: 1, role: 'primary', priority: 1, srv: null },
      { url: second.url, weight: 1, role: 'failover', priority: 1, srv: null },
    ],
    health: HEALTH,
  }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  assert.equal(await ask(gateway.url), 'first')
  gateway.plane.setTargets({ outages: [outage(first, 'unhealthy')], services: [] })
  assert.equal(await ask(gateway.url), 'second')
  gateway.plane.setTargets({ outages: [outage(first, 'unhealthy'), outage(second, 'drained')], services: [] })
  assert.equal(await ask(gateway.url), 'GW_UPSTREAM_UNAVAILABLE 7')
  gateway.plane.setTargets({ outages: [], services: [] })
  assert.equal(await ask(gateway.url), 'first')
})

test('panicMode goes to unhealthy targets, but not to a drained one nor while another is healthy', async (t) => {
  const [a, b] = [await named(t, 'a'), await named(t, 'b')]
  const upstream: UpstreamOverrides = { urls: [a.url, b.url], panicMode: true }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  const answers = async () =>
    new Set([await ask(gateway.url), await ask(gateway.url), await ask(gateway.url)])
  gateway.plane.setTargets({ outages: [outage(a, 'unhealthy')], services: [] })
  assert.deepEqual(await answers(), new Set(['b']))
  gateway.plane.setTargets({ outages: [outage(a, 'unhealthy'), outage(b, 'drained')], services: [] })
  assert.deepEqual(await answers(), new Set(['a']))
  gateway.plane.setTargets({ outages: [outage(a, 'drained'), outage(b, 'drained')], services: [] })
  assert.deepEqual(await answers(), new Set(['GW_UPSTREAM_UNAVAILABLE 1']))
})

test('a new upstream knows earlier outages of its name, and not those of others', async (t) => {
  const [a, b] = [await named(t, 'a'), await named(t, 'b')]
  const gateway = await startGateway(t, { upstreams: [{ urls: [a.url] }] })
  gateway.plane.setTargets({ outages: [outage(b, 'drained'), outage(a, 'drained', 'other')], services: [] })
  assert.equal(await ask(gateway.url), 'a')
  await gateway.reload({ upstreams: [{ urls: [b.url, a.url] }] })
  assert.deepEqual([await ask(gateway.url), await ask(gateway.url)], ['a', 'a'])
  // The previous upstream, still in its grace period, does not affect the states.
  const states = gateway.plane.samples().filter(({ name }) => name === 'gw_upstream_target_state')
  assert.deepEqual(
    states.map(({ labels, value }) => `${/state="(.*)"/.exec(labels)![1]} ${value}`),
    ['drained 1', 'available 1'],
  )
})
