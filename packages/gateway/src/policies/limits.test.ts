import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway, TIMEOUTS, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'

type Use = readonly [string, object]

async function serve(
  t: TestContext,
  uses: readonly Use[],
  handler: http.RequestListener,
  timeouts = TIMEOUTS,
) {
  const origin = await httpOrigin(t, handler)
  const policies = uses.map(([use, config], i) => ({
    ...{ id: `${use}-${i}`, use, with: config, when: null, onError: 'fail' as const },
  }))
  const upstreams = [{ urls: [origin.url], timeouts }]
  return startGateway(t, { upstreams, routes: [{ id: 'all', policies, timeouts }] }, { catalog })
}

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

test('a response announced as too large is replaced, one that streams is cut', async (t) => {
  const use: Use = ['size-limit', { response: { maxBodyBytes: '10kb' } }]
  const gateway = await serve(t, [use], (req, res) => {
    if (req.url === '/announced') res.writeHead(200, { 'content-length': '20000' }).end('x'.repeat(20_000))
    else if (req.url === '/small') res.end('x'.repeat(10_240))
    else {
      res.write('x'.repeat(8000))
      setTimeout(() => res.end('x'.repeat(8000)), 50)
    }
  })
  const announced = await fetch(`${gateway.url}/announced`)
  assert.equal(announced.status, 502)
  assert.equal(announced.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
  assert.equal((await (await fetch(`${gateway.url}/small`)).text()).length, 10_240)
  const streamed = await fetch(`${gateway.url}/streamed`)
  await assert.rejects(streamed.text())
})

test('requests over a bound are refused before the upstream', async (t) => {
  let asked = 0
  const use: Use = [
    'size-limit',
    { request: { maxUrlBytes: '20b', maxHeaders: 12, maxBodyBytes: '10b', minBodyBytes: '3b' } },
  ]
  const gateway = await serve(t, [use], (req, res) => {
    asked++
    req.resume().on('end', () => res.end())
  })
  const post = async (path: string, init: object): Promise<number> =>
    (await fetch(gateway.url + path, { method: 'POST', ...init })).status
  assert.equal(await post('/a', { body: 'abc' }), 200)
  assert.equal(await post(`/${'a'.repeat(20)}`, { body: 'abc' }), 414)
  const headers = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x-${i}`, '1']))
  assert.equal(await post('/a', { body: 'abc', headers }), 431)
  assert.equal(await post('/a', { body: 'x'.repeat(11) }), 413)
  assert.equal(await post('/a', { body: 'ab' }), 400)
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n')
  await until(() => statusesOf(client.text).length > 0)
  assert.deepEqual(statusesOf(client.text), [400])
  assert.equal(asked, 1)
})

test('at a closed time requests are refused with Retry-After', async (t) => {
  const use: Use = ['time-window', { mode: 'restrict', windows: [{ dates: ['2020-01-01..2100-01-01'] }] }]
  const gateway = await serve(t, [use], (_, res) => res.end())
  const answer = await fetch(gateway.url)
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('x-gw-error'), 'GW_TIME_RESTRICTED')
})

test('a slot is freed after a response, an abort, a timeout, a refusal and an upstream failure', async (t) => {
  const waiting: http.ServerResponse[] = []
  const limit: Use = ['concurrency-limit', { limit: 1 }]
  const later: Use = ['body-limit', { maxBytes: '5b' }]
  const gateway = await serve(
    t,
    [limit, later],
    (req, res) => {
      if (req.url === '/a') waiting.push(res)
      else if (req.url === '/broken') req.socket.destroy()
      else if (req.url !== '/never') req.resume().on('end', () => res.end('ok'))
    },
    { ...TIMEOUTS, totalMs: 500 },
  )
  const status = async (path: string, init: object = {}): Promise<number> => {
    const answer = await fetch(gateway.url + path, init)
    await answer.text()
    return answer.status
  }
  const isFree = async (): Promise<void> => until(async () => (await status('/free')) === 200)

  const held = status('/a')
  await until(() => waiting.length === 1)
  const limited = await fetch(`${gateway.url}/free`)
  assert.equal(limited.status, 503)
  assert.equal(limited.headers.get('retry-after'), '1')
  assert.equal(limited.headers.get('x-gw-error'), 'GW_CONCURRENCY_LIMITED')
  waiting[0]!.end()
  assert.equal(await held, 200)
  await isFree()

  const client = await connectRaw(t, gateway.port)
  client.send(GET)
  await until(() => waiting.length === 2)
  assert.equal(await status('/free'), 503)
  client.reset()
  await isFree()

  assert.equal(await status('/never'), 504)
  await isFree()
  assert.equal(await status('/free', { method: 'POST', body: 'too large' }), 413)
  await isFree()
  assert.equal(await status('/broken', { method: 'POST', body: 'x' }), 502)
  await isFree()
})

test('queued requests get free slots in order, and aborted ones get none', async (t) => {
  const waiting: http.ServerResponse[] = []
  const limit: Use = ['concurrency-limit', { limit: 1, queue: { limit: 2, timeout: '20s' } }]
  const gateway = await serve(t, [limit], (_, res) => void waiting.push(res))
  const first = fetch(gateway.url)
  await until(() => waiting.length === 1)
  const leaving = await connectRaw(t, gateway.port)
  leaving.send(GET)
  await until(() => gateway.plane.inFlight === 2)
  const second = fetch(gateway.url)
  await until(() => gateway.plane.inFlight === 3)
  assert.equal((await fetch(gateway.url)).status, 503)
  leaving.reset()
  await until(() => gateway.plane.inFlight === 2)
  waiting[0]!.end('first')
  assert.equal(await (await first).text(), 'first')
  await until(() => waiting.length === 2)
  waiting[1]!.end('second')
  assert.equal(await (await second).text(), 'second')
  assert.equal(waiting.length, 2)
})
