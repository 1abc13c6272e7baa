import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { AnswerPart } from '../admin/answer-part.js'
import { FakeApiServer } from '../testing/fake-api-server.js'
import { fileWith, type GwProcess, gw, origin, spawnGw, startGateway, until } from '../testing.js'
import { stepTraceLines } from './step-trace-lines.js'

// `gw trace` against a real gateway with two workers.

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

interface Shown {
  readonly worker: number
  readonly route: string
  readonly path: string
  readonly query: string
  readonly status: number
  readonly steps: readonly {
    readonly phase: string
    readonly policy: string
    readonly outcome: string
    readonly note: string
    readonly micros: number
    readonly changes: readonly {
      readonly what: string
      readonly name: string
      readonly diff: string[] | null
    }[]
  }[]
}

const POLICIES = `
      - { id: key, use: api-key, with: { keys: [{ id: ann, sha256: "${sha256('a-secret-key')}" }] } }
      - { id: edit, use: header, with: { request: { set: { x-tenant: a, authorization: "Bearer hidden-1" }, remove: [x-debug] }, response: { set: { x-served-by: me, set-cookie: sid=hidden-2 } } } }
      - { id: odd, use: header, with: { request: { set: { x-odd: "1" } } }, when: 'req.header["x-odd"] == "yes"' }
      - id: translate
        use: transform
        with:
          request: { jsonata: { inline: '{ "name": name, "card": card, "password": password, "extra": true }' } }
          response: { jsonata: { inline: '{ "total": sum, "card": card }' } }
        when: req.method == "POST"`

/** Starts a gateway with two workers and an echo upstream. */
async function started(t: TestContext, policies = POLICIES, more = '') {
  const up = await origin(t, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"sum":7,"card":"4111111111111111"}')
  })
  const document = (note: string) => `version: 1
listeners: [{ address: "127.0.0.1:0", limits: { connectionsPerClient: 1000 } }]
admin: { address: "127.0.0.1:0" }
workers: 2
environment: ${note}
log: { sink: none, privacy: { rules: [{ id: card, find: { names: [card, x-patient] }, in: [body, headers, query], do: mask }] } }
upstreams: { up: { targets: ["${up}"] } }
routes:
  - id: orders
    match: { path: "/orders/*" }
    upstream: up
    policies:${policies}
  - { id: plain, match: { path: /plain }, respond: { status: 200, body: ok } }
${more}`
  const gateway = await startGateway(t, document('test'))
  return { ...gateway, document }
}

/** Starts `gw trace` and waits until all workers trace. */
async function tracing(t: TestContext, admin: string, ...args: readonly string[]): Promise<GwProcess> {
  const running = spawnGw(t, ['trace', '--server', admin, ...args])
  await until(
    () => running.stderr().includes('tracing;') || running.process.exitCode !== null,
    running.stderr,
  )
  return running
}

function shownBy(running: GwProcess): Shown[] {
  const lines = running.stdout().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Shown)
}

/** Sends a request on a connection of its own, so that both workers get some. */
function send(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    ...init,
    headers: { connection: 'close', 'x-api-key': 'a-secret-key', ...init.headers },
  })
}

test('steps show results and changes on both sides, and no secrets', async (t) => {
  const { url, admin } = await started(t)
  const running = await tracing(t, admin, '--count', '1', '-o', 'jsonl')
  await send(`${url}/orders/7?page=2&api_key=hidden-3&card=hidden-4`, {
    method: 'POST',
    headers: {
      ...{
        'content-type': 'application/json',
        'x-debug': 'hidden-5'.slice(0, 3),
        authorization: 'Basic hidden-6',
      },
      ...{ cookie: 'a=hidden-7', 'x-patient': 'hidden-8' },
    },
    body: '{"name":"ann","card":"hidden-9","password":"hidden-10"}',
  })
  assert.equal(await running.exited, 0, running.stderr())
  const [trace] = shownBy(running)
  assert.ok(!/hidden-|a-secret-key|4111/.test(running.stdout()), running.stdout())
  assert.deepEqual([trace!.route, trace!.path, trace!.status], ['orders', '/orders/7', 200])
  assert.equal(trace!.query, 'page=2&api_key=***&card=***')
  assert.ok(trace!.steps.every(({ micros }) => micros >= 0))
  const text = trace!.steps.map(({ phase, policy, outcome, changes }) => {
    const changed = changes.map(({ what, name }) => (name === '' ? what : name)).sort()
    return [phase, policy, outcome, ...changed].join(' ')
  })
  assert.deepEqual(text, [
    'request key continue consumer x-api-key',
    'request edit continue authorization x-debug x-tenant',
    'request odd skipped',
    'request translate continue',
    'request_body translate continue body',
    'response edit continue set-cookie x-served-by',
    'response translate continue',
    'response_body translate continue body',
  ])
  const diffs = trace!.steps.flatMap(({ changes }) => changes.flatMap(({ diff }) => diff ?? []))
  assert.ok(diffs.includes('+  "extra": true'), diffs.join('\n'))
  assert.ok(diffs.includes('-  "sum": 7,') && diffs.includes('+  "total": 7,'), diffs.join('\n'))
})

test('the human output names the refusing policy and fits into 80 columns', async (t) => {
  const { url, admin } = await started(t)
  const running = await tracing(t, admin, '--route', 'orders', '--when', 'res.status == 401')
  await send(`${url}/orders/1`)
  await fetch(`${url}/orders/2`)
  await until(() => running.stdout().includes('key'), running.stdout)
  const [head = '', details = '', phase, step] = running.stdout().split('\n')
  assert.match(head, /^GET \/orders\/2 {2}→ 401 GW_AUTH_MISSING {3}route orders {3}\d+\.\d ms$/)
  assert.match(details, /^ {2}id \S{36} {3}worker [12]$/)
  assert.equal(phase, '  request')
  assert.match(step ?? '', /^ {4}key \(api-key\) {4}respond 401 +\d+ µs$/)
  assert.ok(!running.stdout().includes('/orders/1'))
})

test('a count holds for all workers together, and a route filter for each', async (t) => {
  const { url, admin } = await started(t)
  const running = await tracing(t, admin, '--route', 'orders', '--count', '12', '-o', 'jsonl')
  let sent = 0
  while (running.process.exitCode === null) {
    await Promise.all([send(`${url}/orders/${sent++}`), send(`${url}/plain`)])
  }
  assert.equal(await running.exited, 0)
  const traces = shownBy(running)
  assert.equal(traces.length, 12)
  assert.deepEqual(new Set(traces.map(({ route }) => route)), new Set(['orders']))
  assert.deepEqual([...new Set(traces.map(({ worker }) => worker))].sort(), [1, 2])
})

test('a trace survives deploys, and a condition on the request sees it as received', async (t) => {
  const { url, admin, document } = await started(t)
  const when = 'req.header["x-debug"] == "on"'
  const running = await tracing(t, admin, '--when', when, '--count', '1', '-o', 'json')
  const deployed = await gw(['deploy', '--server', admin, fileWith(t, document('other'))])
  assert.equal(deployed.code, 0, deployed.stderr)
  await send(`${url}/orders/1`)
  await send(`${url}/orders/2`, { headers: { 'x-debug': 'on' } })
  await running.exited
  const { traces, lost } = JSON.parse(running.stdout()) as { traces: Shown[]; lost: number }
  assert.deepEqual([traces.map(({ path }) => path), lost], [['/orders/2'], 0])
})

test('sessions are limited, end by themselves, and a client that disconnects frees its own', async (t) => {
  const { admin } = await started(t)
  const open = async (seconds: number) => {
    const gone = new AbortController()
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ seconds }), signal: gone.signal }
    const response = await fetch(`${admin}/v1/step-traces`, init)
    return { status: response.status, response, gone }
  }
  const short = await open(1)
  assert.match(
    await short.response.text(),
    /^{"kind":"armed"}\n{"kind":"end","reason":"duration","traces":0,"lost":0}\n$/,
  )
  const sessions = await Promise.all([600, 600, 600, 600].map(open))
  assert.deepEqual(new Set(sessions.map(({ status }) => status)), new Set([200]))
  const refused = await gw(['trace', '--server', admin])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /4 step traces are open already/)
  for (const { gone } of sessions) gone.abort()
  // Nothing tells when the gateway has noticed it, so ask again.
  await until(async () => {
    const { status, gone } = await open(600)
    gone.abort()
    return status === 200
  })
  for (const [args, expected] of [
    [['--route', 'nope'], /no route 'nope'/],
    [['--when', 'req.nope == 1'], /nope/],
    [['--when', 'body.json("$.a") == "x"'], /body/],
    [['--for', '11m'], /between 1s and 10m/],
  ] as const) {
    const { code, stderr } = await gw(['trace', '--server', admin, ...args])
    assert.notEqual(code, 0)
    assert.match(stderr, expected)
  }
})

test('lines fit into the width of the terminal and cannot change it', () => {
  const long = `${'x'.repeat(300)}\u001b[2J`
  const value = (what: string, name: string) => ({
    what,
    side: 'request',
    name,
    before: null,
    after: long,
    diff: null,
  })
  const body = {
    what: 'body',
    side: 'request',
    name: '',
    before: '1 bytes',
    after: '2 bytes',
    diff: ['-a', `+${long}`],
  }
  const step = { phase: 'request', policy: long, use: 'p', outcome: 'continue', note: '', micros: 1 }
  const steps = [
    { ...step, policy: 'p', changes: [value('header', 'a'), value('path', '')] },
    { ...step, policy: 'q', changes: [body] },
  ]
  const facts = {
    id: 'i',
    worker: 1,
    route: long,
    method: 'GET',
    path: long,
    query: long,
    status: 200,
    code: '',
  }
  const trace = { ...facts, ms: 1, traceId: '', upstream: null, steps, lostSteps: 0 }
  const lines = stepTraceLines(new AnswerPart(trace, 'a trace'), { pod: '', width: 80, hasColors: false })
  for (const line of lines) assert.ok(line.length <= 80 && !line.includes('\u001b'), line)
  assert.ok(lines.includes('          -a'), lines.join('\n'))
})

test('the pods of a cluster are traced together', async (t) => {
  const pods = await Promise.all([started(t), started(t)])
  const api = await FakeApiServer.start(t)
  addPods(api, pods.length)
  const sockets = new WebSocketServer({ server: api.server, handleProtocols: () => 'v4.channel.k8s.io' })
  sockets.on('connection', (socket, request) => {
    const [, pod = '0'] = /pods\/sluice-(\d)\/portforward/.exec(request.url ?? '') ?? []
    forward(socket, Number(new URL(pods[Number(pod)]!.admin).port))
  })
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
  })
  const kubeconfig = fileWith(t, api.kubeconfig, 'kubeconfig')
  const args = ['trace', '--kubernetes', '--kubeconfig', kubeconfig, '--count', '2', '-o', 'jsonl']
  const running = spawnGw(t, args)
  await until(
    () => running.stderr().includes('tracing;') || running.process.exitCode !== null,
    running.stderr,
  )
  for (const { url } of pods) await send(`${url}/orders/1`)
  assert.equal(await running.exited, 0, running.stderr())
  const traced = shownBy(running).map((trace) => (trace as Shown & { readonly pod: string }).pod)
  assert.deepEqual(traced.sort(), ['sluice-0', 'sluice-1'])
})

/** Stores a Deployment with running pods. */
function addPods(api: FakeApiServer, count: number): void {
  const folder = '/api/v1/namespaces/edge'
  const labels = { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/instance': 'sluice' }
  const ownedBy = (uid: string) => ({ ownerReferences: [{ uid, controller: true }] })
  const document = 'version: 1\nlisteners: [{ address: ":8080" }]\nroutes: []\n'
  api.addForeign(`${folder}/configmaps`, { metadata: { name: 'sluice' }, data: { 'gateway.yaml': document } })
  const apps = '/apis/apps/v1/namespaces/edge'
  api.addForeign(`${apps}/deployments`, { metadata: { name: 'sluice', uid: 'd' } })
  api.addForeign(`${apps}/replicasets`, { metadata: { name: 'set', uid: 's', labels, ...ownedBy('d') } })
  for (let i = 0; i < count; i++)
    api.addForeign(`${folder}/pods`, {
      metadata: { name: `sluice-${i}`, labels, ...ownedBy('s') },
      spec: { nodeName: 'n' },
      status: { phase: 'Running' },
    })
}

/** Forwards a connection of the API server to a port, as a kubelet does. */
function forward(socket: WebSocket, port: number): void {
  const target = connect(port, '127.0.0.1')
  for (const channel of [0, 1]) socket.send(Buffer.from([channel, 0, 0]))
  socket.on('message', (data: Buffer) => target.write(data.subarray(1)))
  socket.on('close', () => target.destroy())
  target.on('data', (data) => socket.send(Buffer.concat([Buffer.from([0]), data])))
  target.on('close', () => socket.close())
  target.on('error', () => socket.close())
}
