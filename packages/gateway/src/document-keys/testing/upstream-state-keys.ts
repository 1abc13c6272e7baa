import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { type TestGateway, until } from '../../testing/gateway.js'
import { httpOrigin, type Origin } from '../../testing/origin.js'
import { conditions, untilCondition } from '../../testing/target-conditions.js'
import { type Effect, serve } from './key-tests.js'

/**
 * An origin whose response depends on the path: `/bad` is 500, `/late` takes 30 ms, `/held` waits until the test ends
 * it.
 */
interface Moody extends Origin {
  readonly held: ServerResponse[]
}

async function moody(t: TestContext): Promise<Moody> {
  const held: ServerResponse[] = []
  const origin = await httpOrigin(t, (req, res) => {
    if (req.url === '/held') held.push(res)
    else if (req.url === '/late') setTimeout(() => res.end(), 30)
    else res.writeHead(req.url === '/bad' ? 500 : 200).end()
  })
  return { ...origin, held }
}

/** A gateway in front of a target whose condition the test checks. */
interface Tried {
  readonly gateway: TestGateway
  readonly origin: Moody
  /** Requests each path in turn and returns the statuses. */
  readonly ask: (...paths: readonly string[]) => Promise<number[]>
  readonly condition: () => string
}

/** Starts a gateway in front of one target with a breaker that decides after two attempts. */
async function withBreaker(t: TestContext, breaker: object): Promise<Tried> {
  const origin = await moody(t)
  const upstream = { targets: [origin.url], breaker: { minRequests: 2, ...breaker } }
  const gateway = await serve(t, { upstream })
  return { gateway, origin, ask: asker(gateway), condition: () => conditions(gateway)[origin.url]! }
}

function asker({ url }: TestGateway): Tried['ask'] {
  return async (...paths) => {
    const statuses: number[] = []
    for (const path of paths) statuses.push((await fetch(`${url}/${path}`)).status)
    return statuses
  }
}

/** Returns how long the breaker stays open according to the gateway, in seconds. */
async function openFor(t: TestContext, breaker: object): Promise<number> {
  const { gateway, ask } = await withBreaker(t, breaker)
  await ask('bad', 'bad')
  const refused = await fetch(gateway.url)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_UPSTREAM_CIRCUIT_OPEN')
  return Number(refused.headers.get('retry-after'))
}

/** Tests of the keys of `breaker`. */
export const BREAKER_KEYS: Readonly<Record<string, Effect>> = {
  'breaker.window': async (t) => {
    for (const [window, condition] of [
      ['1s', 'available'],
      ['10m', 'open'],
    ] as const) {
      const breaker = await withBreaker(t, { window })
      await breaker.ask('bad')
      const sinceMono = performance.now()
      await until(() => performance.now() - sinceMono > 1200)
      await breaker.ask('bad')
      assert.equal(breaker.condition(), condition)
    }
  },
  'breaker.minRequests': async (t) => {
    const breaker = await withBreaker(t, { minRequests: 3 })
    assert.deepEqual(await breaker.ask('bad', 'bad'), [500, 500])
    assert.equal(breaker.condition(), 'available')
    assert.deepEqual(await breaker.ask('bad', 'good'), [500, 503])
  },
  'breaker.failureRatio': async (t) => {
    for (const [failureRatio, last] of [
      ['50%', 503],
      ['51%', 200],
    ] as const) {
      const breaker = await withBreaker(t, { failureRatio })
      assert.deepEqual(await breaker.ask('good', 'bad', 'good'), [200, 500, last])
    }
  },
  'breaker.slowAfter': async (t) => {
    for (const [slowAfter, last] of [
      ['10ms', 503],
      ['1m', 200],
    ] as const) {
      const breaker = await withBreaker(t, { slowAfter })
      assert.deepEqual(await breaker.ask('late', 'late', 'good'), [200, 200, last])
    }
  },
  'breaker.slowRatio': async (t) => {
    // The first attempts of a test may be slow themselves, so all are counted before the ratio decides.
    for (const [slowRatio, condition] of [
      ['1%', 'open'],
      ['100%', 'available'],
    ] as const) {
      const slow = { slowAfter: '29ms', slowRatio, minRequests: 20 }
      const breaker = await withBreaker(t, slow)
      await breaker.ask('late', ...Array.from({ length: 19 }, () => 'good'))
      assert.equal(breaker.condition(), condition)
    }
  },
  'breaker.openFor': async (t) => {
    assert.ok((await openFor(t, { openFor: '1h', maxOpenFor: '1h' })) > 3500)
    const breaker = await withBreaker(t, { openFor: '100ms' })
    await breaker.ask('bad', 'bad')
    await untilCondition(breaker.gateway, breaker.origin.url, 'half-open')
  },
  'breaker.maxOpenFor': async (t) => {
    assert.ok((await openFor(t, { openFor: '1h', maxOpenFor: '2s' })) <= 2)
  },
  'breaker.probes': async (t) => {
    const { gateway, origin, ask, condition } = await withBreaker(t, { openFor: '100ms', probes: 2 })
    await ask('bad', 'bad')
    await until(() => condition() === 'half-open')
    const probes = [ask('held'), ask('held')]
    await until(() => origin.held.length === 2)
    assert.deepEqual(await ask('good'), [503])
    for (const held of origin.held) held.end()
    assert.deepEqual((await Promise.all(probes)).flat(), [200, 200])
    assert.equal(conditions(gateway)[origin.url], 'available')
  },
}

/** Starts a gateway in front of targets that take turns. `condition` is that of the first. */
async function withOutlier(t: TestContext, outlier: object, targets = 2): Promise<Tried> {
  const origins = await Promise.all(Array.from({ length: targets }, () => moody(t)))
  const upstream = { targets: origins.map(({ url }) => url), outlier: { minRequests: 2, ...outlier } }
  const gateway = await serve(t, { upstream })
  const [origin] = origins
  return { gateway, origin: origin!, ask: asker(gateway), condition: () => conditions(gateway)[origin!.url]! }
}

const ejectedOf = (gateway: TestGateway): number =>
  Object.values(conditions(gateway)).filter((condition) => condition === 'ejected').length

const MANY = { minRequests: 1000, consecutiveFailures: 1000 }

/** Tests of the keys of `outlier`. */
export const OUTLIER_KEYS: Readonly<Record<string, Effect>> = {
  'outlier.consecutiveFailures': async (t) => {
    const { gateway, ask } = await withOutlier(t, { ...MANY, consecutiveFailures: 2 })
    // The targets take turns: two requests each. A success between two failures resets the counter.
    await ask('bad', 'bad', 'good', 'good', 'bad', 'bad')
    assert.equal(ejectedOf(gateway), 0)
    await ask('bad', 'bad')
    assert.equal(ejectedOf(gateway), 1)
  },
  'outlier.window': async (t) => {
    for (const [window, ejected] of [
      ['1s', 0],
      ['10m', 1],
    ] as const) {
      const { gateway, ask } = await withOutlier(t, { ...MANY, minRequests: 2, window })
      await ask('bad', 'bad')
      const sinceMono = performance.now()
      await until(() => performance.now() - sinceMono > 1200)
      await ask('bad', 'bad')
      assert.equal(ejectedOf(gateway), ejected)
    }
  },
  'outlier.minRequests': async (t) => {
    const { gateway, ask } = await withOutlier(t, { ...MANY, minRequests: 3 })
    await ask('bad', 'bad', 'bad', 'bad')
    assert.equal(ejectedOf(gateway), 0)
    await ask('bad')
    assert.equal(ejectedOf(gateway), 1)
  },
  'outlier.failureRatio': async (t) => {
    for (const [failureRatio, ejected] of [
      ['50%', 1],
      ['51%', 0],
    ] as const) {
      const { gateway, ask } = await withOutlier(t, { ...MANY, minRequests: 2, failureRatio })
      await ask('good', 'good', 'bad', 'bad')
      assert.equal(ejectedOf(gateway), ejected)
    }
  },
  'outlier.slowAfter': async (t) => {
    for (const [slowAfter, ejected] of [
      ['10ms', 1],
      ['1m', 0],
    ] as const) {
      const { gateway, ask } = await withOutlier(t, { slowAfter })
      await ask('late', 'late', 'late', 'late')
      assert.equal(ejectedOf(gateway), ejected)
    }
  },
  'outlier.ejectFor': async (t) => {
    const { gateway, origin, ask } = await withOutlier(t, { consecutiveFailures: 1, ejectFor: '100ms' })
    await ask('bad')
    await until(() => gateway.events.some(({ event, fields }) => isReturn(event, fields)))
    assert.equal(conditions(gateway)[origin.url], 'available')
    const longer = await withOutlier(t, { consecutiveFailures: 1, ejectFor: '1h' })
    await longer.ask('bad')
    assert.equal(longer.condition(), 'ejected')
  },
  'outlier.maxEjectFor': async (t) => {
    const outlier = { consecutiveFailures: 1, ejectFor: '1h', maxEjectFor: '100ms' }
    const { gateway, ask } = await withOutlier(t, outlier)
    await ask('bad')
    await until(() => gateway.events.some(({ event, fields }) => isReturn(event, fields)))
  },
  'outlier.maxEjected': async (t) => {
    for (const [maxEjected, ejected] of [
      ['50%', 2],
      ['80%', 3],
    ] as const) {
      const { gateway, ask } = await withOutlier(t, { consecutiveFailures: 1, maxEjected }, 4)
      await ask(...Array.from({ length: 12 }, () => 'bad'))
      assert.equal(ejectedOf(gateway), ejected)
    }
  },
}

function isReturn(event: string, fields: object): boolean {
  return event === 'target_condition' && (fields as { condition: string }).condition === 'available'
}

/** Tests of the keys `breaker`, `outlier`, `panicMode` and `retry`. */
export const STATE_KEYS: Readonly<Record<string, Effect>> = {
  ...BREAKER_KEYS,
  ...OUTLIER_KEYS,
  panicMode: async (t) => {
    for (const [panicMode, status] of [
      [false, 503],
      [true, 200],
    ] as const) {
      const origin = await moody(t)
      const outlier = { consecutiveFailures: 1, maxEjected: '100%' }
      const gateway = await serve(t, { upstream: { targets: [origin.url], outlier, panicMode } })
      assert.deepEqual(await asker(gateway)('bad', 'good'), [500, status])
      assert.equal(conditions(gateway)[origin.url], 'ejected')
    }
  },
  'retry.on': async (t) => {
    for (const [on, seen] of [
      [[503], 2],
      [[504], 1],
    ] as const) {
      const { count, status } = await unavailableOnce(t, { on })
      assert.deepEqual([count, status], [seen, seen === 2 ? 200 : 503])
    }
  },
  'retry.backoff': async (t) => {
    for (const backoff of ['0s', '1m']) {
      const { gateway, paths } = await refusing(t, { backoff, maxBackoff: '1m' })
      // The backoff is random. Among many, some are long.
      const all = Promise.all(Array.from({ length: 20 }, () => fetch(gateway.url)))
      if (backoff === '0s') await all
      else {
        await until(() => paths.length >= 20)
        assert.ok(gateway.plane.inFlight > 0)
        all.catch(() => {})
      }
    }
  },
  'retry.maxBackoff': async (t) => {
    for (const [maxBackoff, seen] of [
      ['2s', 2],
      ['500ms', 1],
    ] as const) {
      const { count, retryAfter } = await unavailableOnce(t, { on: [503], maxBackoff }, '1')
      assert.deepEqual([count, retryAfter], [seen, seen === 2 ? null : '1'])
    }
  },
}

/** Starts a gateway in front of a target that always responds with 503. */
async function refusing(t: TestContext, retry: object): Promise<{ gateway: TestGateway; paths: string[] }> {
  const paths: string[] = []
  const { url } = await httpOrigin(t, (req, res) => {
    paths.push(req.url!)
    res.writeHead(503).end()
  })
  const upstream = { targets: [url], retry: { on: [503], budget: '100%', ...retry } }
  return { gateway: await serve(t, { upstream }), paths }
}

/** Returns the result of a request to a target that responds with 503 the first time. */
async function unavailableOnce(t: TestContext, retry: object, after?: string) {
  const counted = { requests: 0 }
  const { url } = await httpOrigin(t, (_, res) => {
    const isFirst = counted.requests++ === 0
    res.writeHead(isFirst ? 503 : 200, isFirst && after !== undefined ? { 'retry-after': after } : {}).end()
  })
  const { status, headers } = await fetch((await serve(t, { upstream: { targets: [url], retry } })).url)
  return { count: counted.requests, status, retryAfter: headers.get('retry-after') }
}
