import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prefersHtml } from './accept.js'

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
