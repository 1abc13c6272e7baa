import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAPTURE_MEMORY, refusal } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { TIMEOUTS, until } from '../testing/gateway.js'
import { closedPort, echoOrigin, httpOrigin, rawOrigin } from '../testing/origin.js'
import { statusesOf } from '../testing/raw-client.js'
import { connectRaw } from '../testing/raw-connection.js'
import { captureOf, startLogged } from '../testing/traffic-records.js'

const ON = { headers: true, body: true }
const EVERYTHING = captureOf({ requestIn: ON, requestUp: ON, responseUp: ON, responseOut: ON })
const JSON_TYPE = { 'content-type': 'application/json' }

test('each part is recorded as it was at that point: changes by policies show only afterwards', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    req.resume().on('end', () => {
      res.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': 'sid=s3cret', 'x-inside': '1' })
      res.end('made')
    })
  })
  const catalog = fakeCatalog({
    onRequest: (x) => {
      x.headers.push('x-added', 'yes')
      return null
    },
    onResponse: (x) => {
      x.responseHeaders.push('x-outside', '2')
      return null
    },
  })
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] }
  const gateway = await startLogged(t, overrides, { capture: EVERYTHING }, { catalog })
  await fetch(`${gateway.url}/a`, {
    method: 'POST',
    headers: { ...JSON_TYPE, authorization: 'Bearer s3cret', 'x-api-key': 's3cret', cookie: 'a=s3cret' },
    body: '{"a":1}',
  })
  const [record] = await gateway.records()
  assert.ok(!JSON.stringify(record).includes('s3cret'))
  const { req_in, req_up, res_up, res_out } = record!.hdr!
  assert.equal(req_in!['authorization'], '***')
  assert.equal(req_in!['cookie'], '***')
  assert.equal(req_in!['x-api-key'], '***')
  assert.equal(req_in!['host'], `127.0.0.1:${gateway.port}`)
  assert.equal(req_in!['x-added'], undefined)
  assert.equal(req_in!['x-forwarded-for'], undefined)
  assert.equal(req_up!['x-added'], 'yes')
  assert.equal(req_up!['x-forwarded-for'], '127.0.0.1')
  assert.equal(res_up!['x-inside'], '1')
  assert.equal(res_up!['x-outside'], undefined)
  assert.equal(res_out!['x-outside'], '2')
  assert.equal(res_out!['set-cookie'], '***')
  assert.deepEqual(record!.body, {
    req_in: { bytes: 7, ct: 'application/json', text: '{"a":1}' },
    req_up: { bytes: 7, ct: 'application/json', text: '{"a":1}' },
    res_up: { bytes: 4, ct: 'text/plain', text: 'made' },
    res_out: { bytes: 4, ct: 'text/plain', text: 'made' },
  })
  assert.deepEqual(record!['log'], { reason: 'all' })
})

test('a body that a policy needed in one piece is recorded as received and as sent', async (t) => {
  const origin = await echoOrigin(t)
  const catalog = fakeCatalog({
    onRequestBody: (x) => {
      x.body = Buffer.from('{"b":2}')
      return null
    },
  })
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] }
  const capture = captureOf({ requestIn: ON, requestUp: ON })
  const gateway = await startLogged(t, overrides, { capture }, { catalog })
  await fetch(`${gateway.url}/a`, { method: 'POST', headers: JSON_TYPE, body: '{"a":1}' })
  const [record] = await gateway.records()
  assert.equal(record!.body!['req_in']!.text, '{"a":1}')
  assert.equal(record!.body!['req_up']!.text, '{"b":2}')
  assert.ok(record!.t['req_chain']! >= 0)
})

test('the start of streamed bodies is kept, and the whole is counted', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    req.on('end', () => {
      res.setHeader('content-type', 'text/plain')
      res.write('y'.repeat(100_000))
      res.end('z'.repeat(100_000))
    })
    req.resume()
  })
  const capture = captureOf({
    requestIn: ON,
    requestUp: ON,
    responseUp: ON,
    responseOut: ON,
    maxBodyBytes: 100,
  })
  const gateway = await startLogged(t, { upstreams: [{ urls: [origin.url] }] }, { capture })
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 3000000\r\n\r\n')
  client.send('x'.repeat(60))
  client.send(Buffer.alloc(2_999_940, 'x'))
  await until(() => client.receivedBytes > 200_000)
  const [record] = await gateway.records()
  const sent = { bytes: 3_000_000, ct: 'text/plain', text: 'x'.repeat(100), truncated: true }
  const given = { bytes: 200_000, ct: 'text/plain', text: 'y'.repeat(100), truncated: true }
  assert.deepEqual(record!.body, { req_in: sent, req_up: sent, res_up: given, res_out: given })
})

test('a retry does not record a body twice', async (t) => {
  const origin = await echoOrigin(t)
  const urls = [`http://127.0.0.1:${await closedPort()}`, origin.url]
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls, retry: { attempts: 1, budget: 1 } }] },
    { capture: captureOf({ requestIn: ON, requestUp: ON }) },
  )
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(`${gateway.url}/a`, { method: 'PUT', headers: JSON_TYPE, body: '{"a":1}' })
    await answer.text()
  }
  const records = await gateway.records()
  const moved = records.filter((record) => (record['up'] as { attempts: number }).attempts === 2)
  assert.equal(moved.length, 1)
  assert.equal((moved[0]!['up'] as { failovers: number }).failovers, 1)
  for (const { body } of records) {
    assert.equal(body!['req_in']!.text, '{"a":1}')
    assert.equal(body!['req_up']!.bytes, 7)
  }
})

test('bodies are kept only of exchanges that ended in one of the ways asked for', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    res.statusCode = req.url === '/broken' ? 500 : 200
    res.end('text')
  })
  const catalog = fakeCatalog({
    onRequest: (x) => (x.path === '/blocked' ? refusal('GW_POLICY_REFUSED', 'not here') : null),
  })
  const keepBodyOn = { results: ['blocked' as const], slowMs: 60_000, status: 500, share: null }
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] },
    { capture: captureOf({ responseOut: ON, keepBodyOn }) },
    { catalog },
  )
  for (const path of ['/fine', '/broken', '/blocked']) await (await fetch(gateway.url + path)).text()
  const [fine, broken, blocked] = await gateway.records()
  assert.equal(fine!.body, undefined)
  assert.equal(fine!['log'], undefined)
  assert.ok(fine!.hdr!['res_out']!['x-request-id'])
  assert.equal(broken!.body!['res_out']!.text, 'text')
  assert.deepEqual(broken!['log'], { reason: 'status' })
  assert.match(blocked!.body!['res_out']!.text!, /GW_POLICY_REFUSED/)
  assert.deepEqual(blocked!['log'], { reason: 'blocked' })
  assert.deepEqual(blocked!.error, {
    code: 'GW_POLICY_REFUSED',
    policy: 'p',
    phase: 'req_chain',
    msg: 'not here',
  })
})

test('known limit: a call refused by its head is recorded without its body, which was not read', async (t) => {
  const catalog = fakeCatalog({ onRequest: () => refusal('GW_POLICY_REFUSED', 'not here') })
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: ['http://127.0.0.1:1'] }], routes: [{ id: 'all', policies: FAKE_POLICIES }] },
    { capture: captureOf({ requestIn: ON, responseOut: ON }) },
    { catalog },
  )
  await (await fetch(gateway.url, { method: 'POST', headers: JSON_TYPE, body: '{"a":1}' })).text()
  const [record] = await gateway.records()
  assert.equal(record!.hdr!['req_in']!['content-type'], 'application/json')
  assert.deepEqual(Object.keys(record!.body!), ['res_out'])
})

test('a slow exchange keeps its bodies', async (t) => {
  const origin = await httpOrigin(t, (req, res) => {
    setTimeout(() => res.end('text'), req.url === '/slow' ? 400 : 0)
  })
  const keepBodyOn = { results: [], slowMs: 300, status: null, share: null }
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: [origin.url] }] },
    { capture: captureOf({ responseOut: ON, keepBodyOn }) },
  )
  await (await fetch(`${gateway.url}/slow`)).text()
  const [slow] = await gateway.records()
  assert.equal(slow!.body!['res_out']!.text, 'text')
  assert.deepEqual(slow!['log'], { reason: 'slow' })
})

test('a route and a method of it may record more, less or nothing', async (t) => {
  const origin = await echoOrigin(t)
  const own = { off: false, capture: captureOf({ requestIn: ON }) }
  const methods = { PUT: { off: false, capture: null }, DELETE: { off: true, capture: null } }
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', log: { ...own, methods } }] },
    { capture: captureOf({ responseOut: ON }) },
  )
  for (const method of ['POST', 'PUT', 'DELETE']) {
    await (await fetch(`${gateway.url}/a`, { method, headers: JSON_TYPE, body: '{}' })).text()
  }
  const [post, put, ...rest] = await gateway.records()
  assert.deepEqual(Object.keys(post!.body!), ['req_in'])
  assert.deepEqual(put!['http'], { method: 'PUT', version: '1.1' })
  assert.equal(put!.body, undefined)
  assert.equal(put!.hdr, undefined)
  assert.deepEqual(rest, [])
})

test('a client that disconnects while it sends leaves what it had sent', async (t) => {
  let begun = 0
  const origin = await rawOrigin(t, (socket) => socket.on('data', () => begun++))
  const keepBodyOn = { results: ['aborted' as const], slowMs: null, status: null, share: null }
  const capture = captureOf({ requestIn: ON, requestUp: ON, keepBodyOn })
  const gateway = await startLogged(
    t,
    { upstreams: [{ urls: [origin.url], timeouts: TIMEOUTS }], listener: { limits: { bodyBufferBytes: 0 } } },
    { capture },
  )
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nbegin')
  await until(() => begun > 0)
  client.reset()
  await until(() => gateway.plane.inFlight === 0)
  const [record] = await gateway.records()
  assert.equal(record!['result'], 'aborted')
  assert.equal(record!.body!['req_in']!.text, 'begin')
  assert.deepEqual(record!['log'], { reason: 'aborted' })
})

test('a request that is refused before it has a route has its head and its response in the record', async (t) => {
  const gateway = await startLogged(t, {}, { capture: EVERYTHING })
  const client = await connectRaw(t, gateway.port)
  client.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: x1\r\nX-One: 1\r\n\r\n')
  await until(() => statusesOf(client.text).length > 0)
  const [record] = await gateway.records()
  assert.equal(record!['route'], '-')
  assert.equal(record!.hdr!['req_in']!['x-one'], '1')
  assert.equal(record!.hdr!['req_up'], undefined)
  assert.match(record!.body!['res_out']!.text!, /GW_BAD_REQUEST/)
  assert.equal(record!.error!['phase'], 'route')
})

test('requests without a route are recorded, unless the document says otherwise', async (t) => {
  const nowhere = { match: { hosts: ['elsewhere'], path: { text: '', kind: 'any' as const, segments: [] } } }
  const match = { ...nowhere.match, methods: [], headers: [], query: [], when: null }
  const origin = await echoOrigin(t)
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', match }] }
  for (const unknownRoutes of [true, false]) {
    const gateway = await startLogged(t, overrides, { unknownRoutes })
    assert.equal((await fetch(`${gateway.url}/a`)).status, 404)
    const records = await gateway.records()
    assert.deepEqual(
      records.map((record) => record['route']),
      unknownRoutes ? ['-'] : [],
    )
  }
})

test('without memory for captures bodies pass and are counted, and held memory is released at the end', async (t) => {
  const origin = await echoOrigin(t)
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all' }] }
  const gateway = await startLogged(t, overrides, { capture: EVERYTHING })
  const send = async (): Promise<void> => {
    const answer = await fetch(`${gateway.url}/a`, { method: 'POST', headers: JSON_TYPE, body: '{"a":1}' })
    await answer.arrayBuffer()
  }
  const others = 64 * 1024 ** 2 - CAPTURE_MEMORY.heldBytes
  assert.ok(CAPTURE_MEMORY.take(others))
  await send()
  CAPTURE_MEMORY.giveBack(others)
  await send()
  const [starved, fed] = await gateway.records()
  const { bytes, truncated, cut, text } = starved!.body!['req_in']! as unknown as Record<string, unknown>
  assert.deepEqual({ bytes, truncated, cut, text }, { bytes: 7, truncated: true, cut: 'memory', text: '' })
  assert.equal(fed!.body!['req_in']!.text, '{"a":1}')
  assert.equal(CAPTURE_MEMORY.heldBytes, 0)
})
