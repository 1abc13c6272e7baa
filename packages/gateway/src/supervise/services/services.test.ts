import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Plan } from '@sluice/config'
import { ApiClient } from '../../kubernetes/api-client.js'
import type { KnownService } from '../../kubernetes/known-services.js'
import type { WatchTimes } from '../../kubernetes/slice-watch.js'
import { ApiServer, type Misbehave } from '../../kubernetes/testing/api-server.js'
import { createOperationLog } from '../../telemetry/operation-log.js'
import { planOf, until } from '../../testing/gateway.js'
import { Services } from './services.js'

// The supervisor's side of k8s:// targets, against a server that lists, watches and misbehaves.

const ORDERS = { name: 'orders', namespace: 'default', port: 'http' }
const TIMES: WatchTimes = {
  answerMs: 10_000,
  watchMs: 60_000,
  overdueMs: 10_000,
  resyncMs: 600_000,
  retryMs: 20,
  maxRetryMs: 100,
}
const TARGET = { weight: 1, role: 'primary', priority: 1, srv: null } as const

function plan(...ports: readonly string[]): Plan {
  const base = planOf({ upstreams: [{ urls: [] }] })
  const targets = ports.map((port) => ({
    ...TARGET,
    url: 'http://orders.default',
    service: { ...ORDERS, port },
  }))
  return { ...base, upstreams: base.upstreams.map((upstream) => ({ ...upstream, targets })) }
}

interface Followed {
  readonly services: Services
  /** Services published to the workers. */
  known(): readonly KnownService[]
  /** Published addresses for port `http`. */
  addresses(): string
  problem(): string | null
  /** Operation log entries. */
  logged(): string
}

function services(t: TestContext, api: ApiServer, times: Partial<WatchTimes> = {}): Followed {
  let known: readonly KnownService[] = []
  const lines: string[] = []
  const followed = new Services({
    publish: async (list) => {
      known = list
    },
    log: createOperationLog({ write: (line) => void lines.push(line) }),
    access: async () => api.access,
    times: { ...TIMES, ...times },
  })
  t.after(() => followed.close())
  return {
    services: followed,
    known: () => known,
    addresses: () => known.flatMap(({ endpoints }) => endpoints.map(({ address }) => address)).join(' '),
    problem: () => followed.of(ORDERS)?.problem ?? null,
    logged: () => lines.join(''),
  }
}

async function serve(followed: Followed, next: Plan): Promise<void> {
  const preparation = await followed.services.prepare(next)
  assert.ok(preparation.ok)
  await preparation.prepared.activate()
}

/** Starts a service with one pod and an open watch. */
async function following(t: TestContext, times: Partial<WatchTimes> = {}) {
  const api = await ApiServer.start(t)
  api.set('orders-1', [{ address: '10.1.0.1' }])
  const followed = services(t, api, times)
  await serve(followed, plan('http'))
  assert.equal(followed.addresses(), '10.1.0.1')
  await until(() => api.openWatches === 1)
  return { api, ...followed, followed }
}

/** Uses this answer for the first request of a kind; then the server behaves. */
function once(kind: 'list' | 'watch', how: (...args: Parameters<Misbehave>) => void): Misbehave {
  let isDone = false
  return (req, res, isWatch) => {
    if (isDone || isWatch !== (kind === 'watch')) return false
    isDone = true
    how(req, res, isWatch)
    return true
  }
}

test('a rollout waits for the pods of a service, and they are watched from then on', async (t) => {
  const { api, known, addresses } = await following(t)
  assert.deepEqual(known(), [
    { key: 'default/orders:http', endpoints: [{ address: '10.1.0.1', port: 8080 }] },
  ])
  api.set('orders-2', [{ address: '10.1.0.3' }, { address: '10.1.0.2' }])
  await until(() => addresses() === '10.1.0.1 10.1.0.2 10.1.0.3')
  api.set('orders-1', [])
  await until(() => addresses() === '10.1.0.2 10.1.0.3')
  api.remove('orders-2')
  await until(() => addresses() === '')
  assert.equal(api.count('list'), 1)
  assert.equal(api.asked[0]!.token, 'Bearer secret')
})

test('terminating pods that still serve get requests only while no other is ready', async (t) => {
  const { api, addresses, problem } = await following(t)
  const ending = { address: '10.1.0.1', ready: false, serving: true, terminating: true }
  api.set('orders-1', [ending, { address: '10.1.0.2' }])
  await until(() => addresses() === '10.1.0.2')
  api.set('orders-1', [ending, { address: '10.1.0.2', ready: false }])
  await until(() => addresses() === '10.1.0.1')
  api.set('orders-1', [{ ...ending, serving: false }])
  await until(() => addresses() === '')
  assert.equal(problem(), 'no pod of the Service orders in namespace default is ready')
})

test('a watch that ends resumes at its version, including bookmarks', async (t) => {
  const { api, addresses } = await following(t)
  const version = api.bookmark()
  api.cut('end')
  await until(() => api.count('watch') === 2 && api.openWatches === 1)
  assert.equal(api.asked.at(-1)!.version, version)
  api.set('orders-1', [{ address: '10.1.0.9' }])
  await until(() => addresses() === '10.1.0.9')
  assert.equal(api.count('list'), 1)
})

const TROUBLES: Readonly<Record<string, (api: ApiServer) => Promise<void> | void>> = {
  'the version is gone (410 in an event)': (api) => api.tell({ type: 'ERROR', object: { code: 410 } }),
  'another error comes as an event': (api) =>
    api.tell({ type: 'ERROR', object: { code: 500, message: 'x' } }),
  'the connection is reset': (api) => api.cut('reset'),
  'an event is cut short': async (api) => {
    // Longer than a watch that counts as closed immediately.
    await setTimeout(2 * TIMES.retryMs)
    api.tell('{"type":"ADD')
    api.cut('end')
  },
  'it sends garbage': (api) => api.tell('<html>\n'),
  'an event has no version': (api) => api.tell({ type: 'ADDED', object: {} }),
  'an event is of no known type': (api) =>
    api.tell({ type: 'X', object: { addressType: 'IPv4', metadata: { name: 'a', resourceVersion: '1' } } }),
  'a line never ends': (api) => api.tell('x'.repeat(5 * 1024 * 1024)),
}

for (const [name, trouble] of Object.entries(TROUBLES)) {
  test(`a new list is requested, and known pods stay in use, when ${name}`, async (t) => {
    const { api, addresses, problem } = await following(t)
    api.set('orders-1', [{ address: '10.1.0.2' }], { isTold: false })
    await trouble(api)
    await until(() => api.count('list') >= 2 && addresses() === '10.1.0.2')
    await until(() => problem() === null && api.openWatches === 1)
  })
}

let pages = 0
let isEndless = true

const REFUSALS: Readonly<Record<string, readonly [Misbehave, RegExp | null]>> = {
  'answers 410': [once('list', (_, res) => void res.writeHead(410).end('{}')), null],
  'answers 401': [
    once('list', (_, res) => void res.writeHead(401).end('{"message":"Unauthorized"}')),
    /answered 401: Unauthorized/,
  ],
  'answers no JSON': [once('list', (_, res) => void res.end('<html>')), /answered 200/],
  'answers another object': [
    once('list', (_, res) => void res.end('{"items":{}}')),
    /not a list of EndpointSlices/,
  ],
  'gives a list without an end': [
    (_, res, isWatch) => {
      if (isWatch) return false
      isEndless = ++pages < 200
      if (isEndless)
        res.end(JSON.stringify({ metadata: { resourceVersion: '1', continue: 'more' }, items: [] }))
      return isEndless
    },
    /the list has more than 100 pages/,
  ],
  'resets the connection': [once('list', (_, res) => void res.destroy()), /cannot be reached \(ECONNRESET\)/],
}

for (const [name, [misbehave, reason]] of Object.entries(REFUSALS)) {
  test(`a server that ${name} is asked again, and known pods stay in use`, async (t) => {
    const { api, addresses, logged } = await following(t)
    api.misbehave = misbehave
    api.set('orders-1', [{ address: '10.1.0.2' }], { isTold: false })
    api.tell({ type: 'ERROR', object: { code: 410 } })
    await until(() => addresses() === '10.1.0.2')
    if (reason !== null) assert.match(logged(), reason)
  })
}

test('a silent server is abandoned and asked again', async (t) => {
  const api = await ApiServer.start(t)
  api.misbehave = () => true
  const followed = services(t, api, { answerMs: 50 })
  await serve(followed, plan('http'))
  assert.match(followed.problem() ?? '', /cannot be reached \(no response within 50 ms\)/)
  assert.equal(followed.addresses(), '')
  api.misbehave = () => false
  api.set('orders-1', [{ address: '10.1.0.1' }])
  await until(() => followed.addresses() === '10.1.0.1')
})

test('a watch that the server forgets is abandoned', async (t) => {
  const { api } = await following(t, { watchMs: 10, overdueMs: 10, answerMs: 500 })
  await until(() => api.count('watch') >= 3 && api.openWatches <= 1)
})

test('changes without an event are found by a new list', async (t) => {
  const { api, addresses } = await following(t, { resyncMs: 1 })
  api.set('orders-1', [{ address: '10.1.0.2' }], { isTold: false })
  api.cut('end')
  await until(() => addresses() === '10.1.0.2')
})

test('a server that closes each watch after one event is asked with pauses', async (t) => {
  const { api } = await following(t, { retryMs: 60_000, maxRetryMs: 60_000 })
  api.misbehave = (_, res, isWatch) => {
    if (isWatch) res.end('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n')
    return isWatch
  }
  api.bookmark()
  api.cut('end')
  const client = new ApiClient(api.access)
  t.after(() => client.close())
  for (let i = 0; i < 30; i++) await client.send({ method: 'GET', path: '/', timeoutMs: 10_000 })
  assert.ok(api.count('watch') <= 2, `${api.count('watch')} watches in the time of 30 requests`)
})

test('retries to a failing server back off', async (t) => {
  const api = await ApiServer.start(t)
  const moments: number[] = []
  api.misbehave = (_, res) => {
    moments.push(performance.now())
    res.writeHead(500).end()
    return true
  }
  await serve(services(t, api, { retryMs: 40, maxRetryMs: 10_000 }), plan('http'))
  await until(() => moments.length === 4)
  // At least half of 40, 80 and 160 ms.
  assert.ok(moments[3]! - moments[0]! >= 138)
})

test('services of a discarded plan are not watched, and those that stay are not listed again', async (t) => {
  const { api, followed, known } = await following(t)
  const preparation = await followed.services.prepare(plan('http', '8080'))
  assert.ok(preparation.ok)
  assert.equal(known().length, 2)
  await until(() => api.openWatches === 2)
  await preparation.prepared.discard()
  await until(() => api.openWatches === 1)
  await serve(followed, plan('http'))
  assert.equal(api.count('list'), 2)
  await serve(followed, plan())
  await until(() => api.openWatches === 0)
})

test('a plan is refused if its cluster cannot be found', async (t) => {
  const followed = new Services({ publish: async () => {}, log: createOperationLog({ write: () => {} }) })
  t.after(() => followed.close())
  const preparation = await followed.prepare(plan('http'))
  assert.ok(!preparation.ok)
  assert.match(preparation.reason, /does not run in a Kubernetes cluster; set kubernetes\.kubeconfig/)
})
