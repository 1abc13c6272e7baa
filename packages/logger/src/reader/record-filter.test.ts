import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptTrace } from '@sluice/core'
import { recordEnv } from '../record/record-env.js'
import { encodeRecord, sampleExchange } from '../testing.js'
import { UnknownNameError } from './known-names.js'
import { type FilterRequest, matchesFilter, recordFilter } from './record-filter.js'
import { parseRecord, type RecordView } from './record-view.js'

const NOW_MS = Date.UTC(2026, 0, 31, 12)

function view(changes: Parameters<typeof sampleExchange>[0] = {}): RecordView {
  const env = recordEnv({ fields: 'full', worker: 2, node: 'n', version: '1', configDigest: () => 'abc' })
  return parseRecord(encodeRecord(sampleExchange({ startedAt: NOW_MS - 60_000, ...changes }), env))!
}

function isTaken(request: FilterRequest, of = view()): boolean {
  return matchesFilter(recordFilter(request, NOW_MS), of)
}

test('a request without conditions takes every record', () => {
  assert.ok(isTaken({}))
  assert.ok(isTaken({ status: undefined, where: [] }))
})

test('a status is one number, a class or a range', () => {
  const missing = view({ status: 404 })
  for (const status of ['404', '4xx', '4XX', '400-499', '404-404'])
    assert.ok(isTaken({ status }, missing), status)
  for (const status of ['400', '5xx', '405-499', '500-599']) assert.ok(!isTaken({ status }, missing), status)
})

test('each condition matches only its values', () => {
  const api = { name: 'orders-api', group: 'sales', revision: null }
  const refused = { result: 'blocked', errorCode: 'GW_POLICY_REFUSED', route: { api } } as const
  const cases: readonly (readonly [FilterRequest, FilterRequest])[] = [
    [{ route: 'orders' }, { route: 'order' }],
    [{ api: 'orders-api' }, { api: 'sales' }],
    [{ where: ['group=sales'] }, { where: ['revision='] }],
    [{ method: 'post' }, { method: 'GET' }],
    [{ path: '/orders/' }, { path: '/items' }],
    [{ host: 'API.example.com' }, { host: 'example.com' }],
    [{ client: '203.0.113.7' }, { client: '203.0.113' }],
    [{ consumer: 'c-1' }, { consumer: 'c' }],
    [{ consumer: 'acme' }, { consumer: 'basic-auth' }],
    [{ result: 'blocked' }, { result: 'success' }],
    [{ code: 'GW_POLICY_REFUSED' }, { code: 'GW_INTERNAL' }],
    [{ where: ['up.name=orders', 'gw.worker=2'] }, { where: ['up.name=orders', 'gw.worker=3'] }],
    [{ where: ['hdr.req_up.content-type=application/json'] }, { where: ['hdr.req_up.x=x'] }],
    [{ where: ['url.query=page=2&access_token=\\*\\*\\*'] }, { where: ['vars.toString=toString'] }],
    [{ id: '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d' }, { id: '019aa3f0' }],
    [{ id: '019aa3f0-*' }, { trace: '4bf92f*' }],
    [{ route: ['other', 'orders'] }, { route: ['other', 'more'] }],
    [{ result: 'error,blocked' }, { result: 'error,shed' }],
    [{ where: ['up.name=other || gw.worker=2'] }, { where: ['up.name=other || gw.worker=3'] }],
    [{ where: ['up.name=other||gw.worker=2'] }, { where: ['up.name=other||gw.worker=3'] }],
    [{ route: 'or*' }, { route: '*z' }],
    [{ path: '/*/42/*' }, { path: '/*/42' }],
    [{ where: ['api=*-api', 'route!=*x*'] }, { where: ['api!=*-api'] }],
  ]
  for (const [taken, other] of cases) {
    assert.ok(isTaken(taken, view(refused)), JSON.stringify(taken))
    assert.ok(!isTaken(other, view(refused)), JSON.stringify(other))
  }
})

test('a time is an age or an instant with its zone', () => {
  for (const since of ['1m', '1h', '2026-01-31T11:59:00Z', '2026-01-31T13:59:00.000+02:00', '2026-01-31']) {
    assert.ok(isTaken({ since }), since)
  }
  for (const since of ['59s', '2026-01-31T11:59:00.001Z', '2026-02-01']) assert.ok(!isTaken({ since }), since)
})

test('the end of a time range is exclusive and must be after its start', () => {
  for (const until of ['59s', '2026-01-31T11:59:00.001Z']) assert.ok(isTaken({ until }), until)
  for (const until of ['1m', '2026-01-31T11:59:00Z']) assert.ok(!isTaken({ until }), until)
  assert.ok(isTaken({ since: '1m', until: '59s' }))
  assert.throws(() => recordFilter({ since: '1m', until: '1h' }), /the time range from 1m to 1h is empty/)
})

test('a condition may compare, or ask for another value', () => {
  const slow = view({ startedMono: performance.now() - 700, status: 503 })
  const taken = [
    't.total>500',
    't.total>=699.5',
    'res.status<504',
    'res.status<=503',
    'gw.worker!=3',
    'limit.name!=x',
  ]
  for (const where of taken) assert.ok(isTaken({ where: [where] }, slow), where)
  const refused = [
    't.total<500',
    'res.status>503',
    'res.status<=502.9',
    'gw.worker!=2',
    'url.path>1',
    'limit.remaining<1',
  ]
  for (const where of refused) assert.ok(!isTaken({ where: [where] }, slow), where)
  assert.ok(isTaken({ where: ['url.query=page=2&access_token=***'] }))
  assert.ok(isTaken({ where: ['url.query!=page=3*'] }))
})

test('invalid conditions are rejected with a remedy', () => {
  const cases: readonly (readonly [FilterRequest, RegExp])[] = [
    [{ status: '4x' }, /'4x' is not a status; use for example 404, 5xx or 400-499/],
    [{ status: '' }, /is not a status/],
    [{ since: 'yesterday' }, /'yesterday' is not a time; use for example 15m/],
    [{ since: '2026-01-31T11:59:00' }, /is not a time/],
    [{ since: '2026-13-31' }, /is not a time/],
    [{ where: ['up.name'] }, /'up\.name' is not a condition; use field=value/],
    [{ where: ['=x'] }, /is not a condition/],
    [{ where: ['res.status=2xx'] }, /res\.status is a number; for classes use --status 2xx$/],
    [{ where: ['t.total!=fast'] }, /t\.total is a number; use for example t\.total=200$/],
    [{ path: 'orders' }, /a path starts with \/: --path \/orders$/],
    [
      { where: ['t.total>fast'] },
      /compares with 'fast', which is not a number; use for example t\.total>500/,
    ],
    [{ until: 'tomorrow' }, /'tomorrow' is not a time/],
  ]
  for (const [request, message] of cases) {
    assert.throws(
      () => recordFilter(request),
      (error: Error) => error instanceof RangeError && message.test(error.message),
    )
  }
})

test('one matching list item is enough', () => {
  const trace = new AttemptTrace(true)
  trace.begin('first', 0).end(0, 2, 'pass')
  trace.begin('second', 0).end(0, 5, 'stop', 'GW_POLICY_REFUSED')
  const blocked = view({ record: { trace }, result: 'blocked' })
  for (const where of ['policies.id=second', 'policies.out=pass', 'policies.ms>4', 'policies.id!=third'])
    assert.ok(isTaken({ where: [where] }, blocked), where)
  for (const where of ['policies.id=third', 'policies.ms>5', 'policies.id!=first', 'policies.id!=f*'])
    assert.ok(!isTaken({ where: [where] }, blocked), where)
})

test('unknown names are rejected with the known ones', () => {
  const cases: readonly (readonly [FilterRequest, string, string])[] = [
    [{ where: ['res.statsu=200'] }, "records have no field 'res.statsu'", 'res.status'],
    [{ where: ['rout!=a'] }, "records have no field 'rout'", 'route'],
    [{ where: ['route=a || routs=b'] }, "records have no field 'routs'", 'route'],
    [{ where: ['__proto__=a'] }, "records have no field '__proto__'", 'route'],
    [
      { where: ['policies=auth'] },
      "records have no field 'policies' with a value; use one of its fields policies.id, ",
      '',
    ],
    [
      { where: ['hdr.req_up>1'] },
      "records have no field 'hdr.req_up' with a value; use one of its fields hdr.req_up.NAME",
      '',
    ],
    [{ where: ['route.name=a'] }, "records have no field 'route.name'", 'route'],
    [{ method: 'GTE' }, "'GTE' is not a method", 'GET'],
    [{ method: ['get', 'put,patsch'] }, "'PATSCH' is not a method", 'PATCH'],
    [{ where: ['http.method=get'] }, "'get' is not a method", 'GET'],
    [
      { where: ['http.request.method=GET'] },
      "records have no field 'http.request.method'; use http.method",
      '',
    ],
    [{ result: 'failed' }, "'failed' is not a result", 'error'],
    [
      { code: 'GW_UPSTREAM_TIMEOU' },
      "'GW_UPSTREAM_TIMEOU' is not an error code (see docs/reference/errors.md)",
      'GW_UPSTREAM_TIMEOUT',
    ],
    [{ where: ['error.code!=GW_NONE'] }, "'GW_NONE' is not an error code", 'GW_INTERNAL'],
  ]
  for (const [request, message, known] of cases) {
    assert.throws(
      () => recordFilter(request),
      (error: Error) =>
        error instanceof UnknownNameError &&
        error.message.startsWith(message) &&
        (known === '' || error.known.includes(known)),
      JSON.stringify(request),
    )
  }
  for (const where of [
    'vars.any.thing=1',
    'hdr.res_out.x-any=1',
    'http.method=P*',
    'error.code=GW_*',
    '@timestamp=2026*',
  ])
    assert.doesNotThrow(() => recordFilter({ where: [where] }), where)
})

test('every field of a full record is a field that a filter can ask for', () => {
  const trace = new AttemptTrace(true)
  trace.begin('first', 0).end(0, 2, 'pass')
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, path)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value))
        visit(member, path === '' ? name : `${path}.${name}`)
    else assert.doesNotThrow(() => recordFilter({ where: [`${path}=*`] }), path)
  }
  visit(view({ record: { trace }, result: 'blocked', errorPolicy: 'x' }).record, '')
})
