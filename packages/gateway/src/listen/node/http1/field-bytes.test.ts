import assert from 'node:assert/strict'
import http2 from 'node:http2'
import { test } from 'node:test'
import { type PlanOverrides, startGateway } from '../../../testing/gateway.js'
import { h2Origin } from '../../../testing/h2-origin.js'
import { echoOrigin, rawOrigin } from '../../../testing/origin.js'
import { sendRaw, statusesOf } from '../../../testing/raw-client.js'

// Bytes from 0x80 on are a part of a field's value (RFC 9110 section 5.5).

/** All of them, including at the ends of the value. */
const ALL = Buffer.from(Array.from({ length: 128 }, (_, i) => 0x80 + i)).toString('latin1')
const UTF8 = Buffer.from('Île-de-France\u00a0').toString('latin1')
const NODE: PlanOverrides = { listener: { engine: 'node' } }

const request = (fields: string): Buffer =>
  Buffer.from(`GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n`, 'latin1')

for (const transport of ['wire', 'undici'] as const) {
  test(`the bytes of a field reach the target as they came, over ${transport}`, async (t) => {
    let seen = ''
    const origin = await rawOrigin(t, (socket) =>
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1')
        if (seen.includes('\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      }),
    )
    const gateway = await startGateway(t, { ...NODE, upstreams: [{ urls: [origin.url], transport }] })
    const { text } = await sendRaw(gateway.port, [request(`X-All: ${ALL}\r\nCf-Region:\t${UTF8} \r\n`)])
    assert.deepEqual(statusesOf(text), [200])
    assert.ok(seen.includes(`x-all: ${ALL}\r\n`), seen)
    assert.ok(seen.includes(`cf-region: ${UTF8}\r\n`), seen)
  })
}

test('the bytes of a field reach a target over HTTP/2 as they came', async (t) => {
  let seen: http2.IncomingHttpHeaders = {}
  const origin = await h2Origin(t, (stream, headers) => {
    seen = headers
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  const upstream = { urls: [`http://127.0.0.1:${origin.port}`], http2: { alpn: false, priorKnowledge: true } }
  const gateway = await startGateway(t, { ...NODE, upstreams: [upstream] })
  const { text } = await sendRaw(gateway.port, [request(`X-All: ${ALL}\r\nCf-Region: ${UTF8}\r\n`)])
  assert.deepEqual(statusesOf(text), [200])
  assert.equal(seen['x-all'], ALL)
  assert.equal(seen['cf-region'], UTF8)
})

test('the bytes of a field of a client over HTTP/2 reach the target as they came', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, {
    listener: { engine: 'node', http2: { alpn: false, priorKnowledge: true, streams: 10 } },
    upstreams: [{ urls: [origin.url] }],
  })
  const client = http2.connect(gateway.url)
  t.after(() => client.destroy())
  const stream = client.request({ ':path': '/a', 'x-all': ALL, 'cf-region': UTF8 })
  let body = ''
  for await (const chunk of stream.setEncoding('utf8')) body += chunk as string
  const { headers } = JSON.parse(body) as { readonly headers: Readonly<Record<string, string>> }
  assert.equal(headers['x-all'], ALL)
  assert.equal(headers['cf-region'], UTF8)
})

test('a route matches the bytes of a field and no others, its text meaning UTF-8', async (t) => {
  const route = (id: string, headers: readonly object[]): object => ({
    id,
    match: {
      hosts: [],
      path: { text: '/*', kind: 'prefix', segments: [] },
      methods: [],
      headers,
      query: [],
      when: null,
    },
    action: { kind: 'respond', status: 200, headers: [], body: id },
  })
  const exact = (name: string, value: string): object => ({ name, test: 'exact', value })
  const gateway = await startGateway(t, {
    ...NODE,
    routes: [
      route('admin', [exact('x-role', 'admin')]),
      route('region', [exact('cf-region', 'Île')]),
      route('other', []),
    ] as NonNullable<PlanOverrides['routes']>,
  })
  const routeOf = async (field: string): Promise<string> =>
    /\r\n\r\n(.*)$/s.exec((await sendRaw(gateway.port, [request(`${field}\r\n`)])).text)![1]!
  assert.equal(await routeOf('X-Role: admin'), 'admin')
  for (const value of ['\xa0admin', 'admin\xff', '\xc2\xa0admin', 'admin\x85', '\xef\xbb\xbfadmin'])
    assert.equal(await routeOf(`X-Role: ${value}`), 'other', value)
  assert.equal(await routeOf('Cf-Region: \xc3\x8ele'), 'region')
  for (const value of ['\xcele', '\xc3\x8ele\xa0', 'le'])
    assert.equal(await routeOf(`Cf-Region: ${value}`), 'other')
})

for (const [fields, status] of [
  ['Content-Length: 3\xff\r\n\r\nabc', 400],
  ['Content-Length: \xa03\r\n\r\nabc', 400],
  ['Transfer-Encoding: chunked\xff\r\n\r\n0\r\n\r\n', 501],
  ['Transfer-Encoding: \xa0chunked\r\n\r\n0\r\n\r\n', 501],
  ['Host: internal.example\xff\r\n\r\n', 400],
  ['Expect: 100-continue\xa0\r\n\r\n', 417],
  ['X-Na\xefve: 1\r\n\r\n', 400],
] as const) {
  test(`${JSON.stringify(fields)} is answered ${status}`, async (t) => {
    const origin = await echoOrigin(t)
    const gateway = await startGateway(t, { ...NODE, upstreams: [{ urls: [origin.url] }] })
    const host = fields.startsWith('Host') ? '' : 'Host: a\r\n'
    const bytes = Buffer.from(`POST /a HTTP/1.1\r\n${host}${fields}`, 'latin1')
    assert.deepEqual(statusesOf((await sendRaw(gateway.port, [bytes])).text), [status])
    assert.equal(origin.connections(), 0)
  })
}

test('a space of another kind does not make an option of a connection', async (t) => {
  const origin = await echoOrigin(t)
  const gateway = await startGateway(t, { ...NODE, upstreams: [{ urls: [origin.url] }] })
  const once = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\xa0\r\nUpgrade: websocket\xa0\r\n\r\n'
  const { text } = await sendRaw(gateway.port, [Buffer.from(once + once, 'latin1')], {
    until: (seen) => statusesOf(seen).length === 2 && seen.endsWith('}'),
  })
  assert.deepEqual(statusesOf(text), [200, 200])
})
