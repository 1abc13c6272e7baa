import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, gw } from '../testing.js'

const GOOD = `version: 1
upstreams:
  up: { targets: ["\${env:UP_URL}"] }
routes:
  - id: orders
    match: { path: "/orders/{id}", methods: [GET] }
    upstream: up
    policies:
      - use: api-key
        with: { keys: [{ id: k, sha256: 0e03e5e062ed57193f66ac02c625440e47c7babb127f9252f1f856ed054b5e05 }] }
        when: 'req.method == "GET"'
  - { id: rest, match: { path: /* }, respond: { status: 404 } }
`
const BAD = `version: 1
upstreems: {}
routes:
  - { id: a, match: { path: /a }, upstream: nowhere }
  - { id: a, match: { path: b }, respond: { status: 99 } }
`
const env = { UP_URL: 'http://never-shown:9000' }

test('a document that is in order is reported with what it holds', async (t) => {
  const file = fileWith(t, GOOD)
  const [text, json] = await Promise.all([
    gw(['validate', '-c', file], { env }),
    gwInProcess(['validate', '-c', file, '-o', 'json'], { env }),
  ])
  assert.deepEqual(text, { code: 0, stdout: `${file}: ok (2 routes, 1 upstream)\n`, stderr: '' })
  assert.deepEqual(JSON.parse(json.stdout), { schemaVersion: 1, valid: true, diagnostics: [] })
})

test('every mistake is reported at once with its place and remedy, and the exit code is 3', async (t) => {
  const file = fileWith(t, BAD)
  const [text, json, yaml] = await Promise.all([
    gwInProcess(['validate', '-c', file]),
    gwInProcess(['validate', '-c', file, '-o', 'json']),
    gwInProcess(['validate', '-c', file, '-o', 'yaml']),
  ])
  const lines = text.stderr.trimEnd().split('\n')
  for (const line of lines) assert.match(line, /^\S+gateway\.yaml:\d+:\d+: .+ \(.+\)$/)
  assert.ok(lines.length >= 4, text.stderr)
  assert.match(text.stderr, /:2:1: .*did you mean/)
  assert.deepEqual([text.code, text.stdout], [3, ''])
  const { valid, diagnostics } = JSON.parse(json.stdout)
  assert.deepEqual([json.code, json.stderr, valid, diagnostics.length], [3, '', false, lines.length])
  assert.deepEqual(Object.keys(diagnostics[0]), [
    'severity',
    'file',
    'line',
    'column',
    'path',
    'message',
    'remedy',
  ])
  assert.match(yaml.stdout, /^schemaVersion: 1\nvalid: false\n/)
})

test('policies that the gateway would refuse are mistakes, at their positions', async (t) => {
  const file = fileWith(
    t,
    `version: 1
policies:
  - { id: shared, use: ip-filter, with: { allow: [10.0.0.0/33] } }
routes:
  - id: app
    match: { path: /* }
    respond: { status: 200 }
    policies:
      - shared
      - use: jwt
        with: { keys: [{ secret: "\${env:SECRET}", algorithms: [HS256] }], audiences: [app] }
      - { id: expr, use: transform, with: { response: { jsonata: { inline: "{ a: " } } } }
      - { use: xslt, with: { stylesheet: { file: nowhere.xsl } } }
`,
  )
  const { code, stdout, stderr } = await gwInProcess(['validate', '-c', file], {
    env: { SECRET: 'never-shown' },
  })
  const lines = stderr.trimEnd().split('\n')
  const expected = [
    /:3:50: policy 'shared' \(ip-filter\): .*33 bits/,
    /:10:9: policy 'app\/2' \(jwt\): key 1 /,
    /:12:9: policy 'expr' \(transform\): .*JSONata/,
  ]
  for (const [i, line] of expected.entries()) assert.match(lines[i] ?? '', line)
  assert.match(lines[3] ?? '', /:13:\d+: .*nowhere\.xsl/)
  assert.deepEqual([code, stdout, lines.length], [3, '', 4])
  assert.doesNotMatch(stderr, /never-shown/)
})

test('what a policy says of a value from a reference names the reference', async (t) => {
  const allow = `{ allow: ["\${env:SECRET}"] }`
  const routes = `[{ id: a, match: { path: /a }, respond: {}, policies: [{ use: ip-filter, with: ${allow} }] }]`
  const file = fileWith(t, `version: 1\nroutes: ${routes}\n`)
  const { code, stderr } = await gwInProcess(['validate', '-c', file], { env: { SECRET: 'never-shown' } })
  assert.match(stderr, /'\$\{env:SECRET\}' is not an address or a range/)
  assert.doesNotMatch(stderr, /never-shown/)
  assert.equal(code, 3)
})

test('a policy is compiled where it is used, as the gateway does: by its route, and not after a constant', async (t) => {
  const wrong = 'use: ip-filter, with: { allow: [10.0.0.0/33] }'
  const file = fileWith(
    t,
    `version: 1
policies:
  - { id: shared, ${wrong} }
routes:
  - { id: a, match: { path: /a }, respond: { status: 200 }, policies: [shared, { id: p, ${wrong} }] }
  - { id: b, match: { path: /b }, respond: { status: 200 }, policies: [shared, { id: p, use: ip-filter, with: { allow: [10.0.0.0/8] } }] }
  - { id: c, match: { path: /c }, respond: { status: 200 }, policies: [{ id: off, when: 'false', ${wrong} }] }
`,
  )
  const { code, stderr } = await gwInProcess(['validate', '-c', file])
  const positions = stderr
    .trimEnd()
    .split('\n')
    .map((line) => /:(\d+):\d+: policy '(\w+)'/.exec(line)?.slice(1).join(' '))
  assert.deepEqual([code, positions], [3, ['3 shared', '5 p']])
})

test('a warning is reported and no reason to fail, unless it is quiet', async (t) => {
  const file = fileWith(
    t,
    `${GOOD}policies: [{ id: spare, use: header, with: { request: { set: { a: b } } } }]\n`,
  )
  const { code, stdout, stderr } = await gwInProcess(['validate', '-c', file], { env })
  assert.match(stderr, /:13:\d+: warning: .*spare/)
  assert.deepEqual([code, stdout], [0, `${file}: ok (2 routes, 1 upstream)\n`])
  assert.equal((await gw(['validate', '-c', file, '--quiet'], { env })).stderr, '')
})

test('control characters in names and texts are shown and never obeyed', async (t) => {
  const path = '/nonexistent/\u001b[31mred\r\nline\u202e.yaml'
  const shown = '/nonexistent/\\u{1b}[31mred\\u{d}\\u{a}line\\u{202e}.yaml'
  const missing = await gwInProcess(['validate', '-c', path])
  assert.equal(missing.stderr, `cannot read the document '${shown}': there is no such file\n`)
  const file = fileWith(t, 'version: 1\n"ro\\eutes": []\n')
  const wrong = await gwInProcess(['validate', '-c', file])
  assert.match(wrong.stderr, /ro\\u\{1b\}utes/)
  const unknown = await gwInProcess(['validate', '--\u001b[2J'])
  for (const { stdout, stderr } of [missing, wrong, unknown])
    assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]/u)
})

test('a document that cannot be read is invalid', async (t) => {
  const outcomes = await Promise.all(
    ['validate', 'render', 'diff', 'deploy', 'start'].map((command) =>
      (command === 'start' ? gw : gwInProcess)([command, '-c', '/nonexistent/gateway.yaml']),
    ),
  )
  for (const { code, stdout, stderr } of outcomes) {
    assert.equal(stderr, "cannot read the document '/nonexistent/gateway.yaml': there is no such file\n")
    assert.deepEqual([code, stdout], [3, ''])
  }
  const file = fileWith(t, BAD)
  for (const command of [['render'], ['diff'], ['explain', 'GET', '/'], ['logs', 'tail']]) {
    const { code, stderr } = await gwInProcess([...command, '-c', file])
    assert.match(stderr, /:2:1: /, command[0])
    assert.equal(code, 3)
  }
})

test('the plan is printed with references as written and secrets masked', async (t) => {
  const file = fileWith(t, GOOD)
  const [json, yaml] = await Promise.all([
    gwInProcess(['render', '-c', file], { env }),
    gwInProcess(['render', '-c', file, '-o', 'yaml'], { env }),
  ])
  const plan = JSON.parse(json.stdout)
  assert.equal(plan.version, 1)
  assert.equal(plan.upstreams[0].targets[0].url, '${env:UP_URL}')
  assert.equal(plan.routes[0].policies[0].with.keys[0].sha256, '***')
  assert.match(yaml.stdout, /^version: 1\n/)
  for (const { stdout } of [json, yaml]) assert.doesNotMatch(stdout, /never-shown|0e03e5e0/)
})

test('a request is explained: the route, what it does there, and why not the others', async (t) => {
  const args = ['explain', 'GET', '/orders/7?x=1', '-c', fileWith(t, GOOD)]
  const [text, json] = await Promise.all([
    gwInProcess(args, { env }),
    gwInProcess([...args, '-o', 'json'], { env }),
  ])
  assert.deepEqual([text.code, text.stderr], [0, ''])
  assert.equal(
    text.stdout,
    `GET http://127.0.0.1/orders/7?x=1, from 127.0.0.1
handled by route orders, path /orders/{id}

  parameters  id=7
  upstream    up, round-robin: \${env:UP_URL}
  gets        /orders/7?x=1, Host 127.0.0.1:8080
  timeouts    connect 1s, headers 10s, idle 30s, total 1m
  limits      body 10 MB, idle time 30s, URL 8 KB, headers 16 KB in 100 fields
  policies    in this order
    1. api-key (orders/1), its condition is true
       costs little: 2 µs where the request itself took 16 (GET)
       when req.method == "GET"
       refuses requests without credentials with 401 GW_AUTH_MISSING
       with {"keys":[{"id":"k","sha256":"***"}],"in":"header","name":"x-api-key","strip":true}

OTHER ROUTE  PATH  WHY NOT
rest         /*    matches too, but orders has a more specific path
`,
  )
  const { schemaVersion, outcome, route, losers } = JSON.parse(json.stdout)
  assert.deepEqual([schemaVersion, outcome, route.id, losers[0].failed], [1, 'routed', 'orders', 'order'])
})

test('what the listeners can do is listed by their engine', async (t) => {
  const file = fileWith(
    t,
    'version: 1\nlisteners: [{ address: ":1" }, { address: ":2", engine: node, limits: { headTimeout: 7s } }]\nroutes: []\n',
  )
  const [text, json] = await Promise.all([
    gwInProcess(['explain', 'listener', '-c', file]),
    gwInProcess(['explain', 'listener', file, '-o', 'json']),
  ])
  assert.deepEqual([text.code, text.stderr], [0, ''])
  assert.match(
    text.stdout,
    /engine: uws\n[\s\S]*HTTP\/1\.0 +no, 505\n[\s\S]*engine: node\n[\s\S]*HTTP\/1\.0 +yes\n/,
  )
  const [uws, node] = JSON.parse(json.stdout).listeners
  assert.deepEqual([uws.engine, node.engine, node.abilities.proxyProtocol], ['uws', 'node', 'yes'])
  assert.match(text.stdout, /limits\.headTimeout +7s\n/)
  assert.match(text.stdout, /limits\.bodyBytes +10 MB\n[\s\S]*limits\.minBodyRate +240 B\/s\n/)
  assert.equal(node.settings['limits.bodyBytes'], '10485760')
  assert.match(text.stdout, /WebSocket +up to 1 MB, uncompressed\n[\s\S]*WebSocket +yes\n/)
  assert.equal(node.settings['http2.alpn'], 'true')
})

test('what a policy costs is reported with what it was measured to cost, and what is held for it', async (t) => {
  const file = fileWith(
    t,
    `version: 1
routes:
  - id: one
    match: { path: /* }
    respond: { status: 200 }
    policies: [{ use: json-schema, with: { schema: { inline: { type: object } } } }]
`,
  )
  const args = ['explain', 'POST', '/a', '-c', file]
  const [text, json] = await Promise.all([gwInProcess(args), gwInProcess([...args, '-o', 'json'])])
  assert.match(
    text.stdout,
    /costs CPU time: \d+ µs where the request itself took \d+ \(POST 1 KB\); holds the request body in memory\n/,
  )
  const { cost, measured, buffers } = JSON.parse(json.stdout).route.policies[0]
  assert.deepEqual([cost, buffers, measured.request], ['cpu', ['request'], 'POST 1 KB'])
})

test('the request is made of the header fields, body and address that were given', async (t) => {
  const file = fileWith(
    t,
    `version: 1
routes:
  - id: one
    match: { hosts: [api.example.com], headers: { x-tenant: acme }, when: 'client.ip == "10.1.2.3" && req.contentLength == 4' }
    respond: { status: 200 }
`,
  )
  const body = fileWith(t, 'body', 'body.txt')
  const args = ['explain', 'POST', '/', '-c', file, '-H', 'Host: api.example.com', '-H', 'X-Tenant:acme']
  const [typed, read, none] = await Promise.all([
    gwInProcess([...args, '--client-ip', '10.1.2.3', '-d', 'body']),
    gwInProcess([...args, '--client-ip', '10.1.2.3', '-d', `@${body}`]),
    gwInProcess([...args, '--client-ip', '10.1.2.3']),
  ])
  for (const { stdout } of [typed, read]) assert.match(stdout, /^handled by route one,/m)
  assert.match(none.stdout, /^refused with 404 GW_ROUTE_NOT_FOUND/m)
  assert.match(none.stdout, /one {10}\/\* {4}condition .* is false/)
  assert.equal((await gwInProcess([...args, '--client-ip', 'here'])).code, 64)
  assert.equal((await gwInProcess([...args, '-H', 'nonsense'])).code, 64)
  assert.equal((await gwInProcess([...args, '-d', '@/nonexistent'])).code, 1)
  assert.equal((await gwInProcess(['explain', 'GET', 'orders', '-c', file])).code, 64)
})

test('gw explain fails without a route, and with another one than expected', async (t) => {
  const file = fileWith(t, 'version: 1\nroutes: [{ id: orders, match: { path: /orders/* }, respond: {} }]\n')
  const explained = async (...args: string[]) => {
    const { code, stderr } = await gwInProcess(['explain', ...args, '-c', file])
    return [code, stderr]
  }
  assert.deepEqual(await explained('GET', '/orders/7'), [0, ''])
  assert.deepEqual(await explained('/orders/7', 'GET'), [0, ''])
  assert.deepEqual(await explained('GET', '/none'), [1, ''])
  assert.deepEqual(await explained('GET', '/orders/7', '--expect-route', 'orders'), [0, ''])
  assert.deepEqual(await explained('GET', '/orders/7', '--expect-route', 'other'), [
    7,
    "expected route 'other', but route 'orders' handles the request\n",
  ])
  assert.deepEqual(await explained('GET', '/none', '--expect-route', 'orders'), [
    7,
    "expected route 'orders', but no route handles the request\n",
  ])
})

test('of many routes for other paths only some are listed, unless all are wanted', async (t) => {
  const routes = Array.from(
    { length: 30 },
    (_, i) => `  - { id: r${i}, match: { path: /r${i} }, respond: { status: 200 } }`,
  )
  const file = fileWith(t, `version: 1\nroutes:\n${routes.join('\n')}\n`)
  const [some, all] = await Promise.all([
    gwInProcess(['explain', 'GET', '/r29', '-c', file]),
    gwInProcess(['explain', 'GET', '/r29', '-c', file, '--all']),
  ])
  assert.match(some.stdout, /and 19 more routes with other hosts or paths; --all lists them\n$/)
  assert.equal(all.stdout.match(/does not match/g)?.length, 29)
})

test('a document may be the last argument, or come from stdin', async (t) => {
  const file = fileWith(t, GOOD)
  const url = ['GET', 'http://a/orders/7']
  const [operand, option, stdin, rendered, explained] = await Promise.all([
    gwInProcess(['validate', file], { env }),
    gw(['validate', '-c', '-'], { env, stdin: GOOD }),
    gwInProcess(['validate', '-'], { env, stdin: BAD }),
    gwInProcess(['render', '-'], { env, stdin: GOOD }),
    gwInProcess(['explain', ...url, '-'], { env, stdin: GOOD }),
  ])
  assert.equal(operand.stdout, `${file}: ok (2 routes, 1 upstream)\n`)
  assert.equal(option.stdout, '<stdin>: ok (2 routes, 1 upstream)\n')
  assert.match(stdin.stderr, /^<stdin>:2:1: .*did you mean/)
  assert.equal(JSON.parse(rendered.stdout).routes.length, 2)
  assert.match(explained.stdout, /handled by route orders/)
  assert.deepEqual(
    [operand, option, stdin, rendered, explained].map(({ code }) => code),
    [0, 0, 3, 0, 0],
  )
})

test('gateway.yaml in the working directory is the default document', async (t) => {
  const cwd = dirname(
    fileWith(t, 'version: 1\nroutes: [ { id: a, match: { path: /a }, respond: { status: 204 } } ]\n'),
  )
  for (const command of ['validate', 'lint', 'fmt --check', 'explain GET /a', 'render']) {
    const { code, stdout, stderr } = await gwInProcess(command.split(' '), { cwd })
    assert.ok(
      !stderr.includes('no document given') && Number(code) < 3,
      `${command}: ${code} ${stderr}${stdout}`,
    )
  }
})

test('the files of policies and the module of a log are looked up beside the document, wherever gw runs', async (t) => {
  const text = `version: 1
routes:
  - id: a
    match: { path: / }
    respond: {}
    policies: [{ use: json-schema, with: { schema: { file: schemas/a.json } } }]
log: { sink: custom, custom: { module: ./target.mjs } }
`
  const file = fileWith(t, text)
  const dir = dirname(file)
  mkdirSync(join(dir, 'schemas'))
  writeFileSync(join(dir, 'schemas', 'a.json'), '{ "type": "object" }')
  writeFileSync(join(dir, 'target.mjs'), 'setInterval(() => {}, 1000); export default () => {}')
  const valid = await gw(['validate', file], { cwd: '/' })
  assert.deepEqual([valid.code, valid.stderr], [0, ''])
  writeFileSync(join(dir, 'target.mjs'), "import './nothing.mjs'\n")
  rmSync(join(dir, 'schemas', 'a.json'))
  const { code, stderr } = await gwInProcess(['validate', file], { cwd: '/' })
  assert.match(stderr, /:6:\d+: policy .*schemas\/a\.json/)
  assert.match(stderr, /:7:\d+: the module '\.\/target\.mjs' cannot be loaded: .*nothing\.mjs/)
  assert.equal(code, 3)
})

for (const [what, source, reason] of [
  ['exports no function', 'export default 1', /the default export of .* is not a function/],
  ['throws', "throw new Error('no')", /cannot be loaded: no \(/],
  ['ends its thread', 'process.exit(0)', /it terminated the thread/],
] as const) {
  test(`a module of a log that ${what} is a mistake at its place`, async (t) => {
    const file = fileWith(t, 'version: 1\nroutes: []\nlog: { sink: custom, custom: { module: ./t.mjs } }\n')
    writeFileSync(join(dirname(file), 't.mjs'), source)
    const { code, stderr } = await gwInProcess(['validate', file])
    assert.match(stderr, /^\S+gateway\.yaml:3:40: the module '\.\/t\.mjs' cannot be loaded: /)
    assert.match(stderr, reason)
    assert.equal(code, 3)
  })
}

const BROKEN_FILES: readonly (readonly [string, string, string, string])[] = [
  ['a schema', 'json-schema', 'schema', '{\n  "properties": { "a": { "type": "strng" } }\n}'],
  ['JSON', 'json-schema', 'schema', '{\n  "type": "object",,\n}'],
  ['YAML', 'openapi', 'description', 'openapi: 3.0.3\ninfo: {title: a'],
  ['a description', 'openapi', 'description', 'openapi: 3.0.3\ninfo: { title: a }\npaths: {}\n'],
  [
    'XSLT',
    'xslt',
    'stylesheet',
    `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/["/></xsl:stylesheet>`,
  ],
  [
    'XSLT 3.0',
    'xslt',
    'stylesheet',
    `<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/"><xsl:value-of select="//["/></xsl:template></xsl:stylesheet>`,
  ],
  ['XML', 'xslt', 'stylesheet', '<a>\n  <b></a>'],
  ['a script', 'script', 'script', 'export function onRequest(x) {\n  x.let y\n}'],
]

test('a mistake in a file of a policy stands at the line of that file', async (t) => {
  const routes = BROKEN_FILES.map(
    ([, use, key], i) =>
      `  - { id: r${i}, match: { path: /${i} }, respond: {}, policies: [{ use: ${use}, with: { ${key}: { file: broken-${i} } } }] }`,
  )
  const file = fileWith(t, `version: 1\nroutes:\n${routes.join('\n')}\n`)
  for (const [i, [, , , text]] of BROKEN_FILES.entries())
    writeFileSync(join(dirname(file), `broken-${i}`), text)
  const { code, stderr } = await gwInProcess(['validate', 'gateway.yaml'], { cwd: dirname(file) })
  const lines = stderr.trimEnd().split('\n')
  for (const [i, [what, use]] of BROKEN_FILES.entries()) {
    const line = new RegExp(
      `^broken-${i}:2:\\d+: policy 'r${i}/1' \\(${use}\\): .* \\((fix the file|close the bracket.*)\\)$`,
    )
    assert.match(lines[i] ?? '', line, what)
  }
  assert.deepEqual([code, lines.length], [3, BROKEN_FILES.length])
})

test('of several files of a policy, the mistake stands in the one that its message names', async (t) => {
  const policy = '{ use: xsd, with: { schemas: [{ file: main.xsd }, { file: types.xsd }] } }'
  const file = fileWith(
    t,
    `version: 1\nroutes: [{ id: a, match: { path: / }, respond: {}, policies: [${policy}] }]\n`,
  )
  const xsd = (body: string) =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">\n${body}\n</xs:schema>`
  writeFileSync(join(dirname(file), 'main.xsd'), xsd('<xs:include schemaLocation="types.xsd"/>'))
  writeFileSync(join(dirname(file), 'types.xsd'), xsd('\n<xs:element name="a" type="xs:strng"/>'))
  const { stderr } = await gwInProcess(['validate', 'gateway.yaml'], { cwd: dirname(file) })
  assert.match(stderr, /^types\.xsd:3:\d+: policy 'a\/1' \(xsd\): /)
})
