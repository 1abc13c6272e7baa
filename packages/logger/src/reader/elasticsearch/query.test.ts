import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FilterRequest, recordFilter } from '../record-filter.js'
import { PARTLY_NESTED, queryOf } from './query.js'

const TYPES = new Map([
  ['route', 'keyword'],
  ['url.path', 'keyword'],
  ['client.ip', 'ip'],
  ['consumer.id', 'keyword'],
  ['res.status', 'short'],
  ['t.total', 'float'],
  ['up.reused', 'boolean'],
  ['hdr.req_up', 'flattened'],
  ['error.msg', 'text'],
  ['policies', 'nested'],
  ['policies.id', 'keyword'],
  ['policies.ms', 'float'],
  ['others', PARTLY_NESTED],
  ['others.id', 'keyword'],
])
const NOW_MS = Date.UTC(2026, 0, 31)

/** Returns the query without the clauses for fields that are not indexed. */
function asked(request: FilterRequest): unknown {
  const { bool } = queryOf(recordFilter(request, NOW_MS), TYPES)
  return bool?.filter
}

function orIgnored(query: object, field: string): unknown {
  return {
    bool: {
      should: [{ bool: { should: [query, { term: { _ignored: field } }], minimum_should_match: 1 } }],
      minimum_should_match: 1,
    },
  }
}

test('the time range includes its start and excludes its end', () => {
  assert.deepEqual(asked({ since: '2s', until: '1s' }), [
    { range: { '@timestamp': { gte: NOW_MS - 2000, lt: NOW_MS - 1000, format: 'epoch_millis' } } },
  ])
  assert.deepEqual(asked({}), [])
})

test('values are queried literally', () => {
  for (const route of ['orders', 'a?', 'x OR y', '"]}', '']) {
    assert.deepEqual(asked({ route }), [orIgnored({ term: { route } }, 'route')])
  }
})

test('a pattern is asked for as one, with stars alone', () => {
  assert.deepEqual(asked({ route: 'or*?\\\\*' }), [
    orIgnored({ wildcard: { route: { value: 'or*\\?\\\\*' } } }, 'route'),
  ])
})

test('several values become alternatives', () => {
  const query = {
    bool: {
      should: [orIgnored({ term: { route: 'a' } }, 'route'), orIgnored({ term: { route: 'b' } }, 'route')],
      minimum_should_match: 1,
    },
  }
  assert.deepEqual(asked({ route: ['a', 'b'] }), [query])
  assert.deepEqual(asked({ where: ['route=a || route=b'] }), [query])
})

test('Elasticsearch decides if a field can hold a value', () => {
  for (const client of ['203.0.113.7', '10.0.0.0/8', 'unix', 'fe80::1%eth0', '']) {
    assert.deepEqual(asked({ client }), [
      orIgnored({ match: { 'client.ip': { query: client, lenient: true } } }, 'client.ip'),
    ])
  }
  assert.deepEqual(asked({ where: ['res.status=404.5'] }), [
    orIgnored({ match: { 'res.status': { query: '404.5', lenient: true } } }, 'res.status'),
  ])
})

test('criteria without an exact query are omitted', () => {
  const left: FilterRequest[] = [
    { consumer: 'c-1' },
    { result: 'error' },
    { path: '' },
    { where: ['route!=orders'] },
    { where: ['error.msg=no answer'] },
    { where: ['vars.x=hit'] },
    { client: '203.*' },
    { where: ['route=orders || error.msg=no'] },
    { route: `*${'x'.repeat(1000)}` },
    { where: ['route>5'] },
    { where: ['up.reused=maybe'] },
    { where: [`hdr.req_up.x=${'x'.repeat(1025)}`] },
  ]
  for (const request of left) assert.deepEqual(asked(request), [], JSON.stringify(request))
  assert.deepEqual(asked({ where: ['hdr.req_up.x=1'] }), [
    { bool: { should: [{ term: { 'hdr.req_up.x': '1' } }], minimum_should_match: 1 } },
  ])
})

test('a comparison includes the bound, and stays within what the field can hold', () => {
  const range = (field: string, bounds: object) => [
    {
      bool: {
        should: [{ range: { [field]: bounds } }, { term: { _ignored: field } }],
        minimum_should_match: 1,
      },
    },
  ]
  assert.deepEqual(asked({ where: ['t.total>500.001'] }), range('t.total', { gte: 500.001 }))
  assert.deepEqual(asked({ where: ['res.status<99999'] }), range('res.status', { lte: 32_767 }))
  assert.deepEqual(asked({ status: '5xx' }), range('res.status', { gte: 500, lte: 599 }))
})

test('nested items get nested queries if all indices have them', () => {
  const [found] = asked({ where: ['policies.id=auth'] }) as {
    bool: { should: [{ nested: object }, object] }
  }[]
  assert.deepEqual(found!.bool.should, [
    { nested: { path: 'policies', query: orIgnored({ term: { 'policies.id': 'auth' } }, 'policies.id') } },
    { term: { _ignored: 'policies.id' } },
  ])
  assert.deepEqual(asked({ where: ['policies.id!=auth'] }), [])
  assert.deepEqual(
    queryOf(
      { criteria: [{ kind: 'equals', fields: ['others.id'], value: 'auth' }], sinceMs: null, untilMs: null },
      TYPES,
    ).bool?.filter,
    [],
  )
})
