import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TRAFFIC_MAPPING } from './mapping.js'
import { mappingDifferences } from './mapping-differences.js'

test('a mapping returned by Elasticsearch with additional fields has no differences', () => {
  const answered = structuredClone(TRAFFIC_MAPPING) as {
    dynamic: unknown
    properties: Record<string, object>
  }
  answered.dynamic = 'false'
  answered.properties['cluster'] = { type: 'keyword' }
  assert.deepEqual(mappingDifferences(answered, TRAFFIC_MAPPING), [])
})

test('fields of another type, missing ones and a strict mapping are reported', () => {
  const wanted = {
    dynamic: false,
    properties: {
      id: { type: 'keyword' },
      client: { properties: { ip: { type: 'ip', ignore_malformed: true }, port: { type: 'integer' } } },
      url: { properties: { path: { type: 'keyword' } } },
    },
  }
  const actual = {
    dynamic: 'strict',
    properties: {
      id: { type: 'long' },
      client: { properties: { ip: { type: 'ip' } } },
      url: { type: 'text' },
    },
  }
  assert.deepEqual(mappingDifferences(actual, wanted), [
    'id: long, not keyword',
    'client.ip: rejects malformed values',
    'client.port: not mapped',
    'url: text, not object',
    'dynamic: strict, not false',
  ])
})
