import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYaml } from './yaml-source.js'

const MERGED: readonly (readonly [string, string, unknown])[] = [
  ['the keys of the object itself win, wherever they are', '{ a: 1, <<: *x, b: 2 }', { a: 1, b: 2, c: 'x' }],
  ['the first object of a list wins', '{ <<: [*y, *x] }', { a: 'y', c: 'x' }],
  ['an object may be written in place', '{ <<: { a: 1 } }', { a: 1 }],
  ['a list may be named', '{ <<: *list }', { a: 'y', c: 'x' }],
  ['merged objects may have merge keys', '{ <<: *z }', { a: 'y', c: 'x' }],
  ['a quoted key is a name', '{ "<<": 1 }', { '<<': 1 }],
]
const ANCHORS = 'x: &x { a: x, c: x }\ny: &y { a: y }\nz: &z { <<: *x, a: y }\nlist: &list [*y, *x]\nresult: '

for (const [behaviour, text, expected] of MERGED) {
  test(`merge keys: ${behaviour}`, () => {
    const { value, issues } = readYaml(ANCHORS + text)
    assert.deepEqual(issues, [])
    assert.deepEqual((value as { result: unknown }).result, expected)
  })
}

const REFUSED: readonly (readonly [string, string])[] = [
  ['{ <<: *x, <<: *y }', "5:19 duplicate key '<<' (write one list: <<: [*a, *b])"],
  ['{ <<: *x, a: 1, a: 2 }', "5:25 duplicate key 'a' (keep one of them)"],
  ['{ <<: { a: 1, a: 2 } }', "5:23 duplicate key 'a' (keep one of them)"],
  ['{ <<: [*x, { a: 1, a: 2 }] }', "5:28 duplicate key 'a' (keep one of them)"],
  ['{ <<: { __proto__: 1 } }', "5:17 the key '__proto__' is not allowed (choose another name)"],
  ['{ <<: { <<: *x, <<: *y } }', "5:25 duplicate key '<<' (keep one of them)"],
  ['{ <<: 1 }', "5:11 '<<' can only merge objects"],
  ['{ <<: }', "5:11 '<<' can only merge objects"],
  ['{ <<: [*x, 1] }', "5:11 '<<' can only merge objects"],
  ['&r { <<: *r }', '5:18 this alias refers to a value that contains it (write the value without an alias)'],
]

for (const [text, expected] of REFUSED) {
  test(`merge keys that are refused: ${text}`, () => {
    const source = readYaml(ANCHORS + text)
    const [issue, ...others] = source.issues
    const { line, column } = source.positionOfOffset(issue!.offset)
    assert.ok(`${line}:${column} ${issue!.message} (${issue!.remedy})`.startsWith(expected), issue!.message)
    assert.deepEqual(others, [])
  })
}

test('a merged key has the position where it is written', () => {
  const source = readYaml(`${ANCHORS}{ b: 1, <<: *z }`)
  const at = (path: readonly string[]) => {
    const { line, column } = source.positionOf(path, 'value')
    return [line, column]
  }
  assert.deepEqual(
    [at(['result', 'b']), at(['result', 'a']), at(['result', 'c'])],
    [
      [5, 14],
      [3, 20],
      [1, 18],
    ],
  )
})
