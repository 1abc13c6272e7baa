import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mediaType } from './media-type.js'

test('a media type is reported without parameters, space and case', () => {
  assert.equal(mediaType('Text/HTML ; charset=utf-8;a=b'), 'text/html')
  assert.equal(mediaType(' application/json'), 'application/json')
  assert.equal(mediaType(''), '')
  assert.equal(mediaType(';charset=utf-8'), '')
})
