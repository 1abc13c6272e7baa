import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import { type CheckSettings, SchemaCheck } from '../content/json-schema/check.js'
import type { JsonView } from '../shared/json/view.js'
import { jsonOfBytes } from '../shared/json/view.js'

/** Attacks by authors of schemas and senders of bodies on the JSON Schema compiler. */

const SETTINGS: Omit<CheckSettings, 'schemas'> = {
  references: [],
  match: 'all',
  select: '$',
  draft: null,
  dialect: { formats: true, coerce: false, removeAdditional: false, applyDefaults: false, allErrors: true },
  maxErrors: 10,
  reading: {},
}

function compile(schema: unknown, more: Partial<CheckSettings> = {}): Promise<SchemaCheck> {
  return SchemaCheck.compile({ ...SETTINGS, schemas: [schema], ...more })
}

function view(text: string): JsonView {
  return jsonOfBytes(Buffer.from(text), { maxDepth: 512 })
}

async function isValid(schema: unknown, body: string): Promise<boolean> {
  return (await compile(schema)).check(view(body)).violations.length === 0
}

const global = globalThis as { planted?: unknown }
/** Text that ends a string, a template, a comment and a regular expression, and then has a visible effect. */
const CODE = '"]\'`*/\n;globalThis.planted=1;//${globalThis.planted=1}\u2028globalThis.planted=1'

test('no text of a schema or a body becomes code', async () => {
  const schema = {
    $id: 'https://example.com/a;globalThis.planted=1',
    title: CODE,
    $comment: CODE,
    properties: { [CODE]: { const: CODE, default: CODE }, a: { enum: [CODE, { [CODE]: CODE }] } },
    patternProperties: { 'x";globalThis.planted=1;"': { format: CODE } },
    required: [CODE],
    dependentRequired: { [CODE]: [CODE] },
    dependentSchemas: { [CODE]: { type: 'object' } },
    [CODE]: CODE,
  }
  for (const applyDefaults of [true, false]) {
    const check = await compile(schema, { dialect: { ...SETTINGS.dialect, applyDefaults } })
    check.check(view(JSON.stringify({ [CODE]: CODE, a: { [CODE]: CODE } })))
    check.check(view('{}'))
  }
  assert.equal(global.planted, undefined)
})

test('keywords of the compiler mean nothing in a schema', async () => {
  for (const keyword of ['$async', 'nullable', 'discriminator', 'sluice:step', 'sluice:enum']) {
    assert.equal(await isValid({ [keyword]: true, type: 'string' }, '1'), false, keyword)
    assert.equal(await isValid({ [keyword]: true, type: 'string' }, 'null'), false, keyword)
  }
  await assert.rejects(compile({ maximum: { $data: '/a' } }), /must be number/)
})

test('nothing is read from the network or a disk', async (t) => {
  let calls = 0
  const server = createServer((_, response) => {
    calls++
    response.end('{}')
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (const $ref of [
    `http://127.0.0.1:${port}/a`,
    'file:///etc/passwd',
    '/etc/passwd',
    'data:application/json,{}',
  ]) {
    await assert.rejects(compile({ $ref }), /which is not configured; schemas are never fetched/)
  }
  await assert.rejects(compile({ $schema: `http://127.0.0.1:${port}/a` }), /supported drafts are/)
  assert.equal(calls, 0)
})

const CIRCLES: readonly unknown[] = [
  { $ref: '#' },
  { allOf: [{ $ref: '#' }] },
  JSON.parse('{"if":{"required":["a"]},"then":{"$ref":"#"}}'),
  { dependentSchemas: { a: { $ref: '#' } } },
  { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
  { $id: 'https://example.com/a', oneOf: [{ $ref: 'https://example.com/a' }] },
  { $anchor: 'x', $ref: '#x' },
  { $dynamicAnchor: 'x', $dynamicRef: '#x' },
]

test('a schema that never comes to an end is refused', async () => {
  for (const schema of CIRCLES)
    await assert.rejects(compile(schema), /circular reference/, JSON.stringify(schema))
  assert.equal(await isValid({ properties: { a: { $ref: '#' } }, maxProperties: 1 }, '{"a":{"a":{}}}'), true)
})

test('schemas that nest too deeply are refused, without running out of stack', async () => {
  const nested = (levels: number) => {
    let schema: object = {}
    for (let i = 0; i < levels; i++) schema = { not: schema }
    return schema
  }
  await assert.rejects(
    compile(nested(5000)),
    /nests? (deeper than 250 levels|schemas or references too deeply)/,
  )
  const $defs = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`a${i}`, { $ref: `#/$defs/a${i + 1}` }]),
  )
  await assert.rejects(
    compile({ $ref: '#/$defs/a0', $defs: { ...$defs, a20000: {} } }),
    /nests schemas or references too deeply/,
  )
})

test('recursive branches end within their step budget', async () => {
  const twice = {
    anyOf: [{ properties: { a: { $ref: '#' }, b: false } }, { properties: { a: { $ref: '#' }, c: false } }],
  }
  const body = `${'{"a":'.repeat(60)}{"b":1,"c":1}${'}'.repeat(60)}`
  const beforeMs = cpuMs()
  const { violations } = (await compile(twice)).check(view(body))
  assert.deepEqual(violations, ['the document takes too many steps to check'])
  const $defs = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`a${i}`, { allOf: Array(2).fill({ $ref: `#/$defs/a${i + 1}` }) }]),
  )
  const chain = { $ref: '#/$defs/a0', $defs: { ...$defs, a60: {} } }
  assert.equal(await isValid(chain, '1'), false)
  assert.ok(cpuMs() - beforeMs < 60_000)
})

test('members named like inherited properties change no verdict and throw nothing', async () => {
  const members =
    '{"valueOf":1,"toString":1,"constructor":1,"hasOwnProperty":1,"__proto__":{"a":1},"length":0}'
  for (const schema of [{ const: {} }, { enum: [{ a: 1 }, []] }, { maxProperties: 5 }, { required: ['a'] }]) {
    assert.equal(await isValid(schema, members), false, JSON.stringify(schema))
  }
  assert.equal(await isValid({ const: { valueOf: 1 } }, '{"valueOf":1}'), true)
  assert.equal(await isValid({ uniqueItems: true }, `[${members},{}]`), true)
  assert.equal(Reflect.get({}, 'a'), undefined)
})

test('a member called __proto__ is checked as any other', async () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}')
  assert.equal(await isValid(schema, '{"__proto__":1}'), true)
  assert.equal(await isValid(schema, '{"__proto__":"a"}'), false)
  assert.equal(await isValid(schema, '{"a":1}'), false)
  await assert.rejects(compile(JSON.parse('{"dependentRequired":{"__proto__":["a"]}}')), /'__proto__'/)
})

test('patterns of a schema cannot hold a worker', async () => {
  const text = `"${'a'.repeat(100_000)}!"`
  const beforeMs = cpuMs()
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '(.*a){20}$']) await isValid({ pattern }, text)
  await assert.rejects(compile({ pattern: '^(a+)\\1$' }), /linear time/)
  assert.ok(cpuMs() - beforeMs < 30_000)
})

test('a huge enum and a body with as many items take time in proportion', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ i }))
  const beforeMs = cpuMs()
  assert.equal(await isValid({ items: { enum: many }, uniqueItems: true }, JSON.stringify(many)), true)
  assert.ok(cpuMs() - beforeMs < 30_000)
})
