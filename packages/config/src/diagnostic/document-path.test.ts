import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPath, pathOfPointer, valueAt } from './document-path.js'

test('a path is written as people read it', () => {
  assert.equal(formatPath(['routes', 0, 'match', 'path']), 'routes[0].match.path')
  assert.equal(formatPath(['upstreams', 'my.api', 'targets', 2]), 'upstreams["my.api"].targets[2]')
  assert.equal(formatPath([]), '')
})

test('a JSON Pointer distinguishes positions from keys by what it points into', () => {
  const root = { list: [{ '0': 'a' }], 'a/b~c': 1 }
  assert.deepEqual(pathOfPointer('/list/0/0', root), ['list', 0, '0'])
  assert.deepEqual(pathOfPointer('/a~1b~0c', root), ['a/b~c'])
})

test('a value that is not there is undefined, also when objects inherit its name', () => {
  assert.equal(valueAt({ a: [{ b: 1 }] }, ['a', 0, 'b']), 1)
  assert.equal(valueAt({}, ['constructor', 'name']), undefined)
  assert.equal(valueAt([1], ['length']), undefined)
})
