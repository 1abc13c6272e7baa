import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import {
  fileWith,
  gw,
  type Outcome,
  origin,
  type RunningGateway,
  scratch,
  spawnGw,
  startGateway,
  until,
} from '../testing.js'

// Every command that talks to a gateway, with a real one.

interface Parts {
  readonly target: string
  readonly dir: string
  readonly body?: string
  readonly more?: string
  readonly policy?: string
}

const POLICY = '{ use: header, with: { request: { set: { x-a: b } } } }'

function documentOf({ target, dir, body = 'hello', more = '', policy = POLICY }: Parts): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams: { up: { targets: ["${target}"] } }
routes:
  - { id: hello, match: { path: /hello, methods: [GET] }, respond: { status: 200, body: ${body} } }
  - { id: all, match: { hosts: ["*.example.org"], path: /* }, upstream: up, policies: [${policy}] }
${more}log: { sink: file, file: { dir: ${dir} } }
`
}

interface Bench {
  readonly gateway: RunningGateway
  readonly dir: string
  /** A file with the document, changed. */
  readonly changed: (parts: Partial<Parts>) => string
  readonly run: (...args: string[]) => Promise<Outcome>
  /** The same as a process of its own. */
  readonly spawn: (...args: string[]) => Promise<Outcome>
}

async function bench(t: TestContext): Promise<Bench> {
  const target = await origin(t, (_, res) => res.end('ok'))
  const dir = join(scratch(t), 'traffic')
  const gateway = await startGateway(t, documentOf({ target, dir }))
  const env = { GW_SERVER: gateway.admin, GW_TOKEN: '' }
  const run = (...args: string[]) => gwInProcess(args, { env })
  const spawn = (...args: string[]) => gw(args, { env })
  const changed = (parts: Partial<Parts>) => fileWith(t, documentOf({ target, dir, ...parts }))
  return { gateway, dir, changed, run, spawn }
}

test('SIGHUP brings another version of a file that a policy reads, though the document is the same', async (t) => {
  const page = fileWith(t, 'one')
  const mock = { id: 'page', use: 'mock', with: { bodyFile: page, template: false } }
  const route = { id: 'a', respond: { status: 204 }, policies: [mock] }
  const listen = { listeners: [{ address: '127.0.0.1:0' }], admin: { address: '127.0.0.1:0' } }
  const document = { version: 1, ...listen, workers: 1, log: { sink: 'none' }, routes: [route] }
  const gateway = await startGateway(t, JSON.stringify(document))
  const body = async () => (await fetch(gateway.url)).text()
  assert.equal(await body(), 'one')
  writeFileSync(page, 'another')
  gateway.process.kill('SIGHUP')
  await until(async () => (await body()) === 'another', gateway.logText)
})

test('a gateway is looked into, changed and ended', async (t) => {
  const { gateway, dir, changed, run, spawn } = await bench(t)

  await t.test('calls are shown from the log files, and filtered', async () => {
    for (const path of ['/hello', '/nothing', '/hello?again'])
      await (await fetch(`${gateway.url}${path}`)).text()
    const tail = (...args: string[]) => run('logs', 'tail', '--dir', dir, '--no-follow', ...args)
    await until(async () => (await tail()).stdout.split('\n').length >= 4)
    const [lines, missed, jsonl, where, none, config] = await Promise.all([
      tail(),
      tail('--status', '4xx'),
      tail('--route', 'hello', '--last', '1', '-o', 'jsonl'),
      tail('--where', 'res.status=404', '--method', 'get', '--since', '1h'),
      tail('--status', '5xx'),
      run('logs', 'tail', '-c', gateway.config, '--no-follow', '--last', '1'),
    ])
    assert.match(
      lines.stdout,
      /^\S+Z 200 GET 127\.0\.0\.1\/hello hello .*\n\S+ 404 GET .*GW_ROUTE_NOT_FOUND\n\S+ 200 .*\n$/,
    )
    assert.equal(missed.stdout.split('\n').length, 2)
    assert.equal(JSON.parse(jsonl.stdout).route, 'hello')
    assert.equal(where.stdout, missed.stdout)
    assert.deepEqual([none.stdout, none.stderr, none.code], ['', 'no matching records\n', 0])
    assert.equal(config.stdout.split('\n').length, 2)
    const absent = await run('logs', 'tail', '--dir', join(dir, 'absent'))
    assert.match(
      absent.stderr,
      /^no traffic log found in .*absent; name the folder with --dir, or the document with -c\n$/,
    )
    assert.equal(absent.code, 1)
  })

  await t.test('status, routes and upstreams are shown for people and for programs', async () => {
    await fetch(`${gateway.url}/x`, { headers: { host: 'a.example.org' } })
    const [status, json, jsonl, yaml] = await Promise.all([
      spawn('status'),
      run('status', '-o', 'json'),
      run('status', '-o', 'jsonl'),
      run('status', '-o', 'yaml'),
    ])
    assert.match(
      status.stdout,
      /^Sluice \S+, up \d+s, ready\nconfiguration [0-9a-f]{12}, from file, applied \d+s ago by start\nlistener http:\/\/127\.0\.0\.1:\d+ \(uws\)\ntraffic log: \d+ received, \d+ delivered, \d+ waiting, 0 refused, 0 lost\n\nWORKER +PID /,
    )
    assert.match(status.stdout, /\n +1 +\d+ +ready +[0-9a-f]{12} +0 /)
    const value = JSON.parse(json.stdout)
    assert.deepEqual([value.schemaVersion, value.ready, value.workers.length], [1, true, 1])
    assert.equal(jsonl.stdout.trimEnd().split('\n').length, 1)
    assert.match(yaml.stdout, /^schemaVersion: 1\n/)

    const [routes, shown, shownJson, missing, upstreams] = await Promise.all([
      run('routes'),
      run('routes', 'show', 'hello'),
      run('route', 'show', 'hello', '-o', 'json'),
      run('routes', 'show', 'hell'),
      run('upstream', 'list'),
    ])
    const lines = routes.stdout.split('\n').map((line) => line.split(/ {2,}/))
    assert.deepEqual(lines[0], ['ROUTE', 'HOSTS', 'METHODS', 'PATH', 'GOES TO', 'POLICIES'])
    assert.deepEqual(lines.slice(1, 3).toSorted(), [
      ['all', '*.example.org', '*', '/*', 'up', 'header'],
      ['hello', '*', 'GET', '/hello', 'respond 200', '-'],
    ])
    assert.match(shown.stdout, /^schemaVersion: 1\nid: hello\n/)
    assert.equal(JSON.parse(shownJson.stdout).action.status, 200)
    assert.equal(missing.stderr, "there is no route 'hell'; did you mean hello\n")
    assert.equal(missing.code, 1)
    assert.match(
      upstreams.stdout,
      /^UPSTREAM +BALANCE +TARGET .*\nup +round-robin +http:\/\/127\.0\.0\.1:\d+ +primary +1 +available +\d+ /,
    )
    assert.match(upstreams.stdout, /WEIGHT +STATE +ACTIVE/)
  })

  await t.test('gw cache stats without a cache says why there is none, and what to do', async () => {
    const [text, json] = await Promise.all([run('cache', 'stats'), run('cache', 'stats', '-o', 'json')])
    assert.match(text.stdout, /^responses are not cached: no route uses .*\nadd it to a route and deploy/)
    assert.deepEqual([text.code, JSON.parse(json.stdout).entries], [0, 0])
  })

  await t.test('a wide table has more columns', async () => {
    const [routes, upstreams, status] = await Promise.all([
      run('routes', '-o', 'wide'),
      run('upstream', '-o', 'wide'),
      run('status', '-o', 'wide'),
    ])
    assert.match(routes.stdout, /^ROUTE .* POLICIES +PRIORITY +API +HEADERS +QUERY +WHEN +TOTAL TIMEOUT\n/)
    assert.match(routes.stdout, /\nall +\*\.example\.org .* header +0 +- +- +- +- +1m\n/)
    assert.match(upstreams.stdout, /^UPSTREAM .* FAILURES +RETRIES +WAITS +SHED\n/)
    assert.match(status.stdout, /\nWORKER /)
    for (const { code, stderr } of [routes, upstreams, status]) assert.deepEqual([code, stderr], [0, ''])
  })

  await t.test('completion offers the names of the routes that serve', async () => {
    const [shown, filter, nobody] = await Promise.all([
      run('__complete', '--', 'routes', 'show', ''),
      run('__complete', '--', 'logs', 'search', '--route', 'h'),
      run('__complete', '--', 'routes', '--server', 'http://127.0.0.1:1', 'show', ''),
    ])
    assert.deepEqual(shown.stdout.trim().split(/\s+/).sort(), ['all', 'hello'])
    assert.equal(filter.stdout.trim(), 'hello')
    assert.deepEqual([nobody.code, nobody.stdout, nobody.stderr], [0, '', ''])
  })

  await t.test('calls are followed, and the status is watched, until a signal', async () => {
    await (await fetch(`${gateway.url}/hello`)).text()
    const tail = endless(t, gateway, 'logs', 'tail', '--dir', dir, '--last', '0', '-o', 'jsonl')
    const watch = endless(t, gateway, 'status', '--watch', '-o', 'jsonl')
    await until(async () => {
      await (await fetch(`${gateway.url}/followed`)).text()
      return tail.lines().length > 2 && watch.lines().length > 1
    })
    for (const line of tail.lines()) assert.equal(JSON.parse(line).url.path, '/followed')
    for (const line of watch.lines()) assert.equal(JSON.parse(line).ready, true)
    assert.equal(await tail.end('SIGINT'), 0)
    assert.equal(await watch.end('SIGTERM'), 0)
  })

  await t.test('what is only wrong where the gateway runs is reported as invalid', async () => {
    const more =
      'policies: [{ id: p, use: header, with: { request: { set: { x-a: "${env:ONLY_HERE}" } } } }]\n'
    const file = changed({ more })
    const env = { GW_SERVER: gateway.admin, ONLY_HERE: 'x' }
    const here = await run('deploy', '-c', file)
    assert.match(here.stderr, /ONLY_HERE/)
    assert.equal(here.code, 3)
    const compared = await run('diff', '-c', file)
    assert.match(compared.stderr, /ONLY_HERE.*\ngw diff uses .* or use gw deploy --dry-run, /)
    assert.equal(compared.code, 3)
    const there = await gwInProcess(['deploy', '-c', file], { env })
    const place = new RegExp(
      `^${file}:\\d+:\\d+: .*ONLY_HERE.* \\(.+\\)\nThe gateway refused the document. It uses its own environment variables`,
    )
    assert.match(there.stderr, place)
    assert.equal(there.code, 3)
  })

  await t.test(
    'a document that was refused is reported with its mistakes until another one serves',
    async () => {
      const text = readFileSync(gateway.config, 'utf8')
      writeFileSync(gateway.config, 'version: 1\nroutes: 5\n')
      await until(async () => (await run('status')).stdout.includes('document rejected'), gateway.logText)
      assert.match(
        (await run('status')).stdout,
        /last document rejected \S+ ago \(from file, by watch\); the previous one is in use\n {2}\S+:2:\d+: /,
      )
      writeFileSync(gateway.config, `${text}# mended\n`)
      gateway.process.kill('SIGHUP')
      await until(async () => !(await run('status')).stdout.includes('document rejected'), gateway.logText)
    },
  )

  await t.test('a deploy says which references have another value, and not which one', async () => {
    const secret = join(scratch(t), 'secret')
    writeFileSync(secret, 'never-shown-1')
    const next = changed({ body: `"\${file:${secret}}"` })
    assert.equal((await run('deploy', '-c', next)).code, 0)
    writeFileSync(secret, 'never-shown-2')
    const { stdout, code } = await run('deploy', '-c', next)
    assert.match(stdout, /^~ reference \$\{file:.*secret\}\n {4}value changed\napplied: /)
    assert.doesNotMatch(stdout, /never-shown/)
    assert.equal(code, 0)
  })

  await t.test('the gateway checks a deploy, and its errors and warnings are shown once', async () => {
    const wrong = await run('deploy', '-c', changed({ more: 'workerz: 1\n' }))
    assert.match(wrong.stderr, /^\S+:\d+:1: .*'workerz'.*\nThe gateway refused the document\. [^\n]*\n$/)
    assert.equal(wrong.code, 3)
    const more = `policies: [{ id: spare, ${POLICY.slice(1)}]\n`
    const { code, stderr } = await run('deploy', '-c', changed({ more, body: 'warned' }))
    assert.match(stderr, /^\S+:\d+:\d+: warning: .*spare[^\n]*\n$/)
    assert.equal(code, 0)
  })

  await t.test('a drain without a terminal wants --yes', async () => {
    const { code, stdout, stderr } = await run('drain')
    assert.match(stderr, /there is no terminal for this question; add --yes\n$/)
    assert.deepEqual([code, stdout], [64, ''])
    assert.equal((await run('status')).code, 0)
  })

  await t.test('a drain ends the gateway', async () => {
    const { code, stdout, stderr } = await spawn('drain', '--yes')
    assert.match(stdout, /^draining: /)
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(await gateway.exited, 0)
    assert.equal((await run('status')).code, 5)
  })
})

test('a document is compared, tried, deployed, found unchanged and rolled back', async (t) => {
  const { gateway, changed, run, spawn } = await bench(t)
  const hello = async () => (await fetch(`${gateway.url}/hello`)).text()
  const same = await run('diff', '-c', gateway.config, '--exit-code')
  assert.deepEqual(same, { code: 0, stdout: 'no differences\n', stderr: '' })

  const next = changed({ body: 'changed' })
  const [diff, exit, json] = await Promise.all([
    run('diff', '-c', next),
    run('diff', '-c', next, '--exit-code'),
    run('diff', '-c', next, '-o', 'json'),
  ])
  const plan = '~ route hello\n    action.body: hello -> changed\n'
  assert.deepEqual([diff.stdout, diff.code, exit.code], [plan, 0, 2])
  const { schemaVersion, different, changes } = JSON.parse(json.stdout)
  assert.deepEqual([schemaVersion, different, changes.length], [1, true, 1])

  const tried = await run('deploy', '-c', next, '--dry-run')
  const valid = 'cost per request: unchanged\nvalid: 1 change, nothing was applied\n'
  assert.deepEqual(tried, { code: 0, stdout: `${plan}${valid}`, stderr: '' })
  assert.equal(await hello(), 'hello')
  const priced = await run(
    'deploy',
    '-c',
    changed({ policy: '{ use: ip-filter, with: { allow: [10.0.0.0/8] } }' }),
    '--dry-run',
  )
  assert.match(
    priced.stdout,
    /^ {4}cost: \+1\.0 µs per request \(ip-filter 1\.4, header -0\.4\)\ncost per request: \+1\.0 µs in 1 route; /m,
  )
  const applied = await spawn('deploy', '-c', next, '--note', 'louder')
  assert.match(applied.stdout, /^~ route hello\n.*\napplied: [0-9a-f]{12} is active on all workers\n$/)
  assert.deepEqual([applied.code, applied.stderr], [0, ''])
  assert.equal(await hello(), 'changed')
  const again = await run('deploy', '-c', next)
  assert.match(again.stdout, /^unchanged: [0-9a-f]{12} is already active\n$/)
  assert.equal(again.code, 0)
  const saved = await run('deploy', '-c', next, '--save')
  assert.match(saved.stdout, /^unchanged: [0-9a-f]{12} is already active, saved to the gateway file\n$/)
  assert.equal(readFileSync(gateway.config, 'utf8'), readFileSync(next, 'utf8'))

  // What a policy makes of its settings is only known where it is compiled: in the workers.
  const impossible = changed({ policy: '{ use: body-limit, with: { minBytes: 2kb, maxBytes: 1kb } }' })
  const [text, value] = [
    await run('deploy', '-c', impossible),
    await run('deploy', '-c', impossible, '-o', 'json'),
  ]
  assert.match(
    text.stderr,
    /^worker 1: .*'minBytes' 2kb is greater than 'maxBytes' 1kb.*\nrolled back: the previous configuration stays active\n$/,
  )
  assert.equal(text.code, 6)
  assert.deepEqual([value.code, JSON.parse(value.stdout).result], [6, 'rolled-back'])
  assert.equal(await hello(), 'changed')

  const back = '~ route hello\n    action.body: changed -> hello\n'
  const trial = await run('rollback', '--dry-run')
  assert.deepEqual([trial.code, trial.stdout], [0, `${back}${valid}`])
  assert.match(trial.stderr, /^rollback to deploy 1 of 20\S+ by \S+\n$/)
  const rolled = await run('rollback', '--note', 'too loud')
  assert.match(
    rolled.stdout,
    /action.body: changed -> hello\napplied: [0-9a-f]{12} is active on all workers\n$/,
  )
  assert.equal(await hello(), 'hello')
  const history = (await run('history')).stdout.trim().split('\n')
  assert.match(history[0]!, /^DEPLOY +AGE +CONFIG +FROM +BY +NOTE$/)
  assert.match(history[1]!, /^ *3 +\d+s +[0-9a-f]{12} \* +api +\S+ +too loud$/)
  assert.match(history[2]!, /^ *2 +\d+s +[0-9a-f]{12} +api +\S+ +louder$/)
  const { deploys } = JSON.parse((await run('history', '-o', 'json')).stdout)
  assert.deepEqual(
    deploys.map(({ id }: { id: string }) => id),
    ['3', '2', '1'],
  )
  // The document that was rolled back comes back only if it is named.
  const repeated = await run('rollback')
  assert.match(
    repeated.stderr,
    /there is no earlier deploy, or it was rolled back and needs its id; see gw history\n$/,
  )
  assert.equal(repeated.code, 1)
  const named = await run('rollback', '--to', '2')
  assert.match(
    named.stderr,
    /^rollback to deploy 2 of 20\S+ by \S+ \("louder"\)\nwarning: deploy 2 was rolled back before\n$/,
  )
  assert.equal(await hello(), 'changed')
  const unknown = await run('rollback', '--to', '99')
  assert.match(unknown.stderr, /answered 404: there is no deploy '99'; see gw history\n$/)
  assert.equal(unknown.code, 1)
})

test('a deploy needs no variable and no file of the gateway here', async (t) => {
  const options = { env: { ONLY_THERE: 'there' } }
  const document = (body: string) =>
    documentOf({ target: 'http://127.0.0.1:1', dir: scratch(t), body: `"${body}"` })
  const gateway = await startGateway(t, document('before'), [], options)
  const file = fileWith(t, document('${env:ONLY_THERE}'))
  const env = { GW_SERVER: gateway.admin, GW_TOKEN: '' }
  // A variable of the same name that is here would not do.
  const here = { ...env, ONLY_THERE: '"' }
  const { code, stderr } = await gw(['deploy', '-c', file], { env: here })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(await (await fetch(`${gateway.url}/hello`)).text(), 'there')
  const wrong = fileWith(t, `${document('${env:ONLY_THERE}')}workers: none\n`)
  const refused = await gw(['deploy', '-c', wrong], { env })
  assert.equal(refused.code, 3)
  assert.doesNotMatch(refused.stderr, /ONLY_THERE/)
})

test('only who has the role may act, and a changed secret is reported without showing it', async (t) => {
  const tokens = ['viewer', 'admin'].map(
    (role) => `{ id: ${role}, role: ${role}, sha256: ${sha256(`token-of-${role}`)} }`,
  )
  const document = (hash: string) => `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0", tokens: [${tokens.join(', ')}] }
workers: 1
routes:
  - id: a
    match: { path: /a }
    respond: { status: 200 }
    policies: [{ use: api-key, with: { keys: [{ id: k, sha256: ${hash} }] } }]
log: { sink: none }
`
  const gateway = await startGateway(t, document(sha256('one')))
  const next = fileWith(t, document(sha256('two')))
  const as = (token: string, ...args: string[]) =>
    gwInProcess(args, { env: { GW_SERVER: gateway.admin, GW_TOKEN: token } })
  const none = await as('', 'status')
  assert.match(none.stderr, /answered 401: .*GW_TOKEN or --token-file\n$/)
  const viewer = await as('token-of-viewer', 'diff', '-c', next, '--exit-code')
  assert.deepEqual(viewer, { code: 2, stdout: '~ secrets, or values behind references\n', stderr: '' })
  const refused = await as('token-of-viewer', 'deploy', '-c', next)
  assert.match(
    refused.stderr,
    /answered 403: token 'viewer' has the role viewer, but this endpoint requires admin\n$/,
  )
  assert.deepEqual([none.code, refused.code], [4, 4])
  const applied = await as('token-of-admin', 'deploy', '-c', next)
  assert.match(applied.stdout, /^~ route a\n.*changed\napplied: /)
  assert.doesNotMatch(applied.stdout, new RegExp(sha256('two')))
})

test('the field of an API key is masked in the traffic log, whatever it is called', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const dir = join(scratch(t), 'traffic')
  const key = 'key-0123456789abcdef0123'
  const policy = `{ use: api-key, with: { in: query, name: partner, strip: false, keys: [{ id: k, sha256: "${sha256(key)}" }] } }`
  const text = documentOf({ target, dir, policy }).replace('sink: file', 'sink: file, fields: full')
  const gateway = await startGateway(t, text.replace('hosts: ["*.example.org"], ', ''))
  assert.equal((await fetch(`${gateway.url}/a?partner=${key}&page=2`)).status, 200)
  const tail = () => gwInProcess(['logs', 'tail', '--dir', dir, '--no-follow', '-o', 'jsonl'])
  await until(async () => (await tail()).stdout !== '')
  assert.equal(JSON.parse((await tail()).stdout).url.query, 'partner=***&page=2')
})

/** A command that goes on until it is asked to end. */
function endless(t: TestContext, gateway: RunningGateway, ...args: readonly string[]) {
  const running = spawnGw(t, args, { env: { GW_SERVER: gateway.admin, GW_TOKEN: '' } })
  return {
    /** Those that are complete. */
    lines: () => running.stdout().split('\n').slice(0, -1),
    end: (signal: NodeJS.Signals) => {
      running.process.kill(signal)
      return running.exited
    },
  }
}

test('the operation log of a gateway is for people when it is asked for', async (t) => {
  const target = await origin(t, (_, res) => res.end('ok'))
  const text = documentOf({ target, dir: join(scratch(t), 'traffic') })
  const gateway = await startGateway(t, text, ['--log-format', 'console'])
  assert.match(gateway.logText(), /^\d\d:\d\d:\d\d\.\d{3} INFO +worker\.ready +worker=1 pid=\d+$/m)
  assert.doesNotMatch(gateway.logText(), /^\{/m)
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
