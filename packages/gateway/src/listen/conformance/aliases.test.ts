import assert from 'node:assert/strict'
import { echoOrigin } from '../../testing/origin.js'
import { sendRaw, statusesOf } from '../../testing/raw-client.js'
import { testEngines } from '../testing/engines.js'

// Spellings of methods, hosts and forwarding fields that servers may treat as equal.

const ALL = {
  hosts: [],
  path: { text: '/*', kind: 'prefix' as const, segments: [] },
  methods: [],
  headers: [],
  query: [],
  when: null,
}

testEngines('a lower-case method reaches no target, whatever the routes say', async (t, start) => {
  const origin = await echoOrigin(t)
  const post = { ...ALL, methods: ['POST'] }
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    routes: [
      { id: 'post', match: post, action: { kind: 'respond', status: 403, headers: [], body: '' } },
      { id: 'all' },
    ],
  })
  const statusOf = async (method: string): Promise<readonly number[]> =>
    statusesOf(
      (await sendRaw(gateway.port, [`${method} /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`])).text,
    )
  assert.deepEqual(await statusOf('POST'), [403])
  for (const method of ['post', 'Post', 'trace', 'TRACE', 'get', 'connect'])
    assert.deepEqual(await statusOf(method), [501], method)
  assert.equal(origin.connections(), 0)
})

testEngines('a host reaches the same route however it is written', async (t, start) => {
  const origin = await echoOrigin(t)
  const inside = { ...ALL, hosts: ['internal.example', '[2001:db8::1]'] }
  const gateway = await start(t, {
    upstreams: [{ urls: [origin.url] }],
    routes: [
      { id: 'inside', match: inside, action: { kind: 'respond', status: 403, headers: [], body: '' } },
      { id: 'all' },
    ],
  })
  const statusOf = async (host: string): Promise<readonly number[]> =>
    statusesOf(
      (await sendRaw(gateway.port, [`GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`])).text,
    )
  for (const host of [
    'internal.example.',
    'INTERNAL.example.:80',
    'internal.example:',
    '[2001:DB8:0:0::1]:1',
  ])
    assert.deepEqual(await statusOf(host), [403], host)
  for (const host of [
    'internal.example..',
    '.internal.example',
    'u@internal.example',
    'internal.example:99999',
  ])
    assert.deepEqual(await statusOf(host), [400], host)
  assert.equal(origin.connections(), 0)
})

testEngines(
  'no field reaches a target that could mistake it for framing or for a forwarding field of the gateway',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const names = [
      'Transfer_Encoding',
      'content_length',
      'Content.Length',
      'X_Forwarded_For',
      'x.forwarded.proto',
    ]
    const fields = [...names, 'X_Real.IP', 'Content_Type', 'X_Mine'].map((name) => `${name}: 9\r\n`).join('')
    const bytes = `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n${fields}\r\nabc`
    const { text } = await sendRaw(gateway.port, [bytes])
    assert.deepEqual(statusesOf(text), [200])
    assert.match(text, /"bytes":3/)
    assert.match(text, /"x_mine":"9"/)
    assert.doesNotMatch(text, /(transfer|content|forwarded|real)[_.]|x_forwarded|x\.forwarded/i)
  },
)

testEngines(
  'nothing after a POST without a length is parsed, because its length may be hidden behind an empty name',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const gateway = await start(t, { upstreams: [{ urls: [origin.url] }] })
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
    const head = `POST /a HTTP/1.1\r\nHost: a\r\n: v\r\nContent-Length: ${smuggled.length}\r\n\r\n`
    for (const gapMs of [0, 300]) {
      const { text, isClosed } = await sendRaw(gateway.port, [head, smuggled], { gapMs })
      assert.doesNotMatch(text, /smuggled/)
      assert.equal(isClosed, true)
    }
  },
)

testEngines(
  'the upstream learns the client from the field that the trusted proxies send, and from no other',
  async (t, start) => {
    const origin = await echoOrigin(t)
    const listener = { trustedProxies: ['127.0.0.1/32'] }
    const upstreams = [{ urls: [origin.url] }]
    const sent =
      'X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nX_Forwarded_For: 3.3.3.3\r\nForwarded: for=2.2.2.2\r\n'
    const seen = async (port: number): Promise<Readonly<Record<string, string>>> => {
      const request = `GET /a HTTP/1.1\r\nHost: a\r\n${sent}Connection: close\r\n\r\n`
      const { text } = await sendRaw(port, [request], { until: (got) => got.endsWith('}') })
      return (JSON.parse(text.slice(text.indexOf('{'))) as { readonly headers: Record<string, string> })
        .headers
    }
    const byDefault = await seen((await start(t, { upstreams, listener })).port)
    assert.equal(byDefault['x-forwarded-for'], '1.1.1.1, 127.0.0.1')
    assert.equal(byDefault['x-forwarded-proto'], 'https')
    const forwardedHeader = 'forwarded' as const
    const other = await seen((await start(t, { upstreams, listener: { ...listener, forwardedHeader } })).port)
    assert.equal(other['x-forwarded-for'], '2.2.2.2, 127.0.0.1')
    assert.equal(other['x-forwarded-proto'], 'http')
    assert.equal(other['forwarded'], 'for=2.2.2.2, for=127.0.0.1;host="a";proto=http')
    assert.equal(byDefault['forwarded'], undefined)
    for (const fields of [byDefault, other]) assert.equal(fields['x_forwarded_for'], undefined)
  },
)
