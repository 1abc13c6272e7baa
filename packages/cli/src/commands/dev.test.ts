import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isAlive } from '@sluice/core/process-stat'
import { gwInProcess } from '../testing/in-process.js'
import { gwInTerminal } from '../testing/terminal.js'
import { closedPort, type GwProcess, origin, scratch, spawnGw, until } from '../testing.js'

const PETS = `openapi: 3.0.3
info: { title: Pets, version: "1" }
paths:
  /pets/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        "200":
          description: a pet
          content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } }
        "404": { description: none, content: { application/json: { example: { error: gone } } } }
components:
  schemas:
    Pet: { type: object, properties: { id: { type: integer, example: 7 }, tag: { type: string, enum: [cat] } } }
`

interface Project {
  readonly file: string
  readonly port: number
  edit(from: string, to: string): void
}

/** Creates a document with an upstream that refuses connections. */
async function project(t: TestContext): Promise<Project> {
  const port = await closedPort()
  const dir = scratch(t)
  const file = join(dir, 'gateway.yaml')
  writeFileSync(join(dir, 'pets.yaml'), PETS)
  writeFileSync(
    file,
    `version: 1
listeners: [{ address: "127.0.0.1:0", engine: node }]
admin: { address: "127.0.0.1:0" }
log: { sink: none }
upstreams: { up: { targets: ["http://127.0.0.1:${port}"] } }
policies:
  - { id: pace, use: rate-limit, with: { limit: 3/h } }
  - { id: api, use: openapi, with: { description: pets.yaml, basePath: /v1 } }
routes:
  - { id: pets, match: { path: "/v1/pets/{id}" }, upstream: up, policies: [pace, api] }
  - { id: plain, match: { path: /plain }, upstream: up, log: { off: true } }
  - { id: hello, match: { path: /hello }, respond: { status: 200 } }
`,
  )
  const edit = (from: string, to: string): void => {
    const text = readFileSync(file, 'utf8')
    assert.ok(text.includes(from))
    writeFileSync(file, text.replace(from, to))
  }
  return { file, port, edit }
}

/** Waits for a line of output and returns its match. */
async function line(
  { process: child, stdout, stderr }: GwProcess,
  expected: RegExp,
): Promise<RegExpExecArray> {
  const context = (): string => `${stdout()}\n${stderr()}`
  await until(() => expected.test(stdout()) || child.exitCode !== null, context)
  const match = expected.exec(stdout())
  assert.ok(match !== null, context())
  return match
}

async function started(
  t: TestContext,
  args: readonly string[],
): Promise<GwProcess & { readonly url: string }> {
  const running = spawnGw(t, ['dev', ...args])
  const [, url = ''] = await line(running, /^gateway +(\S+)$/m)
  return { ...running, url }
}

test('requests are shown with policies and mocks, mistakes with their place, and fixes are applied', async (t) => {
  const { file, edit } = await project(t)
  const gateway = await started(t, [file])
  await line(gateway, /^mock +upstream up \(http:\S+\): examples of its OpenAPI description$/m)
  const get = (path: string, headers = {}): Promise<Response> => fetch(gateway.url + path, { headers })

  assert.deepEqual(await (await get('/v1/pets/7')).json(), { id: 7, tag: 'cat' })
  await line(gateway, /^\S+ GET \/v1\/pets\/7 {2}pets {2}pace ✓ api ✓ {2}200 mock {2}[\d.]+ ms$/m)
  assert.deepEqual(await (await get('/v1/pets/7', { prefer: 'code=404' })).json(), { error: 'gone' })
  assert.equal((await get('/v1/pets/x')).status, 400)
  await line(gateway, / \/v1\/pets\/x {2}pets {2}pace ✓ api ✗ {2}400 {2}[\d.]+ ms {2}GW_SCHEMA_INVALID/)
  assert.equal((await get('/v1/pets/7')).status, 429)
  await line(gateway, / \/v1\/pets\/7 {2}pets {2}pace ✗ {2}429 .* GW_RATE_LIMITED/)
  const echo = (await (await get('/plain?a=1')).json()) as Record<string, unknown>
  assert.deepEqual([echo['mock'], echo['url']], ['echo', '/plain?a=1'])
  await line(gateway, / GET \/plain\?a=1 {2}plain {2}200 mock /)
  assert.equal((await get('/none')).status, 404)
  await line(gateway, / GET \/none {2}no route {2}404 .* GW_ROUTE_NOT_FOUND/)

  edit('status: 200', 'stats: 200')
  await line(
    gateway,
    /gateway\.yaml:12:\d+: unknown key 'stats' \(did you mean 'status'\?\)\n\S+ the previous document stays active/,
  )
  assert.equal((await get('/hello')).status, 200)
  edit('stats: 200', 'status: 201')
  await line(gateway, /gateway\.yaml: applied, 1 change\n/)
  assert.equal((await get('/hello')).status, 201)
  edit('status: 201', 'status: ten')
  await line(
    gateway,
    /gateway\.yaml:12:\d+: .*\n\S+ the previous document stays active[\s\S]*the previous document stays active/,
  )
  edit('status: ten', 'status: 201')
  await line(gateway, /gateway\.yaml: valid, no changes\n/)
})

test('only this machine can connect without --host', async (t) => {
  const { file, edit } = await project(t)
  edit('[{ address: "127.0.0.1:0", engine: node }]', '[{ address: ":0", engine: node }]')
  const local = await started(t, [file])
  assert.match(local.url, /^http:\/\/127\.0\.0\.1:\d+$/)
  await line(local, /listening on this machine only, instead of 0\.0\.0\.0:0; --host 0\.0\.0\.0 accepts/)
  const open = await started(t, [file, '--host', '0.0.0.0', '--port', '0'])
  assert.match(open.url, /^http:\/\/0\.0\.0\.0:\d+$/)
  assert.doesNotMatch(open.stdout(), /this machine only/)
  for (const host of ['', 'a b', '127.0.0.1:80']) {
    const { code, stderr } = await gwInProcess(['dev', file, '--host', host])
    assert.deepEqual([code, stderr.includes(`--host '${host}' is not a host`)], [64, true], stderr)
  }
})

test('a port in use is reported with --port, and folders of dead processes are removed', async (t) => {
  const { file, edit } = await project(t)
  const used = new URL(await origin(t, (_req, res) => res.end())).port
  edit('127.0.0.1:0', `127.0.0.1:${used}`)
  const stale = join(tmpdir(), 'gw-dev-4194305-abcdef')
  mkdirSync(stale, { recursive: true })
  const running = spawnGw(t, ['dev', file])
  await running.exited
  assert.match(running.stderr(), /is in use.*; --port chooses another port/)
  assert.equal(existsSync(stale), false)
})

test('listeners of one port get different ports if they become local', async (t) => {
  const { file, edit } = await project(t)
  const port = await closedPort()
  edit(
    '[{ address: "127.0.0.1:0", engine: node }]',
    `[{ address: "0.0.0.0:${port}", engine: node }, { address: "[::]:${port}", engine: node }]`,
  )
  const gateway = await started(t, [file])
  assert.equal(gateway.url, `http://127.0.0.1:${port}`)
})

test('an echo does not contain credentials that policies add', async (t) => {
  const { file, edit } = await project(t)
  const set = '{ authorization: "Bearer ${env:TOKEN}", x-origin: "${env:TOKEN}", x-plain: kept }'
  edit(
    'upstream: up, log: { off: true }',
    `upstream: up, policies: [{ use: header, with: { request: { set: ${set} } } }]`,
  )
  const running = spawnGw(t, ['dev', file], { env: { TOKEN: 'of-the-backend' } })
  const [, url = ''] = await line(running, /^gateway +(\S+)$/m)
  const echo = await (await fetch(`${url}/plain?api_key=abc&a=1`, { headers: { cookie: 'sid=7' } })).json()
  const { headers, url: target } = echo as { headers: Record<string, string>; url: string }
  assert.deepEqual(
    [headers['authorization'], headers['cookie'], headers['x-origin'], headers['x-plain'], target],
    ['***', '***', '${env:TOKEN}', 'kept', '/plain?api_key=***&a=1'],
  )
})

test('a mock gives way when its target starts', async (t) => {
  const { file, port } = await project(t)
  const gateway = await started(t, [file])
  await line(gateway, /^mock/m)
  assert.equal((await fetch(`${gateway.url}/plain`)).headers.get('x-gw-mock'), 'echo')
  const target = http.createServer((_req, res) => res.end('real')).listen(port, '127.0.0.1')
  t.after(() => target.close().closeAllConnections())
  await line(gateway, /^no mocks: all upstreams are reachable$/m)
  assert.equal(await (await fetch(`${gateway.url}/plain`)).text(), 'real')
})

test('a change of a file that a policy reads is applied, and a mistake in it is shown', async (t) => {
  const { file } = await project(t)
  const gateway = await started(t, [file])
  await line(gateway, /^mock/m)
  const description = join(dirname(file), 'pets.yaml')
  writeFileSync(description, `openapi: 1\n${PETS}`)
  await line(gateway, /policy 'api' \(openapi\): .*\n\S+ the previous document stays active/)
  writeFileSync(description, PETS.replace('example: 7', 'example: 8'))
  await line(gateway, /gateway\.yaml: applied/)
  assert.deepEqual(await (await fetch(`${gateway.url}/v1/pets/7`)).json(), { id: 8, tag: 'cat' })
})

test('--mock all replaces reachable upstreams too, and --mock none none', async (t) => {
  const { file, port, edit } = await project(t)
  edit(`http://127.0.0.1:${port}`, await origin(t, (_req, res) => res.end('real')))
  const all = await started(t, [file, '--mock', 'all'])
  assert.equal((await fetch(`${all.url}/plain`)).headers.get('x-gw-mock'), 'echo')
  const none = await started(t, [file, '--mock', 'none'])
  assert.equal(await (await fetch(`${none.url}/plain`)).text(), 'real')
  edit(
    'upstreams: { up: { targets: [',
    `upstreams: { up: { targets: ["http://127.0.0.1:${port}"] }, old: { targets: [`,
  )
  await line(none, /applied/)
  assert.equal((await fetch(`${none.url}/plain`)).status, 502)
})

test('a document with mistakes at the start is awaited, and JSON lines contain whole records', async (t) => {
  const { file, edit } = await project(t)
  edit('version: 1', 'version: 2')
  const running = spawnGw(t, ['dev', file, '-o', 'json'])
  const events = (): Record<string, unknown>[] =>
    running
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text))
  const event = async (kind: string): Promise<Record<string, unknown>> => {
    await until(() => events().some((one) => one['kind'] === kind), running.stderr)
    return events().find((one) => one['kind'] === kind)!
  }
  const mistakes = await event('mistakes')
  assert.equal(mistakes['isServing'], false)
  assert.match(String(mistakes['lines']), /gateway\.yaml:1:\d+: /)
  edit('version: 2', 'version: 1')
  const { gateway } = await event('started')
  const response = await fetch(`${gateway}/plain`)
  const { record, mocked } = await event('request')
  assert.deepEqual([(record as { id: string }).id, mocked], [response.headers.get('x-request-id'), true])
  running.process.kill('SIGTERM')
  assert.equal(await running.exited, 0)
})

test('all processes end with the command, even if it is killed', async (t) => {
  const { file } = await project(t)
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
    const gateway = await started(t, [file])
    const [, dashboard = ''] = await line(gateway, /^dashboard +(\S+)\/ui$/m)
    const status = (await (await fetch(`${dashboard}/v1/status`)).json()) as { workers: { pid: number }[] }
    const pids = status.workers.map(({ pid }) => pid)
    assert.equal(pids.length, 1)
    gateway.process.kill(signal)
    assert.equal(await gateway.exited, signal === 'SIGKILL' ? null : 0, gateway.stderr())
    await until(() => !pids.some(isAlive))
    assert.equal(gateway.stderr(), '')
  }
})

test('on a terminal, keys select, open and clear requests, and mistakes disappear when they are fixed', async (t) => {
  const { file, edit } = await project(t)
  const terminal = gwInTerminal(t, ['dev', file])
  await terminal.press('', /waiting for requests to http:\S+\d/)
  const url = /waiting for requests to (http:[\w.:/]+\d)/.exec(terminal.text())?.[1]
  for (const path of ['/v1/pets/x', '/hello', '/plain']) await (await fetch(url + path)).arrayBuffer()
  await terminal.press('', /\u001b\[7m3 .*GET +\/plain +plain +200 mock/)
  await terminal.press('k', /\u001b\[7m2 .*\/hello/)
  await terminal.press('1\r', /GET http:\S+\/v1\/pets\/x -> 400[\s\S]*POLICY/)
  await terminal.press('\u001b[6~', /api \(openapi\) .*respond 400/)
  await terminal.press('\u001b', /\u001b\[7m1 .*pace ✓ api ✗ +400/)
  edit('status: 200', 'stats: 200')
  await terminal.press(
    '',
    /gateway\.yaml:12:\d+: unknown key 'stats'[\s\S]*the previous document stays active/,
  )
  edit('stats: 200', 'status: 200')
  await terminal.press('', /valid, no changes/)
  const seen = terminal.text().length
  await terminal.press('o', /http:\S+\/ui/)
  assert.doesNotMatch(terminal.text().slice(seen), /stays active/)
  await terminal.press('c', /waiting for requests/)
  await terminal.press('q', /\u001b\[\?1049l/)
  assert.equal(await terminal.exited, 0)
})
