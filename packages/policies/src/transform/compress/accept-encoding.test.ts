import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaMistakes } from '../../testing.js'
import { chooseCoding } from './accept-encoding.js'
import { compileTypes, DEFAULT_TYPES } from './media-types.js'
import { compress } from './policy.js'

test('the coding that the client prefers wins, and among equals the first one offered', () => {
  const cases: [string | null, 'br' | 'gzip' | null][] = [
    [null, null],
    ['', null],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    ['GZIP;Q=0.5, br; q=0.4', 'gzip'],
    ['gzip;q=0, br;q=0', null],
    ['gzip;q=0', null],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['*;q=0', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', null],
    ['identity;q=0.2, gzip;q=0.5', 'gzip'],
    ['identity', null],
    ['deflate', null],
    ['gzip;q=1.5', null],
    ['gzip;q=abc', null],
    ['gzipped, bro', null],
    [',,gzip,,', 'gzip'],
  ]
  for (const [field, expected] of cases)
    assert.equal(chooseCoding(field, ['br', 'gzip']).coding, expected, `${field}`)
  assert.equal(chooseCoding('gzip, br', ['gzip', 'br']).coding, 'gzip')
  assert.equal(chooseCoding('br', ['gzip']).coding, null)
})

test('a client that does not take the body as it is gets short ones compressed too', () => {
  assert.deepEqual(chooseCoding('gzip, identity;q=0', ['br', 'gzip']), { coding: 'gzip', isForced: true })
  assert.deepEqual(chooseCoding('gzip, *;q=0', ['br', 'gzip']), { coding: 'gzip', isForced: true })
  assert.deepEqual(chooseCoding('identity;q=0', ['br', 'gzip']), { coding: null, isForced: false })
})

test('a field of kilobytes is not read', () => {
  assert.equal(chooseCoding(`${'x,'.repeat(4096)}gzip`, ['gzip']).coding, null)
})

test('types are matched whole, by their first part or by their suffix; a stream of events only by name', () => {
  const isDefault = compileTypes(DEFAULT_TYPES)
  for (const type of ['text/html', 'application/json', 'application/problem+json', 'image/svg+xml'])
    assert.ok(isDefault(type), type)
  for (const type of [
    '',
    'image/png',
    'text/event-stream',
    'application/zip',
    'application/jsonx',
    'video/mp4',
  ])
    assert.ok(!isDefault(type), type)
  assert.ok(compileTypes(['Text/Event-Stream'])('text/event-stream'))
  assert.ok(compileTypes(['*/*'])('image/png'))
  assert.ok(!compileTypes(['*/*'])('text/event-stream'))
})

test('the schema accepts what is documented and rejects everything else', () => {
  assert.deepEqual(schemaMistakes(compress, {}), [])
  assert.deepEqual(
    schemaMistakes(compress, { codings: ['gzip'], types: ['text/*', 'application/*+json', '*/*'] }),
    [],
  )
  for (const config of [
    { codings: [] },
    { codings: ['gzip', 'gzip'] },
    { codings: ['zstd'] },
    { level: 9 },
    { types: ['text'] },
    { types: ['*/json'] },
    { minBytes: '-1' },
    { min: 1 },
  ])
    assert.notDeepEqual(schemaMistakes(compress, config), [], JSON.stringify(config))
})
