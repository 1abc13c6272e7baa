import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { CachedClock } from '../lib/cached-clock.js'
import { runToCompletion } from '../lib/run-to-completion.js'
import { SharedTable } from '../lib/shared-table.js'
import { planOf } from '../testing/gateway.js'
import { WireTransport } from '../upstream/http1/wire-transport.js'
import type { Target } from '../upstream/target.js'
import { systemNetwork } from '../upstream/transport/network.js'
import { UndiciTransport } from '../upstream/undici/undici-transport.js'
import { compileUpstreams } from './upstreams.js'

const PLAIN = 'http://127.0.0.1:9000'
const SECURE = 'https://127.0.0.1:9443'

/** Returns an upstream's targets as in a snapshot, without opening connections. */
function targetsOf(
  t: TestContext,
  urls: readonly string[],
  overrides: Partial<Omit<UpstreamPlan, 'retry'>>,
): readonly Target[] {
  const shared = new SharedTable(() => {})
  const network = systemNetwork()
  const source = { shared, network, clock: new CachedClock(), report: () => {} }
  const plan = planOf({ upstreams: [{ urls, ...overrides }] })
  const upstreams = runToCompletion(compileUpstreams(plan, source, []))
  const { targets } = upstreams.get('up')!
  t.after(() => Promise.all(targets.map(({ transport }) => transport.close())))
  return targets
}

const CHOICES = [
  { transport: 'auto', url: PLAIN, takes: WireTransport },
  { transport: 'auto', url: SECURE, takes: UndiciTransport },
  { transport: 'wire', url: PLAIN, takes: WireTransport },
  { transport: 'undici', url: PLAIN, takes: UndiciTransport },
  { transport: 'undici', url: SECURE, takes: UndiciTransport },
] as const

for (const { transport, url, takes } of CHOICES) {
  test(`transport ${transport} uses the ${takes.name} for ${url}`, (t) => {
    const [target] = targetsOf(t, [url], { transport })
    assert.equal(target!.transport.constructor, takes)
  })
}

test('a TLS address never gets the transport without TLS', (t) => {
  // Validation refuses `wire` with https, but cannot see an address that comes from a reference.
  const [target] = targetsOf(t, [SECURE], { transport: 'wire' })
  assert.equal(target!.transport.constructor, UndiciTransport)
})

test('each target of one upstream has the transport of its own address', (t) => {
  const targets = targetsOf(t, [PLAIN, SECURE], { transport: 'auto' })
  assert.deepEqual(
    targets.map(({ transport }) => transport.constructor),
    [WireTransport, UndiciTransport],
  )
})
