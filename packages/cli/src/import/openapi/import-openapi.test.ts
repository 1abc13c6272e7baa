import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { fileWith, gw, origin, scratch, startGateway } from '../../testing.js'

const OK = '{ responses: { "200": { description: ok } } }'
const API = `openapi: 3.0.3
info: { title: "Orders\\nand more", version: "1.2" }
servers:
  - url: https://{host}:8443/api/v1/
    variables: { host: { default: backend.example.com } }
paths:
  /: { get: ${OK} }
  /orders:
    get: { operationId: listOrders, tags: [orders], responses: { "200": { description: ok } } }
    head: ${OK}
    post: { operationId: create order, tags: [orders, writing], responses: { "200": { description: ok } } }
    trace: ${OK}
  /orders/{order-id}:
    parameters: [{ name: order-id, in: path, required: true, schema: { type: integer } }]
    get: ${OK}
  /orders/{order-id}.json:
    parameters: [{ name: order-id, in: path, required: true, schema: { type: integer } }]
    put: ${OK}
  /a b/{x}/{x-}: { delete: ${OK} }
  "/only-traced": { trace: ${OK} }
`

test('a document with a route for each operation is written, and is valid', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'api.yaml'), API)
  const result = await gw(['import', 'openapi', 'api.yaml', '--out', 'gateway.yaml'], { cwd: dir })
  const report = `7 mapped, 2 not mapped, 0 not needed

Not mapped:
  api.yaml:12: TRACE /orders: the gateway does not serve TRACE
  api.yaml:20: TRACE /only-traced: the gateway does not serve TRACE
gateway.yaml: 6 routes, 1 upstream
`
  assert.deepEqual(result, { code: 2, stdout: '', stderr: report })
  const text = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
  assert.match(text, /^# Orders\\u\{a\}and more 1\.2, imported/)
  assert.deepEqual(parse(text), {
    version: 1,
    listeners: [{ address: '127.0.0.1:8080', engine: 'node' }],
    upstreams: { api: { targets: ['https://backend.example.com:8443'] } },
    policies: [
      {
        id: 'openapi',
        use: 'openapi',
        with: { description: { file: 'api.yaml' }, basePath: '/api/v1' },
      },
    ],
    apis: { orders: { group: 'orders' } },
    routes: [
      ['get-api-v1', '/api/v1/', ['GET']],
      ['get-api-v1-orders-order_id', '/api/v1/orders/{order_id}', ['GET']],
      ['put-api-v1-orders-order_id_json', '/api/v1/orders/{order_id_json}', ['PUT']],
      ['delete-api-v1-a-20b-x-x_2', '/api/v1/a%20b/{x}/{x_2}', ['DELETE']],
      ['listOrders', '/api/v1/orders', ['GET', 'HEAD'], 'orders'],
      ['create-order', '/api/v1/orders', ['POST'], 'orders'],
    ].map(([id, path, methods, api]) => ({
      id,
      ...(api !== undefined && { api }),
      match: { path, methods },
      rewrite: { host: 'upstream' },
      upstream: 'api',
      policies: ['openapi'],
    })),
  })
  const checked = await gwInProcess(['validate', '-c', 'gateway.yaml'], { cwd: dir })
  assert.deepEqual(checked, { code: 0, stdout: 'gateway.yaml: ok (6 routes, 1 upstream)\n', stderr: '' })
})

test('a gateway serves what was imported and refuses what the description does not know', async (t) => {
  const api = fileWith(t, API, 'api.yaml')
  const upstream = await origin(t, (req, res) => res.end(`${req.method} ${req.url}`))
  const { stdout } = await gwInProcess(['import', 'openapi', api, '--upstream', upstream])
  const document = stdout
    .replace('127.0.0.1:8080', '127.0.0.1:0')
    // The path starts in the working directory, and the gateway has its document elsewhere.
    .replace(/file: .*api\.yaml/, `file: ${api}`)
    .replace('version: 1', 'version: 1\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nlog: { sink: none }')
  const gateway = await startGateway(t, document)
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${gateway.url}${path}`, { method })
    return [response.status, await response.text()] as const
  }
  assert.deepEqual(await ask('/api/v1/orders/7'), [200, 'GET /api/v1/orders/7'])
  assert.deepEqual(await ask('/api/v1/orders/7.json', 'PUT'), [200, 'PUT /api/v1/orders/7.json'])
  const [status, text] = await ask('/api/v1/orders/seven')
  assert.equal(status, 400)
  assert.equal(JSON.parse(text).detail, 'path/order-id must be integer')
  assert.equal((await ask('/api/v1/orders/7', 'PUT'))[0], 405)
  assert.equal((await ask('/api/v2/orders'))[0], 404)
})

test('what cannot be imported is reported', async (t) => {
  const dir = scratch(t)
  const run = (api: string, ...more: string[]) => {
    writeFileSync(join(dir, 'api.yaml'), api)
    return gwInProcess(['import', 'openapi', 'api.yaml', ...more], { cwd: dir })
  }
  const refused = async (code: number, reason: RegExp, api: string, ...more: string[]) => {
    const result = await run(api, ...more)
    assert.deepEqual([result.code, result.stdout], [code, ''])
    assert.match(result.stderr, reason)
  }
  const relative = API.replace(/servers:[\s\S]*?paths:/, 'servers: [{ url: /base }]\npaths:')
  await refused(64, /contains no absolute server URL; add '--upstream URL'/, relative)
  await refused(64, /'ftp:\/\/a' is not a URL/, API, '--upstream', 'ftp://a')
  await refused(64, /has a path; use only scheme, host and port/, API, '--upstream', 'http://a/b')
  await refused(3, /is not OpenAPI 3\.0 or 3\.1/, 'swagger: "2.0"')
  await refused(3, /describes no path/, API.replace(/paths:[\s\S]*/, 'paths: {}'))
  await refused(3, /not YAML or JSON/, 'a: [')
  const based = await run(relative, '--upstream', 'http://127.0.0.1:9000')
  assert.equal(parse(based.stdout).policies[0].with.basePath, '/base')
  writeFileSync(join(dir, 'mine.yaml'), 'mine')
  await refused(1, /cannot write mine\.yaml: it already exists/, API, '--out', 'mine.yaml')
  assert.equal(readFileSync(join(dir, 'mine.yaml'), 'utf8'), 'mine')
  const missing = await gwInProcess(['import', 'openapi', 'none.yaml'], { cwd: dir })
  assert.equal(missing.code, 3)
  assert.match(missing.stderr, /cannot read the file none\.yaml: there is no such file/)
  assert.equal(existsSync(join(dir, 'gateway.yaml')), false)
})

test('patterns that are left out are named when the document is validated', async (t) => {
  const dir = scratch(t)
  const parameters = '[{ name: q, in: query, schema: { type: string, pattern: "(?=a)" } }]'
  writeFileSync(join(dir, 'api.yaml'), API.replace('/: { get: {', `/: { get: { parameters: ${parameters},`))
  const file = join(dir, 'gateway.yaml')
  const document = (more: string) => `version: 1
listeners: [{ address: 127.0.0.1:8080 }]
upstreams: { u: { targets: [http://127.0.0.1:9] } }
routes:
  - id: all
    match: { path: /* }
    upstream: u
    policies: [{ use: openapi, with: { description: { file: api.yaml }${more} } }]
`
  writeFileSync(file, document(''))
  assert.match((await gwInProcess(['validate', '-c', file])).stderr, /linear time/)
  writeFileSync(file, document(', onUnsupported: skip'))
  const { code, stderr } = await gwInProcess(['validate', '-c', file])
  assert.equal(code, 0, stderr)
  assert.match(
    stderr,
    /warning: .*skipped patterns in the description \(1\): #\/paths\/~1\/get\/parameters\/0\/schema\/pattern/,
  )
})

const SECURED = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: "http://127.0.0.1:9" }, { url: "http://staging.example.com" }]
security: [{ key: [] }]
paths:
  /open: { get: { operationId: open, security: [], responses: { "200": { description: ok } } } }
  /key: { get: { operationId: key, responses: { "200": { description: ok } } } }
  /login: { get: { operationId: login, security: [{ login: ["orders:read"] }], responses: { "200": { description: ok } } } }
  /both: { get: { operationId: both, security: [{ key: [], basic: [] }], responses: { "200": { description: ok } } } }
  /either: { get: { operationId: either, security: [{ cookie: [] }, { basic: [] }], responses: { "200": { description: ok } } } }
  /cookie: { get: { operationId: cookie, security: [{ cookie: [] }], responses: { "200": { description: ok } } } }
  /bearer: { get: { operationId: bearer, security: [{ bearer: [] }], responses: { "200": { description: ok } } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: "X-Key" }
    basic: { type: http, scheme: basic }
    login: { type: openIdConnect, openIdConnectUrl: "https://login.example.com/.well-known/openid-configuration" }
    cookie: { type: apiKey, in: cookie, name: sid }
    bearer: { type: http, scheme: bearer, bearerFormat: JWT }
`

test('routes with security: [] are marked as public, and others are not', async (t) => {
  const api = fileWith(t, SECURED.replace('http://127.0.0.1:9', 'http://shop.example'), 'api.yaml')
  const { stdout } = await gwInProcess(['import', 'openapi', api])
  const { routes } = parse(stdout) as { routes: { id: string; 'x-lint'?: object; rewrite?: object }[] }
  const marked = routes.filter((route) => route['x-lint'] !== undefined)
  assert.deepEqual(
    marked.map(({ id }) => id),
    ['open'],
  )
  assert.match(stdout, /# Public: the description has security: \[\]\.\n {2}- id: open\n/)
  assert.ok(routes.every(({ rewrite }) => rewrite !== undefined))
})

test('security schemes become policies, and routes without one are closed', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'api.yaml'), SECURED)
  const run = (...more: string[]) =>
    gwInProcess(['import', 'openapi', 'api.yaml', '--no-validate', ...more], { cwd: dir })
  const chains = (text: string) => {
    const { routes } = parse(text) as { routes: { id: string; policies?: string[] }[] }
    return Object.fromEntries(routes.map(({ id, policies = [] }) => [id, policies.join(' ')]))
  }
  const closed = await run('--out', 'gateway.yaml', '--report', 'json', '--report-file', 'report.json')
  assert.equal(closed.code, 2, closed.stderr)
  const text = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
  const expected = {
    open: '',
    key: 'key',
    login: 'login',
    both: 'key basic',
    either: 'basic',
    cookie: 'not-imported',
    bearer: 'not-imported',
  }
  assert.deepEqual(chains(text), expected)
  assert.deepEqual(parse(text).policies[1], {
    id: 'login',
    use: 'jwt',
    with: { jwks: { discovery: 'https://login.example.com' }, requiredScopes: ['orders:read'] },
  })
  assert.equal(readFileSync(join(dir, 'consumers.jsonl'), 'utf8'), '')
  const { findings } = JSON.parse(readFileSync(join(dir, 'report.json'), 'utf8')) as {
    findings: { kind: string; what: string; place: string }[]
  }
  assert.deepEqual(
    findings.filter(({ kind }) => kind !== 'note').map(({ kind, what, place }) => [kind, what, place]),
    [
      ['security', 'security scheme cookie', 'api.yaml:18'],
      ['security', 'security scheme bearer', 'api.yaml:19'],
      ['left-out', 'security of GET /either', 'api.yaml:10'],
    ],
  )
  const open = await run('--allow-unprotected', '--issuer', 'https://id.example.com')
  assert.deepEqual(chains(open.stdout), { ...expected, cookie: '', bearer: 'bearer' })
  assert.match(open.stderr, /the route is NOT protected/)
  assert.match(open.stdout, /# not imported: security scheme cookie/)
})

test('with --strict, findings are errors and no file is written', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'api.yaml'), SECURED)
  const result = await gwInProcess(['import', 'openapi', 'api.yaml', '--strict', '--out', 'g.yaml'], {
    cwd: dir,
  })
  assert.equal(result.code, 3)
  assert.match(result.stderr, /3 findings with --strict; no document was written/)
  assert.deepEqual(
    [existsSync(join(dir, 'g.yaml')), existsSync(join(dir, 'consumers.jsonl'))],
    [false, false],
  )
})

test('several descriptions become one document', async (t) => {
  const dir = scratch(t)
  mkdirSync(join(dir, 'apis'))
  writeFileSync(join(dir, 'apis/a.yaml'), API)
  writeFileSync(
    join(dir, 'apis/b.yaml'),
    API.replace(/title: .*?,/, 'title: Invoices,').replaceAll('/api/v1', '/v2'),
  )
  const files = ['apis/a.yaml', 'apis/b.yaml']
  const result = await gwInProcess(['import', 'openapi', ...files, '--out', 'g.yaml'], { cwd: dir })
  assert.equal(result.code, 2, result.stderr)
  const document = parse(readFileSync(join(dir, 'g.yaml'), 'utf8'))
  assert.deepEqual(Object.keys(document.apis), ['Orders-and-more-orders', 'Invoices-orders'])
  assert.deepEqual(
    document.policies.map((policy: { id: string; with: { description: object } }) => [
      policy.id,
      policy.with.description,
    ]),
    [
      ['openapi-Orders-and-more', { file: 'apis/a.yaml' }],
      ['openapi-Invoices', { file: 'apis/b.yaml' }],
    ],
  )
  assert.deepEqual(document.routes.at(-1).id, 'create-order_2')
})

test('texts of a description are neither references nor comments nor control sequences', async (t) => {
  const dir = scratch(t)
  const hostile = SECURED.replace('title: Shop', 'title: "\\e[31m\\nroutes: []"')
  writeFileSync(join(dir, '${env:HOME}.yaml'), hostile)
  const { stdout, stderr } = await gwInProcess(['import', 'openapi', '${env:HOME}.yaml'], { cwd: dir })
  assert.ok(!stdout.includes('\u001b') && !stderr.includes('\u001b'))
  assert.match(stdout, /^# \\u\{1b\}\[31m\\u\{a\}routes: \[\]/)
  assert.match(stdout, /file: '\$\$\{env:HOME\}\.yaml'/)
})
