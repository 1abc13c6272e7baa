import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalPath } from '@sluice/core'
import fc from 'fast-check'
import { isIssue } from '../diagnostic/issue.js'
import { parseLiteralPath, parsePathPattern, parsePathTemplate, placeholdersOf } from './path-pattern.js'

function kindAndSegments(text: string) {
  const path = parsePathPattern(text)
  if (isIssue(path)) return path.message
  return [
    path.kind,
    ...path.segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${segment.name}}`)),
  ]
}

test('the kinds of paths are recognised by their text', () => {
  assert.deepEqual(kindAndSegments('/'), ['exact', ''])
  assert.deepEqual(kindAndSegments('/a/b'), ['exact', 'a', 'b'])
  assert.deepEqual(kindAndSegments('/a/b/'), ['exact', 'a', 'b', ''])
  assert.deepEqual(kindAndSegments('/a/{id}'), ['template', 'a', '{id}'])
  assert.deepEqual(kindAndSegments('/*'), ['prefix'])
  assert.deepEqual(kindAndSegments('/a/{id}/*'), ['prefix', 'a', '{id}'])
  assert.deepEqual(kindAndSegments('~^/a'), ['regex', '^/a'])
})

test('an escaped slash stays in its segment', () => {
  assert.deepEqual(kindAndSegments('/a%2Fb'), ['exact', 'a%2Fb'])
})

test('escapes of characters that need none are decoded, and never mean a placeholder or a star', () => {
  assert.deepEqual(kindAndSegments('/odata/%24batch'), ['exact', 'odata', '$batch'])
  assert.deepEqual(kindAndSegments('/a/%2A'), ['exact', 'a', '*'])
  assert.deepEqual(kindAndSegments('/a%40b/%7Bid%7D/*'), ['prefix', 'a@b', '%7Bid%7D'])
})

test('a path with more than 64 segments is refused', () => {
  assert.ok(!isIssue(parsePathPattern('/a'.repeat(64))))
  assert.ok(isIssue(parsePathPattern('/a'.repeat(65))))
})

test('every literal path that is accepted is its own canonical form', () => {
  const piece = fc.constantFrom(
    '/',
    'a',
    '.',
    '..',
    '%2F',
    '%2f',
    '%41',
    '%zz',
    '*',
    '{x}',
    '?',
    'é',
    ' ',
    '~',
    '\u0000',
    '\ud800',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const path = parseLiteralPath(text)
      if (!isIssue(path)) assert.equal(canonicalPath(text), text)
      const pattern = parsePathPattern(text)
      if (!isIssue(pattern) && pattern.kind === 'exact') assert.equal(canonicalPath(text), text)
    }),
  )
})

test('a remedy that says what to write is itself accepted', () => {
  for (const text of ['/a//b', '/a/./b', '/café', '/a b', '/%7Ea', '/a\\b', '/"']) {
    const issue = parseLiteralPath(text)
    assert.ok(isIssue(issue), text)
    assert.equal(parseLiteralPath(issue.remedy.replace(/^write /, '')), issue.remedy.replace(/^write /, ''))
  }
})

test('a template may have its placeholders anywhere', () => {
  assert.equal(parsePathTemplate('/x/{a}-{b}.json'), '/x/{a}-{b}.json')
  assert.deepEqual(placeholdersOf('/x/{a}-{b}.json'), ['a', 'b'])
  for (const text of ['/x/{a', '/x/{}', '/x/{a b}', 'x/{a}'])
    assert.ok(isIssue(parsePathTemplate(text)), text)
})
