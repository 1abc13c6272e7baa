import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, scratch } from '../testing.js'

const ORDERS = `openapi: 3.0.3
info: { title: Orders, version: "1" }
servers: [{ url: /v1 }]
paths:
  /orders:
    post:
      operationId: createOrder
      parameters: [{ name: x-tenant, in: header, required: true, schema: { type: string, example: acme } }]
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } }
      responses: { "201": { description: created } }
  /orders/{id}:
    get:
      operationId: getOrder
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, minimum: 1 } }
        - { name: fields, in: query, required: true, schema: { type: string, enum: [all] } }
      responses:
        "200": { description: found, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
    delete:
      operationId: deleteOrder
      security: [{ key: [] }]
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { "204": { description: deleted } }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: x-key } }
  schemas:
    Order: { type: object, required: [total], properties: { id: { type: integer, readOnly: true }, total: { type: number, example: 9.5 } } }
`

/** Runs commands of the CI workflow in a project. */
async function assertPass(dir: string, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const { code, stdout, stderr } = await gwInProcess(command.split(' '), { cwd: dir })
    assert.equal(code, 0, `${command}: ${stdout}${stderr}`)
  }
}

function read(dir: string, path: string): string {
  return readFileSync(join(dir, path), 'utf8')
}

async function created(t: TestContext, ...args: string[]): Promise<string> {
  const dir = join(scratch(t), 'my gateway')
  const { code, stderr } = await gwInProcess(['init', dir, ...args])
  assert.equal(code, 0, stderr)
  return dir
}

test('each file of a project is usable', async (t) => {
  const dir = await created(t)
  for (const [schema, document] of [
    ['gateway.schema.json', 'gateway.yaml'],
    ['tests.schema.json', 'tests/gateway.test.yaml'],
  ] as const) {
    const ajv = new Ajv({ strict: false, inlineRefs: false, code: { optimize: false } })
    const validate = ajv.compile(JSON.parse(read(dir, schema)) as object)
    assert.ok(validate(parse(read(dir, document))), ajv.errorsText(validate.errors))
  }
  const { scripts, devDependencies, name } = JSON.parse(read(dir, 'package.json'))
  assert.deepEqual([name, Object.keys(scripts)], ['my-gateway', ['dev', 'test', 'lint', 'schema']])
  assert.match(devDependencies['@sluice/cli'], /^\d+\.\d+\.\d+/)
  const { jobs } = parse(read(dir, '.github/workflows/gateway.yml'))
  const commands: string[] = jobs.test.steps.map((step: { run?: string }) => step.run ?? '')
  for (const command of ['validate', 'lint', 'fmt --check', 'test'])
    assert.ok(
      commands.some((one) => one.startsWith(`npx gw ${command}`)),
      command,
    )
  assert.match(read(dir, '.gitignore'), /^data\/$[\s\S]*^\.env$/m)
  const settings = JSON.parse(read(dir, '.vscode/settings.json'))
  assert.equal(settings['yaml.schemas']['./gateway.schema.json'], 'gateway.yaml')
})

test('nothing is overwritten without --force, and all conflicts are listed', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'gateway.yaml'), 'mine')
  mkdirSync(join(dir, '.vscode'))
  writeFileSync(join(dir, '.vscode/settings.json'), '{}')
  writeFileSync(join(dir, 'notes.txt'), 'mine')
  const refused = await gwInProcess(['init', '.'], { cwd: dir })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /nothing was written:\n {2}gateway\.yaml\n {2}\.vscode\/settings\.json\n/)
  assert.equal(read(dir, 'gateway.yaml'), 'mine')
  const forced = await gwInProcess(['init', '--force'], { cwd: dir })
  assert.equal(forced.code, 0, forced.stderr)
  assert.doesNotMatch(forced.stdout, / cd /)
  assert.match(read(dir, 'gateway.yaml'), /^# yaml-language-server: \$schema=\.\/gateway\.schema\.json\n/)
  assert.equal(read(dir, 'notes.txt'), 'mine')
  const again = await gwInProcess(['init', '.'], { cwd: dir })
  assert.match(again.stderr, /README\.md[\s\S]*--force/)
})

test('an OpenAPI description gives the document and a case per route', async (t) => {
  const dir = await created(t, '--from', fileWith(t, ORDERS, 'orders.yaml'))
  assert.equal(read(dir, 'orders.yaml'), ORDERS)
  await assertPass(dir, 'validate gateway.yaml', 'fmt --check gateway.yaml', 'test -c gateway.yaml')
  const { cases } = parse(read(dir, 'tests/gateway.test.yaml')) as { cases: Record<string, unknown>[] }
  const byName = new Map(cases.map((one) => [one['name'], one]))
  assert.deepEqual(byName.get('POST /orders is served by createOrder'), {
    name: 'POST /orders is served by createOrder',
    request: { method: 'POST', path: '/v1/orders', headers: { 'x-tenant': 'acme' }, json: { total: 9.5 } },
    upstreams: { api: { status: 201 } },
    expect: { route: 'createOrder', upstream: { name: 'api' }, response: 201 },
  })
  assert.deepEqual(byName.get('GET /orders/{id} is served by getOrder'), {
    name: 'GET /orders/{id} is served by getOrder',
    request: 'GET /v1/orders/1?fields=all',
    upstreams: { api: { status: 200, json: { id: 0, total: 9.5 } } },
    expect: { route: 'getOrder', upstream: { name: 'api' }, response: 200 },
  })
  assert.deepEqual(byName.get('DELETE /orders/{id} is refused without credentials')?.['expect'], {
    route: 'deleteOrder',
    upstream: 'none',
    response: 401,
  })
  assert.deepEqual(
    cases.slice(-2).map(({ request, expect }) => [request, (expect as { response: number }).response]),
    [
      ['DELETE /v1/orders', 405],
      ['GET /no-such-path', 404],
    ],
  )
})

test('--issuer opens routes with bearer tokens', async (t) => {
  const api = ORDERS.replace('type: apiKey, in: header, name: x-key', 'type: http, scheme: bearer')
  const from = ['--from', fileWith(t, api, 'orders.yaml')]
  const dir = await created(t, ...from, '--issuer', 'https://login.example.com')
  assert.match(read(dir, 'gateway.yaml'), /discovery: https:\/\/login\.example\.com/)
  assert.match(read(await created(t, ...from), 'gateway.yaml'), /not-imported/)
})

test('a description that is not OpenAPI creates nothing', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'api.yaml'), 'swagger: "2.0"\n')
  const { code, stderr } = await gwInProcess(['init', 'project', '--from', 'api.yaml'], { cwd: dir })
  assert.equal(code, 3)
  assert.match(stderr, /not OpenAPI 3\.0 or 3\.1/)
  const missing = await gwInProcess(['init', 'project', '--from', 'none.yaml'], { cwd: dir })
  assert.notEqual(missing.code, 0)
  assert.match(missing.stderr, /none\.yaml/)
})
