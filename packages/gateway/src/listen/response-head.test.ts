import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderCache } from '@sluice/core'
import fc from 'fast-check'
import {
  checkField,
  formLine,
  isBodiless,
  NEEDS_LATIN1,
  PLAIN,
  REFUSED,
  STATUS_LINES,
} from './response-head.js'

test('every status has a line with a reason', () => {
  assert.equal(STATUS_LINES[200], '200 OK')
  assert.equal(STATUS_LINES[299], '299 Success')
  assert.equal(STATUS_LINES[599], '599 Server Error')
  for (let status = 100; status < 600; status++) assert.match(STATUS_LINES[status]!, /^\d{3} [ -~]+$/)
})

test('responses without a body are recognized by their status', () => {
  assert.deepEqual([100, 199, 200, 204, 205, 304, 404].map(isBodiless), [
    true,
    true,
    false,
    true,
    false,
    true,
    false,
  ])
})

test('a value that could end its line is refused, and only single-byte characters are sent', () => {
  fc.assert(
    fc.property(
      fc
        .array(fc.integer({ min: 0, max: 0x141 }), { maxLength: 6 })
        .map((units) => String.fromCharCode(...units)),
      (value) => {
        const expected = /^[\t -~]*$/.test(value)
          ? PLAIN
          : /^[\t -~\u0080-\u00ff]*$/.test(value)
            ? NEEDS_LATIN1
            : REFUSED
        assert.equal(checkField('x', value), expected, JSON.stringify(value))
      },
    ),
    { numRuns: 1000 },
  )
  for (const value of ['a\r\nb', 'a\nb', '\u0000', '\u010a', '\u010d'])
    assert.equal(checkField('x', value), REFUSED)
  for (const name of ['', 'a b', 'a:', 'a\r\nb']) assert.equal(checkField(name, 'a'), REFUSED)
  for (const name of ['content-length', 'Content-Length', 'transfer-encoding', 'connection'])
    assert.equal(checkField(name, '0'), REFUSED)
})

test('a field that is refused once is refused again, whatever its value', () => {
  const lines = new HeaderCache(formLine)
  for (const value of ['1', '2', '1']) {
    assert.equal(lines.line('x\r\ny', value), '')
    assert.equal(lines.line('x', 'a\nb'), '')
    assert.equal(lines.line('x', value), `\r\nx: ${value}`)
    assert.equal(lines.line('x', '\xe9'), null)
  }
})
