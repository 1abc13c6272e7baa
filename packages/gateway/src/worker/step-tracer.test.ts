import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Eventual, type Exchange, refusal, type Step } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import type { StepTrace } from './step-trace.js'

const SESSION = { id: 1, route: null, when: null, count: 1000 }

/** Starts a gateway whose route has a policy with these hooks, and traces its requests. */
async function traced(
  t: TestContext,
  step: Omit<Step, 'name'>,
  { onError = 'fail', when = null }: { onError?: 'fail' | 'continue'; when?: string | null } = {},
) {
  const up = await httpOrigin(t, (_, response) => response.end('up'))
  const policies = FAKE_POLICIES.map((use) => ({ ...use, onError, when }))
  const overrides = { upstreams: [{ urls: [up.url] }], routes: [{ id: 'all', policies }] }
  const gateway = await startGateway(t, overrides, { catalog: fakeCatalog(step) })
  const traces: StepTrace[] = []
  const send = (_: number, trace: string): boolean => traces.push(JSON.parse(trace) as StepTrace) > 0
  gateway.plane.setStepTraces([SESSION], send)
  const ask = async (path: string): Promise<StepTrace> => {
    const count = traces.length
    await fetch(`${gateway.url}${path}`)
    await until(() => traces.length > count)
    return traces[count]!
  }
  return { ...gateway, traces, send, ask }
}

function outcomes({ steps }: StepTrace): string[] {
  return steps.map(({ phase, outcome, note }) => `${phase} ${outcome} ${note}`.trimEnd())
}

test('hooks of all phases have the outcome that they had, whether they wait or not', async (t) => {
  const later = async (): Promise<null> => null
  const hooks = {
    onRequest: (x: Exchange): Eventual => {
      if (x.path === '/refused') return refusal('GW_ROUTE_NOT_FOUND', 'no')
      if (x.path === '/late') return later().then(() => refusal('GW_ROUTE_NOT_FOUND', 'no'))
      if (x.path === '/broken') throw new TypeError('a secret')
      return x.path === '/rejected' ? Promise.reject(new TypeError('a secret')) : later()
    },
    onAttempt: () => null,
    onResponse: later,
    onFinish: () => {},
  }
  const { ask } = await traced(t, hooks)
  const usual = ['request continue', 'attempt continue', 'response continue', 'finish continue']
  for (const [path, expected] of [
    ['/', usual],
    ['/refused', ['request respond 404 GW_ROUTE_NOT_FOUND', 'finish continue']],
    ['/late', ['request respond 404 GW_ROUTE_NOT_FOUND', 'finish continue']],
    ['/broken', ['request error TypeError', 'finish continue']],
    ['/rejected', ['request error TypeError', 'finish continue']],
  ] as const)
    assert.deepEqual(outcomes(await ask(path)), expected, path)
})

test('ignored errors and false conditions are told apart from success, with and without a traffic log', async (t) => {
  const onRequest = (): never => {
    throw new TypeError('x')
  }
  const ignored = await traced(t, { onRequest }, { onError: 'continue' })
  assert.deepEqual(outcomes(await ignored.ask('/')), ['request error ignored'])
  const late = await traced(t, { onRequest: async () => onRequest() }, { onError: 'continue' })
  assert.deepEqual(outcomes(await late.ask('/')), ['request error ignored'])
  const skipped = await traced(t, { onRequest }, { when: 'req.path == "/other"' })
  assert.deepEqual(outcomes(await skipped.ask('/')), ['request skipped'])
})

test('a hook that has not finished when the client leaves is unanswered', async (t) => {
  let isAsked = false
  const onRequest = (): Promise<null> => {
    isAsked = true
    return new Promise(() => {})
  }
  const { url, traces } = await traced(t, { onRequest })
  const gone = new AbortController()
  const request = fetch(url, { signal: gone.signal }).catch(() => null)
  await until(() => isAsked)
  gone.abort()
  await request
  await until(() => traces.length > 0)
  assert.deepEqual(outcomes(traces[0]!), ['request error unanswered'])
})

test('requests beyond the limit are served, and counted when the session ends', async (t) => {
  const waiting: (() => void)[] = []
  const onRequest = (): Promise<null> => new Promise((resolve) => waiting.push(() => resolve(null)))
  const { url, plane, send, traces } = await traced(t, { onRequest })
  const requests = Array.from({ length: 40 }, () => fetch(url))
  await until(() => waiting.length === 40)
  for (const release of waiting) release()
  for (const response of await Promise.all(requests)) assert.equal(response.status, 200)
  await until(() => traces.length === 32)
  assert.deepEqual(plane.setStepTraces([], send), [[1, 8]])
  await fetch(url, { signal: AbortSignal.timeout(1) }).catch(() => null)
  assert.equal(traces.length, 32)
})

test('traces that are too large lose their changes, and say so', async (t) => {
  const onRequest = (x: Exchange): null => {
    for (let i = 0; i < 60; i++) x.setVar(`v${i}`, 'x'.repeat(450))
    return null
  }
  const onAttempt = (x: Exchange): null => {
    for (let i = 0; i < 60; i++) x.setVar(`v${i}`, `${'\u0001'.repeat(450)}${i}`)
    return null
  }
  const { ask } = await traced(t, { onRequest, onAttempt, onResponse: onRequest, onFinish: () => {} })
  const { steps, lostSteps } = await ask('/')
  assert.deepEqual([steps.map(({ changes }) => changes.length), lostSteps], [[0, 0, 0, 0], 4])
})
