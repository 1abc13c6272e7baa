import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HeadLines } from './head-lines.js'

const ID = 'id-1'
const formLine = (name: string, value: string): string | null =>
  value.includes('\n') ? null : `\r\n${name}: ${value}`

function formed(list: readonly string[]): string | null {
  let lines = ''
  for (let i = 0; i < list.length; i += 2) {
    const line = formLine(list[i]!, list[i + 1]!)
    if (line === null) return null
    lines += line
  }
  return lines
}

test('the lines are those of the list, whatever came before', () => {
  const lines = new HeadLines(formLine)
  const field = fc.tuple(
    fc.constantFrom('a', 'b', 'accept', 'x-request-id'),
    fc.constantFrom('', '1', '2', '\n', ID, 'v'.repeat(3000)),
  )
  const list = fc.array(field, { maxLength: 4 }).map((fields) => fields.flat())
  fc.assert(
    fc.property(fc.array(list, { maxLength: 20 }), fc.boolean(), (lists, hasId) => {
      for (const each of lists) {
        const whole = hasId ? [...each, 'x-request-id', ID] : each
        assert.equal(lines.of(whole, ID), formed(whole))
      }
    }),
    { numRuns: 500 },
  )
})

test('fields like those before are not formed again, whatever the id', () => {
  let count = 0
  const lines = new HeadLines((name, value) => {
    count++
    return formLine(name, value)
  })
  for (let i = 0; i < 10; i++) {
    const list = ['a', '1', 'b', '2', 'x-request-id', `id-${i}`]
    assert.equal(lines.of(list, `id-${i}`), `\r\na: 1\r\nb: 2\r\nx-request-id: id-${i}`)
  }
  assert.equal(count, 2)
})

test('an id that is not the one of the request is judged like any value', () => {
  const lines = new HeadLines(formLine)
  assert.equal(lines.of(['x-request-id', 'a\nb'], ID), null)
  assert.equal(lines.of(['x-request-id', ID, 'a', 'a\nb'], ID), null)
})
