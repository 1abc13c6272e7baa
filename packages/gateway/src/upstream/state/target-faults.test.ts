import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sample } from '../../telemetry/sample.js'
import { type Fault, type FaultyOrigin, faultyOrigin } from '../../testing/faulty-origin.js'
import {
  startGateway,
  type TestGateway,
  TIMEOUTS,
  type UpstreamOverrides,
  until,
} from '../../testing/gateway.js'
import { descriptors, usedBytes } from '../../testing/process-state.js'
import { type LoadOutcome, type SteadyLoad, steadyLoad } from '../../testing/steady-load.js'
import { conditions, untilCondition } from '../../testing/target-conditions.js'

// One target of three fails under a steady load of numbered requests, seen from the clients.

const OUTLIER = {
  windowMs: 10_000,
  minRequests: 10,
  failureRatio: 0.5,
  slowAfterMs: null,
  consecutiveFailures: 3,
  ejectMs: 300,
  maxEjectMs: 300,
  maxEjected: 0.5,
}
const BREAKER = {
  windowMs: 10_000,
  minRequests: 5,
  failureRatio: 0.5,
  slowAfterMs: null,
  slowRatio: 1,
  openMs: 200,
  maxOpenMs: 200,
  probes: 2,
}
const REPEATING = { attempts: 2, budget: 1, on: [500, 502, 504], backoffMs: 5 }
/** Time after which a target hangs. On a busy machine all targets are slower than necessary. */
const SILENCE = { slowAfterMs: 2000, headersMs: 5000 }
/** As many as wait for a hanging target, without a queue. */
const CONNECTIONS = 1000

interface Bench {
  readonly gateway: TestGateway
  readonly origins: readonly FaultyOrigin[]
  readonly load: SteadyLoad
  /** Open before the load. */
  readonly descriptors: number
}

/** Time for the outcomes of the load and for compiled code. */
const LEFT_OVER_BYTES = 8 * 1024 * 1024

async function bench(
  t: TestContext,
  method: 'GET' | 'POST',
  overrides: Omit<UpstreamOverrides, 'urls'>,
): Promise<Bench> {
  const origins = await Promise.all(['a', 'b', 'c'].map((name) => faultyOrigin(t, name)))
  const upstream = { connections: CONNECTIONS, ...overrides, urls: origins.map(({ url }) => url) }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  const before = descriptors()
  const load = steadyLoad(gateway.url, method)
  t.after(() => load.stop())
  await until(() => origins.every(({ seen }) => seen.length > 3))
  return { gateway, origins, load, descriptors: before }
}

/** Only faults that take time are detected by their time. */
function patienceFor(fault: Fault, outlier: typeof OUTLIER): Pick<UpstreamOverrides, 'outlier' | 'timeouts'> {
  if (fault !== 'hung' && fault !== 'slow') return { outlier }
  const { slowAfterMs, headersMs } = SILENCE
  return { outlier: { ...outlier, slowAfterMs }, timeouts: { ...TIMEOUTS, headersMs } }
}

/** Waits until this many more requests have an outcome. */
function untilAnswered({ load }: Bench, count: number): Promise<void> {
  const from = load.outcomes.length
  return until(() => load.outcomes.length >= from + count)
}

function attemptsAt({ plane }: TestGateway, { url }: FaultyOrigin): number {
  const isIts = ({ name, labels }: Sample): boolean =>
    name === 'gw_upstream_attempts_total' && labels.includes(`target="${url}"`)
  return plane.samples().find(isIts)!.value
}

const FAULTS: readonly Fault[] = ['killed', 'hung', 'slow', 'reset', 'garbage', 'framing', 'error']

for (const fault of FAULTS) {
  test(`${fault}: retryable requests all succeed, and the target is back once it works, with nothing left over`, async (t) => {
    const patience = patienceFor(fault, OUTLIER)
    const parts = await bench(t, 'GET', { ...patience, retry: REPEATING, keepAliveMs: 500 })
    const { gateway, origins, load } = parts
    const [broken] = origins
    const usedAtFirst = usedBytes()
    await broken!.become(fault)
    await untilCondition(gateway, broken!.url, 'ejected')
    // It returns and is ejected again for as long as it is broken.
    await untilAnswered(parts, 200)
    await broken!.become('none')
    const seen = broken!.seen.length
    await until(() => broken!.seen.length > seen + 20 && conditions(gateway)[broken!.url] === 'available')
    await load.stop()
    assert.deepEqual(load.failed(), [])
    // Kept connections are closed after `keepAlive`.
    await until(() => descriptors() <= parts.descriptors)
    await until(() => usedBytes() < usedAtFirst + LEFT_OVER_BYTES)
  })
}

for (const fault of [...FAULTS, 'cut'] as const) {
  test(`${fault}: non-retryable requests fail only if the target had them before it was ejected`, async (t) => {
    const patience = patienceFor(fault, { ...OUTLIER, ejectMs: 3_600_000, maxEjectMs: 3_600_000 })
    const parts = await bench(t, 'POST', { ...patience, retry: { attempts: 1, budget: 1 } })
    const { gateway, origins, load } = parts
    const [broken] = origins
    const atFault = broken!.seen.length
    const inFlight = new Set(broken!.open)
    await broken!.become(fault)
    await untilCondition(gateway, broken!.url, 'ejected')
    const attempts = attemptsAt(gateway, broken!)
    await untilAnswered(parts, 100)
    await load.stop()
    assert.equal(attemptsAt(gateway, broken!), attempts, 'an ejected target gets nothing')
    const itsOwn = new Set([...inFlight, ...broken!.seen.slice(atFault)])
    const others = load.failed().filter(({ id }) => !itsOwn.has(id))
    // Sent on a kept connection before its end was noticed: in flight for the gateway, but never read by the target.
    const isLost = ({ body }: LoadOutcome): boolean =>
      fault === 'killed' && body.includes('GW_UPSTREAM_RESET')
    assert.deepEqual(
      others.filter((outcome) => !isLost(outcome)),
      [],
    )
  })
}

test('a response without a request is discarded', async (t) => {
  const parts = await bench(t, 'POST', {})
  await parts.origins[0]!.become('surplus')
  await untilAnswered(parts, 100)
  await parts.load.stop()
  assert.deepEqual(parts.load.failed(), [])
})

test('a flapping target costs no request', async (t) => {
  const outlier = { ...OUTLIER, ejectMs: 100, maxEjectMs: 3_600_000 }
  const { gateway, origins, load } = await bench(t, 'GET', { outlier, retry: REPEATING })
  const [flapping] = origins
  for (let i = 0; i < 4; i++) {
    await flapping!.become('killed')
    await untilCondition(gateway, flapping!.url, 'ejected')
    await flapping!.become('none')
    await untilCondition(gateway, flapping!.url, 'available')
  }
  await load.stop()
  assert.deepEqual(load.failed(), [])
})

test('when all fail, the breakers answer at once and without the targets, and let the first probes through', async (t) => {
  const parts = await bench(t, 'GET', { breaker: BREAKER, retry: { attempts: 0 } })
  const { gateway, origins, load } = parts
  for (const origin of origins) await origin.become('killed')
  await until(() => Object.values(conditions(gateway)).every((condition) => condition !== 'available'))
  const refused = () => load.failed().filter(({ body }) => body.includes('GW_UPSTREAM_CIRCUIT_OPEN'))
  await until(() => refused().length > 20)
  const response = await fetch(gateway.url)
  if (response.status === 503) assert.match(response.headers.get('retry-after') ?? '', /^1$/)
  for (const origin of origins) await origin.become('none')
  await until(() => Object.values(conditions(gateway)).every((condition) => condition === 'available'))
  const { sent } = load
  // Earlier ones are counted too.
  await until(() => load.outcomes.filter(({ id }) => Number(id) >= sent).length > 50)
  await load.stop()
  assert.deepEqual(
    load.failed().filter(({ id }) => Number(id) >= sent),
    [],
  )
})

test('at most half of the pool is ejected, however many fail', async (t) => {
  const parts = await bench(t, 'GET', { outlier: { ...OUTLIER, ejectMs: 3_600_000, maxEjectMs: 3_600_000 } })
  const { gateway, origins, load } = parts
  for (const origin of origins) await origin.become('error')
  await until(() => Object.values(conditions(gateway)).includes('ejected'))
  await untilAnswered(parts, 100)
  await load.stop()
  assert.equal(Object.values(conditions(gateway)).filter((condition) => condition === 'ejected').length, 1)
})
