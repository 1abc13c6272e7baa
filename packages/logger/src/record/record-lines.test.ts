import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FRAGMENT } from './fragments.js'
import { millisText } from './millis-text.js'
import { RecordLines } from './record-lines.js'
import { RecordWriter } from './record-writer.js'
import { SharedTexts } from './shared-texts.js'

const writer = new RecordWriter()
const lines = new RecordLines(new SharedTexts().memory)

/** Returns the text of what is written. */
function textOf(write: (w: RecordWriter) => void): string {
  writer.begin()
  write(writer)
  lines.clear()
  lines.append(writer.bytes, 0, writer.length)
  return lines.lines.toString('latin1').slice(0, -1)
}

test('an instant is written as Date writes it, in whatever order instants come', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff_ffff * 1000 - 1 }), (instant) => {
      assert.equal(
        textOf((w) => w.time(instant)),
        new Date(instant).toISOString(),
      )
      assert.equal(
        textOf((w) => w.time(instant + 0.7)),
        new Date(instant).toISOString(),
      )
    }),
  )
})

test('an invalid instant becomes the epoch', () => {
  for (const instant of [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e18])
    assert.equal(
      textOf((w) => w.time(instant)),
      '1970-01-01T00:00:00.000Z',
    )
})

test('a duration is written in ms with microseconds', () => {
  const written = (ms: number) => textOf((w) => w.millisOnly(ms))
  const durations = [0, 1, 1.5, 0.001, 12.34567, 2000.01, 0.0001, -1, Number.NaN]
  const expected = ['0', '1', '1.5', '0.001', '12.346', '2000.01', '0', '0', '0']
  assert.deepEqual(durations.map(millisText), expected)
  assert.deepEqual(durations.map(written), expected)
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (duration) => {
      assert.equal(Number(written(duration)), Math.round(duration * 1000) / 1000)
      assert.equal(written(duration), millisText(duration))
    }),
  )
})

test('a count is written as a whole number, and an invalid one as 0', () => {
  for (const count of [0, 9, 10, 99, 12_345, 0xffff_ffff, 0x1_0000_0000, Number.MAX_SAFE_INTEGER])
    assert.equal(
      textOf((w) => w.countOnly(count)),
      String(count),
    )
  for (const count of [Number.NaN, -1, Number.POSITIVE_INFINITY])
    assert.equal(
      textOf((w) => w.countOnly(count)),
      '0',
    )
})

test('texts and names of any length are JSON', () => {
  const units = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
  const text = fc.oneof(
    fc.string(),
    fc.array(units).map((all) => all.join('')),
    fc.constant('x'.repeat(5000)),
  )
  fc.assert(
    fc.property(text, (value) => {
      const written = (write: (w: RecordWriter) => void) =>
        JSON.parse(
          textOf((w) => {
            w.fragment(FRAGMENT.string)
            write(w)
            w.fragment(FRAGMENT.string)
          }),
        )
      assert.equal(
        written((w) => w.text(value)),
        value,
      )
      assert.equal(
        written((w) => w.name(value)),
        value,
      )
    }),
  )
})

test('lines larger than the output follow each other unchanged', () => {
  lines.clear()
  const texts = ['a'.repeat(300_000), 'b', 'c'.repeat(400_000)]
  for (const text of texts) {
    writer.begin()
    writer.json(text)
    lines.append(writer.bytes, 0, writer.length)
  }
  assert.equal(lines.lines.toString('latin1'), texts.map((text) => `${text}\n`).join(''))
})
