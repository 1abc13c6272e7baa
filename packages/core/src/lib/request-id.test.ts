import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RequestIds } from './request-id.js'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an id is a UUIDv7 that begins with the time', () => {
  const id = new RequestIds().next(0x0123_4567_89ab)
  assert.match(id, UUID_V7)
  assert.ok(id.startsWith('01234567-89ab-7000-'))
})

test('ids are unique and ordered, whatever the clock does', () => {
  const start = Date.UTC(2026, 0, 1)
  fc.assert(
    fc.property(fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { maxLength: 50 }), (steps) => {
      const ids = new RequestIds()
      let now = start
      let previous = ids.next(now)
      for (const step of steps) {
        now += step
        const id = ids.next(now)
        assert.match(id, UUID_V7)
        assert.ok(id > previous, `${id} after ${previous}`)
        previous = id
      }
    }),
  )
})

test('more ids than one millisecond has room for stay in order', () => {
  const ids = new RequestIds()
  const made = Array.from({ length: 10_000 }, () => ids.next(1_700_000_000_000))
  assert.equal(new Set(made).size, made.length)
  assert.deepEqual(made.toSorted(), made)
})

test('two sources share no random bits', () => {
  const [a, b] = [new RequestIds().next(1), new RequestIds().next(1)]
  assert.notEqual(a, b)
})
