import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, gw, origin, scratch, startGateway } from '../testing.js'

const OK = '{ responses: { "200": { description: ok } } }'
const API = `openapi: 3.0.3
info: { title: "Orders\\nand more", version: "1.2" }
servers:
  - url: https://{host}:8443/api/v1/
    variables: { host: { default: backend.example.com } }
paths:
  /: { get: ${OK} }
  /orders:
    get: ${OK}
    post: ${OK}
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

test('a document with a route for each path is written, and is valid', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'api.yaml'), API)
  const result = await gw(['import', 'openapi', 'api.yaml', '--out', 'gateway.yaml'], { cwd: dir })
  assert.deepEqual(result, {
    code: 0,
    stdout: '',
    stderr: 'gateway.yaml: 4 routes to https://backend.example.com:8443\n',
  })
  const text = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
  assert.match(text, /^# Orders and more 1\.2, imported/)
  assert.deepEqual(parse(text), {
    version: 1,
    upstreams: { api: { targets: ['https://backend.example.com:8443'] } },
    policies: [
      {
        id: 'openapi',
        use: 'openapi',
        with: { description: { file: 'api.yaml' }, basePath: '/api/v1' },
      },
    ],
    routes: [
      ['api-v1', '/api/v1/', ['GET']],
      ['api-v1-orders', '/api/v1/orders', ['GET', 'POST']],
      ['api-v1-orders-order-id', '/api/v1/orders/{order_id}', ['GET', 'PUT']],
      ['api-v1-a-20b-x-x-2', '/api/v1/a%20b/{x}/{x_2}', ['DELETE']],
    ].map(([id, path, methods]) => ({
      id,
      match: { path, methods },
      upstream: 'api',
      policies: ['openapi'],
    })),
  })
  const checked = await gwInProcess(['validate', '-c', 'gateway.yaml'], { cwd: dir })
  assert.deepEqual(checked, { code: 0, stdout: 'gateway.yaml: ok (4 routes, 1 upstream)\n', stderr: '' })
})

test('a gateway serves what was imported and refuses what the description does not know', async (t) => {
  const api = fileWith(t, API, 'api.yaml')
  const upstream = await origin(t, (req, res) => res.end(`${req.method} ${req.url}`))
  const { stdout } = await gwInProcess(['import', 'openapi', api, '--upstream', upstream])
  const document = stdout.replace(
    'version: 1',
    'version: 1\nlisteners: [{ address: "127.0.0.1:0" }]\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nlog: { sink: none }',
  )
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
  await refused(3, /is not YAML/, 'a: [')
  const based = await run(relative, '--upstream', 'http://127.0.0.1:9000')
  assert.equal(parse(based.stdout).policies[0].with.basePath, '/base')
  writeFileSync(join(dir, 'mine.yaml'), 'mine')
  await refused(1, /cannot write mine\.yaml: it already exists/, API, '--out', 'mine.yaml')
  assert.equal(readFileSync(join(dir, 'mine.yaml'), 'utf8'), 'mine')
  const missing = await gwInProcess(['import', 'openapi', 'none.yaml'], { cwd: dir })
  assert.equal(missing.code, 3)
  assert.match(missing.stderr, /none\.yaml cannot be read/)
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
