import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { definePolicy, type Policy, refusal, type Step } from '@sluice/core'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { closedPort, httpOrigin, rawOrigin } from '../testing/origin.js'
import { startLogged, type WrittenRecord } from '../testing/traffic-records.js'

interface Logged {
  readonly id: string
  readonly ms: number
  readonly out: string
  readonly note?: string
}

/**
 * Policies by behavior: `pass`, `late` (passes after 20 ms, in both directions), `stop`, `throw`, `late-throw`, `never`
 * and `never-back` (no answer).
 */
const CATALOG = new Map(
  Object.entries({
    pass: { onRequest: () => null, onResponse: () => null },
    late: { onRequest: () => sleep(20, null), onResponse: () => sleep(20, null) },
    never: { onRequest: () => new Promise<null>(() => {}) },
    // Refuses an attempt too late to have an effect.
    'late-stop': { onAttempt: () => sleep(400, refusal('GW_POLICY_REFUSED', 'too late')) },
    'slow-back': { onRequest: () => null, onResponse: () => sleep(400, null) },
    'never-back': { onRequest: () => null, onResponse: () => new Promise<null>(() => {}) },
    stop: { onRequest: () => refusal('GW_POLICY_REFUSED', 'not you') },
    throw: {
      onRequest: () => {
        throw new Error('broken')
      },
    },
    'late-throw': { onRequest: () => Promise.reject(new Error('broken later')) },
  } satisfies Record<string, Omit<Step, 'name'>>).map(([name, step]): [string, Policy] => [
    name,
    definePolicy({
      name,
      summary: 'A test.',
      schema: {} as Policy['schema'],
      compile: () => ({ name, ...step }),
    }),
  ]),
)

function use(name: string, changes: { when?: string; onError?: 'fail' | 'continue' } = {}) {
  return { id: `my-${name}`, use: name, with: {}, when: null, onError: 'fail' as const, ...changes }
}

const OK = { kind: 'respond' as const, status: 200, headers: [], body: 'ok' }

function policiesOf(record: WrittenRecord | undefined): readonly Logged[] | undefined {
  return record!['policies'] as readonly Logged[] | undefined
}

test('a full record shows the duration and result of each policy, over all of its phases', async (t) => {
  const policies = [use('pass'), use('pass', { when: 'req.method == "PUT"' }), use('late'), use('stop')]
  policies[1] = { ...policies[1]!, id: 'my-skipped' }
  policies[3] = { ...policies[3]!, when: 'req.path == "/stopped"' }
  const overrides = { routes: [{ id: 'r', action: OK, policies }] }
  const gateway = await startLogged(t, overrides, { fields: 'full' }, { catalog: CATALOG })
  for (const path of ['/a', '/stopped']) await (await fetch(gateway.url + path)).text()
  const [passed, stopped] = (await gateway.records()).map(policiesOf)
  assert.deepEqual(
    passed!.map(({ id, out }) => `${id} ${out}`),
    ['my-pass pass', 'my-skipped skip', 'my-late pass', 'my-stop skip'],
  )
  assert.ok(passed![2]!.ms >= 35, JSON.stringify(passed))
  assert.ok(passed![0]!.ms < passed![2]!.ms)
  assert.deepEqual(stopped!.at(-1)!.out, 'stop')
})

test('a policy that throws is reported, whether or not the request goes on', async (t) => {
  const chains = {
    at: [use('throw')],
    later: [use('late-throw')],
    ignored: [use('late-throw', { onError: 'continue' }), use('pass')],
  }
  const routes = Object.entries(chains).map(([id, policies]) => ({
    id,
    match: {
      path: { text: `/${id}`, kind: 'exact' as const, segments: [{ kind: 'literal' as const, text: id }] },
      ...{ hosts: [], methods: [], headers: [], query: [], when: null },
    },
    action: OK,
    policies,
  }))
  const gateway = await startLogged(t, { routes }, { fields: 'full' }, { catalog: CATALOG })
  const statuses = []
  for (const { id } of routes) statuses.push((await fetch(`${gateway.url}/${id}`)).status)
  assert.deepEqual(statuses, [500, 500, 200])
  const reported = (await gateway.records()).map((record) => policiesOf(record)!.map(({ out }) => out))
  assert.deepEqual(reported, [['error'], ['error'], ['error', 'pass']])
})

test('a policy that does not answer is reported with its timeout', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('ok'))
  const timeouts = { ...TIMEOUTS, totalMs: 300 }
  const overrides = {
    upstreams: [{ urls: [origin.url] }],
    routes: [{ id: 'r', timeouts, policies: [use('pass'), use('never-back')] }],
  }
  const gateway = await startLogged(t, overrides, { fields: 'full' }, { catalog: CATALOG })
  assert.equal((await fetch(gateway.url)).status, 500)
  const [record] = await gateway.records()
  const reported = policiesOf(record)!
  assert.deepEqual(
    reported.map(({ id, out }) => `${id} ${out}`),
    ['my-pass pass', 'my-never-back error'],
  )
  const { total } = record!.t
  assert.ok(reported[1]!.ms > 0 && reported[1]!.ms <= total!, JSON.stringify([reported, total]))
})

test('the result of a policy after its timeout is not reported', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('ok'))
  const timeouts = { ...TIMEOUTS, totalMs: 200 }
  const overrides = {
    upstreams: [{ urls: [origin.url] }],
    routes: [{ id: 'r', timeouts, policies: [use('slow-back'), use('late-stop')] }],
  }
  const gateway = await startLogged(t, overrides, { fields: 'full' }, { catalog: CATALOG })
  assert.equal((await fetch(gateway.url)).status, 500)
  const [record] = await gateway.records()
  const stopped = policiesOf(record)!.find(({ id }) => id === 'my-late-stop')
  assert.equal(stopped!.out, 'error')
  assert.ok(stopped!.ms < 400, JSON.stringify(policiesOf(record)))
})

test('a policy that a client did not wait for is reported', async (t) => {
  const overrides = { routes: [{ id: 'r', action: OK, policies: [use('pass'), use('never'), use('stop')] }] }
  const gateway = await startLogged(t, overrides, { fields: 'full' }, { catalog: CATALOG })
  const leaving = new AbortController()
  const answer = fetch(gateway.url, { signal: leaving.signal }).catch(() => null)
  await until(() => gateway.plane.inFlight === 1)
  leaving.abort()
  await answer
  const [record] = await gateway.records()
  assert.equal(record!['result'], 'aborted')
  assert.deepEqual(
    policiesOf(record)!.map(({ id, out }) => `${id} ${out}`),
    ['my-pass pass', 'my-never error'],
  )
})

test('of 40 policies 32 are reported, and for a successful call only in full records', async (t) => {
  const policies = Array.from({ length: 40 }, (_, i) => ({ ...use('pass'), id: `p${i}` }))
  for (const fields of ['minimal', 'standard', 'full'] as const) {
    const overrides = { routes: [{ id: 'r', action: OK, policies }] }
    const gateway = await startLogged(t, overrides, { fields }, { catalog: CATALOG })
    await (await fetch(gateway.url)).text()
    const [record] = await gateway.records()
    assert.equal(policiesOf(record)?.length, fields === 'full' ? 32 : undefined)
  }
})

test('a standard record shows the policies of a call that was stopped, failed or took long, and why', async (t) => {
  const slow = { ...use('late'), when: 'req.path == "/slow"' }
  const stop = { ...use('stop'), when: 'req.path == "/stop"' }
  const fail = { ...use('throw'), when: 'req.path == "/fail"' }
  const ignored = { ...use('late-throw', { onError: 'continue' }), when: 'req.path == "/slow"' }
  const policies = [use('pass'), slow, ignored, stop, fail]
  const overrides = { routes: [{ id: 'r', action: OK, policies }] }
  const gateway = await startLogged(t, overrides, { slowMs: 15 }, { catalog: CATALOG })
  for (const path of ['/fine', '/slow', '/stop', '/fail']) await (await fetch(gateway.url + path)).text()
  const records = await gateway.records()
  const [fine, ...reported] = records.map((record) =>
    policiesOf(record)?.map(({ id, out, note }) =>
      [id, out, note].filter((word) => word !== undefined).join(' '),
    ),
  )
  // This one may have been slow because of the machine, too.
  if (records[0]!.t['total']! < 15) assert.equal(fine, undefined)
  assert.deepEqual(reported, [
    ['my-pass pass', 'my-late pass', 'my-late-throw error Error', 'my-stop skip', 'my-throw skip'],
    ['my-pass pass', 'my-late skip', 'my-late-throw skip', 'my-stop stop GW_POLICY_REFUSED'],
    ['my-pass pass', 'my-late skip', 'my-late-throw skip', 'my-stop skip', 'my-throw error Error'],
  ])
})

test('a slow call shows the state of the connections to its upstream', async (t) => {
  const origin = await httpOrigin(t, (req, res) =>
    setTimeout(() => res.end('ok'), req.url === '/slow' ? 60 : 0),
  )
  const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }] }, { slowMs: 50 })
  for (const path of ['/slow', '/fast']) assert.equal((await fetch(gateway.url + path)).status, 200)
  const [slow, fast] = await gateway.records()
  assert.deepEqual(Object.keys(slow!['pool'] as object), ['busy', 'free', 'pending'])
  // The other one may have been slow because of the machine, too.
  if (fast!.t['total']! < 50) assert.equal(fast!['pool'], undefined)
})

test('the attempts before the last one are reported with their targets and reasons', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('ok'))
  const dead = `http://127.0.0.1:${await closedPort()}`
  const gateway = await startLogged(t, {
    upstreams: [{ urls: [dead, origin.url], retry: { attempts: 1, budget: 1 } }],
  })
  for (let i = 0; i < 2; i++) assert.equal(await (await fetch(gateway.url)).text(), 'ok')
  const ups = (await gateway.records()).map((record) => record['up'] as Record<string, unknown>)
  const moved = ups.filter(({ attempts }) => attempts === 2)
  assert.equal(moved.length, 1)
  const [tried, ...more] = moved[0]!['tries'] as readonly Record<string, unknown>[]
  const { at, ms, ...rest } = tried!
  assert.deepEqual(rest, {
    addr: dead,
    code: 'GW_UPSTREAM_REFUSED',
    reason: 'the target refused the connection',
    retry: 'moved',
  })
  assert.ok(typeof at === 'number' && at >= 0 && typeof ms === 'number' && ms >= 0 && more.length === 0)
  assert.equal(ups.filter((up) => 'tries' in up).length, 1)
})

test('a call that fails at its upstream shows the state of the connections, and others do not', async (t) => {
  let isHeld = true
  const origin = await rawOrigin(t, (socket) => {
    const answer = (): void => {
      if (isHeld) setTimeout(answer, 5)
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }
    socket.on('data', answer)
  })
  for (const transport of ['wire', 'undici'] as const) {
    isHeld = true
    const gateway = await startLogged(t, {
      upstreams: [{ urls: [origin.url], connections: 1, maxPending: 1, transport }],
    })
    const two = [fetch(gateway.url), fetch(gateway.url)]
    await until(() => gateway.plane.inFlight === 2)
    assert.equal((await fetch(gateway.url)).status, 503)
    isHeld = false
    for (const answer of await Promise.all(two)) assert.equal(answer.status, 200)
    const records = await gateway.records()
    const pools = records.map(({ result, pool }) => [result, pool])
    assert.deepEqual(pools, [
      ['shed', { busy: 1, free: 0, pending: 1 }],
      ['success', undefined],
      ['success', undefined],
    ])
  }
})
