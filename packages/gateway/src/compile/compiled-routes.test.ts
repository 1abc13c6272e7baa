import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import timers from 'node:timers/promises'
import { packBundle } from '@sluice/config'
import { definePolicy, type Policy, type Step } from '@sluice/core'
import { FAKE_POLICIES } from '../testing/fake-policy.js'
import { bundleOf, type PlanOverrides, startGateway, type TestGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { usedBytes } from '../testing/process-state.js'
import { PlanReader } from './plan-reader.js'

const UPSTREAMS = [{ urls: ['http://127.0.0.1:1'] }]

/** A gateway that records which of its policies, named by their setting, are compiled and closed. */
async function notingGateway(t: TestContext, overrides: PlanOverrides) {
  const notes: string[] = []
  const policy = definePolicy({
    ...{ name: 'p', summary: 'A test.', schema: {} as Policy['schema'] },
    compile(settings, env) {
      const { name } = settings as { name: string }
      notes.push(`+${name}`)
      env.onClose(() => notes.push(`-${name}`))
      return { name: 'p' }
    },
  })
  const gateway = await startGateway(t, overrides, { catalog: new Map([['p', policy]]) })
  const taken = () => notes.splice(0)
  return { gateway, taken }
}

/** Prepares a bundle in the supervisor's format. */
function prepare({ plane }: TestGateway, overrides: PlanOverrides, values = {}) {
  return plane.prepare({ ...packBundle(bundleOf(overrides)), values })
}

function routesWith(...names: string[]): PlanOverrides {
  const routes = names.map((name, i) => ({
    id: `r${i}`,
    policies: FAKE_POLICIES.map((use) => ({ ...use, with: { name } })),
  }))
  return { upstreams: UPSTREAMS, routes }
}

test('an unchanged policy is reused, and closed with the last snapshot that uses it', async (t) => {
  const { gateway, taken } = await notingGateway(t, routesWith('a', 'b'))
  assert.deepEqual(taken(), ['+a', '+b'])
  const second = await prepare(gateway, routesWith('a', 'c'))
  assert.deepEqual(taken(), ['+c'])
  await second.activate()
  assert.deepEqual(taken(), ['-b'])
  const third = await prepare(gateway, routesWith('a', 'c', 'd'))
  assert.deepEqual(taken(), ['+d'])
  third.discard()
  assert.deepEqual(taken(), ['-d'])
  const fourth = await prepare(gateway, routesWith('c', 'a'))
  await fourth.activate()
  assert.deepEqual(taken(), [])
  await gateway.plane.drain(0)
  assert.deepEqual(taken().sort(), ['-a', '-c'])
})

test('policies of replaced routes are released from memory while others are reused', async (t) => {
  const steps: WeakRef<Step>[] = []
  const policy = definePolicy({
    ...{ name: 'p', summary: 'A test.', schema: {} as Policy['schema'] },
    compile(_, env) {
      const onRequest = (): null => {
        env.report('request', {})
        return null
      }
      const step = { name: 'p', onRequest }
      steps.push(new WeakRef(step))
      return step
    },
  })
  const route = (id: string, name: string) => ({
    id,
    policies: FAKE_POLICIES.map((use) => ({ ...use, with: { name }, onError: 'continue' as const })),
  })
  const gateway = await startGateway(t, { upstreams: UPSTREAMS }, { catalog: new Map([['p', policy]]) })
  const kept = []
  for (let i = 0; i < 10; i++) {
    kept.push(route(`kept${i}`, `kept${i}`))
    const routes = [route('replaced', `replaced${i}`), ...kept]
    const next = await prepare(gateway, { upstreams: UPSTREAMS, routes })
    await next.activate()
  }
  assert.equal(steps.length, 20)
  await until(() => {
    usedBytes() // collects garbage
    return steps.filter((step) => step.deref() !== undefined).length === kept.length + 1
  })
})

test('all policies are recompiled when the rest of their inputs changes', async (t) => {
  const { gateway, taken } = await notingGateway(t, routesWith('a'))
  taken()
  const next = await prepare(gateway, routesWith('a'), { '/etc/keys.json': 'another version' })
  assert.deepEqual(taken(), ['+a'])
  await next.activate()
  assert.deepEqual(taken(), ['-a'])
})

test('all policies are compiled again when the CA of the cache server has changed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ca-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tls = { caFile: join(folder, 'ca.pem'), insecure: false }
  const cache = { url: 'http://127.0.0.1:1', token: null, timeoutMs: 1000, connections: 1, tls }
  const overrides = { ...routesWith('a'), cache }
  const seen: string[][] = []
  writeFileSync(tls.caFile, 'one')
  const { gateway, taken } = await notingGateway(t, overrides)
  for (const name of ['one', 'two', 'two']) {
    if (seen.length === 1) writeFileSync(tls.caFile, name)
    taken()
    const next = await prepare(gateway, overrides)
    await next.activate()
    seen.push(taken())
  }
  assert.deepEqual(seen, [[], ['+a', '-a'], []])
})

test('routes with references are reused while values are unchanged, without copying the values', async () => {
  const texts = Array.from({ length: 2000 }, (_, i) => JSON.stringify({ id: `r${i}`, host: '${env:HOST}' }))
  const bundle = (host: string) => ({
    ...packBundle(bundleOf({})),
    routeTexts: texts,
    values: { '${env:HOST}': host },
  })
  const reader = new PlanReader()
  const long = 'x'.repeat(100_000)
  const plans = []
  const before = process.memoryUsage().heapUsed
  for (const host of [long, long, 'other', long]) plans.push(await reader.read(bundle(host)))
  assert.ok(process.memoryUsage().heapUsed - before < 50e6)
  const [first, second, third, fourth] = plans.map(({ routes }) => routes[0])
  assert.equal(second, first)
  assert.notEqual(third, second)
  assert.equal(fourth, second)
})

test('an unchanged route uses the new upstream when the upstream has changed', async (t) => {
  const [first, second] = [
    await httpOrigin(t, (_, res) => res.end('1')),
    await httpOrigin(t, (_, res) => res.end('2')),
  ]
  const gateway = await startGateway(t, { upstreams: [{ urls: [first.url] }] })
  const reload = async (url: string): Promise<string> => {
    const prepared = await prepare(gateway, { upstreams: [{ urls: [url] }] })
    await prepared.activate()
    return (await fetch(gateway.url)).text()
  }
  const answers = []
  for (const url of [first.url, second.url, second.url, first.url]) answers.push(await reload(url))
  assert.deepEqual(answers, ['1', '2', '2', '1'])
})

test('20,000 routes are prepared in many short turns of the event loop', async (t) => {
  const routes = Array.from({ length: 20_000 }, (_, i) => ({ id: `r${i}` }))
  const gateway = await startGateway(t, { upstreams: UPSTREAMS })
  const bundle = packBundle(bundleOf({ upstreams: UPSTREAMS, routes }))
  let turns = 0
  const turn = (): void => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  t.after(() => clearImmediate(next))
  await until(() => turns > 0)
  const [before, usedBefore] = [turns, process.cpuUsage()]
  const prepared = await gateway.plane.prepare(bundle)
  const { user, system } = process.cpuUsage(usedBefore)
  // Each slice ends after at most 5 ms. Half of the time is for requests, and some for garbage collection.
  const sliced = turns - before
  assert.ok(sliced > (user + system) / 1000 / 40, `${sliced} turns in ${(user + system) / 1000} ms`)
  prepared.discard()
})

test('a worker pauses after each slice of a reload, but not while it starts', async (t) => {
  let rests = 0
  const wait = timers.setTimeout
  t.mock.method(timers, 'setTimeout', (...args: Parameters<typeof wait>) => {
    rests++
    return wait(...args)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const routes = Array.from({ length: 20_000 }, (_, i) => ({ id: `r${i}` }))
  const gateway = await startGateway(t, { upstreams: UPSTREAMS, routes })
  assert.equal(rests, 0)
  const next = await prepare(gateway, { upstreams: UPSTREAMS, routes: routes.slice(1) })
  next.discard()
  assert.ok(rests > 0)
})
