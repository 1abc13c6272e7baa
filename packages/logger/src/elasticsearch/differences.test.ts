import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mappingDifferences, templateDifferences } from './differences.js'
import { TRAFFIC_MAPPING } from './mapping.js'

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
      ua: { type: 'alias', path: 'agent' },
    },
  }
  const actual = {
    dynamic: 'strict',
    properties: {
      id: { type: 'long' },
      client: { properties: { ip: { type: 'ip' } } },
      url: { type: 'text' },
      ua: { type: 'alias', path: 'id' },
    },
  }
  assert.deepEqual(mappingDifferences(actual, wanted), [
    'id: long, not keyword',
    'client.ip: rejects malformed values',
    'client.port: not mapped',
    'url: text, not object',
    'ua: alias of id, not alias of agent',
    'dynamic: strict, not false',
  ])
})

test('a template returned by Elasticsearch equals the one that was sent', () => {
  const sent = {
    index_patterns: ['a'],
    data_stream: {},
    priority: 500,
    template: {
      settings: { 'index.number_of_replicas': 0, 'index.mapping.total_fields.limit': 500 },
      mappings: { dynamic: false, properties: { id: { type: 'keyword' } } },
    },
  }
  const answered = {
    index_patterns: ['a'],
    composed_of: [],
    data_stream: { hidden: false },
    priority: 500,
    template: {
      settings: { index: { mapping: { total_fields: { limit: '500' } }, number_of_replicas: '0' } },
      mappings: { dynamic: 'false', properties: { id: { type: 'keyword' } } },
    },
  }
  assert.deepEqual(templateDifferences(answered, sent), [])
})

test('added, changed and removed members are reported by path', () => {
  const before = { priority: 1, template: { settings: { index: { codec: 'default', old: '1' } } } }
  const after = {
    priority: 500,
    template: { settings: { 'index.codec': 'best_compression' } },
    _meta: { by: 'x' },
  }
  assert.deepEqual(templateDifferences(before, after), [
    '_meta.by: none -> x',
    'priority: 1 -> 500',
    'template.settings.index.codec: default -> best_compression',
    'template.settings.index.old: 1 -> none',
  ])
})
