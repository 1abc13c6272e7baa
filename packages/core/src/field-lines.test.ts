import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FieldLines } from './field-lines.js'

const formLine = (name: string, value: string): string | null =>
  value.includes('\n') ? null : `${name}: ${value}`

test('a line is that of its field, whatever came before', () => {
  const lines = new FieldLines(formLine)
  const field = fc.tuple(
    fc.constantFrom('', 'a', 'b', 'accept', 'x-a', 'x-b'),
    fc.constantFrom('', '1', '2', '\n'),
  )
  fc.assert(
    fc.property(fc.array(field, { maxLength: 40 }), (fields) => {
      for (const [name, value] of fields) assert.equal(lines.line(name, value), formLine(name, value))
    }),
    { numRuns: 500 },
  )
})

test('an equal field is not formed again', () => {
  let formed = 0
  const lines = new FieldLines((name, value) => {
    formed++
    return `${name}: ${value}`
  })
  for (let i = 0; i < 10; i++)
    assert.equal(lines.line('x-name', `value ${'1'.repeat(3)}`), 'x-name: value 111')
  assert.equal(formed, 1)
})

test('a long value is not kept, and one that always changes hardly ever', () => {
  let formed = 0
  const lines = new FieldLines((name, value) => {
    formed++
    return `${name}: ${value}`
  })
  for (let i = 0; i < 2; i++) lines.line('cookie', 'c'.repeat(1000))
  assert.equal(formed, 2)
  for (let i = 0; i < 300; i++) lines.line('x-request-id', String(i))
  // The last one kept is not the last one seen: the counter began anew with the 256th.
  lines.line('x-request-id', '299')
  assert.equal(formed, 303)
  lines.line('x-request-id', '255')
  assert.equal(formed, 303)
})
