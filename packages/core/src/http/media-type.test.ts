import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mediaType, prefersHtml } from './media-type.js'

test('a media type is reported without parameters, space and case', () => {
  assert.equal(mediaType('Text/HTML ; charset=utf-8;a=b'), 'text/html')
  assert.equal(mediaType(' application/json'), 'application/json')
  assert.equal(mediaType(''), '')
  assert.equal(mediaType(';charset=utf-8'), '')
})

test('HTML is preferred if it is listed and no machine-readable type has a higher weight', () => {
  const rows: [string | null, boolean][] = [
    ['text/html', true],
    ['text/html;level=1;q=0.4, application/json;q=0.3', true],
    ['Text/HTML ; Q=0.001', true],
    ['application/json, text/html', true],
    ['text/html;q=0.9, application/json', false],
    ['text/html;q=0', false],
    ['text/html;q=0.0000', false],
    ['text/html;q=2', false],
    ['text/htmlx, */*', false],
    ['', false],
    [null, false],
  ]
  for (const [accept, expected] of rows)
    assert.equal(prefersHtml(accept, ['application/json']), expected, String(accept))
})
