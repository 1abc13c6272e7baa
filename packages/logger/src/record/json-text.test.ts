import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonText } from './json-text.js'

test('any text of UTF-16 comes back from its JSON, which is printable ASCII', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(
      '"',
      '\\',
      '/',
      '\u007f',
      '\u0080',
      '\u2028',
      '\ud800',
      '\udc00',
      '\n',
      '[',
      ']',
      '~',
      ' ',
    ),
  )
  fc.assert(
    fc.property(
      fc.array(unit).map((units) => units.join('')),
      (text) => {
        const json = jsonText(text)
        assert.match(json, /^[ -~]*$/)
        assert.equal(JSON.parse(`"${json}"`), text)
      },
    ),
    { numRuns: 500 },
  )
})
