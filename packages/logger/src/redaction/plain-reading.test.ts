import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainReading } from './plain-reading.js'

test('escapes of separators and accented letters become spaces, however often they are escaped', () => {
  const cases: Readonly<Record<string, string>> = {
    'a b': 'a b',
    '{"a":"b\\nc\\"d"}': '{"a":"b c d"}',
    '"{\\\\\\"a\\\\\\":1}"': '"{ a :1}"',
    'caf\\u00e9 \\\\u015fi': 'caf   i',
    'a=b%20c%3Ad&e=%C3%A7': 'a=b c d&e= ',
    '5% & 6%': '5% & 6%',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(plainReading(text), expected)
})

test('a text with other escapes has no plain reading', () => {
  const texts = [
    '\\u0040',
    '\\\\u0040',
    '\\d',
    '\\N',
    '\\U0041',
    '%40',
    '%2540',
    '&#52;',
    '&amp;',
    '<![CDATA[',
  ]
  for (const text of texts) assert.equal(plainReading(text), null, text)
  // Its digits may belong to the number after it.
  for (const text of ['%204111', '\\u00d41', '%C3%A5 4']) assert.equal(plainReading(text), null, text)
  assert.equal(plainReading('%2'), '%2')
})

test('a long run of backslashes is read once: reading it from each would take minutes', () => {
  const run = '\\'.repeat(1_000_000)
  assert.equal(plainReading(`${run}n`), ' ')
  assert.equal(plainReading(`${run}d`), null)
})
