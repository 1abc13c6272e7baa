import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentFor, origin, startGateway, until } from './testing.js'

const SCRIPT = `
export function onRequest(ctx) {
  if (ctx.req.path === '/loop') for (;;);
  if (ctx.req.path === '/crash') throw new Error('the secret reason')
  if (ctx.req.path === '/stop') return ctx.respond(403, { why: 'script' }, { 'x-why': 'script' })
  const order = ctx.req.body.json()
  order.total = order.items.length
  ctx.req.body.set(order)
  ctx.req.headers.set('x-total', String(order.total))
}
export function onResponse(ctx) {
  ctx.res.status = 201
  ctx.res.headers.set('x-script', 'seen')
  if (ctx.res.headers.has('x-plain')) return
  ctx.res.body.set({ upstream: ctx.res.body.json() })
}
export function onError(ctx) {
  ctx.res.headers.set('x-script', 'error')
  ctx.res.body.set({ sorry: ctx.error.code })
}
`

test('a script changes requests, responses and errors, and its failures are contained', async (t) => {
  const target = await origin(t, (req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    req.on('end', () => res.end(JSON.stringify({ body, total: req.headers['x-total'] })))
  })
  const use = { use: 'script', with: { body: true, limits: { time: '200ms' }, script: { inline: SCRIPT } } }
  const deny = { use: 'ip-filter', with: { deny: ['0.0.0.0/0', '::/0'] }, when: 'req.path == "/denied"' }
  const document = documentFor(target).replace(
    '    upstream: up\n',
    `    upstream: up\n    policies: ${JSON.stringify([use, deny])}\n`,
  )
  const gateway = await startGateway(t, document)
  const post = (path: string, body: string): Promise<Response> =>
    fetch(`${gateway.url}${path}`, { method: 'POST', body })

  const fine = await post('/orders', '{"items":[1,2]}')
  assert.deepEqual([fine.status, fine.headers.get('x-script')], [201, 'seen'])
  assert.deepEqual(await fine.json(), { upstream: { body: '{"items":[1,2],"total":2}', total: '2' } })

  const stopped = await post('/stop', '{}')
  assert.deepEqual([stopped.status, stopped.headers.get('x-why')], [403, 'script'])
  assert.deepEqual(await stopped.json(), { why: 'script' })

  const unreadable = await post('/orders', '{"items":')
  assert.equal(unreadable.status, 400)
  assert.equal(((await unreadable.json()) as { code: string }).code, 'GW_BODY_UNPARSABLE')

  for (const path of ['/crash', '/loop']) {
    const failed = await post(path, '{}')
    const text = await failed.text()
    assert.deepEqual([failed.status, failed.headers.get('x-gw-error')], [500, 'GW_SCRIPT_ERROR'])
    assert.match(text, /"detail":"the script of this route failed"/)
    assert.doesNotMatch(text, /secret|line/)
  }
  await until(() =>
    /"policy_failed".*onRequest: Error: the secret reason \(line 4, column \d+\)/.test(gateway.logText()),
  )
  assert.match(gateway.logText(), /"policy_failed".*the script exceeded its time limit/)

  const denied = await post('/denied', '{}')
  assert.deepEqual([denied.status, denied.headers.get('x-gw-error')], [403, 'GW_IP_DENIED'])
  assert.deepEqual(
    [denied.headers.get('x-script'), denied.headers.get('content-type')],
    ['error', 'application/json'],
  )
  assert.deepEqual(await denied.json(), { sorry: 'GW_IP_DENIED' })

  const large = await post('/orders', JSON.stringify({ items: Array.from({ length: 20_000 }, (_, i) => i) }))
  assert.equal(large.status, 201)
  assert.equal(((await large.json()) as { upstream: { total: string } }).upstream.total, '20000')
})
