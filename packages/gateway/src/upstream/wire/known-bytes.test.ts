import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownBytes } from './known-bytes.js'
import { partOf, READ_BUFFER } from './target-socket.js'

/** Letters, and bytes that make pieces which are no numbers, or zeros of either sign. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', '\x7f', '\x80', '\xf0', '\xff'), maxLength: 20 })

test('known bytes stand where the same bytes are, whole, in the common buffer and in any other', () => {
  fc.assert(
    fc.property(text, text, fc.nat(9), fc.nat(24), (known, present, from, room) => {
      const bytes = new KnownBytes(Buffer.from(known, 'latin1'))
      const to = from + Math.min(room, present.length)
      const expected = present.slice(0, to - from).startsWith(known)
      for (const buffer of [READ_BUFFER, Buffer.alloc(64)]) {
        buffer.write(present, from, 'latin1')
        // Not being recognised only costs time; being taken for others would be wrong.
        const mayMiss = buffer === READ_BUFFER && /[^ab]/.test(known)
        if (mayMiss) assert.ok(expected || !bytes.standAt(buffer, from, to))
        else assert.equal(bytes.standAt(buffer, from, to), expected)
      }
    }),
    { numRuns: 2000 },
  )
})

test('known bytes at the very end of the common buffer are found, and not behind it', () => {
  const end = READ_BUFFER.length
  READ_BUFFER.write('tail!', end - 5, 'latin1')
  const bytes = new KnownBytes(Buffer.from('tail!'))
  assert.ok(bytes.standAt(READ_BUFFER, end - 5, end))
  assert.ok(!bytes.standAt(READ_BUFFER, end - 4, end))
})

test('a part shows the bytes themselves, of the common buffer and of any other', () => {
  for (const buffer of [READ_BUFFER, Buffer.from('0123456789')]) {
    buffer.write('0123456789', 0, 'latin1')
    const part = partOf(buffer, 2, 5)
    buffer[3] = 120
    assert.equal(Buffer.from(part).toString(), '2x4')
  }
})

test('a part is the one that is asked for, whatever was asked for before', () => {
  READ_BUFFER.write('0123456789abcdef', 0, 'latin1')
  const asked = [
    [2, 5],
    [3, 6],
    [2, 13],
    [2, 5],
    [0, 0],
    [5, 5],
    [0, 8],
    [0, 16],
  ] as const
  for (const [from, to] of asked) {
    assert.equal(Buffer.from(partOf(READ_BUFFER, from, to)).toString(), '0123456789abcdef'.slice(from, to))
  }
})
