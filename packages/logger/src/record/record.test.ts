import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AttemptTrace,
  consumerOf,
  EventStream,
  noteLimit,
  PHASE,
  SensitiveNames,
  WebSocketCounts,
} from '@sluice/core'
import fc from 'fast-check'
import { encodeRecord, sampleExchange } from '../testing.js'
import { type FieldSet, recordEnv } from './record-env.js'

const DIGEST = 'ab'.repeat(32)

function env(fields: FieldSet, node = 'pod-1') {
  return recordEnv({ fields, worker: 3, node, version: '0.1.0', configDigest: () => DIGEST })
}

function decoded(x: ReturnType<typeof sampleExchange>, fields: FieldSet) {
  return JSON.parse(encodeRecord(x, env(fields)))
}

/** Any UTF-16 text: printable and control characters, quotes, backslashes, lone surrogates. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\n', '\u0000', '\u007f', '\u2028', '\ud800', '\udfff', 'ü', '😀', ' '),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.string(),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))
const someText = anyText.filter((text) => text !== '')

test('a minimal record says who asked for what and how it ended', () => {
  const x = sampleExchange({ startedAt: Date.UTC(2026, 0, 31, 8, 5, 9, 42) })
  const record = decoded(x, 'minimal')
  assert.deepEqual(record, {
    '@timestamp': '2026-01-31T08:05:09.042Z',
    id: x.id,
    route: 'orders',
    client: { ip: '203.0.113.7' },
    http: { method: 'POST' },
    url: { path: '/orders/42/lines' },
    res: { status: 200 },
    t: { total: 12.5 },
    result: 'success',
  })
})

test('a standard record adds the gateway, the consumer, the upstream, sizes and timings', () => {
  const x = sampleExchange({ clientPort: 4711 })
  const record = decoded(x, 'standard')
  assert.deepEqual(record, {
    '@timestamp': new Date(x.startedAt).toISOString(),
    id: x.id,
    gw: { pod: 'pod-1', worker: 3, version: '0.1.0', config: DIGEST.slice(0, 12) },
    consumer: { id: 'c-1', name: 'acme', auth: 'basic-auth' },
    route: 'orders',
    client: { ip: '203.0.113.7', port: 4711 },
    http: { method: 'POST', version: '1.1' },
    url: { host: 'api.example.com', path: '/orders/42/lines', template: '/orders/{id}/*' },
    req: { bytes_h: 213, bytes_b: 128, ct: 'application/json' },
    ua: 'curl/8.5.0',
    res: { status: 200, bytes_h: 56, bytes_b: 2048, ct: 'application/json' },
    up: { name: 'orders', addr: 'http://10.0.0.5:9000', status: 200, attempts: 1 },
    t: { total: 12.5, route: 0.25, req_chain: 1, up_ttfb: 8.5, up_body: 2.75 },
    result: 'success',
  })
})

test('every record of a route that is a part of an API says which', () => {
  const api = { name: 'orders', group: 'sales', revision: '7' }
  for (const fields of ['minimal', 'standard', 'full'] as const) {
    const recorded = decoded(sampleExchange({ route: { api } }), fields)
    assert.deepEqual(
      [recorded.api, recorded.group, recorded.revision, recorded.route],
      ['orders', 'sales', '7', 'orders'],
    )
  }
  const bare = decoded(
    sampleExchange({ route: { api: { name: 'a"b', group: null, revision: null } } }),
    'minimal',
  )
  assert.equal(bare.api, 'a"b')
  assert.ok(!('group' in bare || 'revision' in bare))
})

test('a full record adds the query, the variables and the header fields', () => {
  const x = sampleExchange({ rawPath: '/orders/%34%32/lines' })
  x.setVar('tenant', 'acme')
  x.headers.push('accept', 'text/html', 'accept', 'text/plain')
  const record = decoded(x, 'full')
  assert.equal(record.url.scheme, 'http')
  assert.equal(record.up.http, '1.1')
  assert.equal(record.url.original, '/orders/%34%32/lines')
  assert.deepEqual(record.vars, { tenant: 'acme' })
  assert.equal(record.hdr.req_up.accept, 'text/html, text/plain')
  assert.equal(record.hdr.res_out['content-type'], 'application/json')
})

test('optional parts are recorded in standard and are always valid JSON', () => {
  fc.assert(
    fc.property(someText, someText, (id, reason) => {
      const trace = new AttemptTrace(true)
      const tried = { addr: 'http://10.0.0.5:9000', atMs: 2.5, ms: 1.5, reason, retry: 'repeated' } as const
      const { atMs: at, ...shown } = tried
      trace.tries.push({ ...tried, code: 'GW_UPSTREAM_RESET', status: 0 })
      trace.tries.push({ ...tried, code: null, status: 503 })
      trace.pool = { busy: 3, free: 2, pending: 1 }
      trace.loopLagMs = 12.3
      trace.begin(id, 10).end(10, 10.5, 'pass')
      trace.begin(id, 20).end(20, 20.25, 'stop', reason)
      trace.begin(id, 30).end(30, 30.25, 'pass')
      const record = decoded(sampleExchange({ record: { trace }, result: 'blocked' }), 'standard')
      assert.deepEqual(record.up.tries, [
        { ...shown, at, code: 'GW_UPSTREAM_RESET' },
        { ...shown, at, status: 503 },
      ])
      assert.deepEqual(record.pool, { busy: 3, free: 2, pending: 1 })
      assert.equal(record.loop_lag_ms, 12.3)
      assert.deepEqual(record.policies, [{ id, ms: 1, out: 'stop', note: reason }])
      assert.equal(
        decoded(sampleExchange({ record: { trace }, result: 'blocked' }), 'minimal').policies,
        undefined,
      )
    }),
  )
})

test('the deciding limit, how a cache served it and a stream of events are recorded in standard', () => {
  const x = sampleExchange()
  noteLimit(x, 'generous', 7)
  noteLimit(x, 'scarce', 2)
  noteLimit(x, 'late', 3)
  x.record.stream = new EventStream(x.endedMono - 10, true)
  x.record.stream.read(Buffer.from('data: a\n\n'))
  x.record.cacheResult = 'hit'
  x.record.cacheAge = 5
  const { cache, limit, stream } = decoded(x, 'standard')
  assert.deepEqual(cache, { status: 'hit', age: 5 })
  assert.deepEqual(limit, { name: 'scarce', remaining: 2 })
  assert.deepEqual(stream, { events: 1, bytes: 2048, ms: 10, closed_by: 'upstream' })
  const { limit: none, stream: noStream } = decoded(x, 'minimal')
  assert.deepEqual([none, noStream], [undefined, undefined])
})

test('a WebSocket connection shows its messages and how it ended, in standard', () => {
  const x = sampleExchange({ status: 101 })
  const counts = new WebSocketCounts(x.endedMono - 1500)
  Object.assign(counts, { messagesIn: 2, messagesOut: 3, bytesIn: 40, bytesOut: 50 })
  Object.assign(counts, { closeCode: 1000, closedBy: 'client' })
  x.record.stream = counts
  assert.deepEqual(decoded(x, 'standard').websocket, {
    ...{ messages_in: 2, messages_out: 3, bytes_in: 40, bytes_out: 50 },
    ...{ ms: 1500, close: 1000, closed_by: 'client' },
  })
  assert.equal(decoded(x, 'minimal').websocket, undefined)
})

test('policies are recorded of every call in full, else of those that failed or took long', () => {
  const trace = new AttemptTrace(true)
  trace.begin('one', 10).end(10, 10.5, 'pass')
  const recorded = (fields: FieldSet, slowMs: number, changes: Parameters<typeof sampleExchange>[0] = {}) => {
    const options = { fields, worker: 1, node: 'n', version: '1', configDigest: () => DIGEST, slowMs }
    return JSON.parse(encodeRecord(sampleExchange({ record: { trace }, ...changes }), recordEnv(options)))
      .policies
  }
  const policies = [{ id: 'one', ms: 0.5, out: 'pass' }]
  // The exchange took 12.5 ms.
  assert.deepEqual(recorded('standard', 12), policies)
  assert.equal(recorded('standard', 13), undefined)
  assert.equal(recorded('minimal', 12), undefined)
  assert.deepEqual(recorded('full', 13), policies)
  for (const result of ['error', 'blocked', 'aborted', 'shed'] as const)
    assert.deepEqual(recorded('standard', 13, { result }), policies, result)
})

test('a refused exchange has the code and the policy, without parts that did not happen', () => {
  const x = sampleExchange({
    result: 'blocked',
    errorCode: 'GW_POLICY_REFUSED',
    errorPolicy: 'ip-filter',
    status: 403,
    attempts: { upstream: '', target: '' },
    consumer: null,
    times: { ms: [0.25, 1, 0, 0, 0, 0, 0, 0] },
    endedMono: 0,
    headers: [],
    errorPhase: PHASE.requestChain,
    errorMessage: 'your address is not allowed here',
  })
  const record = decoded(x, 'standard')
  assert.deepEqual(record.error, {
    code: 'GW_POLICY_REFUSED',
    policy: 'ip-filter',
    phase: 'req_chain',
    msg: 'your address is not allowed here',
  })
  assert.deepEqual(decoded(x, 'minimal').error, { code: 'GW_POLICY_REFUSED' })
  assert.deepEqual(Object.keys(record.t), ['total', 'route', 'req_chain'])
  assert.deepEqual(record.req, { bytes_h: 213, bytes_b: 128 })
  for (const absent of ['up', 'consumer', 'ua']) assert.equal(record[absent], undefined)
})

test('a path that was never made canonical is recorded as it was received', () => {
  assert.equal(decoded(sampleExchange({ path: '', rawPath: '/a%2fb' }), 'standard').url.path, '/a%2fb')
})

test('secrets are masked by the names that hold them, whatever their case or coding', () => {
  const secret = 'hunter2'
  const fields = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-vault-token', 'x-partner']
  const x = sampleExchange({
    headers: fields.flatMap((name) => [name, secret]),
    responseHeaders: ['set-cookie', `sid=${secret}`, 'set-cookie', `other=${secret}`],
    query: `page=2&API_KEY=${secret}&api%5Fkey=${secret}&%zz=${secret}&key=${secret}&access_token=${secret}&flag`,
  })
  x.setVar('session_id', secret)
  const options = { fields: 'full', worker: 0, node: 'n', version: '1', configDigest: () => DIGEST } as const
  const line = encodeRecord(x, recordEnv({ ...options, sensitiveNames: ['X-Partner'] }))
  assert.ok(!line.includes(secret), line)
  const record = JSON.parse(line)
  for (const name of fields) assert.equal(record.hdr.req_up[name], '***')
  assert.equal(record.hdr.res_out['set-cookie'], '***')
  assert.equal(record.url.query, 'page=2&API_KEY=***&api%5Fkey=***&%zz=***&key=***&access_token=***&flag')
})

test('below full no query and no header list is in a record', () => {
  const line = encodeRecord(sampleExchange(), env('standard'))
  assert.ok(!line.includes('s3cr3t') && !line.includes('c2VjcmV0'), line)
})

test('a record has the digest of the configuration that served the exchange, or else the current one', () => {
  let digest = 'one'
  const changing = recordEnv({
    fields: 'standard',
    worker: 0,
    node: 'n',
    version: '1',
    configDigest: () => digest,
  })
  assert.equal(JSON.parse(encodeRecord(sampleExchange(), changing)).gw.config, 'one')
  digest = 'two'
  assert.equal(JSON.parse(encodeRecord(sampleExchange(), changing)).gw.config, 'two')
  const served = { route: { configDigest: 'one' } }
  assert.equal(JSON.parse(encodeRecord(sampleExchange(served), changing)).gw.config, 'one')
  assert.equal(JSON.parse(encodeRecord(sampleExchange(), changing)).gw.config, 'two')
})

test('whatever the texts hold, a record is one line of printable ASCII that decodes to them', () => {
  const texts = fc.record({
    id: someText,
    method: someText,
    host: someText,
    path: someText,
    clientIp: someText,
    routeId: someText,
    upstream: someText,
    target: someText,
    agent: someText,
    type: someText,
    consumer: someText,
    policy: someText,
    node: someText,
  })
  fc.assert(
    fc.property(texts, (text) => {
      const x = sampleExchange({
        ...{ id: text.id, method: text.method, host: text.host, path: text.path, clientIp: text.clientIp },
        route: { id: text.routeId },
        attempts: { upstream: text.upstream, target: text.target },
        headers: ['content-type', text.type, 'user-agent', text.agent],
        consumer: consumerOf(text.policy, text.consumer, { name: text.agent, credential: text.type }),
        errorCode: 'GW_POLICY_ERROR',
        errorPolicy: text.policy,
      })
      x.record.reason = text.agent
      const line = encodeRecord(x, env('standard', text.node))
      assert.match(line, /^[ -~]+$/)
      const record = JSON.parse(line)
      assert.deepEqual(
        [record.id, record.http.method, record.url.host, record.url.path, record.client.ip, record.route],
        [text.id, text.method, text.host, text.path, text.clientIp, text.routeId],
      )
      assert.deepEqual(
        [record.up.name, record.up.addr, record.ua, record.req.ct, record.error.policy, record.gw.pod],
        [text.upstream, text.target, text.agent, text.type, text.policy, text.node],
      )
      assert.equal(record.error.reason ?? '', text.agent)
      assert.deepEqual(record.consumer, {
        id: text.consumer,
        name: text.agent,
        auth: text.policy,
        credential: text.type,
      })
    }),
  )
})

test('no secret of a URL in a field is recorded', () => {
  const line = encodeRecord(
    sampleExchange({
      headers: [
        'referer',
        'https://ann:s3cret@a.example/?token=s3cret',
        'proxy-authorization',
        'Basic s3cret',
      ],
      responseHeaders: ['location', 'https://a.example/cb?a=1#access_token=s3cret'],
    }),
    env('full'),
  )
  assert.ok(!line.includes('s3cret'), line)
  assert.equal(JSON.parse(line).hdr.res_out.location, 'https://a.example/cb?a=1#access_token=***')
})

test('whatever header fields, variables and queries hold, a full record decodes to them', () => {
  const plainName = fc.stringMatching(/^[a-z]{1,3}$/).filter((name) => !new SensitiveNames([]).has(name))
  // Text that looks like a URL with a query may be masked partly.
  const plainText = anyText.filter((text) => !/[=@]/.test(text))
  const fields = fc.uniqueArray(fc.tuple(fc.oneof(plainName, fc.constant('__proto__')), plainText), {
    selector: ([name]) => name,
    maxLength: 6,
  })
  fc.assert(
    fc.property(
      fields,
      fields,
      fields,
      anyText.filter((text) => !/[=%]/.test(text)),
      (sent, given, vars, query) => {
        const x = sampleExchange({
          headers: sent.flat(),
          responseHeaders: given.flat(),
          query,
          vars: new Map(vars),
        })
        const line = encodeRecord(x, env('full'))
        assert.match(line, /^[ -~]+$/)
        const record = JSON.parse(line)
        assert.deepEqual(Object.entries(record.hdr.req_up).sort(), sent.map((pair) => [...pair]).sort())
        assert.deepEqual(Object.entries(record.hdr.res_out).sort(), given.map((pair) => [...pair]).sort())
        assert.deepEqual(Object.entries(record.vars ?? {}).sort(), vars.map((pair) => [...pair]).sort())
        assert.equal(record.url.query ?? '', query)
      },
    ),
  )
})

test('invalid numbers cannot make a record invalid', () => {
  const number = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1),
  )
  fc.assert(
    fc.property(number, number, (one, other) => {
      const x = sampleExchange({
        ...{ startedAt: one, startedMono: other, status: one },
        attempts: { status: other, count: one },
        ...{
          requestBytes: other,
          responseBytes: one,
          times: { ms: [one, other, one, other, one, other, one, other] },
          endedMono: other,
        },
      })
      for (const fields of ['minimal', 'standard', 'full'] as const) decoded(x, fields)
    }),
  )
})
