import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { elasticsearchSkip } from '@sluice/logger/testing/elasticsearch'
import {
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '@sluice/logger/testing/shared-elasticsearch'
import { gwInProcess } from '../testing/in-process.js'
import {
  closedPort,
  fileWith,
  gw,
  type Outcome,
  origin,
  scratch,
  spawnGw,
  startGateway,
  until,
} from '../testing.js'

const skip = elasticsearchSkip
let node: SharedElasticsearch

before(async () => {
  if (skip === false) node = await sharedElasticsearch()
})
after(() => node?.release())

/** Runs `gw` against the node; `env` names who asks. */
function ask(env: Record<string, string>, ...args: readonly string[]): Promise<Outcome> {
  return gwInProcess([...args, '--elasticsearch', node.url, '--es-ca-file', node.caFile], { env })
}

/** An API key that may do no more than this with one data stream. */
async function keyFor(
  stream: string,
  privileges: { readonly cluster?: readonly string[]; readonly index?: readonly string[] },
): Promise<string> {
  const indices = [{ names: [stream], privileges: privileges.index ?? [] }]
  const role = { cluster: privileges.cluster ?? [], indices }
  const key = { name: 'key', role_descriptors: { role } }
  const { status, body } = await node.request('POST', '/_security/api_key?refresh=wait_for', key)
  assert.equal(status, 200)
  return (body as { readonly encoded: string }).encoded
}

/** What `gw log-setup` needs, and no more. */
function setupKey(stream: string): Promise<string> {
  return keyFor(stream, { cluster: ['manage_index_templates'], index: ['manage'] })
}

interface Step {
  readonly what: string
  readonly action: string
  readonly outcome?: string
  readonly differences: readonly string[]
  readonly request: { readonly method: string; readonly path: string } | null
}

function steps({ stdout, stderr, code }: Outcome): readonly Step[] {
  assert.equal(code, 0, stderr)
  return (JSON.parse(stdout) as { readonly steps: readonly Step[] }).steps
}

test('log-setup says what it would send, does it once, and renews what differs', { skip }, async () => {
  const stream = freshDataStream()
  const env = { GW_ES_API_KEY: await setupKey(stream) }
  const setUp = (...args: string[]) => ask(env, 'log-setup', 'es', '--data-stream', stream, ...args)
  const dry = await setUp('--dry-run', '--retention', '30d', '--replicas', '0')
  assert.match(dry.stdout, /^what +name +would happen\nindex template +\S+ +would be created\ndata stream /)
  assert.match(
    dry.stdout,
    new RegExp(`\nPUT /_index_template/${stream}-template\n\\{\n[^]*"data_retention": "30d"`),
  )
  assert.match(dry.stdout, new RegExp(`\nPUT /_data_stream/${stream}\n$`))
  assert.equal((await node.request('GET', `/_data_stream/${stream}`)).status, 404)

  const made = steps(await setUp('--retention', '30d', '--replicas', '0', '-o', 'json'))
  assert.deepEqual(
    made.map(({ what, action, outcome }) => [what, action, outcome]),
    [
      ['index template', 'create', 'done'],
      ['data stream', 'create', 'done'],
    ],
  )
  const again = steps(await setUp('--retention', '30d', '--replicas', '0', '-o', 'json'))
  for (const { what, request } of again) if (what !== 'lifecycle') assert.equal(request, null, what)

  const renewed = await setUp('--retention', '7d', '--replicas', '1')
  assert.equal(renewed.code, 0, renewed.stderr)
  assert.match(renewed.stdout, /\nindex template +\S+ +changed\ndata stream +\S+ +up to date\n/)
  assert.match(renewed.stdout, /\nrollover +\S+ +with the next record\n/)
  assert.match(renewed.stdout, /\n {2}template\.lifecycle\.data_retention: 30d -> 7d\n/)
  assert.match(renewed.stdout, /\n {2}template\.settings\.index\.number_of_replicas: 0 -> 1\n/)
})

test('log-setup says nothing of a lifecycle where none is asked for and none can be had', {
  skip,
}, async () => {
  const stream = freshDataStream()
  const env = { GW_ES_API_KEY: await setupKey(stream) }
  const setUp = (retention: string) =>
    ask(env, 'log-setup', '--data-stream', stream, '--retention', retention)
  await setUp('none')
  const kept = await setUp('none')
  assert.deepEqual([kept.code, kept.stderr], [0, ''])
  assert.match(kept.stdout, /\nlifecycle +\S+ +up to date\n/)
  assert.match((await setUp('7d')).stderr, /does not support lifecycles of data streams/)
})

test('log-setup reports a template that wins over ours, with its name and the remedy, and mends what it has made', {
  skip,
}, async (t) => {
  const stream = freshDataStream()
  const env = { GW_ES_API_KEY: await setupKey(stream) }
  const setUp = (...args: string[]) =>
    ask(env, 'log-setup', '--data-stream', stream, '--replicas', '0', ...args)
  const put = (template: string, priority: number, mappings: object) =>
    node.request('PUT', `/_index_template/${template}`, {
      ...{ index_patterns: [`${stream}*`], data_stream: {}, priority, template: { mappings } },
    })
  t.after(() => node.request('DELETE', '/_index_template/house-rules'))
  await put('house-rules', 900, { dynamic: 'strict', properties: { url: { type: 'text' } } })
  for (const flags of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await setUp(...flags)
    assert.equal(code, 1)
    assert.match(stdout, /\nindex template +house-rules +conflict\n/)
    assert.ok(stdout.includes(`  priority 900, for ${stream}*\n`), stdout)
    assert.match(stdout, / {2}url: text, not object\n/)
    assert.match(stderr, /'house-rules' overrides .* set its priority below 500\n$/)
  }
  // A gateway that writes all the same makes the data stream by the rules of the house.
  await node.request('POST', `/${stream}/_doc`, { '@timestamp': '2026-01-01T00:00:00Z' })
  await put('house-rules', 400, { dynamic: 'strict' })
  const mended = await setUp()
  assert.equal(mended.code, 0, mended.stderr)
  assert.match(mended.stdout, /\nrollover +\S+ +changed\n/)
  assert.match(mended.stdout, /\n {2}dynamic: strict, not false\n/)
  const record = { '@timestamp': '2026-01-01T00:00:01Z', url: { path: '/a' } }
  const written = await node.request('POST', `/${stream}/_doc`, record)
  assert.equal(written.status, 201, JSON.stringify(written.body))
  assert.deepEqual(
    steps(await setUp('-o', 'json')).filter(({ what }) => what === 'rollover'),
    [],
  )
  // Rules that only add to ours are no conflict.
  const { body: ours } = await node.request('POST', `/_index_template/_simulate_index/${stream}`)
  const { mappings } = (ours as { readonly template: { readonly mappings: object } }).template
  await put('house-rules', 900, mappings)
  assert.equal((await setUp()).code, 0)
})

test('log-setup says when its credentials are not enough', { skip }, async () => {
  const stream = freshDataStream()
  const env = { GW_ES_API_KEY: await keyFor(stream, { index: ['read'] }) }
  const { code, stderr, stdout } = await ask(env, 'log-setup', '--data-stream', stream)
  assert.match(stderr, /denied access \(403\): .*index_template.* is unauthorized for API key/)
  assert.deepEqual([code, stdout], [4, ''])
})

async function bench(t: TestContext) {
  const dataStream = freshDataStream()
  const target = await origin(t, (_, res) => res.end('hello'))
  const document = `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams: { up: { targets: ["${target}"] } }
routes: [{ id: hello, match: { path: /hello }, upstream: up }]
log:
  sink: elasticsearch
  elasticsearch:
    nodes: ["${node.url}"]
    dataStream: ${dataStream}
    auth: { username: ${node.username}, password: "${node.password}" }
    tls: { caFile: "${node.caFile}" }
    replicas: 0
    manage: false
    spool: { dir: "${scratch(t)}/spool" }
`
  return { dataStream, document }
}

test('the calls of a gateway are found in Elasticsearch, and followed', { skip }, async (t) => {
  const { dataStream, document } = await bench(t)
  const config = fileWith(t, document)
  const absent = await gwInProcess(['logs', 'search', '-c', config])
  assert.match(
    absent.stderr,
    new RegExp(`^data stream ${dataStream} does not exist in .*; create it with gw log-setup, or`),
  )
  assert.deepEqual([absent.code, absent.stdout], [1, ''])
  assert.equal((await gw(['log-setup', '-c', config])).code, 0)

  const gateway = await startGateway(t, document)
  const follower = spawnGw(t, ['logs', 'tail', '-c', config, '--status', '404', '-o', 'jsonl'])
  for (const path of ['/hello', '/nothing', '/hello?again']) {
    await (await fetch(gateway.url + path)).text()
  }
  const search = (...args: string[]) => gwInProcess(['logs', 'search', '-c', config, ...args])
  await until(async () => {
    const { body } = await node.request('GET', `/${dataStream}/_count`)
    return (body as { readonly count: number }).count === 3
  })
  const [shown, routed, missed] = await Promise.all([
    gw(['logs', 'search', '-c', config]),
    search('--route', 'hello', '--since', '1h', '--limit', '1', '-o', 'jsonl'),
    gwInProcess(['logs', 'tail', '-c', config, '--no-follow', '--where', 'res.status>=400', '-o', 'jsonl']),
  ])
  assert.match(
    shown.stdout,
    /^\S+Z 200 GET 127\.0\.0\.1\/hello hello .*\n\S+ 404 GET .*GW_ROUTE_NOT_FOUND\n\S+ 200 /,
  )
  assert.equal(JSON.parse(routed.stdout).route, 'hello')
  await until(() => follower.stdout() !== '', follower.stderr)
  assert.equal(follower.stdout(), missed.stdout)
  follower.process.kill('SIGINT')
  assert.equal(await follower.exited, 0)
})

test('reading needs read alone, and whoever may not read is reported', { skip }, async (t) => {
  const stream = freshDataStream()
  assert.equal(
    (await ask({ GW_ES_API_KEY: await setupKey(stream) }, 'log-setup', '--data-stream', stream)).code,
    0,
  )
  const search = (env: Record<string, string>, ...args: string[]) =>
    ask(env, 'logs', 'search', '--data-stream', stream, '--route', 'a', ...args)
  const secret = join(scratch(t), 'secret')
  writeFileSync(secret, `${node.password}\n`, { mode: 0o600 })
  const [reader, writer, wrong, nobody, user] = await Promise.all([
    search({ GW_ES_API_KEY: await keyFor(stream, { index: ['read'] }) }),
    search({ GW_ES_API_KEY: await keyFor(stream, { index: ['create_doc'] }) }),
    search({ GW_ES_USERNAME: node.username, GW_ES_PASSWORD: 'wrong-password' }),
    search({}),
    search({}, '--es-username', node.username, '--es-password-file', secret),
  ])
  for (const { code, stdout, stderr } of [reader, user])
    assert.deepEqual([code, stdout, stderr], [0, '', 'no matching records\n'])
  assert.match(writer.stderr, /denied access \(403\): .*unauthorized/)
  for (const refused of [wrong, nobody]) {
    assert.match(
      refused.stderr,
      /^Elasticsearch at \S+ rejected the credentials \(401\); check the user, password/,
    )
  }
  for (const { code, stdout, stderr } of [writer, wrong, nobody]) {
    assert.deepEqual([code, stdout], [4, ''])
    assert.doesNotMatch(stderr, /wrong-password/)
  }
})

test('a cluster that does not answer, or is not trusted, has its own message', { skip }, async () => {
  const port = await closedPort()
  const closed = await gwInProcess(['logs', 'search', '--elasticsearch', `http://127.0.0.1:${port}`])
  assert.match(
    closed.stderr,
    /^Elasticsearch at http:\/\/127\.0\.0\.1:\d+ does not respond: cannot connect to \S+: connection refused/,
  )
  const strange = await gwInProcess(['logs', 'tail', '--elasticsearch', node.url])
  assert.match(
    strange.stderr,
    / does not respond: .*certificate.*; trust it with --es-ca-file or log\.elasticsearch\.tls/,
  )
  const setup = await gwInProcess(['log-setup', '--elasticsearch', `http://127.0.0.1:${port}`])
  for (const { code, stdout } of [closed, strange, setup]) assert.deepEqual([code, stdout], [5, ''])
})

test('records that an index refused are delivered when its mapping is mended, once however often', {
  skip,
}, async (t) => {
  const { dataStream, document } = await bench(t)
  const put = (mappings: object) =>
    node.request('PUT', `/_index_template/${dataStream}-template`, {
      ...{ index_patterns: [dataStream], data_stream: {}, priority: 500, template: { mappings } },
    })
  await put({ dynamic: 'strict', properties: { id: { type: 'keyword' } } })
  const gateway = await startGateway(t, document)
  for (let i = 0; i < 7; i++) await (await fetch(`${gateway.url}/hello`)).arrayBuffer()
  const dead = async (): Promise<number> =>
    ((await (await fetch(`${gateway.admin}/v1/log`)).json()) as { dead: number }).dead
  await until(async () => (await dead()) === 7)
  assert.match(
    gateway.logText(),
    /do not match the mapping of the data stream: run 'gw log-setup', then 'gw logs replay-dead'/,
  )
  const spool = /spool: \{ dir: "([^"]+)"/.exec(document)![1]!
  const copy = join(scratch(t), 'copy')
  cpSync(spool, copy, { recursive: true })
  const replay = (...flags: string[]) => gwInProcess(['logs', 'replay-dead', '-c', gateway.config, ...flags])
  const early = await gw(['logs', 'replay-dead', '-c', gateway.config])
  assert.equal(early.stdout, 'main: 0 delivered, 7 refused again\n')
  const setUp = await gwInProcess(['log-setup', '-c', gateway.config])
  assert.equal(setUp.code, 0, setUp.stderr)
  // The archive that the tests run does not roll over by itself.
  if (setUp.stdout.includes('with the next record')) await node.request('POST', `/${dataStream}/_rollover`)
  for (const flags of [[], ['--dir', copy]]) {
    const { code, stdout, stderr } = await replay(...flags)
    assert.deepEqual([code, stdout], [0, 'main: 7 delivered, 0 refused again\n'], stderr)
  }
  await node.request('POST', `/${dataStream}/_refresh`)
  const { body } = await node.request('GET', `/${dataStream}/_count`)
  assert.equal((body as { readonly count: number }).count, 7)
})
