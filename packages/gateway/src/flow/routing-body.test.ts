import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type BodyLanguage, type Catalog, type Policy, UnreadableBody } from '@sluice/core'
import { startGateway, until } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'

/** A language whose path is a number: the word of the body at that position. */
const WORDS: BodyLanguage = {
  isLoaded: true,
  load: async () => {},
  compile(path) {
    if (!/^\d+$/.test(path)) throw new Error('it is no number')
    return ({ body }) => {
      if (body === null || body.length === 0) return null
      const text = Buffer.from(body).toString()
      if (text.includes('?')) throw new UnreadableBody('GW_OVERLOADED', 'no memory')
      if (text.includes('!')) throw new UnreadableBody('GW_BODY_UNPARSABLE', 'no words')
      return text.split(' ')[Number(path)] ?? null
    }
  },
  compileStreaming: () => null,
}

const reported: string[] = []
const report: Policy = {
  name: 'report',
  summary: 'Test.',
  schema: {} as Policy['schema'],
  compile: () => ({
    name: 'report',
    onRequest(x) {
      reported.push(Buffer.from(x.body ?? []).toString())
      return null
    },
  }),
}

/** Sets a limit of five bytes, and cannot read exclamation marks. */
const strict: Policy = {
  name: 'strict',
  summary: 'Reads.',
  schema: {} as Policy['schema'],
  compile: () => ({
    name: 'strict',
    onRequest(x) {
      x.bodyLimit = 5
      return null
    },
    onRequestBody(_, body) {
      if (body.includes(0x21)) throw new UnreadableBody('GW_BODY_UNPARSABLE', 'no words')
      return null
    },
  }),
}

/** Changes the body into an unreadable one, or only into a different one. */
const swap: Policy = {
  name: 'swap',
  summary: 'Changes.',
  schema: {} as Policy['schema'],
  compile: ({ body }: { body: string }) => ({
    name: 'swap',
    onRequestBody(x) {
      x.body = Buffer.from(body)
      return null
    },
  }),
}

const mark: Policy = {
  name: 'mark',
  summary: 'Marks.',
  schema: {} as Policy['schema'],
  compile: () => ({
    name: 'mark',
    onResponse(x) {
      x.responseHeaders.push('x-mark', 'yes')
      return null
    },
  }),
}

function catalogOf(policies: readonly Policy[] = [report, strict, swap, mark]): Catalog {
  return Object.assign(new Map(policies.map((policy) => [policy.name, policy])), {
    bodies: { json: WORDS, xml: WORDS },
  })
}

function when(text: string) {
  const path = { text: '/*', kind: 'prefix' as const, segments: [] }
  return { hosts: [], path, methods: [], headers: [], query: [], when: text }
}

async function serve(t: TestContext, routes: Parameters<typeof startGateway>[1]['routes'], bodyBytes = 1000) {
  const origin = await httpOrigin(t, (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => res.setHeader('x-route', req.headers['x-route'] ?? '').end(Buffer.concat(chunks)))
  })
  const listener = { limits: { bodyBytes, bodyIdleMs: 300 } }
  const overrides = {
    listener,
    upstreams: [{ urls: [origin.url] }],
    ...(routes === undefined ? {} : { routes }),
  }
  return startGateway(t, overrides, { catalog: catalogOf() })
}

const ANSWER = { kind: 'respond' as const, headers: [], body: '' }
const ROUTES = [
  {
    id: 'ibm',
    match: when('req.body.xml("1") == "IBM"'),
    action: { ...ANSWER, status: 201 },
    timeouts: null,
  },
  { id: 'sun', match: when('req.body.xml("1") == "SUN"') },
]

function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body })
}

test('the body selects the route and reaches its upstream complete', async (t) => {
  const { url } = await serve(t, ROUTES)
  assert.equal((await post(url, 'buy IBM')).status, 201)
  const sun = await post(url, 'buy SUN now')
  assert.equal(sun.status, 200)
  assert.equal(await sun.text(), 'buy SUN now')
  assert.equal((await post(url, 'buy nothing')).status, 404)
})

test('a body that arrives in pieces is waited for', async (t) => {
  const { port } = await serve(t, ROUTES)
  const connection = await connectRaw(t, port)
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbuy \r\n')
  await new Promise((resolve) => setTimeout(resolve, 50))
  connection.send('3\r\nIBM\r\n0\r\n\r\n')
  await until(() => connection.text.startsWith('HTTP/1.1 201 '))
})

test('without a body there is no wait, and the condition matches nothing', async (t) => {
  const { url } = await serve(t, [
    ...ROUTES,
    { id: 'rest', action: { ...ANSWER, status: 202 }, timeouts: null },
  ])
  assert.equal((await fetch(url)).status, 202)
})

test('a body that cannot be read matches no condition on it', async (t) => {
  const { url, events } = await serve(t, [
    ...ROUTES,
    { id: 'rest', action: { ...ANSWER, status: 202 }, timeouts: null },
  ])
  assert.equal((await post(url, 'buy IBM!')).status, 202)
  assert.deepEqual(events, [])
})

test('a body that cannot be queried for lack of memory is not left to another route', async (t) => {
  const { url, plane } = await serve(t, [
    ...ROUTES,
    { id: 'rest', action: { ...ANSWER, status: 202 }, timeouts: null },
  ])
  const answer = await post(url, 'buy IBM?')
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('x-gw-error'), 'GW_OVERLOADED')
  await until(() => plane.inFlight === 0)
})

function inPieces(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body: new Blob([body]).stream(), duplex: 'half' })
}

const STRICT = { id: 'strict', use: 'strict', with: {}, when: null, onError: 'continue' as const }

test('the limit of a route applies to a body received before the route was known', async (t) => {
  const { url } = await serve(t, [
    { id: 'buy', match: when('req.body.xml("0") == "buy"'), policies: [STRICT] },
    { id: 'all', policies: [{ ...STRICT, when: 'req.body.xml("0") == "sell"' }] },
  ])
  assert.equal((await inPieces(url, 'buy I')).status, 200)
  assert.equal((await inPieces(url, 'buy IBM')).status, 413)
  // Here the policy waits for the body.
  assert.equal((await inPieces(url, 'sell')).status, 200)
  assert.equal((await inPieces(url, 'sell IBM')).status, 413)
})

test('a body that a policy cannot read is refused, even if the policy may fail', async (t) => {
  const { url } = await serve(t, [{ id: 'all', policies: [STRICT] }])
  assert.equal((await post(url, 'buy')).status, 200)
  assert.equal((await post(url, 'buy!')).status, 400)
})

test('the result of a condition on the body holds for the response, whatever became of the body', async (t) => {
  for (const body of ['sell', 'buy!']) {
    const policies = [
      { id: 'mark', use: 'mark', with: {}, when: 'req.body.json("0") == "buy"', onError: 'fail' as const },
      { id: 'swap', use: 'swap', with: { body }, when: null, onError: 'fail' as const },
    ]
    const { url } = await serve(t, [{ id: 'all', policies }])
    const answer = await post(url, 'buy IBM')
    assert.equal(await answer.text(), body)
    assert.equal(answer.headers.get('x-mark'), 'yes')
    assert.equal((await post(url, 'sell IBM')).headers.get('x-mark'), null)
  }
})

test('a request that a better route serves without the body is not delayed', async (t) => {
  const first = { id: 'first', priority: 1, match: when('req.method == "POST"') }
  const { port } = await serve(t, [
    { ...first, action: { ...ANSWER, status: 203 }, timeouts: null },
    ...ROUTES,
  ])
  const connection = await connectRaw(t, port)
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nb')
  await until(() => connection.text.startsWith('HTTP/1.1 203 '))
})

test('a body that is too large or too slow is refused, and its client may disconnect', async (t) => {
  const gateway = await serve(t, ROUTES, 10)
  assert.equal((await post(gateway.url, 'buy something else')).status, 413)
  const endless = await connectRaw(t, gateway.port)
  endless.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nbuy SUN now \r\n')
  await until(() => endless.text.startsWith('HTTP/1.1 413 '))
  const slow = await connectRaw(t, gateway.port)
  slow.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nb')
  await until(() => slow.text.startsWith('HTTP/1.1 408 '))
  const gone = await connectRaw(t, gateway.port)
  gone.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nb')
  await until(() => gateway.plane.inFlight === 1)
  gone.reset()
  await until(() => gateway.plane.inFlight === 0)
})

test('a policy whose condition reads the body runs once the body was received', async (t) => {
  reported.length = 0
  const policies = [
    { id: 'report', use: 'report', with: {}, when: 'req.body.json("0") == "buy"', onError: 'fail' as const },
  ]
  const { url } = await serve(t, [{ id: 'all', policies }])
  assert.equal(await (await post(url, 'buy IBM')).text(), 'buy IBM')
  assert.equal(await (await post(url, 'sell IBM')).text(), 'sell IBM')
  assert.deepEqual(reported, ['buy IBM'])
  const broken = await post(url, 'buy!')
  assert.equal(broken.status, 400)
  assert.equal(broken.headers.get('x-gw-error'), 'GW_BODY_UNPARSABLE')
})
