import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Eventual, Exchange, Reply, Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { mock } from './policy.js'
import type { MockConfig } from './schema.js'

function compile(config: MockConfig): Step {
  return mock.compile(config, testEnv()) as Step
}

function reply(config: MockConfig, x: Exchange = exchange()): Reply {
  return compile(config).onRequest!(x) as Reply
}

function textOf(config: MockConfig, x: Exchange): string {
  return Buffer.from(reply(config, x).body!).toString()
}

function file(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'mock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'body'), text)
  return join(folder, 'body')
}

test('status, fields and body are those of the document, as a substitute for the upstream', () => {
  const answer = reply({ status: 418, headers: { 'X-Pot': 'tea' }, body: 'short' })
  assert.equal(answer.status, 418)
  assert.equal(answer.isSubstitute, true)
  assert.deepEqual(answer.headers, ['x-pot', 'tea', 'content-type', 'text/plain; charset=utf-8'])
  assert.equal(Buffer.from(answer.body!).toString(), 'short')
  assert.deepEqual(reply({}).headers, [])
  assert.equal(reply({}).body, null)
  const json = reply({ body: [{ a: 1 }] })
  assert.deepEqual([json.headers, String(json.body)], [['content-type', 'application/json'], '[{"a":1}]'])
})

test('a response without placeholders is built once', () => {
  const step = compile({ body: 'a' })
  assert.equal(step.onRequest!(exchange()), step.onRequest!(exchange()))
})

test('the body may stand in a file, and without placeholders', (t) => {
  const bodyFile = file(t, '{{ as it is')
  assert.equal(textOf({ bodyFile, template: false }, exchange()), '{{ as it is')
  assert.throws(() => compile({ bodyFile }), /without '}}'/)
  assert.throws(() => compile({ bodyFile: '/no/such/file' }), /cannot be read/)
  assert.throws(() => compile({ bodyFile, body: 'a' }), /remove one/)
})

test('a value of the request stays a value: no member, element or line of its own', () => {
  const hostile = '","admin":true,"x":"\n<script>alert(1)</script>\'&'
  const x = exchange({ headers: ['x-name', hostile] })
  const name = '{{req.header.x-name}}'
  assert.deepEqual(JSON.parse(textOf({ body: { name } }, x)), { name: hostile })
  const typed = (type: string): string =>
    textOf({ headers: { 'Content-Type': type }, body: `<a b="${name}"/>` }, x)
  for (const type of ['text/html; charset=utf-8', 'application/xml', 'application/soap+xml']) {
    assert.match(typed(type), /^<a b="&quot;,[^<>]*&lt;script&gt;[^<>]*"\/>$/, type)
  }
  assert.equal(typed('text/plain'), `<a b="${hostile}"/>`)
  assert.throws(
    () => compile({ headers: { 'content-type': name }, body: name }),
    /must not contain placeholders/,
  )
})

test('a value with a line break or of no characters for a header leaves the field out', () => {
  const config = { headers: { 'x-name': '{{req.header.x-name}}', 'x-kept': 'yes' } }
  for (const value of ['a\r\nset-cookie: b=c', 'a\nb', 'ä', 'a\0b']) {
    const x = exchange({ headers: ['x-name', value] })
    assert.deepEqual(reply(config, x).headers, ['x-kept', 'yes'], value)
  }
  assert.deepEqual(reply(config, exchange({ headers: ['x-name', 'ok'] })).headers[1], 'ok')
})

test('placeholders know nothing but the request, and are as many as can be paid for', () => {
  for (const name of [
    'env.SECRET',
    'process.env',
    'constructor',
    '__proto__',
    'jwt.claims',
    'upstream.url',
  ]) {
    assert.throws(() => compile({ body: `{{${name}}}` }), /unknown variable/, name)
  }
  assert.throws(() => compile({ body: '{{req.id}}'.repeat(101) }), /more than 100 placeholders/)
  assert.equal(textOf({ body: '{{req.id}}'.repeat(100) }, exchange()).length, 3600)
})

test('a configuration that would break the response is rejected', () => {
  assert.throws(() => compile({ status: 204, body: 'a' }), /cannot have a body/)
  assert.throws(() => compile({ headers: { 'content-length': '9' } }), /set by the gateway/)
  assert.throws(() => compile({ headers: { 'x-a': 'a\r\nb: c' } }), /line break/)
  assert.throws(() => compile({ delay: '21s' }), /longer than 20s/)
  assert.deepEqual(schemaMistakes(mock, { status: 101 }), ['/status must be >= 200'])
})

test('a delayed response is sent later, or at once if too many are waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const step = compile({ body: 'late', delay: '2s' })
  const waiting: Eventual[] = Array.from({ length: 1000 }, () => step.onRequest!(exchange()))
  assert.ok(waiting.every((outcome) => outcome instanceof Promise))
  assert.ok(!(step.onRequest!(exchange()) instanceof Promise), 'the 1,001st does not wait')
  let isThere = false
  void (waiting[0] as Promise<unknown>).then(() => (isThere = true))
  t.mock.timers.tick(1999)
  await Promise.resolve()
  assert.equal(isThere, false)
  t.mock.timers.tick(1)
  const answers = (await Promise.all(waiting)) as Reply[]
  assert.ok(answers.every(({ status }) => status === 200))
  assert.ok(step.onRequest!(exchange()) instanceof Promise)
})

test('the end of a snapshot ends its delays', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const env = testEnv()
  const step = mock.compile({ delay: '20s' }, env) as Step
  const waiting = step.onRequest!(exchange()) as Promise<Reply>
  env.close()
  assert.equal((await waiting).status, 200)
})
