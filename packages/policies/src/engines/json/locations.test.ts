import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { compileJsonLocations, eachLocation, removeLocations, setAt, valueAt } from './locations.js'

function values(path: string, root: unknown): unknown[] {
  return compileJsonLocations(path).all(root).map(valueAt)
}

const DOCUMENT = { a: { b: [1, { b: 2 }], c: null }, b: 3, 'd e': [4, 5, 6] }

test('paths of names, positions, stars and descendants find locations', () => {
  assert.deepEqual(values('$.a.b[0]', DOCUMENT), [1])
  assert.deepEqual(values("$['d e'][-1]", DOCUMENT), [6])
  assert.deepEqual(values("$['d e'][0,2]", DOCUMENT), [4, 6])
  assert.deepEqual(values('$.a[*]', DOCUMENT), [[1, { b: 2 }], null])
  assert.deepEqual(values('$..b', DOCUMENT), [3, [1, { b: 2 }], 2])
  assert.deepEqual(values('$..a..b', DOCUMENT), [[1, { b: 2 }], 2])
  assert.deepEqual(values('$.x.y', DOCUMENT), [])
  assert.deepEqual(values('$.a.toString', DOCUMENT), [])
})

test('locations are changed where they are', () => {
  const root = structuredClone(DOCUMENT)
  for (const location of compileJsonLocations('$..b').all(root)) setAt(location, 'x')
  assert.deepEqual(root, { a: { b: 'x', c: null }, b: 'x', 'd e': [4, 5, 6] })
})

test('several elements of an array are removed at once, one named twice too', () => {
  const root = { l: ['a', 'b', 'c', 'd'], m: 1 }
  removeLocations(compileJsonLocations('$.l[0,-1,3,0]').all(root))
  removeLocations(compileJsonLocations('$.m').all(root))
  assert.deepEqual(root, { l: ['b', 'c'] })
})

test('members that objects inherit cannot be reached, those that are named like them can', () => {
  const root = JSON.parse('{"__proto__":{"x":1}}') as object
  for (const location of compileJsonLocations('$.__proto__.x').all(root)) setAt(location, 2)
  assert.equal(JSON.stringify(root), '{"__proto__":{"x":2}}')
  setAt({ parent: {}, key: '__proto__' }, { polluted: true })
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('every location is visited once', () => {
  const keys: unknown[] = []
  eachLocation(DOCUMENT, ({ key }) => keys.push(key))
  assert.deepEqual(keys, ['a', 'b', 0, 1, 'b', 'c', 'b', 'd e', 0, 1, 2])
})

test('a path that is the whole body, or asks for a slice or a filter, is refused', () => {
  assert.throws(() => compileJsonLocations('$'), /selects the whole body/)
  for (const path of ['$.a[1:2]', '$.a[?@.b == 1]']) {
    assert.throws(() => compileJsonLocations(path), /has a slice or a filter/, path)
  }
})

test('a path looks at so many values and no more', () => {
  const wide = Array.from({ length: 2000 }, () => Array.from({ length: 600 }, () => 1))
  assert.throws(() => compileJsonLocations('$[*][*]').all(wide), UnreadableBody)
})
