import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyKindOf, isReadable } from './body-text.js'

test('a body whose content type may name two charsets is not readable', () => {
  for (const two of ['a="; charset=utf-8"; charset=utf-7', 'charset=utf-8; charset=utf-16']) {
    assert.equal(isReadable(bodyKindOf(['content-type', `text/plain; ${two}`])), false, two)
  }
  const same = ['content-type', 'text/plain; charset=UTF-8; charset="utf-8"']
  assert.equal(isReadable(bodyKindOf(same)), true)
})
