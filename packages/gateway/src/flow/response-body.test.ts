import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { type Outcome, refusal, type Step, UnreadableBody } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { startGateway, TIMEOUTS } from '../testing/gateway.js'
import { httpOrigin, rawOrigin } from '../testing/origin.js'

/** A step that turns the response's body into capitals. */
const CAPITALS: Omit<Step, 'name'> = {
  onResponseBody(x, body) {
    x.responseBody = Buffer.from(Buffer.from(body).toString('utf8').toUpperCase())
    return null
  },
}

async function serve(t: TestContext, step: Omit<Step, 'name'>, handler: http.RequestListener) {
  const origin = await httpOrigin(t, handler)
  const routes = [{ id: 'all', policies: FAKE_POLICIES }]
  return startGateway(t, { upstreams: [{ urls: [origin.url] }], routes }, { catalog: fakeCatalog(step) })
}

test('a response reaches the client as the policy has made it, with its new length', async (t) => {
  const { url } = await serve(t, CAPITALS, (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain' })
    res.write('first ')
    setTimeout(() => res.end('and äöü'), 20)
  })
  const answer = await fetch(url)
  assert.equal(await answer.text(), 'FIRST AND ÄÖÜ')
  assert.equal(answer.headers.get('content-length'), '16')
  assert.equal(answer.headers.get('content-type'), 'text/plain')
})

test('the upstream is asked for a whole response without content coding', async (t) => {
  const seen: http.IncomingHttpHeaders[] = []
  const { url } = await serve(t, CAPITALS, (req, res) => {
    seen.push(req.headers)
    res.end('x')
  })
  await fetch(url, { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-3', accept: 'text/plain' } })
  assert.equal(seen[0]?.['accept-encoding'], undefined)
  assert.equal(seen[0]?.range, undefined)
  assert.equal(seen[0]?.accept, 'text/plain')
})

test('an empty body is passed to the policy too; HEAD and 204 have none, and no length that a GET may not have', async (t) => {
  const bodies: number[] = []
  const step = {
    onResponseBody(_: unknown, body: Uint8Array): Outcome {
      bodies.push(body.length)
      return null
    },
  }
  const { url } = await serve(t, step, (req, res) => {
    if (req.url === '/none') res.writeHead(204).end()
    else
      res
        .writeHead(200, { 'content-length': req.url === '/empty' ? 0 : 4 })
        .end(req.url === '/empty' ? '' : 'four')
  })
  assert.equal((await fetch(`${url}/empty`)).status, 200)
  assert.equal((await fetch(`${url}/none`)).status, 204)
  assert.equal((await fetch(`${url}/four`, { method: 'HEAD' })).headers.get('content-length'), null)
  assert.deepEqual(bodies, [0])
})

test('a response that stops arriving while it is collected is abandoned after the idle timeout', async (t) => {
  const origin = await rawOrigin(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'),
  )
  const timeouts = { ...TIMEOUTS, idleMs: 200, headersMs: 60_000 }
  const routes = [{ id: 'all', policies: FAKE_POLICIES }]
  const overrides = { upstreams: [{ urls: [origin.url], timeouts }], routes }
  const { url } = await startGateway(t, overrides, { catalog: fakeCatalog(CAPITALS) })
  const answer = await fetch(url, { signal: AbortSignal.timeout(6000) })
  assert.equal(answer.status, 504)
  assert.equal(answer.headers.get('x-gw-error'), 'GW_UPSTREAM_TIMEOUT')
})

test('a policy may delay the response, and may refuse it', async (t) => {
  const step = {
    async onResponseBody(_: unknown, body: Uint8Array): Promise<Outcome> {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return body.length > 3 ? refusal('GW_RESPONSE_INVALID', 'too much') : null
    },
  }
  const { url } = await serve(t, step, (req, res) => res.end(req.url === '/a' ? 'abc' : 'abcd'))
  assert.equal(await (await fetch(`${url}/a`)).text(), 'abc')
  const refused = await fetch(`${url}/b`)
  assert.equal(refused.status, 502)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
  assert.doesNotMatch(await refused.text(), /abcd/)
})

test('a body that the policy cannot read is blamed on its sender', async (t) => {
  const step: Omit<Step, 'name'> = {
    onRequestBody() {
      throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body is no XML')
    },
  }
  const { url } = await serve(t, step, (_, res) => res.end('never'))
  const answer = await fetch(url, { method: 'POST', body: 'no' })
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /"the body is no XML".*GW_BODY_UNPARSABLE/)
})

test('a response beyond what may be collected is refused, however it is framed', async (t) => {
  const limited: Omit<Step, 'name'> = {
    ...CAPITALS,
    onResponse(x) {
      x.responseBodyLimit = 1000
      return null
    },
  }
  const { url } = await serve(t, limited, (req, res) => {
    if (req.url === '/length') res.writeHead(200, { 'content-length': '1001' })
    res.end('x'.repeat(req.url === '/fits' ? 1000 : 1001))
  })
  for (const path of ['/length', '/chunks']) {
    const answer = await fetch(url + path)
    assert.equal(answer.status, 502, path)
    assert.equal(answer.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
  }
  assert.equal((await (await fetch(`${url}/fits`)).text()).length, 1000)
})

test('an upstream that breaks off within the body leads to 502, because nothing was sent', async (t) => {
  const origin = await rawOrigin(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'))
  })
  const routes = [{ id: 'all', policies: FAKE_POLICIES }]
  const overrides = { upstreams: [{ urls: [origin.url] }], routes }
  const { url } = await startGateway(t, overrides, { catalog: fakeCatalog(CAPITALS) })
  assert.equal((await fetch(url)).status, 502)
})

test("the route's own response passes the same policy; refusals do not", async (t) => {
  const action = { kind: 'respond' as const, status: 200, headers: [], body: 'hello' }
  const routes = [{ id: 'all', policies: FAKE_POLICIES, action, timeouts: null }]
  const { url } = await startGateway(t, { routes }, { catalog: fakeCatalog(CAPITALS) })
  assert.equal(await (await fetch(url)).text(), 'HELLO')
  const head = await fetch(url, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), null)
  const refusing = { ...CAPITALS, onRequest: () => refusal('GW_POLICY_REFUSED', 'not you') }
  const other = await startGateway(t, { routes }, { catalog: fakeCatalog(refusing) })
  const refused = await fetch(other.url)
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /not you/)
})
