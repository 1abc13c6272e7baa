import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { resolvePlan } from '@sluice/config/serving'
import { loadOrThrow } from '@sluice/config/testing'
import { TargetStates, type TargetStatus } from '../../supervise/health/target-states.js'
import { createOperationLog } from '../../telemetry/operation-log.js'
import { until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import type { Effect } from './key-tests.js'

/** Health checks of one target, and what they led to. */
interface Checked {
  readonly status: () => TargetStatus
  /** Requests of the health checks. */
  readonly seen: readonly IncomingMessage[]
  /** Number of checks at each change of the target's status. */
  readonly changes: readonly number[]
}

const QUICK = { path: '/', interval: '100ms', unhealthyAfter: 1 }

/** Starts health checks of an origin with this behaviour. */
async function checked(t: TestContext, health: object, answer: RequestListener): Promise<Checked> {
  const seen: IncomingMessage[] = []
  const { url } = await httpOrigin(t, (req, res) => {
    seen.push(req)
    answer(req, res)
  })
  const upstreams = { up: { targets: [url], health: { ...QUICK, ...health } } }
  const routes = [{ id: 'all', upstream: 'up' }]
  const document = { version: 1, listeners: [{ address: ':0' }], upstreams, routes }
  const changes: number[] = []
  const states = new TargetStates({
    publish: async () => void changes.push(seen.length),
    drained: { read: () => [], save: () => {} },
    log: createOperationLog({ write: () => {} }),
    serviceOf: () => null,
  })
  t.after(() => states.close())
  states.serve(resolvePlan(loadOrThrow(JSON.stringify(document), new Map())))
  changes.length = 0
  return { status: () => states.of('up')[0]!, seen, changes }
}

/** Returns the target's status after the first check. */
async function firstOf(t: TestContext, health: object, answer: RequestListener): Promise<TargetStatus> {
  const { status } = await checked(t, health, answer)
  await until(() => status().health !== 'unknown')
  return status()
}

const ok: RequestListener = (_, res) => void res.end('the status is "up"')

/** Returns a test in which the same response is healthy with one value of the key and unhealthy with another. */
const decides =
  (answer: RequestListener, good: object, bad: object): Effect =>
  async (t) => {
    assert.equal((await firstOf(t, good, answer)).health, 'healthy')
    assert.equal((await firstOf(t, bad, answer)).health, 'unhealthy')
  }

/** Tests of the keys of `health`. */
export const CHECK_KEYS: Readonly<Record<string, Effect>> = {
  'health.path': decides(
    (req, res) => void res.writeHead(req.url === '/up' ? 200 : 404).end(),
    { path: '/up' },
    { path: '/down' },
  ),
  'health.interval': async (t) => {
    const often = await checked(t, { interval: '100ms' }, ok)
    const once = await checked(t, { interval: '1h' }, ok)
    await until(() => often.seen.length >= 4 && once.seen.length >= 1)
    assert.equal(once.seen.length, 1)
  },
  'health.jitter': async (t) => {
    t.mock.method(Math, 'random', () => 0)
    const varied = await checked(t, { interval: '1h', jitter: '100%' }, ok)
    const regular = await checked(t, { interval: '1h', jitter: '0%' }, ok)
    await until(() => varied.seen.length >= 4 && regular.seen.length >= 1)
    assert.equal(regular.seen.length, 1)
  },
  'health.timeout': async (t) => {
    const { health, problem } = await firstOf(t, { timeout: '50ms' }, () => {})
    assert.deepEqual([health, problem], ['unhealthy', 'no complete response within 50 ms'])
    const late: RequestListener = (_, res) => void setTimeout(() => res.end(), 100)
    assert.equal((await firstOf(t, { timeout: '1m' }, late)).health, 'healthy')
  },
  'health.unhealthyAfter': async (t) => {
    const { status, changes } = await checked(t, { unhealthyAfter: 3 }, (_, res) => res.writeHead(500).end())
    await until(() => status().health === 'unhealthy')
    assert.deepEqual(changes, [3])
  },
  'health.healthyAfter': async (t) => {
    const answers = [500, 200, 500, 200, 200, 200]
    const { status, changes } = await checked(t, { healthyAfter: 3 }, (_, res) => {
      res.writeHead(answers.shift() ?? 200).end()
    })
    await until(() => status().health === 'unhealthy')
    await until(() => status().health === 'healthy')
    assert.deepEqual(changes, [1, 6])
  },
  'health.statuses': decides(
    (_, res) => void res.writeHead(404).end(),
    { statuses: [200, '400-404'] },
    { statuses: ['200-299'] },
  ),
  'health.body': decides(ok, { body: '"up"' }, { body: '"down"' }),
  'health.bodyPattern': decides(ok, { bodyPattern: 'status.*"up"' }, { bodyPattern: '^up' }),
  'health.host': async (t) => {
    const { seen } = await checked(t, { host: 'orders.internal:8080' }, ok)
    await until(() => seen.length > 0)
    assert.equal(seen[0]!.headers.host, 'orders.internal:8080')
  },
  'health.headers': async (t) => {
    const { seen } = await checked(t, { headers: { 'X-Check': 'a b' } }, ok)
    await until(() => seen.length > 0)
    assert.equal(seen[0]!.headers['x-check'], 'a b')
  },
}
