import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { consumerOf, type Exchange, PolicyFailure, type Reply, type Step } from '@sluice/core'
import { exchange, schemaMistakes, type TestEnv, testEnv } from '../../testing.js'
import { script } from './policy.js'
import type { ScriptConfig } from './schema.js'

interface Opened {
  readonly step: Step
  readonly env: TestEnv
}

async function open(t: TestContext, inline: string, more: Partial<ScriptConfig> = {}): Promise<Opened> {
  const env = testEnv()
  t.after(() => env.close())
  const step = (await script.compile({ script: { inline }, ...more }, env)) as Step
  return { step, env }
}

const onRequest = (body: string): string => `export function onRequest(ctx) { ${body} }`
const bytes = (text: string): Buffer => Buffer.from(text)
const codeOf = (reply: Reply | null | undefined): unknown => reply?.problem?.code
const json = (reply: Reply | null | undefined): unknown => JSON.parse(Buffer.from(reply!.body!).toString())

function refused(x: Partial<Exchange> = {}): Exchange {
  return exchange({
    status: 401,
    responseHeaders: ['x-gw-error', 'GW_AUTH_MISSING'],
    errorCode: 'GW_AUTH_MISSING',
    errorMessage: 'credentials are needed',
    result: 'blocked',
    ...x,
  })
}

test('a script reads the request and changes its fields, its query and the variables', async (t) => {
  const { step, env } = await open(
    t,
    onRequest(`
      const { req, vars } = ctx
      ctx.log(req.method, req.path, req.params.id, req.query.get('q'), req.headers.get('Accept'), ctx.consumer.id)
      ctx.log(req.headers.getAll('x-many'), req.headers.names(), req.headers.has('no'), ctx.route, vars.tenant)
      req.headers.set('X-New', 'a')
      req.headers.append('x-many', '3')
      req.headers.remove('accept')
      req.query.set('q', 'ü&')
      req.query.append('more', '')
      vars.tenant = 'other'
      vars.size = 7
      ctx.log(req.headers.get('x-many'), req.headers.get('accept'), req.query.getAll('q'))`),
  )
  const x = exchange({
    path: '/orders/7',
    paramNames: ['id'],
    params: ['7'],
    query: 'a=%7E&q=x+y&q=z',
    headers: ['accept', 'text/html', 'x-many', '1', 'x-many', '2'],
    consumer: consumerOf('api-key', 'c1', { name: 'C' }),
    vars: new Map([['tenant', 'acme']]),
  })
  assert.equal(await step.onRequest?.(x), null)
  assert.deepEqual(x.headers, ['x-many', '1', 'x-many', '2', 'x-new', 'a', 'x-many', '3'])
  assert.equal(x.query, 'a=%7E&q=%C3%BC%26&more=')
  assert.deepEqual(
    [...x.vars!],
    [
      ['tenant', 'other'],
      ['size', '7'],
    ],
  )
  assert.deepEqual(
    env.reports.map(({ fields }) => (fields as { line: string }).line),
    [
      'GET /orders/7 7 x y text/html c1',
      '["1","2"] ["accept","x-many"] false test acme',
      '1, 2, 3 null ["ü&"]',
    ],
  )
})

test('a script reads and replaces a JSON body that is declared', async (t) => {
  const source = onRequest(
    `const b = ctx.req.body.json(); b.n++; ctx.req.body.set(b); b.n = ctx.req.body.json().n`,
  )
  const { step } = await open(t, source, { body: 'request' })
  const headers = ['content-type', 'text/plain', 'content_type', 'text/forged']
  const x = exchange({ headers, bodyLimit: 10_000_000 })
  assert.equal(await step.onRequest?.(x), null)
  assert.equal(x.bodyLimit, 1024 * 1024)
  assert.equal(await step.onRequestBody?.(x, bytes('{"n":1,"t":"ü\u2028"}')), null)
  assert.equal(Buffer.from(x.body!).toString(), '{"n":2,"t":"ü\u2028"}')
  assert.deepEqual(x.headers, ['content-type', 'application/json'])
})

test('an undeclared body is neither buffered nor available', async (t) => {
  const { step } = await open(t, onRequest('ctx.req.body.text()'))
  assert.equal(step.onRequestBody, undefined)
  await assert.rejects(
    async () => step.onRequest?.(exchange()),
    /TypeError: the request body is not declared/,
  )
})

test('unreadable bodies are errors of the sender, unless the script catches them', async (t) => {
  const { step } = await open(
    t,
    `export function onRequest(ctx) { ctx.req.body.json() }
     export function onResponse(ctx) { ctx.res.body.text() }`,
    { body: true },
  )
  const on = (text: Uint8Array): unknown => step.onRequestBody?.(exchange(), text)
  for (const [body, detail] of [
    [bytes('{'), 'the body is not JSON'],
    [bytes('['.repeat(100_000)), 'the body is nested too deeply'],
    [bytes('{"a":1,"b":[{"c":1,"\\u0063":2}]}'), 'the body has an object with a duplicate name'],
    [Buffer.from([0xff, 0xfe]), 'the body is not UTF-8 text'],
    [bytes('a\0b'), 'the body is not UTF-8 text'],
  ] as const) {
    const reply = (await on(body)) as Reply
    assert.deepEqual(
      [reply.status, reply.problem?.code, reply.problem?.detail],
      [400, 'GW_BODY_UNPARSABLE', detail],
    )
  }
  const late = (await step.onResponseBody?.(exchange({ status: 200 }), Buffer.from([0xff]))) as Reply
  assert.deepEqual([late.status, late.problem?.code], [502, 'GW_RESPONSE_INVALID'])
  const coded = exchange({
    headers: ['content-encoding', 'gzip'],
    responseHeaders: ['content-encoding', 'br'],
  })
  assert.equal(codeOf(await step.onRequest?.(coded)), 'GW_MEDIA_TYPE')
  assert.equal(codeOf(await step.onResponse?.(coded)), 'GW_RESPONSE_INVALID')
  const tolerant = await open(t, onRequest('try { ctx.req.body.json() } catch { ctx.vars.bad = 1 }'), {
    body: 'request',
  })
  const x = exchange()
  assert.equal(await tolerant.step.onRequestBody?.(x, bytes('{')), null)
  assert.equal(x.vars?.get('bad'), '1')
})

test('a script answers in place of the upstream', async (t) => {
  const { step } = await open(t, onRequest(`return ctx.respond(403, { why: 'no' }, { 'X-Why': 'policy' })`))
  const reply = (await step.onRequest?.(exchange())) as Reply
  assert.equal(reply.status, 403)
  assert.deepEqual(reply.headers, ['x-why', 'policy', 'content-type', 'application/json'])
  assert.deepEqual(json(reply), { why: 'no' })
  assert.equal(reply.problem, null)
  const empty = await open(t, onRequest('ctx.respond(204)'))
  assert.deepEqual(await empty.step.onRequest?.(exchange()), {
    status: 204,
    headers: [],
    body: null,
    problem: null,
    isSubstitute: false,
  })
})

test('a script changes status, fields and body of a response, and sees no body if there is none', async (t) => {
  const { step } = await open(
    t,
    `export function onResponse(ctx) {
       if (ctx.res.status !== 200) { ctx.res.headers.set('x-seen', ctx.req.path); return }
       ctx.res.status = 202
       ctx.res.body.set(ctx.res.body.text().toUpperCase())
     }`,
    { body: 'response' },
  )
  const x = exchange({ status: 200, responseHeaders: ['content-type', 'text/plain'] })
  assert.equal(await step.onResponse?.(x), null)
  assert.equal(x.responseBodyLimit, 1024 * 1024)
  assert.equal(await step.onResponseBody?.(x, bytes('abc')), null)
  assert.equal(Buffer.from(x.responseBody!).toString(), 'ABC')
  assert.deepEqual([x.status, x.responseHeaders], [202, ['content-type', 'text/plain']])
  const none = exchange({ status: 304, path: '/a' })
  assert.equal(await step.onResponse?.(none), null)
  assert.deepEqual(none.responseHeaders, ['x-seen', '/a'])
})

test('onResponse can read but not change the request', async (t) => {
  const { step, env } = await open(
    t,
    `export function onResponse(ctx) {
       ctx.log(ctx.req.headers.get('a'), ctx.req.body)
       ctx.req.headers.set('a', 'b')
     }`,
  )
  await assert.rejects(
    async () => step.onResponse?.(exchange({ status: 200, headers: ['a', '1'] })),
    /has already been sent/,
  )
  assert.equal(env.reports.length, 0, 'a call that fails leaves nothing behind')
})

test('onError runs only for refusals, and can change fields, status and body', async (t) => {
  const { step } = await open(
    t,
    `export function onError(ctx) {
       ctx.res.headers.set('x-code', ctx.error.code)
       ctx.res.status = 403
       ctx.res.body.set('sorry: ' + ctx.error.message)
     }`,
  )
  const x = refused()
  assert.equal(await step.onResponse?.(x), null)
  assert.equal(x.status, 403)
  assert.equal(Buffer.from(x.responseBody!).toString(), 'sorry: credentials are needed')
  assert.deepEqual(x.responseHeaders.slice(2), [
    'x-code',
    'GW_AUTH_MISSING',
    'content-type',
    'text/plain; charset=utf-8',
  ])
  const fine = exchange({ status: 200 })
  assert.equal(await step.onResponse?.(fine), null)
  assert.deepEqual([fine.status, fine.responseHeaders], [200, []])
})

test('a script that throws fails the policy; the location is for the operator only', async (t) => {
  const { step } = await open(t, 'export function onRequest(ctx) {\n  ctx.vars.a = 1\n  null.x\n}')
  const x = exchange()
  await assert.rejects(
    async () => step.onRequest?.(x),
    (error: PolicyFailure) => {
      assert.ok(error instanceof PolicyFailure)
      assert.equal(error.code, 'GW_SCRIPT_ERROR')
      assert.equal(error.detail, 'the script of this route failed')
      assert.match(error.message, /^inline script, onRequest: TypeError: .* \(line 3, column \d+\)$/)
      return true
    },
  )
  assert.equal(x.vars, null)
})

test('a hook may be async with its own promises', async (t) => {
  const { step } = await open(
    t,
    `export async function onRequest(ctx) { await null; await Promise.all([1, 2]); ctx.vars.a = 'late' }
     export async function onResponse() { await null; throw new Error('boo') }`,
  )
  const x = exchange({ status: 200 })
  assert.equal(await step.onRequest?.(x), null)
  assert.equal(x.vars?.get('a'), 'late')
  await assert.rejects(async () => step.onResponse?.(x), /Error: boo \(line 2, /)
  const stuck = await open(t, 'export const onRequest = () => new Promise(() => {})')
  await assert.rejects(async () => stuck.step.onRequest?.(exchange()), /promise that never settles/)
})

test('large bodies are processed on a thread with the same result', async (t) => {
  const source = onRequest('ctx.req.body.set(ctx.req.body.text().length)')
  const { step } = await open(t, source, { body: 'request', limits: { time: '1s' } })
  const x = exchange()
  const outcome = step.onRequestBody?.(x, Buffer.alloc(40_000, 'a'))
  assert.ok(outcome instanceof Promise)
  assert.equal(await outcome, null)
  assert.equal(Buffer.from(x.body!).toString(), '40000')
})

test('a script may be in a file, and its errors are reported at load', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-script-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'tenant.js')
  const env = testEnv()
  t.after(() => env.close())
  const load = async (source: string, more: Partial<ScriptConfig> = {}): Promise<Step> => {
    writeFileSync(file, source)
    return (await script.compile({ script: { file }, ...more }, env)) as Step
  }
  assert.equal((await load(onRequest(''))).name, 'script')
  for (const [source, message, more] of [
    ['export function onRequest( {', /^Error: tenant.js: SyntaxError: .*line 1/],
    ['throw new Error("at once")', /tenant.js: Error: at once \(line 1, column \d+\)/],
    ['import fs from "fs"', /tenant.js: ReferenceError: could not load module/],
    ['await new Promise(() => {}); export const onRequest = 1', /awaits a promise while it is loaded/],
    ['for (;;);', /exceeded its time limit/],
    ['globalThis.count = 0', /not extensible/],
    ['', /exports none of onRequest, onResponse, onError/],
    ['export default () => {}; export function onRequest() {}', /exports 'default', which is never called/],
    ['export function onRequst() {}; export function onRequest() {}', /exports 'onRequst'/],
    [onRequest(''), /reads the response body but exports no onResponse/, { body: 'response' as const }],
    [onRequest(''), /limits.memory: '1gb' is out of range/, { limits: { memory: '1gb' } }],
    [`//${'x'.repeat(300_000)}`, /longer than 262144 characters/],
  ] as const) {
    await assert.rejects(load(source, more), message)
  }
  await assert.rejects(
    async () => script.compile({ script: { file: join(dir, 'none.js') } }, env),
    /cannot be read/,
  )
})

test('the schema refuses invalid configurations', () => {
  const mistakes = (config: unknown): number => schemaMistakes(script, config).length
  assert.equal(mistakes({ script: { inline: 'x' }, body: true, limits: { time: '5ms' } }), 0)
  for (const config of [
    {},
    { script: {} },
    { script: { inline: 'x', file: 'y' } },
    { script: { inline: 'x' }, body: 'both' },
    { script: { inline: 'x' }, trusted: true },
    { script: { inline: 'x' }, limits: { time: 'soon' } },
    { script: { inline: 'x' }, engine: 'vm' },
  ])
    assert.ok(mistakes(config) > 0, JSON.stringify(config))
})
