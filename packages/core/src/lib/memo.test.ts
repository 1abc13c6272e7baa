import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Memo } from './memo.js'

test('a cached value is the same on first use, later, and after the cache was cleared', () => {
  let made = 0
  const memo = new Memo(1000, (text) => {
    made++
    return `<${text}>`
  })
  const texts = Array.from({ length: 2500 }, (_, i) => String(i))
  for (const text of [...texts, ...texts.slice(-500)]) assert.equal(memo.get(text), `<${text}>`)
  assert.equal(made, 2500, 'the last ones were remembered')
  memo.clear()
  assert.equal(memo.get('2499'), '<2499>')
  assert.equal(made, 2501)
})
