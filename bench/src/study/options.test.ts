import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions } from './options.js'

const DEFAULTS = { rounds: 3, json: null }

test('options that are not given have their defaults, numbers are numbers and texts are texts', () => {
  assert.deepEqual(parseOptions(DEFAULTS, []), { rounds: 3, json: null })
  assert.deepEqual(parseOptions(DEFAULTS, ['--rounds', '5', '--json=7']), { rounds: 5, json: '7' })
})

test('an option that there is not is refused with those that there are', () => {
  assert.throws(
    () => parseOptions(DEFAULTS, ['--round', '5']),
    /^Error: Unknown option '--round'; the options are --rounds, --json$/,
  )
  assert.throws(() => parseOptions(DEFAULTS, ['5']), /'5'.*the options are --rounds, --json$/)
  assert.throws(() => parseOptions({}, ['--rounds', '5']), /there are no options$/)
})

test('an option without its value, or with one that is no whole number, is refused by name', () => {
  assert.throws(() => parseOptions(DEFAULTS, ['--rounds']), /--rounds/)
  for (const text of ['0', '1.5', 'many', '1e9', '']) {
    assert.throws(() => parseOptions(DEFAULTS, ['--rounds', text]), /--rounds is '.*'; write a whole number/)
  }
})
