import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HeaderCache } from './header-cache.js'

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

/** Creates a cache and counts how often it formats a line. */
function counted(): { cache: HeaderCache; count: () => number } {
  let count = 0
  const cache = new HeaderCache((name, value) => {
    count++
    return formLine(name, value)
  })
  return { cache, count: () => count }
}

test('lines match the list and lookups return the right field, whatever is cached', () => {
  const cache = new HeaderCache(formLine)
  const field = fc.tuple(
    fc.constantFrom('', 'a', 'b', 'accept', 'x-a', 'x-request-id'),
    fc.constantFrom('', '1', '2', '\n', ID, 'v'.repeat(3000)),
  )
  const list = fc.array(field, { maxLength: 4 }).map((fields) => fields.flat())
  fc.assert(
    fc.property(fc.array(list, { maxLength: 20 }), fc.boolean(), (lists, hasId) => {
      for (const each of lists) {
        const whole = hasId ? [...each, 'x-request-id', ID] : each
        assert.equal(cache.lines(whole, ID), formed(whole))
        for (let i = 0; i < each.length; i += 2) {
          const found = cache.find(each[i]!, each[i + 1]!)
          assert.equal(cache.line(each[i]!, each[i + 1]!), formLine(each[i]!, each[i + 1]!))
          if (found !== null) assert.deepEqual([found.name, found.value], [each[i], each[i + 1]])
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('an equal field is found without formatting its line again', () => {
  const { cache, count } = counted()
  assert.equal(cache.find('accept', '*/*'), null)
  for (let i = 0; i < 10; i++) assert.equal(cache.line('accept', ['*', '*'].join('/')), '\r\naccept: */*')
  assert.equal(cache.find('accept', '*/*')!.line, '\r\naccept: */*')
  assert.equal(cache.find('accept', 'text/plain'), null)
  assert.equal(count(), 1)
})

test('a repeated head is not formatted again, whatever its request ID', () => {
  const { cache, count } = counted()
  for (let i = 0; i < 10; i++) {
    const list = ['a', '1', 'b', '2', 'x-request-id', `id-${i}`]
    assert.equal(cache.lines(list, `id-${i}`), `\r\na: 1\r\nb: 2\r\nx-request-id: id-${i}`)
  }
  assert.equal(count(), 2)
})

test('a traceparent after the request ID is not formatted, and the rest of the head is still found', () => {
  const { cache, count } = counted()
  for (let i = 0; i < 10; i++) {
    const list = ['a', '1', 'x-request-id', `id-${i}`, 'traceparent', `00-${i}`]
    const lines = `\r\na: 1\r\nx-request-id: id-${i}\r\ntraceparent: 00-${i}`
    assert.equal(cache.lines(list, `id-${i}`, `00-${i}`), lines)
  }
  assert.equal(count(), 1)
  assert.equal(cache.lines(['traceparent', '0\n'], '', '00-1'), null)
  assert.equal(cache.lines(['a', '00-1\n'], '', '00-1\n'), null)
})

test('an ID other than that of the request is validated like any value', () => {
  const cache = new HeaderCache(formLine)
  assert.equal(cache.lines(['x-request-id', 'a\nb'], ID), null)
  assert.equal(cache.lines(['x-request-id', ID, 'a', 'a\nb'], ID), null)
})

test('long values are not cached, and changing ones rarely', () => {
  const { cache, count } = counted()
  for (let i = 0; i < 2; i++) cache.line('cookie', 'c'.repeat(201))
  assert.equal(count(), 2)
  for (let i = 0; i < 300; i++) cache.line('traceparent', String(i))
  // The last value seen is not cached, because the counter restarted with the 256th.
  assert.equal(cache.find('traceparent', '299'), null)
  assert.notEqual(cache.find('traceparent', '255'), null)
})
