import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Exchange, type Offload, type Outcome, Overload, type Step } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { transform } from './policy.js'
import type { TransformConfig } from './schema.js'

/** Time limit that is long enough for a busy machine. */
const PATIENT = { timeout: '5s' } as const

function compile(config: TransformConfig): Promise<Step> {
  return transform.compile(config, testEnv()) as Promise<Step>
}

function jsonata(source: string, more: Partial<TransformConfig> = {}): Promise<Step> {
  return compile({ request: { jsonata: { inline: source } }, ...PATIENT, ...more })
}

async function request(step: Step, body: unknown, fields: Partial<Exchange> = {}) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const x = exchange({ method: 'POST', body: bytes, headers: [], ...fields })
  await step.onRequest?.(x)
  const outcome: Outcome = (await step.onRequestBody?.(x, bytes)) ?? null
  return { x, outcome, code: outcome?.problem?.code, text: Buffer.from(x.body ?? []).toString() }
}

async function response(step: Step, body: string, fields: Partial<Exchange> = {}) {
  const bytes = Buffer.from(body)
  const x = exchange({ status: 200, responseBody: bytes, responseHeaders: [], ...fields })
  await step.onResponse?.(x)
  const outcome: Outcome = (await step.onResponseBody?.(x, bytes)) ?? null
  return { x, outcome, code: outcome?.problem?.code, text: Buffer.from(x.responseBody ?? []).toString() }
}

test('an expression creates the new body, and headers about the old one are removed', async () => {
  const step = await jsonata(
    '{ "ticker": symbol, "total": $sum(items.(price * count)), "names": items.name }',
  )
  const body = {
    symbol: 'IBM',
    items: [
      { name: 'a', price: 2, count: 3 },
      { name: 'b', price: 1, count: 4 },
    ],
  }
  const headers = ['content-type', 'text/json', 'etag', '"1"', 'content-digest', 'x', 'x-kept', '1']
  const { x, outcome, text } = await request(step, body, { headers })
  assert.equal(outcome, null)
  assert.deepEqual(JSON.parse(text), { ticker: 'IBM', total: 10, names: ['a', 'b'] })
  assert.deepEqual(x.headers, ['content-type', 'application/json', 'x-kept', '1'])
  assert.equal((await request(await jsonata('nothing'), body)).text, 'null')
  assert.equal((await request(await jsonata('$'), [1, [2]])).text, '[1,[2]]')
})

test('params pass values of the request to the expression', async () => {
  const step = await compile({
    request: {
      jsonata: { inline: '{ "t": $tenant, "by": $by }' },
      params: { tenant: '{{req.header.x-tenant}}', by: 'gw' },
    },
    ...PATIENT,
  })
  const { text } = await request(step, {}, { headers: ['x-tenant', 'acme'] })
  assert.deepEqual(JSON.parse(text), { t: 'acme', by: 'gw' })
})

test('an expression does not change the shared body', async () => {
  const step = await jsonata('$ ~> |a|{"b": 2}|')
  const bytes = Buffer.from('{"a":{"b":1},"list":[1,2]}')
  const x = exchange({ body: bytes, headers: [] })
  const { jsonOf } = await import('../../shared/json/view.js')
  const view = jsonOf(x, bytes)
  await step.onRequestBody?.(x, bytes)
  assert.deepEqual(JSON.parse(Buffer.from(x.body!).toString()), { a: { b: 2 }, list: [1, 2] })
  assert.deepEqual(view.value, { a: { b: 1 }, list: [1, 2] })
})

test('bad input is a client error, a failing expression is not', async () => {
  const sum = await jsonata('$sum(items.price)')
  const bad = await request(sum, { items: [{ price: 'hunter2' }] })
  assert.equal(bad.outcome?.status, 400)
  assert.equal(bad.code, 'GW_TRANSFORM_INPUT')
  assert.doesNotMatch(bad.outcome?.problem?.detail ?? '', /hunter2/)
  const raised = await request(await jsonata('$assert(id > 0, "id has to be positive")'), { id: 0 })
  assert.equal(raised.code, 'GW_TRANSFORM_INPUT')
  assert.equal(raised.outcome?.problem?.detail, 'id has to be positive')
  const author = await request(await jsonata('$nothing(1)'), {})
  assert.deepEqual([author.outcome?.status, author.code], [500, 'GW_TRANSFORM_FAILED'])
  assert.match(author.x.vars?.get('validation') ?? '', /T1006|T1005/)
  assert.equal((await request(sum, '{')).code, 'GW_BODY_UNPARSABLE')
  assert.equal((await request(sum, '')).code, 'GW_BODY_UNPARSABLE')
  assert.equal((await request(sum, '{}', { headers: ['content-encoding', 'gzip'] })).code, 'GW_MEDIA_TYPE')
})

test('endless and greedy expressions stop at their limits', async () => {
  const greedy: [string, unknown][] = [
    ['($f := function($n) { $f($n) }; $f(1))', {}],
    ['($f := function($n) { $f($n) + 1 }; $f(1))', {}],
    ['[1..9999999]', {}],
    ['[1..9999].[1..9999]', {}],
    ['$pad("x", 100000000)', {}],
    ['$pad("x", size)', { size: 1e9 }],
    ['$eval(code)', { code: '1+1' }],
    ['$reduce([1..60], function($p, $c) { $p & $p }, "xx")', {}],
  ]
  for (const [source, body] of greedy) {
    const step = await jsonata(source, { timeout: '50ms' })
    const beforeMs = cpuMs()
    const { code } = await request(step, body)
    const took = cpuMs() - beforeMs
    assert.equal(code, 'GW_TRANSFORM_FAILED', source)
    assert.ok(took < 2000, `${source} took ${took} ms`)
  }
})

test('hostile input is processed quickly by every function', async () => {
  const numbers = Array.from({ length: 9000 }, (_, i) => (i * 7919) % 100_003)
  const hostile: [string, unknown][] = [
    ['$sort(a)', { a: Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003) }],
    ['$distinct(a)', { a: Array.from({ length: 50_000 }, (_, i) => ({ i })) }],
    ['a^(b)', { a: numbers.map((b) => ({ b })) }],
    ['$sort(a, function($l, $r) { $l > $r })', { a: numbers }],
    ['$replace(a, /(a+)+$/, "")', { a: `${'a'.repeat(50_000)}!` }],
    ['$match(a, /a/)', { a: 'a'.repeat(500_000) }],
    ['$split(a, /,/)', { a: 'x,'.repeat(100_000) }],
    ['$toMillis(a, "[Y][M][D][H][m]")', { a: '1'.repeat(100_000) }],
    ['$parseInteger(a, "#,##0")', { a: '1,'.repeat(50_000) }],
    ['**', { a: Array.from({ length: 100_000 }, (_, i) => [i]) }],
    ['$reduce(a, $append)', { a: Array.from({ length: 50_000 }, (_, i) => i) }],
    ['$merge(a)', { a: Array.from({ length: 20_000 }, (_, i) => ({ [`k${i}`]: 1 })) }],
    ['a{k: $sum(v)}', { a: Array.from({ length: 9000 }, (_, i) => ({ k: `k${i}`, v: i })) }],
  ]
  for (const [source, body] of hostile) {
    const step = await jsonata(source, { timeout: '50ms', maxBodyBytes: '10mb' })
    const beforeMs = cpuMs()
    await request(step, body)
    const took = cpuMs() - beforeMs
    assert.ok(took < 2000, `${source} took ${took} ms`)
  }
})

test('replaced functions behave like the originals', async () => {
  const results: [string, unknown, unknown][] = [
    ['$sort(a)', { a: [3, 1, 2] }, [1, 2, 3]],
    ['$sort(a)', { a: ['b', 'a', 'B'] }, ['B', 'a', 'b']],
    [
      '$sort(a, function($l, $r) { $l.n > $r.n }).t',
      {
        a: [
          { n: 2, t: 'x' },
          { n: 1, t: 'y' },
          { n: 2, t: 'z' },
        ],
      },
      ['y', 'x', 'z'],
    ],
    ['$sort(a, function($l, $r) { $l < $r })', { a: [1, 5, 2, 4, 3] }, [5, 4, 3, 2, 1]],
    ['$sort(nothing)', {}, null],
    ['$distinct(a)', { a: [1, '1', 1, { x: 1, y: 2 }, { y: 2, x: 1 }] }, [1, '1', { x: 1, y: 2 }]],
    ['$distinct(a)', { a: 5 }, 5],
    ['$pad("x", -3, "0")', {}, '00x'],
    ['$toMillis("2026-01-31T00:00:00Z")', {}, Date.UTC(2026, 0, 31)],
    ['$parseInteger("1,234", "#,##0")', {}, 1234],
    ['$replace(a, /(\\w)(\\d)/, "$2$1")', { a: 'a1 b2' }, '1a 2b'],
    ['$match(a, /B(\\d)/i).groups', { a: 'b1 B2' }, ['1', '2']],
    ['$split(a, /\\s*,\\s*/)', { a: 'x , y,z' }, ['x', 'y', 'z']],
    ['$contains(a, /^x/m)', { a: 'a\nx' }, true],
  ]
  for (const [source, body, expected] of results) {
    const { text, outcome } = await request(await jsonata(source), body)
    assert.equal(outcome, null, source)
    assert.deepEqual(JSON.parse(text), expected, source)
  }
  assert.equal((await request(await jsonata('$sort(a)'), { a: [1, 'x'] })).code, 'GW_TRANSFORM_INPUT')
})

test('names of the language in documents are harmless', async () => {
  const step = await jsonata('$merge([{"a": 1}, $])')
  const { text } = await request(step, '{"__proto__":{"isAdmin":true}}')
  assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined)
  assert.match(text, /"a":1/)
  assert.equal((await request(await jsonata('constructor'), {})).text, 'null')
  assert.equal((await request(await jsonata('$lookup($, "toString")'), {})).text, 'null')
  await request(await jsonata('a{k: v}'), '{"a":[{"k":"__proto__","v":{"isAdmin":true}}]}')
  assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined)
})

test('large bodies are transformed on a thread, with the same results', async () => {
  const step = await jsonata('{ "count": $count(items), "t": pad }')
  const items = Array.from({ length: 9000 }, (_, i) => i)
  const { text, outcome } = await request(step, { items, pad: 'x' })
  assert.equal(outcome, null)
  assert.deepEqual(JSON.parse(text), { count: 9000, t: 'x' })
  assert.equal((await request(step, `[${items.join()}`)).code, 'GW_BODY_UNPARSABLE')
  const env = {
    ...testEnv(),
    offload: <I, O>(): Offload<I, O> => ({ run: () => Promise.reject(new Overload('full')) }),
  }
  const full = (await transform.compile({ request: { jsonata: { inline: '$' } } }, env)) as Step
  assert.equal((await request(full, { items })).outcome?.status, 503)
})

test('body and result sizes are limited', async () => {
  const step = await jsonata('[1..1000]', { maxBodyBytes: '1kb', maxOutputBytes: '1kb' })
  const { x, code } = await request(step, {})
  assert.equal(x.bodyLimit, 1024)
  assert.equal(code, 'GW_TRANSFORM_FAILED')
  assert.equal((await request(step, { pad: 'x'.repeat(2000) })).code, 'GW_BODY_TOO_LARGE')
  assert.equal((await request(await jsonata('$', { maxDepth: 2 }), '[[[]]]')).code, 'GW_BODY_UNPARSABLE')
})

test('a JSON template inserts strings inside quotes and values outside', async () => {
  const inline =
    '{ "id": {{$.id}}, "name": "Mr {{ $.name }}", "tags": {{$.tags}}, "none": {{$.none}}, "void": "{{$.none}}", "req": "{{req.id}}", "who": {{req.header.x-user}} }'
  const step = await compile({ request: { template: { inline } } })
  const name = 'O"Brien\\\n\u2028'
  const { x, text } = await request(
    step,
    { id: 7, name, tags: ['a', { b: 1 }] },
    { headers: ['x-user', 'a"b'] },
  )
  assert.deepEqual(JSON.parse(text), {
    id: 7,
    name: `Mr ${name}`,
    tags: ['a', { b: 1 }],
    none: null,
    void: '',
    req: x.id,
    who: 'a"b',
  })
  const injected = await request(step, { id: 1, name: '","admin":true,"x":"', tags: [] })
  assert.equal(JSON.parse(injected.text).admin, undefined)
})

test('text and XML templates escape as their output needs', async () => {
  const config = (output: 'text' | 'xml', inline: string): TransformConfig => ({
    request: { output, template: { inline } },
  })
  const body = { name: `<a href='x'>"&"</a>\u0000`, list: [1, 2] }
  const plain = await request(await compile(config('text', 'Hello {{$.name}} {{$.list}} {{$.none}}!')), body)
  assert.equal(plain.text, `Hello ${body.name} [1,2] !`)
  assert.deepEqual(plain.x.headers, ['content-type', 'text/plain; charset=utf-8'])
  const xml = await request(await compile(config('xml', '<n>{{$.name}}</n>')), body)
  assert.equal(xml.text, '<n>&lt;a href=&apos;x&apos;&gt;&quot;&amp;&quot;&lt;/a&gt;</n>')
  assert.deepEqual(xml.x.headers, ['content-type', 'application/xml; charset=utf-8'])
})

test('a template without paths accepts any body', async () => {
  const step = await compile({ request: { template: { inline: '{"from": "{{client.ip}}"}' } } })
  const { text, x } = await request(step, '<a/>', { headers: ['content-encoding', 'gzip'] })
  assert.equal(text, '{"from": "192.0.2.10"}')
  assert.deepEqual(x.headers, ['content-type', 'application/json'], 'what it makes is in no coding')
})

test('successful responses are transformed, and errors in them are upstream errors', async () => {
  const step = await compile({
    response: { jsonata: { inline: '{ "n": $number(a) }' }, contentType: 'application/vnd.x+json' },
    ...PATIENT,
  })
  const good = await response(step, '{"a":"5"}')
  assert.deepEqual([good.outcome, good.text], [null, '{"n":5}'])
  assert.deepEqual(good.x.responseHeaders, ['content-type', 'application/vnd.x+json'])
  const bad = await response(step, '{"a":"five"}')
  assert.deepEqual([bad.outcome?.status, bad.code], [502, 'GW_RESPONSE_INVALID'])
  assert.equal((await response(step, '<html>')).code, 'GW_RESPONSE_INVALID')
  assert.equal((await response(step, 'oops', { status: 500 })).text, 'oops')
  assert.equal((await response(step, '{"a":"5"', { status: 206 })).text, '{"a":"5"')
  assert.equal(step.onRequestBody, undefined)
})

test('expressions and templates may be in files', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-transform-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'a.jsonata')
  writeFileSync(file, 'a + 1')
  const step = await compile({ request: { jsonata: { file } }, ...PATIENT })
  assert.equal((await request(step, { a: 1 })).text, '2')
  await assert.rejects(compile({ request: { template: { file: join(dir, 'none') } } }), /cannot be read/)
})

test('an invalid configuration is refused with a remedy', async () => {
  const refused = async (config: TransformConfig, reason: RegExp) => assert.rejects(compile(config), reason)
  const inline = '$'
  await refused({ request: {} }, /either 'jsonata' or 'template'/)
  await refused({ request: { jsonata: { inline }, template: { inline } } }, /either/)
  await refused({ request: { jsonata: { inline: 'a +' } } }, /is not JSONata: Unexpected end of expression/)
  await refused({ request: { jsonata: { inline: '$match(a, /(?=a)b/)' } } }, /linear time/)
  await refused({ request: { jsonata: { inline: '$f := function($x) { $x ~> /(a)\\1/ }' } } }, /linear time/)
  await refused({ request: { jsonata: { inline }, output: 'xml' } }, /'output' is only for templates/)
  await refused({ request: { jsonata: { inline }, params: { 'a-b': '1' } } }, /is not a valid name/)
  await refused({ request: { jsonata: { inline }, params: { a: '{{no}}' } } }, /unknown variable/)
  await refused({ request: { jsonata: { inline }, contentType: 'a\r\nb' } }, /not allowed in headers/)
  await refused({ request: { jsonata: { inline } }, timeout: '1m' }, /between 1ms and 5s/)
  await refused({ request: { template: { inline: '{"a": {{$.a}' } } }, /'\{\{' without '\}\}'/)
  await refused({ request: { template: { inline: '{"a": {{$.a[}}}' } } }, /is not a JSON path/)
  await refused({ request: { template: { inline: '{"a": {{$.a}},}' } } }, /does not produce JSON/)
  await refused({ request: { template: { inline: '{"a": {{nope}}}' } } }, /unknown variable/)
  await refused({ request: { template: { inline: '1' }, params: {} } }, /is only for expressions/)
  await refused({}, /nothing to transform/)
  for (const config of [
    { request: { jsonata: 'a' } },
    { request: { template: {} } },
    { requests: {} },
    { request: {}, maxItems: 1 },
  ]) {
    assert.notDeepEqual(schemaMistakes(transform, config), [], JSON.stringify(config))
  }
})
