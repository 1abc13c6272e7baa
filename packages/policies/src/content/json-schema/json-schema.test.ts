import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Exchange, type Offload, type Outcome, Overload, type Step } from '@sluice/core'
import { prepareDialect } from '../../engines/json-schema/dialect.js'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { jsonSchema } from './policy.js'
import type { JsonSchemaConfig } from './schema.js'

const ORDER = {
  type: 'object',
  required: ['symbol', 'volume'],
  additionalProperties: false,
  properties: {
    symbol: { type: 'string', pattern: '^[A-Z]{1,5}$' },
    volume: { type: 'integer', minimum: 1 },
    mail: { type: 'string', format: 'email' },
    limit: { type: 'number', default: 0 },
  },
}
const GOOD = { symbol: 'IBM', volume: 5 }

function compile(config: JsonSchemaConfig): Promise<Step> {
  return jsonSchema.compile(config, testEnv()) as Promise<Step>
}

function inline(schema: object, more: Partial<JsonSchemaConfig> = {}): JsonSchemaConfig {
  return { schema: { inline: schema }, ...more }
}

/** Runs the request hooks as the pipeline does. */
async function request(
  step: Step,
  body: unknown,
  headers: string[] = [],
): Promise<{ x: Exchange; outcome: Outcome }> {
  const bytes =
    typeof body === 'string'
      ? Buffer.from(body)
      : body instanceof Uint8Array
        ? body
        : Buffer.from(JSON.stringify(body))
  const x = exchange({ method: 'POST', headers: headers.slice(), body: bytes })
  const early = (await step.onRequest?.(x)) ?? null
  if (early !== null) return { x, outcome: early }
  return { x, outcome: (await step.onRequestBody?.(x, bytes)) ?? null }
}

async function response(
  step: Step,
  body: string,
  fields: Partial<Exchange> = {},
): Promise<{ x: Exchange; outcome: Outcome }> {
  const bytes = Buffer.from(body)
  const x = exchange({ status: 200, responseBody: bytes, ...fields })
  await step.onResponse?.(x)
  return { x, outcome: (await step.onResponseBody?.(x, bytes)) ?? null }
}

function detail(outcome: Outcome): string {
  return outcome?.problem?.detail ?? ''
}

test('a valid body passes unchanged, and an invalid one is refused with location and reason, without its values', async () => {
  const step = await compile(inline(ORDER))
  const { x, outcome } = await request(step, GOOD)
  assert.equal(outcome, null)
  assert.equal(x.body?.toString(), JSON.stringify(GOOD))
  const bad = await request(step, { symbol: 'hunter2', volume: 'x', extra: 1 })
  assert.equal(bad.outcome?.status, 400)
  assert.deepEqual(bad.outcome?.headers, ['x-gw-error', 'GW_SCHEMA_INVALID'])
  assert.equal(
    detail(bad.outcome),
    `the document must not have the property 'extra'; /symbol must match pattern "^[A-Z]{1,5}$"; /volume must be integer`,
  )
  const missing = await request(step, { volume: 1 })
  assert.equal(detail(missing.outcome), "the document must have required property 'symbol'")
})

test('the status can be 422, and the number of violations is bounded', async () => {
  const many = Array.from({ length: 5000 }, () => 'x')
  const schema = { type: 'array', items: { type: 'integer' } }
  const step = await compile(inline(schema, { status: 422, maxErrors: 3 }))
  const { outcome } = await request(step, many)
  assert.equal(outcome?.status, 422)
  assert.equal(detail(outcome), '/0 must be integer; /1 must be integer; /2 must be integer')
  const first = await request(await compile(inline(schema, { maxErrors: 1 })), many)
  assert.equal(detail(first.outcome), '/0 must be integer')
  const long = await request(
    await compile(inline({ additionalProperties: { type: 'integer' } }, { maxErrors: 100 })),
    {
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${'k'.repeat(5000)}${i}`, 'x'])),
    },
  )
  assert.ok(detail(long.outcome).length < 2100)
})

test('each draft reads schemas in its own way, chosen by $schema or by the configuration', async () => {
  const verdict = async (schema: object, body: unknown, more: Partial<JsonSchemaConfig> = {}) =>
    (await request(await compile(inline(schema, more)), body)).outcome === null
  const four = { $schema: 'http://json-schema.org/draft-04/schema#', maximum: 5, exclusiveMaximum: true }
  assert.equal(await verdict(four, 5), false)
  assert.equal(await verdict(four, 4), true)
  const seven = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    items: [{ type: 'string' }],
    additionalItems: false,
  }
  assert.equal(await verdict(seven, ['a']), true)
  assert.equal(await verdict(seven, ['a', 1]), false)
  const nineteen = {
    $schema: 'https://json-schema.org/draft/2019-09/schema',
    type: 'object',
    allOf: [{ properties: { a: true } }],
    unevaluatedProperties: false,
  }
  assert.equal(await verdict(nineteen, { a: 1 }), true)
  assert.equal(await verdict(nineteen, { b: 1 }), false)
  const twenty = { prefixItems: [{ type: 'string' }], items: false }
  assert.equal(await verdict(twenty, ['a', 1]), false)
  assert.equal(
    await verdict(twenty, ['a', 1], { draft: '07' }),
    false,
    'items: false in draft 07 allows none',
  )
  assert.equal(await verdict(twenty, [], { draft: '07' }), true)
  await assert.rejects(compile(inline({ $schema: 'http://example.com/x' })), /supported drafts are/)
})

test('dependentRequired works beside unevaluatedProperties', async () => {
  const schema = {
    properties: { card: {}, address: {} },
    dependentRequired: { card: ['address'] },
    unevaluatedProperties: false,
  }
  const step = await compile(inline(schema))
  assert.equal((await request(step, { card: 1, address: 2 })).outcome, null)
  assert.equal((await request(step, { card: 1 })).outcome?.status, 400)
  assert.equal((await request(step, { address: 1, other: 2 })).outcome?.status, 400)
})

test('anchors of the root are followed', async () => {
  const base = { type: 'object', $defs: { n: { type: 'number' } } }
  const anchors: readonly (readonly [anchor: object, reference: object])[] = [
    [{ $anchor: 'node' }, { $ref: '#node' }],
    [{ $id: 'https://example.com/tree', $anchor: 'node' }, { $ref: 'https://example.com/tree#node' }],
    [{ $dynamicAnchor: 'node', unevaluatedProperties: false }, { $dynamicRef: '#node' }],
  ]
  for (const [anchor, reference] of anchors) {
    const properties = { size: { $ref: '#/$defs/n' }, parts: { items: reference } }
    const step = await compile(inline({ ...base, ...anchor, properties }))
    const verdict = async (body: unknown) => (await request(step, body)).outcome === null
    assert.equal(await verdict({ parts: [{ size: 1, parts: [{}] }] }), true, JSON.stringify(anchor))
    assert.equal(await verdict({ parts: [{ parts: [1] }] }), false)
    assert.equal(await verdict({ parts: [{ size: 'x' }] }), false)
  }
  await assert.rejects(compile(inline({ $anchor: 'node', $ref: '#node' })), /circular reference/)
})

test('several schemas decide together', async () => {
  const schemas = [{ inline: { required: ['a'] } }, { inline: { required: ['b'] } }]
  const outcomeOf = async (match: 'any' | 'all' | 'first', body: unknown) =>
    detail((await request(await compile({ schemas, match }), body)).outcome)
  assert.equal(await outcomeOf('any', { b: 1 }), '')
  assert.equal(await outcomeOf('first', { b: 1 }), '')
  assert.match(await outcomeOf('all', { b: 1 }), /^the document must have required property 'a'$/)
  assert.equal(await outcomeOf('all', { a: 1, b: 1 }), '')
  assert.match(await outcomeOf('any', {}), /'a'; .*'b'$/)
  assert.match(await outcomeOf('first', {}), /'a'$/)
})

test('a path selects the values to validate, and must match', async () => {
  const step = await compile(inline({ type: 'integer' }, { select: '$.items[*].id' }))
  assert.equal((await request(step, { items: [{ id: 1 }, { id: 2 }] })).outcome, null)
  assert.match(detail((await request(step, { items: [{ id: 1 }, { id: 'x' }] })).outcome), /must be integer/)
  assert.equal(detail((await request(step, { items: [] })).outcome), '$.items[*].id matches nothing')
  await assert.rejects(compile(inline({}, { select: '$.[' })), /is not a JSON path/)
})

test('defaults, coercion and removal change the body only where they are asked for', async () => {
  const body = { symbol: 'IBM', volume: '5', extra: 1 }
  const strict = await request(await compile(inline(ORDER)), body)
  assert.equal(strict.outcome?.status, 400)
  const step = await compile(inline(ORDER, { coerce: true, removeAdditional: true, applyDefaults: true }))
  const { x, outcome } = await request(step, body)
  assert.equal(outcome, null)
  assert.deepEqual(JSON.parse(x.body!.toString()), { symbol: 'IBM', volume: 5, limit: 0 })
  const same = '{ "symbol": "IBM", "volume": 5, "limit": 0 }'
  const untouched = await request(step, same)
  assert.equal(untouched.x.body?.toString(), same)
})

test('a schema that does not accept leaves no change behind', async () => {
  const schemas = [
    { inline: { properties: { a: { default: 1 } }, required: ['b'] } },
    { inline: { properties: { c: { default: 2 } } } },
  ]
  const { x } = await request(await compile({ schemas, applyDefaults: true }), {})
  assert.deepEqual(JSON.parse(x.body!.toString()), { c: 2 })
})

test('formats are checked unless they are switched off', async () => {
  const schema = {
    properties: { at: { format: 'date-time' }, mail: { format: 'email' }, link: { format: 'url' } },
  }
  const step = await compile(inline(schema))
  const good = { at: '2026-01-31T10:00:00Z', mail: 'a@example.com', link: 'https://example.com/a?b#c' }
  assert.equal((await request(step, good)).outcome, null)
  for (const bad of [
    { at: 'now' },
    { mail: 'x' },
    { link: 'example.com' },
    { link: 'javascript:alert(1)' },
  ]) {
    assert.match(detail((await request(step, bad)).outcome), /must match format/, JSON.stringify(bad))
  }
  assert.equal(
    (await request(await compile(inline(schema, { formats: false })), { at: 'now' })).outcome,
    null,
  )
})

test('the mode report marks, notes and lets pass, and clients cannot set the mark', async () => {
  const step = await compile(inline(ORDER, { mode: 'report', maxBodyBytes: '1kb' }))
  const bad = await request(step, {})
  assert.equal(bad.outcome, null)
  assert.deepEqual(bad.x.headers, ['x-gw-validation', 'failed'])
  assert.match(bad.x.vars?.get('validation') ?? '', /required property/)
  assert.deepEqual((await request(step, '{')).x.headers, ['x-gw-validation', 'failed'])
  const good = await request(step, GOOD, ['x-gw-validation', 'passed'])
  assert.deepEqual(good.x.headers, [])
  assert.equal(good.x.bodyLimit, 10 * 1024 * 1024, 'the limit of the listener stays')
  assert.deepEqual((await request(step, `"${'x'.repeat(2000)}"`)).x.headers, ['x-gw-validation', 'failed'])
})

test('responses are checked when they are successes, and a refusal gives clients no reason', async () => {
  const step = await compile(inline(ORDER, { phase: 'response' }))
  assert.equal(step.onRequestBody, undefined)
  assert.equal((await response(step, JSON.stringify(GOOD))).outcome, null)
  const { x, outcome } = await response(step, '{"symbol":"IBM"}')
  assert.equal(outcome?.status, 502)
  assert.equal(outcome?.problem?.code, 'GW_RESPONSE_INVALID')
  assert.doesNotMatch(detail(outcome), /volume/)
  assert.match(x.vars?.get('validation') ?? '', /volume/)
  for (const status of [204, 205, 206, 301, 404, 500]) {
    assert.equal((await response(step, 'oops', { status })).outcome, null, `${status}`)
  }
  assert.equal((await response(step, '<html>')).outcome?.status, 502)
  const coded = await response(step, '{}', { responseHeaders: ['content-encoding', 'br'] })
  assert.equal(coded.outcome?.status, 502)
  const both = await compile(inline(ORDER, { phase: 'both' }))
  assert.ok(both.onRequestBody && both.onResponseBody)
})

test('a body that is not JSON, coded, too large or ambiguous is refused', async () => {
  const step = await compile(inline({}, { maxBodyBytes: '1kb', maxDepth: 3 }))
  const codeOf = async (body: unknown, headers: string[] = []) =>
    (await request(step, body, headers)).outcome?.problem?.code
  assert.equal(await codeOf(''), 'GW_BODY_UNPARSABLE')
  assert.equal(await codeOf('{"a":1'), 'GW_BODY_UNPARSABLE')
  assert.equal(await codeOf('{"a":1,"a":2}'), 'GW_BODY_UNPARSABLE')
  assert.equal(await codeOf('[[[[]]]]'), 'GW_BODY_UNPARSABLE')
  assert.equal(await codeOf('[[[]]]'), undefined)
  assert.equal(await codeOf('{}', ['content-encoding', 'gzip']), 'GW_MEDIA_TYPE')
  assert.equal(await codeOf('{}', ['content-type', 'application/json; charset=utf-16']), 'GW_MEDIA_TYPE')
  assert.equal(await codeOf(`"${'x'.repeat(2000)}"`), 'GW_BODY_TOO_LARGE')
  const { x } = await request(step, '{}')
  assert.equal(x.bodyLimit, 1024)
  const last = await compile(inline({ properties: { a: { const: 2 } } }, { duplicateKeys: 'last' }))
  assert.equal((await request(last, '{"a":1,"a":2}')).outcome, null)
})

test('a body of 32 KB and more gets the same verdicts on a thread', async () => {
  const schema = { type: 'array', items: { type: 'integer', default: 1 }, minItems: 2 }
  const step = await compile(inline(schema, { applyDefaults: true, maxBodyBytes: '10mb' }))
  const filled = Array.from({ length: 40_000 }, (_, i) => i)
  assert.equal((await request(step, filled)).outcome, null)
  assert.match(detail((await request(step, [...filled, 'x'])).outcome), /^\/40000 must be integer$/)
  const open = await request(step, `[${filled.join()}`)
  assert.equal(open.outcome?.problem?.code, 'GW_BODY_UNPARSABLE')
  const padded = `{"pad":"${'x'.repeat(40_000)}"}`
  const defaults = await compile(inline({ properties: { a: { default: 1 } } }, { applyDefaults: true }))
  const { x } = await request(defaults, padded)
  assert.equal(JSON.parse(Buffer.from(x.body!).toString()).a, 1)
})

test('without room on the threads the request is refused, and in the mode report it passes unchecked', async () => {
  const env = {
    ...testEnv(),
    offload: <I, O>(): Offload<I, O> => ({ run: () => Promise.reject(new Overload('full')) }),
  }
  const large = `"${'x'.repeat(40_000)}"`
  const strict = (await jsonSchema.compile(inline({}), env)) as Step
  const { outcome } = await request(strict, large)
  assert.equal(outcome?.status, 503)
  assert.deepEqual(outcome?.headers, ['x-gw-error', 'GW_OVERLOADED', 'retry-after', '1'])
  const report = (await jsonSchema.compile(inline({}, { mode: 'report' }), env)) as Step
  const passed = await request(report, large)
  assert.deepEqual([passed.outcome, passed.x.headers], [null, ['x-gw-validation', 'skipped']])
})

test('schemas are read from JSON and YAML files, and refer to each other by $id but never to the network', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-json-schema-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return { file: join(dir, name) }
  }
  const price = write('price.yaml', '$id: https://example.com/price\ntype: number\nminimum: 0\n')
  const order = write('order.json', '{"properties":{"price":{"$ref":"https://example.com/price"}}}')
  const step = await compile({ schema: order, references: [price] })
  assert.equal((await request(step, { price: 1 })).outcome, null)
  assert.equal(detail((await request(step, { price: -1 })).outcome), '/price must be >= 0')
  await assert.rejects(
    compile({ schema: order }),
    /it refers to 'https:\/\/example.com\/price', which is not configured/,
  )
  await assert.rejects(compile({ schema: { file: join(dir, 'none.json') } }), /cannot be read/)
  await assert.rejects(compile({ schema: write('bad.json', '{"a":') }), /bad\.json is not JSON/)
  await assert.rejects(
    compile({ schema: write('bad.yaml', 'a: [') }),
    /bad\.yaml line 1, column 5: invalid YAML: ] is missing/,
  )
  await assert.rejects(compile({ schema: write('list.json', '[]') }), /must be an object, true or false/)
})

test('a configuration that cannot work is refused with a remedy', async () => {
  await assert.rejects(compile({}), /either 'schema' or 'schemas'/)
  await assert.rejects(compile({ schema: { inline: {} }, schemas: [{ inline: {} }] }), /either/)
  await assert.rejects(compile(inline({ type: 'strin' })), /the schema cannot be compiled: .*type/)
  await assert.rejects(compile(inline({ pattern: '(?=a)b' })), /linear time/)
  await assert.rejects(compile(inline({ pattern: '(' })), /linear time/)
  await assert.rejects(
    compile({ schemas: [{ inline: {} }, { inline: { minimum: 'x' } }] }),
    /schema 2 cannot/,
  )
  for (const config of [
    { schema: {} },
    { schema: { inline: {}, file: 'a' } },
    { schema: { inline: {} }, match: 'none' },
    { schema: { inline: {} }, maxDepth: 1000 },
    { schema: { inline: {} }, status: 403 },
    { schema: { inline: {} }, more: 1 },
    { schemas: [] },
  ]) {
    assert.notDeepEqual(schemaMistakes(jsonSchema, config), [], JSON.stringify(config))
  }
})

test('hostile documents end quickly', async () => {
  const hostile: [string, object, string][] = [
    ['pattern', { items: { pattern: '^(a+)+$' } }, JSON.stringify([`${'a'.repeat(50_000)}!`])],
    ['pattern of names', { patternProperties: { '^(a|aa)+$': false } }, `{"${'a'.repeat(50_000)}!":1}`],
    [
      'unique objects',
      { uniqueItems: true },
      JSON.stringify(Array.from({ length: 50_000 }, (_, a) => ({ a }))),
    ],
    [
      'unique arrays',
      { uniqueItems: true },
      JSON.stringify(Array.from({ length: 50_000 }, (_, a) => [a, 'x'])),
    ],
    ['url', { items: { format: 'url' } }, JSON.stringify(Array(200).fill(`http://${'::'.repeat(2000)}\n`))],
    ['email', { items: { format: 'email' } }, JSON.stringify(['a.'.repeat(200_000)])],
    ['many members', { additionalProperties: { type: 'integer' } }, members(100_000)],
    ['many wrong members', { additionalProperties: { type: 'string' } }, members(60_000)],
    ['open arrays', {}, '['.repeat(1024 * 1024)],
    ['deep', {}, `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['huge number', { items: { type: 'integer', multipleOf: 7 } }, `[1${'0'.repeat(500_000)}]`],
    ['invalid UTF-8', {}, `"${'\ud800'}"`],
    [
      'a list that refers to itself',
      { $ref: '#/$defs/l', $defs: { l: { items: { $ref: '#/$defs/l' } } } },
      lists(),
    ],
  ]
  for (const [name, schema, body] of hostile) {
    const step = await compile(inline(schema, { maxBodyBytes: '4mb', maxDepth: 512 }))
    const began = process.cpuUsage()
    await request(step, body)
    const { user, system } = process.cpuUsage(began)
    assert.ok(user + system < 2_000_000, `${name} took ${user + system} µs of CPU time`)
  }
})

function members(count: number): string {
  return `{${Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join()}}`
}

function lists(): string {
  return `${'['.repeat(500)}${']'.repeat(500)}`
}

/** Definitions that refer to each other, each to the next one and to one far away. */
function linkedDefinitions(count: number): object {
  const definition = (i: number) => ({
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      next: { $ref: `#/$defs/D${(i + 1) % count}` },
      other: { anyOf: [{ $ref: `#/$defs/D${(i * 7) % count}` }, { type: 'null' }] },
    },
  })
  const $defs = Object.fromEntries(Array.from({ length: count }, (_, i) => [`D${i}`, definition(i)]))
  return { $defs, $ref: '#/$defs/D0' }
}

test('a large schema is compiled in several turns of the event loop', async (t) => {
  let turns = 0
  const counter = setInterval(() => turns++, 0)
  t.after(() => clearInterval(counter))
  const step = await compile(inline(linkedDefinitions(500)))
  assert.ok(turns > 3, `${turns} turns`)
  const id = '3f2b8a52-6f2a-4b7e-9d0a-0d3f7c1e5a11'
  assert.equal((await request(step, { id, next: { id, other: null } })).outcome, null)
  const { outcome } = await request(step, { id, next: { id, other: { id: 'x' } } })
  assert.match(outcome!.problem!.detail, /\/next\/other\/id must match format "uuid"/)
})

test('each definition of a schema is a step of its own', async () => {
  const documents = [{ schema: linkedDefinitions(50), address: null }]
  const options = { ...{ formats: true, coerce: false, removeAdditional: false }, applyDefaults: false }
  const { ajv, schemas, links } = await prepareDialect(documents, '2020-12', { ...options, allErrors: true })
  ajv.compile(schemas[0]!)
  let steps = 0
  while (links.compileNext()) steps++
  assert.equal(steps, 50)
})

test('equal values are found whatever the order of their members', async () => {
  const step = await compile(inline({ uniqueItems: true }))
  const isUnique = async (items: unknown[]) => (await request(step, items)).outcome === null
  assert.equal(await isUnique([1, '1', true, 'true', null, 'null', [], {}, [1], { a: 1 }]), true)
  assert.equal(
    await isUnique([
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ]),
    false,
  )
  assert.equal(await isUnique([0, -0]), false)
  assert.equal(await isUnique([['a,b'], ['a', 'b']]), true)
})

test('names of the language in documents and schemas do no harm', async () => {
  const step = await compile(inline({ additionalProperties: false, properties: { a: {} } }))
  const outcome = (await request(step, '{"__proto__":{"a":1}}')).outcome
  assert.equal(outcome?.status, 400)
  const required = await compile(inline({ required: ['toString'] }))
  assert.equal((await request(required, '{}')).outcome?.status, 400)
  assert.equal((await request(required, '{"toString":1}')).outcome, null)
  const changing = await compile(inline({ properties: { a: { default: 1 } } }, { applyDefaults: true }))
  const { x } = await request(changing, '{"__proto__":{"b":1},"constructor":2}')
  assert.equal(x.body?.toString(), '{"__proto__":{"b":1},"constructor":2,"a":1}')
})
