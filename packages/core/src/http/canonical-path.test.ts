import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalPath, forwardablePath, isAmbiguousPath } from './canonical-path.js'

const CASES: readonly (readonly [string, string | null])[] = [
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/', '/a/'],
  ['//a///b', '/a/b'],
  ['/a/./b/../c', '/a/c'],
  ['/../../a', '/a'],
  ['/a/..', '/'],
  ['/a/.', '/a/'],
  ['/%61%7e', '/a~'],
  ['/%2e%2e/a', '/a'],
  ['/a%2fb', '/a%2Fb'],
  ['/a%5cb', '/a%5Cb'],
  ['/.well-known/x', '/.well-known/x'],
  ['', null],
  ['a', null],
  ['/%', null],
  ['/%4', null],
  ['/%zz', null],
  ['/%00', null],
  ['/%c0%af', null],
  ['/%f8%80%80%80%af', null],
  ['/%FC%80%80%80%80%AE', null],
  ['/%E0%80%af', null],
  ['/%f0%80%80%af', null],
  ['/%e0%a4%85%c3%80', '/%E0%A4%85%C3%80'],
  ['/%21%24%26%27%28%29%2a%2B%2c%3a%3D%40', "/!$&'()*+,:=@"],
  ['/a%3bb', '/a%3Bb'],
  ['/%2524', '/%2524'],
  ['/items[1]|^{}"<>`', '/items%5B1%5D%7C%5E%7B%7D%22%3C%3E%60'],
  ['/a\\b', null],
  ['/a b', null],
  ['/é', null],
  ['/a#b', null],
]

for (const [path, expected] of CASES) {
  test(`'${path}' has the canonical form ${expected}`, () => assert.equal(canonicalPath(path), expected))
}

test('the forwardable form keeps the escapes of reserved characters, and escapes what clients leave raw', () => {
  for (const [path, expected] of [
    ['/odata/%24batch', '/odata/%24batch'],
    ['/odata/$batch', '/odata/$batch'],
    ['/%61%2b%3a//b', '/a%2B%3A/b'],
    ['/items[1]', '/items%5B1%5D'],
    ['/[%', null],
  ] as const)
    assert.equal(forwardablePath(path), expected, path)
})

for (const path of ['/a//../b', '/a/../b', '/a/.', '/..', '/a/%2e%2E/b', '/.%2e/b', '//a/b']) {
  test(`'${path}' is ambiguous`, () => assert.equal(isAmbiguousPath(path), true))
}

for (const path of [
  '/',
  '/a//b',
  '/a/b//',
  '/%61',
  '/.well-known/x',
  '/a/...',
  '/a/..b',
  '/a..',
  '/a%2f..',
]) {
  test(`'${path}' is not ambiguous`, () => assert.equal(isAmbiguousPath(path), false))
}

test('a canonical path is its own canonical form, and has nothing left to resolve', () => {
  const piece = fc.constantFrom(
    'a',
    '/',
    '.',
    '..',
    '%2f',
    '%61',
    '%2E',
    '~',
    '//',
    '%5C',
    '%c3%a9',
    '%24',
    '%3A',
    ';',
    '%3B',
    '[',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => `/${pieces.join('')}`),
      ),
      (path) => {
        const canonical = canonicalPath(path)
        if (canonical === null) return
        assert.equal(canonicalPath(canonical), canonical)
        assert.equal(canonicalPath(forwardablePath(path)!), canonical)
        assert.equal(isAmbiguousPath(canonical), false)
        assert.ok(canonical.startsWith('/'))
        assert.doesNotMatch(canonical, /\/\/|\/\.{1,2}(\/|$)/)
      },
    ),
    { numRuns: 1000 },
  )
})
