import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compile, json, OK, send } from './testing/openapi-run.js'

const FORM = 'application/x-www-form-urlencoded'

/** Returns a description of one operation with a parameter. */
function withParameter(parameter: object, version = '3.0.3'): object {
  const path = (parameter as { in: string }).in === 'path' ? '/a/{p}' : '/a'
  return {
    openapi: version,
    info: { title: 't', version: '1' },
    paths: { [path]: { get: { parameters: [{ name: 'p', ...parameter }], ...OK } } },
    components: { schemas: { Int: { type: 'integer' }, Many: { type: 'integer', minimum: 1, maximum: 9 } } },
  }
}

/** Returns a description of one operation with a form. */
function withForm(schema: object, encoding: object = {}): object {
  return {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: { '/a': { post: { requestBody: { content: { [FORM]: { schema, encoding } } }, ...OK } } },
  }
}

const INTEGER = { type: 'integer', maximum: 100 }
/** Spellings that some parser reads as a number of at most 100. */
const NOT_INTEGERS = (
  '0x7 0X7 0b1 0o7 1e1 1E1 +7 07 -07 %207 7%20 %0a7 7%0a %097 %c2%a07 %ef%bb%bf7 Infinity -Infinity NaN 7. .7 7.0 7,0 1_0 ' +
  '7n 0x -- - + %00 7%00 %ef%bc%97 %d9%a7 true null []'
).split(' ')
const NOT_NUMBERS = NOT_INTEGERS.filter((text) => !['1e1', '1E1', '7.0'].includes(text))

const RAW = NOT_INTEGERS.filter((text) => !text.includes('%'))

test('integers must have JSON syntax wherever a value is text', async () => {
  const array = { type: 'array', items: INTEGER }
  const object = { type: 'object', properties: { a: INTEGER }, additionalProperties: INTEGER }
  type Case = readonly [object, (text: string) => Parameters<typeof send>[1] | readonly string[]]
  const cases: readonly Case[] = [
    [{ in: 'query', schema: INTEGER }, (t) => `/a?p=${t}`],
    [{ in: 'query', schema: array }, (t) => `/a?p=1&p=${t}`],
    [{ in: 'query', explode: false, schema: array }, (t) => `/a?p=1,${t}`],
    [{ in: 'query', style: 'pipeDelimited', explode: false, schema: array }, (t) => `/a?p=1|${t}`],
    [{ in: 'query', schema: object }, (t) => `/a?a=${t}`],
    [{ in: 'query', explode: false, schema: object }, (t) => `/a?p=a,${t}`],
    [{ in: 'query', style: 'deepObject', explode: true, schema: object }, (t) => `/a?p[a]=${t}`],
    [{ in: 'query', style: 'deepObject', explode: true, schema: object }, (t) => `/a?p[b]=${t}`],
    [{ in: 'path', required: true, schema: INTEGER }, (t) => `/a/${t}`],
    [{ in: 'path', required: true, style: 'label', schema: INTEGER }, (t) => `/a/.${t}`],
    [{ in: 'path', required: true, style: 'matrix', schema: INTEGER }, (t) => `/a/;p=${t}`],
    [{ in: 'path', required: true, schema: array }, (t) => `/a/1,${t}`],
    [{ in: 'path', required: true, explode: true, schema: object }, (t) => `/a/a=${t}`],
    [{ in: 'cookie', schema: INTEGER }, (t) => ['cookie', `p=${t}`]],
    [{ in: 'header', schema: INTEGER }, (t) => ['p', t]],
    [{ in: 'header', schema: array }, (t) => ['p', `1, ${t}`]],
  ]
  for (const [parameter, at] of cases) {
    const step = await compile(withParameter(parameter))
    const sent = (text: string) => {
      const target = at(text)
      return typeof target === 'string' ? send(step, target) : send(step, '/a', { headers: target })
    }
    for (const text of ['7', '0', '-7', '100']) assert.equal((await sent(text)).detail, '', text)
    const wrong = (parameter as { in: string }).in === 'header' ? RAW : NOT_INTEGERS
    // Two items of a list.
    const isList = JSON.stringify(parameter).includes('"items"')
    for (const text of ['101', ...wrong.filter((one) => !isList || one !== '7,0')]) {
      assert.equal((await sent(text)).status, 400, `${JSON.stringify(parameter)} ${text}`)
    }
  }
})

test('numbers must have JSON syntax and be finite', async () => {
  const step = await compile(withParameter({ in: 'query', schema: { type: 'number', maximum: 100 } }))
  for (const text of ['7', '7.0', '1e1', '-1.5E-3', '1e%2B1'])
    assert.equal((await send(step, `/a?p=${text}`)).detail, '', text)
  for (const text of [...NOT_NUMBERS, '1e999', '-1e999', '1e', '1e3']) {
    assert.equal((await send(step, `/a?p=${text}`)).status, 400, text)
  }
  const integers = await compile(withParameter({ in: 'query', schema: { type: 'integer' } }))
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom(...'0123457+-.eExX \t\n,_\u00a0\u0667\uff17'), maxLength: 6 }),
      async (text) => {
        const { status } = await send(integers, `/a?p=${encodeURIComponent(text)}`)
        assert.equal(status === 200, /^-?(?:0|[1-9][0-9]*)$/.test(text), JSON.stringify(text))
      },
    ),
  )
})

test('limits apply through references, combinations and sibling keywords', async () => {
  const ref = { $ref: '#/components/schemas/Int' }
  const schemas: readonly [object, string][] = [
    [{ allOf: [ref, { maximum: 5 }] }, '3.0.3'],
    [{ ...ref, maximum: 5 }, '3.1.0'],
    [{ oneOf: [{ type: 'integer', maximum: 5 }, { type: 'boolean' }] }, '3.0.3'],
    [{ anyOf: [{ allOf: [ref, { maximum: 5 }] }] }, '3.0.3'],
    [{ maximum: 5 }, '3.0.3'],
    [{ type: ['integer', 'null'], maximum: 5 }, '3.1.0'],
    [{ type: 'integer', maximum: 5, nullable: true }, '3.0.3'],
    [{ enum: [1, 5] }, '3.1.0'],
  ]
  for (const [schema, version] of schemas) {
    const step = await compile(withParameter({ in: 'query', schema }, version))
    assert.equal((await send(step, '/a?p=5')).detail, '', JSON.stringify(schema))
    assert.equal((await send(step, '/a?p=6')).status, 400, JSON.stringify(schema))
  }
})

test('a text stays a string if the schema also allows strings', async () => {
  const step = await compile(
    withParameter(
      { in: 'query', schema: { type: ['integer', 'string'], pattern: '^[0-9x]+$', maximum: 5 } },
      '3.1.0',
    ),
  )
  for (const text of ['5', '0x7', '07', '6'])
    assert.equal((await send(step, `/a?p=${text}`)).detail, '', text)
  assert.equal((await send(step, '/a?p=+7')).status, 400)
  const texts = await compile(withParameter({ in: 'query', schema: { type: 'string', enum: ['1', 'true'] } }))
  for (const text of ['1', 'true']) assert.equal((await send(texts, `/a?p=${text}`)).detail, '')
})

test('booleans are true and false, null is an empty text', async () => {
  const step = await compile(withParameter({ in: 'query', schema: { type: 'boolean', nullable: true } }))
  for (const text of ['true', 'false', '']) assert.equal((await send(step, `/a?p=${text}`)).detail, '', text)
  for (const text of ['TRUE', 'True', '1', '0', 'yes', 'on', '%20true', 'null', 'nil']) {
    assert.equal((await send(step, `/a?p=${text}`)).status, 400, text)
  }
  const list = await compile(
    withParameter({ in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } }),
  )
  for (const text of ['1,,2', ',1', '1,', '1%2C2', '1,%202', '1;2']) {
    assert.equal((await send(list, `/a?p=${text}`)).status, 400, text)
  }
})

test('allowEmptyValue decides about empty values, otherwise the schema does', async () => {
  const schema = { type: 'integer' }
  const allowed = await compile(withParameter({ in: 'query', allowEmptyValue: true, schema }))
  for (const target of ['/a?p=', '/a?p', '/a?p=7', '/a'])
    assert.equal((await send(allowed, target)).detail, '', target)
  for (const target of ['/a?p=x', '/a?p=&p=', '/a?p=%20'])
    assert.equal((await send(allowed, target)).status, 400, target)
  const refused = await compile(
    withParameter({ in: 'query', allowEmptyValue: false, schema: { type: 'string' } }),
  )
  assert.equal((await send(refused, '/a?p=')).detail, 'query/p is empty')
  const open = await compile(withParameter({ in: 'query', schema: { type: 'string' } }))
  assert.equal((await send(open, '/a?p=')).detail, '')
})

test('a JSON parameter is parsed as strictly as a body', async () => {
  const schema = { type: 'object', properties: { z: { type: 'integer', maximum: 1 } } }
  const step = await compile(withParameter({ in: 'query', content: json(schema) }))
  const at = (text: string) => send(step, `/a?p=${encodeURIComponent(text)}`)
  assert.equal((await at('{"z":1}')).detail, '')
  assert.equal((await at('{"z":1,"z":2}')).detail, 'query/p has an object with a duplicate name')
  for (const text of [
    '{"z":2}',
    '{"z":2,"z":1}',
    '{"z":"1"}',
    '{"z":01}',
    '',
    '\ufeff{}',
    '{"a":1e999}',
    '['.repeat(100),
  ]) {
    assert.equal((await at(text)).status, 400, text)
  }
  const last = await compile(withParameter({ in: 'query', content: json(schema) }), { duplicateKeys: 'last' })
  assert.equal((await send(last, `/a?p=${encodeURIComponent('{"z":2,"z":1}')}`)).detail, '')
})

test('white space around the items of a field is ignored, other characters are not', async () => {
  const step = await compile(
    withParameter({ in: 'header', schema: { type: 'array', items: { type: 'integer' } } }),
  )
  for (const text of ['1,2', '1, 2', '1 ,\t2']) {
    assert.equal((await send(step, '/a', { headers: ['p', text] })).detail, '', text)
  }
  for (const text of ['1,\u00a02', '1 2', '1,,2']) {
    assert.equal((await send(step, '/a', { headers: ['p', text] })).status, 400, text)
  }
  assert.equal((await send(step, '/a', { headers: ['p', '1', 'p', '2'] })).detail, '')
  const single = await compile(withParameter({ in: 'header', schema: { type: 'integer' } }))
  assert.equal((await send(single, '/a', { headers: ['p', '1', 'p', '2'] })).status, 400)
})

test('a deepObject is checked on all levels', async () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'object', additionalProperties: false, properties: { n: { type: 'integer', maximum: 5 } } },
      list: { type: 'array', items: { type: 'integer' } },
    },
  }
  const parameter = { in: 'query', style: 'deepObject', explode: true, schema }
  const step = await compile(withParameter(parameter))
  for (const query of [
    'p[a][n]=5',
    'p[list]=1&p[list]=2',
    'p[list][]=1',
    'p%5Ba%5D%5Bn%5D=5',
    'p[other]=x',
  ]) {
    assert.equal((await send(step, `/a?${query}`)).detail, '', query)
  }
  for (const query of [
    'p[a][n]=6',
    'p[a][n]=0x1',
    'p[a][m]=1',
    'p[a]=1',
    'p[a]=1&p[a][n]=1',
    'p[a][n]=1&p[a]=1',
    'p[a][n]=1&p[a][n]=2',
    'p[list][]=x',
    'p[a][n',
    'p[a]n]=1',
    'p[a[n]=1',
    `p${'[a]'.repeat(20)}=1`,
  ]) {
    assert.equal((await send(step, `/a?${query}`)).status, 400, query)
  }
})

test('form members are checked like parameters, including undescribed ones', async () => {
  const schema = {
    type: 'object',
    properties: { n: INTEGER, o: { type: 'object', properties: { z: { type: 'integer' } } } },
    additionalProperties: { type: 'string', maxLength: 3 },
  }
  const encoding = { o: { contentType: 'application/json' } }
  const step = await compile(withForm(schema, encoding))
  const post = (body: string) => send(step, '/a', { method: 'POST', body, headers: ['content-type', FORM] })
  for (const body of ['n=7', 'n=7&x=abc', 'o=%7B%22z%22%3A1%7D', 'x=1'])
    assert.equal((await post(body)).detail, '', body)
  for (const body of [
    'n=0x7',
    'n=+7',
    'n=1e1',
    'x=abcd',
    'x=a&x=abcd',
    'x=a&x=b',
    'o=%7B%22z%22%3A1%2C%22z%22%3A2%7D',
    'o=%7B%7B',
  ]) {
    assert.equal((await post(body)).status, 400, body)
  }
  const deep = await compile(
    withForm(
      { type: 'object', additionalProperties: false, properties: { o: schema } },
      { o: { style: 'deepObject', explode: true } },
    ),
  )
  const deepPost = (body: string) =>
    send(deep, '/a', { method: 'POST', body, headers: ['content-type', FORM] })
  assert.equal((await deepPost('o[n]=7')).detail, '')
  assert.equal((await deepPost('o[n]=0x7')).status, 400)
  assert.equal((await deepPost('o[n]=7&q=1')).status, 400)
})

test('a cookie cannot hide behind blanks that servers ignore', async () => {
  const step = await compile(withParameter({ in: 'cookie', schema: INTEGER }))
  for (const [cookie, status] of [
    ['p=7', 200],
    ['p = 101', 400],
    ['p\t=101', 400],
    ['a=b;  p =101', 400],
    ['p=7; p =8', 400],
    ['q = 101', 200],
  ] as const)
    assert.equal((await send(step, '/a', { headers: ['cookie', cookie] })).status || 200, status, cookie)
})

test('integers beyond 2^53 are compared exactly with their bounds', async () => {
  const limit = 2 ** 53
  for (const [schema, text, isValid] of [
    [{ maximum: limit }, '9007199254740992', true],
    [{ maximum: limit }, '9007199254740993', false],
    [{ minimum: -limit }, '-9007199254740992', true],
    [{ minimum: -limit }, '-9007199254740993', false],
    [{ minimum: limit + 4 }, '9007199254740995', false],
    [{ exclusiveMaximum: limit + 2 }, '9007199254740993', false],
    [{ enum: [limit] }, '9007199254740992', true],
    [{ enum: [limit] }, '9007199254740993', false],
    [{ format: 'int64' }, '9223372036854775807', true],
    [{ format: 'int64' }, '-9223372036854775808', true],
    [{ format: 'int64' }, '9223372036854777856', false],
    [{ format: 'int64' }, '99999999999999999999', false],
    [{ maximum: limit * 2 }, '1'.repeat(400), false],
    [{}, '9007199254740993', true],
  ] as const) {
    const description = withParameter({ in: 'query', schema: { type: 'integer', ...schema } }, '3.1.0')
    const { status } = await send(await compile(description), `/a?p=${text}`)
    assert.equal(status !== 400, isValid, `${JSON.stringify(schema)} ${text.slice(0, 30)}`)
  }
})

test('path parameters cannot bypass the checks of the path that a servlet container serves', async () => {
  const name = { name: 'name', in: 'path', required: true, schema: { type: 'string' } }
  const matrix = { ...name, style: 'matrix' }
  const step = await compile({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      '/users/{name}': { get: { parameters: [name], ...OK } },
      '/users/admin': {
        get: { parameters: [{ name: 'k', in: 'query', required: true, schema: {} }], ...OK },
      },
      '/m': { get: OK },
      '/m{name}': { get: { parameters: [matrix], ...OK } },
    },
  })
  for (const [path, status] of [
    ['/users/ann', 200],
    ['/users/ann;v=1', 200],
    ['/users/admin', 400],
    ['/users/admin;v=1', 404],
    ['/users/admin%3Bv', 404],
    ['/users/admin;', 404],
    ['/m;name=1', 200],
    ['/m', 200],
    ['/m;x', 400],
  ] as const)
    assert.equal((await send(step, path)).status || 200, status, path)
})
