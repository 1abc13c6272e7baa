import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { millisText } from './millis-text.js'
import { RecordLines } from './record-lines.js'
import { RecordWriter } from './record-writer.js'
import { NO_REFERENCE, SharedTexts } from './shared-texts.js'
import { flag, HOLE, optionalCount } from './template.js'

const NOBODY = { forget: () => {} }
const writer = new RecordWriter()
const texts = new SharedTexts()
const lines = new RecordLines(texts.memory)

/** Returns the text of a template with values, as a shared text and as a part of the record. */
function textOf(template: string, write: (w: RecordWriter) => void): string {
  if (texts.isFull) texts.switchHalf()
  const [shared, inline] = [texts.add(template, NOBODY), NO_REFERENCE].map((position) => {
    writer.begin()
    writer.template(position, template)
    write(writer)
    lines.clear()
    lines.append(writer.words, 0, writer.length)
    return lines.lines.toString('latin1')
  })
  assert.equal(shared, inline)
  return inline!.slice(0, -1)
}

test('an instant is written as Date writes it, in whatever order instants come', () => {
  const written = (instant: number) => textOf(HOLE.instant, (w) => w.instant(instant))
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (instant) => {
      assert.equal(written(instant), new Date(instant).toISOString())
      assert.equal(written(instant + 0.7), new Date(instant).toISOString())
    }),
  )
  for (const instant of [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e18])
    assert.equal(written(instant), '1970-01-01T00:00:00.000Z')
})

test('a duration is written in ms with microseconds', () => {
  const written = (ms: number) => textOf(HOLE.micros, (w) => w.millis(ms))
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
  const written = (count: number) => textOf(HOLE.count, (w) => w.count(count))
  for (const count of [
    0,
    9,
    10,
    99,
    12_345,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    Number.MAX_SAFE_INTEGER,
  ])
    assert.equal(written(count), String(count))
  for (const count of [Number.NaN, -1, Number.POSITIVE_INFINITY]) assert.equal(written(count), '0')
})

test('optional numbers and flags are omitted if they are 0', () => {
  const template = `{"a":1${optionalCount(',"b":')}${flag(',"c":true')}}`
  const written = (b: number, c: number) =>
    textOf(template, (w) => {
      w.count(b)
      w.count(c)
    })
  assert.deepEqual(
    [written(0, 0), written(7, 0), written(0, 1)],
    ['{"a":1}', '{"a":1,"b":7}', '{"a":1,"c":true}'],
  )
})

test('phases are written with their names', () => {
  const written = textOf(`{"total":1${HOLE.phases}}`, (w) => {
    w.count(0b101)
    w.millis(0.5)
    w.millis(70)
  })
  assert.deepEqual(Object.values(JSON.parse(written)), [1, 0.5, 70])
})

test('texts of any length and content are JSON', () => {
  const units = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
  const text = fc.oneof(
    fc.string(),
    fc.array(units).map((all) => all.join('')),
    fc.constant('x'.repeat(50_000)),
  )
  fc.assert(
    fc.property(text, (value) => {
      assert.equal(JSON.parse(textOf(`"${HOLE.text}"`, (w) => w.text(value))), value)
    }),
  )
})

test('lines larger than the output follow each other unchanged', () => {
  lines.clear()
  const large = ['a'.repeat(300_000), 'b', 'c'.repeat(400_000)]
  for (const text of large) {
    writer.begin()
    writer.template(NO_REFERENCE, text)
    lines.append(writer.words, 0, writer.length)
  }
  assert.equal(lines.lines.toString('latin1'), large.map((text) => `${text}\n`).join(''))
})

test('texts that were replaced in the shared memory are read again', () => {
  const shared = new SharedTexts()
  const reader = new RecordLines(shared.memory)
  const read = (position: number) => {
    writer.begin()
    writer.template(position, '')
    reader.clear()
    reader.append(writer.words, 0, writer.length)
    return reader.lines.toString('latin1')
  }
  const first = shared.add('first', NOBODY)
  assert.equal(read(first), 'first\n')
  shared.switchHalf()
  const second = shared.add('second', NOBODY)
  assert.deepEqual([read(first), read(second)], ['first\n', 'second\n'])
  shared.switchHalf()
  assert.equal(shared.add('other', NOBODY), first)
  assert.deepEqual([read(first), read(second)], ['other\n', 'second\n'])
  while (!shared.isFull) shared.add('x'.repeat(8000), NOBODY)
  assert.equal(shared.add('y'.repeat(8000), NOBODY), NO_REFERENCE)
})
