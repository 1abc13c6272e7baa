import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differences } from './setup-differences.js'

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
  assert.deepEqual(differences(answered, sent), [])
})

test('added, changed and removed members are reported by path', () => {
  const before = { priority: 1, template: { settings: { index: { codec: 'default', old: '1' } } } }
  const after = {
    priority: 500,
    template: { settings: { 'index.codec': 'best_compression' } },
    _meta: { by: 'x' },
  }
  assert.deepEqual(differences(before, after), [
    '_meta.by: none -> x',
    'priority: 1 -> 500',
    'template.settings.index.codec: default -> best_compression',
    'template.settings.index.old: 1 -> none',
  ])
})
