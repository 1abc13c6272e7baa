import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from './line-diff.js'

test('changed lines are shown with their surroundings', () => {
  const before = '1\n2\n3\n4\n5\n6\n7\n8'
  assert.deepEqual(lineDiff(before, '1\n2\n3\nx\n5\ny\n7\n8'), [
    ...['…', ' 2', ' 3', '-4', '+x', ' 5', '-6', '+y', ' 7', ' 8'],
  ])
  assert.deepEqual(lineDiff('', 'a'), ['-', '+a'])
  assert.deepEqual(lineDiff('a\nb', 'b'), ['-a', ' b'])
})

test('the lines of a difference make up both texts', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 20 })
  const side = (lines: readonly string[], other: string) =>
    lines.filter((line) => line !== '…' && line[0] !== other).map((line) => line.slice(1))
  fc.assert(
    fc.property(text, text, (old, now) => {
      const lines = lineDiff(old.join('\n'), now.join('\n'))
      assert.ok(old.join('').includes(side(lines, '+').join('')))
      assert.ok(now.join('').includes(side(lines, '-').join('')))
    }),
  )
})

test('large texts have a bounded difference', () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join('\n')
  assert.equal(lineDiff(text('a'), text('b')).length, 61)
})
