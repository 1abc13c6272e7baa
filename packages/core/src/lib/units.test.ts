import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  DURATION_PATTERN,
  formatSize,
  parseDuration,
  parseRate,
  parseRatio,
  parseSize,
  RATE_PATTERN,
  RATIO_PATTERN,
  SIZE_PATTERN,
} from './units.js'

const GRAMMARS = [
  { parse: parseDuration, pattern: DURATION_PATTERN, units: ['ms', 's', 'm', 'h', 'd'] },
  { parse: parseSize, pattern: SIZE_PATTERN, units: ['b', 'B', 'kb', 'KB', 'kB', 'Mb', 'mb', 'gb', 'GB'] },
  { parse: parseRate, pattern: RATE_PATTERN, units: ['/s', '/m', '/h', '/d'] },
  { parse: parseRatio, pattern: RATIO_PATTERN, units: ['%'] },
] as const

test('durations are milliseconds, and fractions are rounded to whole ones', () => {
  const texts = ['0s', '250ms', '1.5ms', '5s', '1m', '1.5h', '7d']
  assert.deepEqual(texts.map(parseDuration), [0, 250, 2, 5000, 60_000, 5_400_000, 604_800_000])
})

test('sizes are bytes, in powers of 1024 and in either case', () => {
  const texts = ['0b', '512b', '16kb', '16KB', '1.5mb', '1Gb']
  assert.deepEqual(texts.map(parseSize), [0, 512, 16_384, 16_384, 1_572_864, 1_073_741_824])
})

test('sizes are reported in the largest unit that fits, with three digits and no empty ones', () => {
  const sizes = [0, 1, 1023, 1024, 1536, 1.2345 * 1024, 10 * 1024 ** 2, 123.4 * 1024 ** 2, 3.25 * 1024 ** 3]
  const texts = ['0 B', '1 B', '1,023 B', '1 KB', '1.5 KB', '1.23 KB', '10 MB', '123 MB', '3.25 GB']
  assert.deepEqual(sizes.map(formatSize), texts)
  assert.deepEqual([1023.7 * 1024, 5 * 1024 ** 5].map(formatSize), ['1 MB', '5,120 TB'])
  assert.equal(formatSize(Number.NaN), '–')
})

test('a rate is a count and the seconds it is counted over', () => {
  assert.deepEqual(parseRate('100/s'), { count: 100, seconds: 1 })
  assert.deepEqual(parseRate('0.5/m'), { count: 0.5, seconds: 60 })
  assert.deepEqual(parseRate('9/h'), { count: 9, seconds: 3600 })
  assert.deepEqual(parseRate('1/d'), { count: 1, seconds: 86_400 })
})

test('a ratio is at most one', () => {
  assert.deepEqual(['0%', '20%', '12.5%', '100%'].map(parseRatio), [0, 0.2, 0.125, 1])
  assert.throws(() => parseRatio('100.1%'), RangeError)
})

test('the pattern of a schema accepts exactly the texts that its parser reads', () => {
  const amount = fc.constantFrom('', '0', '7', '1.5', '.5', '1.', '-1', '1e3', ' 1', '0x1', '٣')
  for (const { parse, pattern, units } of GRAMMARS) {
    const unit = fc.constantFrom(...units, '', 'x', ' s', 's\n', 'MS', 'tb')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(amount, unit).map(([a, b]) => a + b),
          fc.string(),
        ),
        (text) => {
          const isRead = (() => {
            try {
              parse(text)
              return true
            } catch (error) {
              assert.ok(error instanceof RangeError)
              assert.ok(error.message.includes(text))
              return false
            }
          })()
          assert.equal(isRead, new RegExp(pattern).test(text), JSON.stringify(text))
        },
      ),
    )
  }
})

test('a duration of whole units is exact', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), (count) => {
      assert.equal(parseDuration(`${count}ms`), count)
      assert.equal(parseDuration(`${count}h`), count * 3_600_000)
      assert.equal(parseSize(`${count}mb`), count * 1_048_576)
    }),
  )
})
