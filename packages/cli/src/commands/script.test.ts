import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { gw, scratch } from '../testing.js'

const SCRIPT = `
export function onRequest(ctx) {
  const order = ctx.req.body.json()
  ctx.log('order of', ctx.consumer.name, order)
  order.total = 3
  ctx.req.body.set(order)
  ctx.req.headers.set('X-Size', order.items.length)
  ctx.req.headers.remove('x-old')
  ctx.req.query.append('q', 'a b')
  ctx.vars.kind = ctx.req.params.kind
  delete ctx.vars.gone
}
export function onResponse(ctx) {
  ctx.res.status = 202
  if (ctx.res.headers.get('x-a') === '1, 2') ctx.respond(418, 'tea\\u001b[2J', { 'x-pot': 'yes' })
}
export function onError(ctx) {
  throw new TypeError('no ' + ctx.error.code)
}
`
const EXCHANGE = {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-old': '1' },
  body: { items: [1, 2] },
  params: { kind: 'big' },
  vars: { gone: 'x' },
  consumer: { id: 'acme' },
  response: { status: 200, headers: { 'x-a': ['1', '2'] } },
  error: { code: 'GW_IP_DENIED' },
}

test('gw script test shows what a script did, what it answers, and how it failed', async (t) => {
  const dir = scratch(t)
  const [file, request] = [join(dir, 'order.js'), join(dir, 'order.json')]
  writeFileSync(file, SCRIPT)
  writeFileSync(request, JSON.stringify(EXCHANGE))
  const run = (...args: string[]): ReturnType<typeof gw> =>
    gwInProcess(['script', 'test', file, '--request', request, ...args])
  const [asked, answered, failed, json] = await Promise.all([
    run(),
    run('--call', 'response'),
    run('--call', 'error'),
    run('-o', 'json'),
  ])
  assert.equal(
    asked.stdout,
    [
      'header set content-type: application/json',
      'header set x-size: 2',
      'header remove x-old',
      'query append q: a b',
      'variable set kind: big',
      'variable remove gone',
      'body {"items":[1,2],"total":3}',
      'log order of acme {"items":[1,2]}',
      '',
    ].join('\n'),
  )
  assert.match(asked.stderr, /^took [\d.]+ ms in quickjs, uses \d+ kb\n$/)
  assert.equal(
    answered.stdout,
    'status 202\nanswer status 418\nanswer header x-pot: yes\nanswer body tea\\u{1b}[2J\n',
  )
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(failed.stderr, /order\.js: TypeError: no GW_IP_DENIED \(line 18, column \d+\)\n/)
  const { error, changes } = JSON.parse(json.stdout)
  assert.deepEqual([json.code, error, changes.body], [0, null, '{"items":[1,2],"total":3}'])
  assert.deepEqual(changes.vars, { kind: 'big', gone: null })
})

test('gw script test says what is wrong with its files', async (t) => {
  const dir = scratch(t)
  const [file, request] = [join(dir, 'a.js'), join(dir, 'a.json')]
  writeFileSync(file, 'export function onRequest(ctx) {}')
  writeFileSync(request, '{"methot": "GET"}')
  const [plain, absent, wrong, hook, none] = await Promise.all([
    gw(['script', 'test', file]),
    gwInProcess(['script', 'test', join(dir, 'b.js')]),
    gwInProcess(['script', 'test', file, '--request', request]),
    gwInProcess(['script', 'test', file, '--call', 'error']),
    gwInProcess(['script', 'test', file, '--request', join(dir, 'b.json')]),
  ])
  assert.deepEqual([plain.code, plain.stdout], [0, 'no changes\n'])
  assert.match(absent.stderr, /^cannot run .*b\.js: .* cannot be read/)
  assert.match(
    wrong.stderr,
    /does not describe an exchange: the description must NOT have additional properties \('methot'\)/,
  )
  assert.match(hook.stderr, /a\.js exports no function onError/)
  assert.match(none.stderr, /there is no such file/)
  for (const { code } of [absent, wrong, hook, none]) assert.equal(code, 1)
})
