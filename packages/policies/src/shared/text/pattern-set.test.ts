import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { LiteralScan } from './literal-scan.js'
import { compilePattern } from './pattern.js'
import { PatternSet } from './pattern-set.js'
import { requirementOf } from './required-literals.js'

/** Patterns of the whole grammar over few letters, so that they match often. */
const letter = fc.constantFrom('a', 'b', 'S', 'k', '\\.', '\\n', '\\x62', '\\Qa.b\\E', '\\*')
const atom = fc.oneof(
  { weight: 5, arbitrary: letter },
  {
    weight: 2,
    arbitrary: fc.constantFrom('.', '\\d', '\\w', '[ab]', '[^a]', '[a-c]', '[[:alpha:]b]', '[\\].]', '[]a]'),
  },
  { weight: 1, arbitrary: fc.constantFrom('^', '$', '\\b', '\\B', '(?i)', '(?s)', '\\pL', '') },
)
const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc
      .tuple(tie('pattern'), fc.constantFrom('', '?', '*', '+', '{2}', '{0,2}', '{1,3}', '{2,}', '??'))
      .map(([inner, times]) => `(?:${inner})${times}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|${b})`),
  ),
  pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('')),
}))
const text = fc
  .array(fc.constantFrom('a', 'A', 'b', 's', '\u017f', 'K', '\u212a', '.', '\n', '*', '1', ' '), {
    maxLength: 12,
  })
  .map((characters) => characters.join(''))

test('a set finds exactly the patterns that are found one by one', () => {
  fc.assert(
    fc.property(
      fc.array(pattern, { minLength: 1, maxLength: 6 }),
      fc.array(text, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (sources, texts, isCaseInsensitive) => {
        const patterns = sources.map((source) => compilePattern(source, isCaseInsensitive))
        const set = new PatternSet(patterns)
        for (const each of texts) {
          const expected = patterns.flatMap((one, i) => (one.test(each) ? [i] : []))
          assert.deepEqual(set.match(each), expected, JSON.stringify({ sources, each }))
        }
      },
    ),
    { numRuns: 1500 },
  )
})

test('literals are found wherever they lie, within each other too', () => {
  const literals = ['he', 'she', 'hers', 'his', 's']
  const word = fc
    .array(fc.constantFrom(...'hersi', 'H', '-', '\u00e9'), { maxLength: 20 })
    .map((all) => all.join(''))
  const scan = new LiteralScan(literals)
  fc.assert(
    fc.property(word, (each) => {
      const found = new Set<number>()
      scan.scan(each, (number) => void found.add(number))
      literals.forEach((literal, i) => {
        assert.equal(found.has(i), each.toLowerCase().includes(literal), `${literal} in ${each}`)
      })
    }),
    { numRuns: 2000 },
  )
})

test('the most distinctive required literals are selected', () => {
  const cases: [string, string[][]][] = [
    ['union\\s+select', [['select'], ['union']]],
    ['(?i)\\b(?:sleep|benchmark)\\s*\\(', [['sleep', 'benchmark']]],
    ['<(?:script|iframe)', [['<script', '<iframe']]],
    ['colou?r', [['color', 'colour']]],
    ['[xy]z', [['xz', 'yz']]],
    ['a{2}', [['a']]],
    ['(?:abc)*', []],
    ['abc|.', []],
    ['(?:select.*from|insert.*into)', [['select', 'insert']]],
    ['\\x41bc', []],
    ['(abc', []],
  ]
  for (const [source, expected] of cases) {
    const sorted = requirementOf(source).map((group) => [...group].sort())
    assert.deepEqual(
      sorted,
      expected.map((group) => [...group].sort()),
      source,
    )
  }
})

test('patterns that no linear engine can match are refused with the reason', () => {
  for (const source of ['(?=a)', '(?!a)', '(?<=a)b', '(a)\\1', '(a', '[z-a]', 'a**']) {
    assert.throws(() => compilePattern(source, true), /cannot be matched in linear time/, source)
  }
  assert.throws(() => compilePattern('a'.repeat(5000), true), /longer than 4096/)
})

test('patterns that make other engines hang end at once on 100 KB', () => {
  const a = 'a'.repeat(100_000)
  const hostile: [string, string][] = [
    ['(a+)+$', `${a}!`],
    ['(a|a)*$', `${a}!`],
    ['(a|aa)+$', `${a}!`],
    ['([a-zA-Z]+)*$', `${a}!`],
    ['(.*a){20}$', `${a}!`],
    ['^(\\w+\\s?)*$', `${'a '.repeat(50_000)}!`],
    ['(x+x+)+y', 'x'.repeat(100_000)],
    ['(?:a?){50}a{50}b', a],
    ['\\s+$', `${' '.repeat(100_000)}x`],
    ['<!--.*?-->', '<!--'.repeat(25_000)],
  ]
  for (const [source, input] of hostile) {
    const set = new PatternSet([compilePattern(source, true)])
    const beforeMs = cpuMs()
    set.match(input)
    assert.ok(cpuMs() - beforeMs < 10_000, source)
  }
})

test('replacing gives up rather than take long, and says so', () => {
  const pattern = compilePattern('a[^b]*b|a', false)
  assert.equal(
    pattern.replaced('xaxb', () => '-'),
    'x-',
  )
  assert.equal(
    pattern.replaced('xyz', () => '-'),
    null,
  )
  const beforeMs = cpuMs()
  assert.equal(
    pattern.replaced('a'.repeat(100_000), () => '-'),
    null,
  )
  assert.ok(cpuMs() - beforeMs < 10_000)
})
