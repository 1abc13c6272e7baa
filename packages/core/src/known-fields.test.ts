import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownFields } from './known-fields.js'

test('what is found is the field that was asked for, whatever was learnt before', () => {
  const known = new KnownFields()
  const field = fc.tuple(
    fc.constantFrom('', 'a', 'b', 'accept', 'x-a', 'x-b'),
    fc.constantFrom('', '1', '2', 'a longer value'),
  )
  fc.assert(
    fc.property(fc.array(field, { maxLength: 40 }), (fields) => {
      for (const [name, value] of fields) {
        const place = known.find(name, value)
        if (place >= 0) assert.deepEqual([known.names[place], known.values[place]], [name, value])
        else known.learn(name, value)
      }
    }),
    { numRuns: 500 },
  )
})

test('a field is found once it was learnt, and its name with any value', () => {
  const known = new KnownFields()
  assert.equal(known.find('accept', '*/*'), -1)
  const place = known.learn('accept', '*/*')
  assert.equal(known.find('accept', ['*', '*'].join('/')), place)
  assert.equal(known.find('accept', 'text/plain'), -1)
  assert.deepEqual(
    [known.hasName('accept'), known.hasName('accepT'), known.hasName('')],
    [true, false, false],
  )
})

test('a value of over 200 characters is not kept', () => {
  const known = new KnownFields()
  assert.equal(known.learn('cookie', 'c'.repeat(201)), -1)
  assert.equal(known.find('cookie', 'c'.repeat(201)), -1)
})
