import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fakeDocument, GatewayProcess } from '../supervise/testing/gateway-process.js'

// Questions that the document thread of a real supervisor answers.

const SECRET = 'a-literal-secret-value'

async function started(t: TestContext) {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const explain = (body: unknown) =>
    gateway.api('/v1/explain', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { gateway, explain }
}

test('a request is explained by the active plan', async (t) => {
  const { gateway, explain } = await started(t)
  const routeOf = async (url: string) => {
    const answer = (await (await explain({ method: 'GET', url })).json()) as {
      outcome: string
      route: { id: string } | null
    }
    return [answer.outcome, answer.route?.id ?? null]
  }
  assert.deepEqual(await routeOf('/first'), ['routed', 'first'])
  await gateway.put(fakeDocument('second'))
  assert.deepEqual(await routeOf('/first'), ['refused', null])
  assert.deepEqual(await routeOf('/second'), ['routed', 'second'])
})

test('malformed requests to explain are refused before they reach the thread', async (t) => {
  const { explain } = await started(t)
  for (const body of [
    {},
    { url: 7 },
    { url: '/', method: 'get' },
    { url: '/', method: 'GET /\r\nx: y' },
    { url: '/', headers: { 'a\r\nb': 'c' } },
    { url: '/', headers: { a: 'b\r\nc: d' } },
    { url: '/', headers: ['a'] },
    { url: '/', clientIp: 'localhost' },
    { url: '/', body: 7 },
    { url: 'x'.repeat(20_000) },
    { url: '/', more: 1 },
    ...[7, {}, { id: 'a', groups: 'b' }, { id: 'a', claims: { b: 1 } }, { id: 'a', more: 1 }].map(
      (consumer) => ({
        url: '/',
        consumer,
      }),
    ),
    { url: 'neither a path nor a URL' },
  ])
    assert.equal((await explain(body)).status, 400, JSON.stringify(body).slice(0, 80))
  assert.equal((await explain({ url: '/first' })).status, 200)
  assert.equal((await explain({ url: '/first', consumer: { id: 'ann', roles: ['a'] } })).status, 200)
})

test('the active document is shown as YAML', async (t) => {
  const { gateway } = await started(t)
  await gateway.put(fakeDocument('second'))
  const { yaml } = (await (await gateway.api('/v1/config')).json()) as { yaml: string }
  assert.match(yaml, /id: second/)
})

test('many questions at once are bounded, and a deploy still gets its turn', async (t) => {
  const { gateway, explain } = await started(t)
  const asked = Array.from({ length: 40 }, () => explain({ url: '/first' }))
  const deployed = await gateway.put(fakeDocument('second'))
  assert.equal(deployed.status, 200)
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)].sort(), [200, 503])
})

test('the changes between two deploys are shown without secrets', async (t) => {
  const { gateway } = await started(t)
  const withTokens = (id: string) => {
    const tokens = JSON.stringify([
      { id: 'ops', role: 'admin', sha256: Buffer.from(SECRET).toString('hex').padEnd(64, '0') },
    ])
    return fakeDocument(id).replace('127.0.0.1:0 }\nlog', `"127.0.0.1:0", tokens: ${tokens} }\nlog`)
  }
  assert.equal((await gateway.put(fakeDocument('second'))).status, 200)
  const diff = async (query = '') => {
    const answer = await gateway.api(`/v1/deploys/diff${query}`)
    return [answer.status, await answer.text()] as const
  }
  const [status, text] = await diff()
  assert.equal(status, 200)
  const { changes } = JSON.parse(text) as { changes: { kind: string; what: string; name: string }[] }
  assert.deepEqual(
    changes.map(({ kind, what, name }) => `${kind} ${what} ${name}`),
    ['add route second', 'remove route first'],
  )
  assert.equal((await diff('?from=1&to=1'))[1], '{"changes":[]}\n')
  assert.equal((await diff('?from=99'))[0], 404)
  assert.equal((await diff('?from=../../etc/passwd'))[0], 404)
  const withSecret = withTokens('second')
  assert.equal((await gateway.put(withSecret)).status, 200)
  const shown = await gateway.api('/v1/deploys/diff', { headers: { authorization: `Bearer ${SECRET}` } })
  assert.equal((await shown.text()).includes(Buffer.from(SECRET).toString('hex')), false)
})
