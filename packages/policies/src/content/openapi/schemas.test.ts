import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openapi } from './policy.js'
import { Schemas } from './schemas.js'
import { answer, compile, json, send } from './testing/openapi-run.js'

/** Returns a description of one operation with a JSON body in request and response. */
function withBody(schema: object, components: object = {}, version = '3.0.3'): object {
  const responses = { 200: { description: 'd', content: json(schema) } }
  return {
    openapi: version,
    info: { title: 't', version: '1' },
    paths: { '/a': { post: { requestBody: { content: json(schema) }, responses } } },
    components: { schemas: components },
  }
}

const ID = { id: { type: 'integer', readOnly: true } }
const SECRET = { secret: { type: 'string', writeOnly: true } }
const REQUIRED = {
  type: 'object',
  required: ['id', 'secret', 'name'],
  properties: { name: { type: 'string' } },
}
const both = { ...ID, ...SECRET, name: { type: 'string' } }

/** Schemas with a read-only, a write-only and an always required member, in every form. */
const marked: readonly (readonly [string, object, object?, string?])[] = [
  ['beside its own required', { ...REQUIRED, properties: both }],
  ['in another part of an allOf', { allOf: [REQUIRED, { properties: ID }, { properties: SECRET }] }],
  ['beside an allOf', { allOf: [REQUIRED], properties: { ...ID, ...SECRET } }],
  [
    'in a part, required outside',
    { ...REQUIRED, allOf: [{ properties: ID }, { allOf: [{ properties: SECRET }] }] },
  ],
  ['in a oneOf', { ...REQUIRED, oneOf: [{ properties: { ...ID, ...SECRET } }] }],
  ['in an anyOf', { ...REQUIRED, anyOf: [{ properties: { ...ID, ...SECRET } }, { maxProperties: 0 }] }],
  [
    'behind a reference',
    { allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { ...ID, ...SECRET } }] },
    { Base: REQUIRED },
  ],
  [
    'where the marks are behind a reference',
    { allOf: [{ $ref: '#/components/schemas/Marks' }, REQUIRED] },
    { Marks: { properties: { ...ID, ...SECRET } } },
  ],
  [
    'where the properties are references',
    {
      ...REQUIRED,
      properties: {
        id: { $ref: '#/components/schemas/Id' },
        secret: { allOf: [{ $ref: '#/components/schemas/Secret' }] },
      },
    },
    { Id: { $ref: '#/components/schemas/Id2' }, Id2: ID.id, Secret: SECRET.secret },
  ],
  [
    'beside the reference of a property',
    {
      ...REQUIRED,
      properties: {
        id: { $ref: '#/components/schemas/Id', readOnly: true },
        secret: { $ref: '#/components/schemas/Text', writeOnly: true },
      },
    },
    { Id: { type: 'integer' }, Text: { type: 'string' } },
    '3.1.0',
  ],
  [
    'beside a reference',
    { $ref: '#/components/schemas/Base', properties: { ...ID, ...SECRET } },
    { Base: REQUIRED },
    '3.1.0',
  ],
]

for (const [how, schema, components, version] of marked) {
  for (const [place, wrap, put] of [
    ['the body', (one: object) => one, (text: string) => text],
    [
      'a member',
      (one: object) => ({ type: 'object', properties: { in: one } }),
      (text: string) => `{"in":${text}}`,
    ],
    ['an item', (one: object) => ({ type: 'array', items: one }), (text: string) => `[${text}]`],
    [
      'any member',
      (one: object) => ({ type: 'object', additionalProperties: one }),
      (text: string) => `{"x":${text}}`,
    ],
  ] as const) {
    test(`readOnly and writeOnly count ${how}, in ${place}`, async () => {
      const step = await compile(withBody(wrap(schema), components, version), { responses: 'enforce' })
      const post = (text: string) => send(step, '/a', { method: 'POST', body: put(text) })
      const { detail, x } = await post('{"name":"a","secret":"s"}')
      assert.equal(detail, '')
      assert.match((await post('{"name":"a"}')).detail, /'secret'/)
      assert.match((await post('{"secret":"s"}')).detail, /'name'/)
      const back = (text: string) =>
        answer(step, x, { body: put(text), responseHeaders: ['content-type', 'application/json'] })
      assert.equal(await back('{"name":"a","id":1}'), null)
      assert.notEqual(await back('{"name":"a","secret":"s"}'), null)
    })
  }
}

test('choices that differ in a member that is not sent may all match', async () => {
  const choice = (id: string) => ({
    type: 'object',
    required: ['name', id],
    properties: { name: {}, [id]: { readOnly: true } },
  })
  const step = await compile(withBody({ oneOf: [choice('a'), choice('b')] }))
  assert.equal((await send(step, '/a', { method: 'POST', body: '{"name":1}' })).detail, '')
  assert.equal((await send(step, '/a', { method: 'POST', body: '{}' })).status, 400)
})

test('a member that is not sent does not make a condition stricter', async () => {
  const schema = { properties: ID, not: { required: ['id'] } }
  const step = await compile(withBody(schema))
  assert.equal((await send(step, '/a', { method: 'POST', body: '{}' })).detail, '')
  assert.equal((await send(step, '/a', { method: 'POST', body: '{"id":1}' })).status, 400)
})

/** Values that look like keywords. */
const DATA = {
  $id: 'x:y',
  $ref: 'nowhere.json',
  $anchor: '??',
  $schema: 1,
  pattern: '(?=a)',
  type: 5,
  required: 1,
}

test('data is not mistaken for keywords', async () => {
  for (const version of ['3.0.3', '3.1.0']) {
    const keyed = Object.fromEntries(
      [...Object.keys(DATA), 'enum', 'const', 'items', 'allOf', 'examples', 'x-a'].map((name) => [
        name,
        { type: 'integer' },
      ]),
    )
    const schema = {
      type: 'object',
      example: DATA,
      default: DATA,
      enum: [DATA, { $id: 1 }, { pattern: 1 }],
      'x-data': DATA,
      properties: keyed,
      ...(version === '3.1.0' && { examples: [DATA, DATA], unknown: DATA }),
    }
    const description = withBody(schema, { Other: { example: DATA, 'x-$id': DATA } }, version)
    const step = await compile({ ...description, 'x-top': DATA })
    const post = (body: unknown) => send(step, '/a', { method: 'POST', body: JSON.stringify(body) })
    assert.equal((await post({ $id: 1 })).detail, '')
    assert.equal((await post({ $id: '1' })).status, 400)
    assert.equal((await post({ pattern: 'x' })).status, 400)
  }
})

test('an enum may contain objects', async () => {
  const step = await compile(withBody({ enum: [DATA] }, {}, '3.1.0'))
  assert.equal((await send(step, '/a', { method: 'POST', body: JSON.stringify(DATA) })).detail, '')
  assert.equal((await send(step, '/a', { method: 'POST', body: '{}' })).status, 400)
  const none = await compile(withBody({ type: 'object', properties: { a: { enum: [] } } }, {}, '3.1.0'))
  assert.equal((await send(none, '/a', { method: 'POST', body: '{}' })).detail, '')
  assert.equal((await send(none, '/a', { method: 'POST', body: '{"a":1}' })).status, 400)
})

test('unsupported patterns refuse the description, or are skipped and reported', async () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: {
      a: { type: 'string', pattern: '(?=a)', maxLength: 2 },
      b: { type: 'string', pattern: '^b$' },
    },
    patternProperties: { '^c$': { type: 'integer' } },
  }
  const description = withBody(
    { $ref: '#/components/schemas/A' },
    { A: schema, Unused: { pattern: '(?!x)' } },
    '3.1.0',
  )
  await assert.rejects(compile(description), /linear time.*, or set onUnsupported: skip$/)
  const step = await compile(description, { onUnsupported: 'skip' })
  const post = (body: string) => send(step, '/a', { method: 'POST', body })
  assert.equal((await post('{"a":"xx","b":"b","c":1}')).detail, '')
  for (const body of ['{"a":"xxx"}', '{"b":"x"}', '{"c":"x"}'])
    assert.equal((await post(body)).status, 400, body)
  const config = { description: { inline: description }, onUnsupported: 'skip' } as const
  const [warning, ...more] = openapi.warnings!(config)
  assert.match(warning!.message, /\(1\): #\/components\/schemas\/A\/properties\/a\/pattern$/)
  assert.deepEqual(more, [])
  assert.deepEqual(openapi.warnings!({ description: { inline: description } }), [])
  assert.deepEqual(openapi.warnings!({ ...config, description: { file: '/nowhere.json' } }), [])
})

test('circular, unresolvable and dynamic references refuse the description', async () => {
  const self = { $ref: '#/components/schemas/A' }
  await assert.rejects(
    compile(withBody(self, { A: { allOf: [{ type: 'object' }, self] } })),
    /circular references/,
  )
  await assert.rejects(compile(withBody(self, { A: self })), /circular references/)
  await assert.rejects(
    compile(withBody({ properties: { a: { items: { $ref: '#/none' } } } })),
    /cannot resolve the reference/,
  )
  await assert.rejects(compile(withBody({ $dynamicRef: '#a' }, {}, '3.1.0')), /dynamicRef/)
  const tree = await compile(withBody(self, { A: { type: 'object', additionalProperties: self } }))
  assert.equal((await send(tree, '/a', { method: 'POST', body: '{"a":{"b":{}}}' })).detail, '')
  assert.equal((await send(tree, '/a', { method: 'POST', body: '{"a":{"b":1}}' })).status, 400)
})

test('evaluated members are tracked through references', async () => {
  const base = { type: 'object', properties: { a: { type: 'integer' } } }
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Base' }],
    properties: { b: {} },
    unevaluatedProperties: false,
  }
  const step = await compile(withBody(schema, { Base: base }, '3.1.0'))
  const post = (body: string) => send(step, '/a', { method: 'POST', body })
  assert.equal((await post('{"a":1,"b":2}')).detail, '')
  for (const body of ['{"a":1,"c":2}', '{"a":"x"}']) assert.equal((await post(body)).status, 400, body)
})

test('schemas are compiled one at a time, equal ones only once', async () => {
  const components = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [
      `S${i}`,
      { type: 'object', properties: { next: { $ref: `#/components/schemas/S${(i + 1) % 50}` } } },
    ]),
  )
  const text = JSON.stringify({ openapi: '3.0.3', paths: {}, components: { schemas: components } })
  const schemas = await Schemas.create({
    text,
    formats: true,
    skipsUnsupported: false,
    maxErrors: 10,
    reading: {},
  })
  const link = schemas.at('/components/schemas/S0', 'request')
  let steps = 0
  while (schemas.compileNext()) steps++
  assert.equal(steps, 50, 'each schema is a step of its own')
  assert.deepEqual(schemas.check(link, { next: { next: 1 } }, 'body'), ['body/next/next must be object'])
  const late = schemas.at('/components/schemas/S7', 'response')
  assert.deepEqual(schemas.check(late, 1, 'body'), ['body must be object'], 'its first use compiles it')
})
