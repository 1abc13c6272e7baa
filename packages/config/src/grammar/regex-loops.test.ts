import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { examineRegex } from './regex.js'
import { findRiskyLoop } from './regex-loops.js'

test('a loop within a loop is found', () => {
  const risky = [
    '(a+)+',
    '(a*)*',
    '(.*)*',
    '(?:a+)+$',
    '(a+b*)+',
    '((ab)+)*',
    '(a{1,5})*',
    '([a-z]+)*x',
    '(\\d+)+',
    '(x(a+)+)?',
  ]
  for (const source of [...risky, '(a|b+)*', '(/[^x]*)*', '(?<n>\\w+)*', '(a+){2,}']) {
    assert.notEqual(findRiskyLoop(source), null, source)
  }
})

test('loops with a boundary, and single loops, are allowed', () => {
  const fine = [
    '^/a',
    '(/[a-z0-9]+)*$',
    '^(/[^/]+)+$',
    '([a-z]+,)*',
    '(a+)?',
    '(ab)*',
    'a+b+c+',
    '(a{3})*',
    '[(+]+',
    '\\(a+\\)+',
  ]
  for (const source of [...fine, '(?:\\.[a-z]+)*', '(a|b)*', '(?=a+)b*', '', 'a{,3}', '(-[^-]+)*']) {
    assert.equal(findRiskyLoop(source), null, source)
  }
})

test('an expression that cannot be compiled, or is too long, is refused', () => {
  for (const source of ['(', '[', '*a', 'a{2,1}', '(?<a', 'a'.repeat(1001)])
    assert.notEqual(examineRegex(source), null, source)
  assert.equal(examineRegex('^/orders/\\d+$'), null)
})

test('whatever is written, the verdict comes back', () => {
  const piece = fc.constantFrom(
    'a',
    '(',
    ')',
    '[',
    ']',
    '*',
    '+',
    '?',
    '{2}',
    '{1,}',
    '|',
    '\\',
    '^',
    '(?:',
    '(?<n>',
    '-',
    '\\d',
    '.',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const flaw = examineRegex(pieces.join(''))
      assert.ok(flaw === null || flaw.message.length > 0)
    }),
  )
})
