import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EventStream } from './event-stream.js'

function eventsIn(...parts: readonly (string | Uint8Array)[]): number {
  const stream = new EventStream(0, true)
  for (const part of parts) stream.read(Buffer.from(part as string))
  return stream.events
}

test('a block with data before an empty line is an event', () => {
  assert.equal(eventsIn('data: a\n\ndata: b\ndata: c\n\n'), 2)
  assert.equal(eventsIn('event: add\ndata: 1\nid: 7\n\n'), 1)
  assert.equal(eventsIn('data\n\ndata:\n\n'), 2, 'a field may be empty')
  assert.equal(eventsIn(': still here\n\nretry: 10\n\nid: 1\n\n'), 0, 'no comment, and no field but data')
  assert.equal(eventsIn('datax: a\n\ndat: a\n\nxdata: a\n\n data: a\n\n'), 0)
  assert.equal(eventsIn('data: a\n\n\n\n\ndata: b\n\n'), 2)
  assert.equal(eventsIn('data: a\n\ndata: not yet whole\n'), 1)
  assert.equal(eventsIn(''), 0)
})

test('lines end with CR, LF or both, and a byte order mark may come first', () => {
  assert.equal(eventsIn('data: a\r\n\r\ndata: b\r\n\r\n'), 2)
  assert.equal(eventsIn('data: a\r\rdata: b\r\r'), 2)
  assert.equal(eventsIn('data: a\n\rdata: b\r\n\n'), 2)
  assert.equal(eventsIn('data: a\r\n\n'), 1)
  assert.equal(eventsIn('\ufeffdata: a\n\n'), 1)
  assert.equal(eventsIn('\ufeff\ufeffdata: a\n\n'), 0, 'one of them only')
})

test('chunk boundaries do not affect the event count', () => {
  const text = fc
    .array(fc.constantFrom('data', ':', ' x', '\r', '\n', '\r\n', '\n\n', 'data: y\n\n', ': c\n\n', '\ufeff'))
    .map((pieces) => Buffer.from(pieces.join('')))
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (bytes, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const parts = at.slice(1).map((end, i) => bytes.subarray(at[i]!, end))
      assert.equal(eventsIn(...parts), eventsIn(bytes))
      assert.equal(eventsIn(...[...bytes].map((byte) => Uint8Array.of(byte))), plainCount(bytes.toString()))
    }),
  )
})

/** Reference implementation: splits the complete stream into lines. */
function plainCount(text: string): number {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  // Text without a line end is not a line yet.
  lines.pop()
  let events = 0
  let hasData = false
  for (const line of lines) {
    if (line === '') {
      if (hasData) events++
      hasData = false
    } else if (line === 'data' || line.startsWith('data:')) hasData = true
  }
  return events
}

test('a stream with a content coding is not inspected', () => {
  const stream = new EventStream(0, false)
  stream.read(Buffer.from('data: a\n\n'))
  assert.equal(stream.events, 0)
})
