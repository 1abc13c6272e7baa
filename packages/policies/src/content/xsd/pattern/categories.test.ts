import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { loadLibxml } from '../../../engines/xml/libxml.js'
import { acceptedBy } from '../testing/patterns.js'
import { BLOCK_NAMES, blockRanges } from './blocks.js'
import { categoryRanges, nameRanges } from './categories.js'
import { parsePattern } from './pattern-parser.js'

before(() => loadLibxml())

const NAMES = [
  ...['L', 'Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'M', 'Mn', 'Mc', 'Me', 'N', 'Nd', 'Nl', 'No'],
  ...['P', 'Pc', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'Z', 'Zs', 'Zl', 'Zp'],
  ...['S', 'Sm', 'Sc', 'Sk', 'So', 'C', 'Cc', 'Cf', 'Co', 'Cn'],
]

const RANGES = [
  ...categoryRanges(''),
  ...nameRanges('start'),
  ...nameRanges('more'),
  ...BLOCK_NAMES.flatMap((name) => blockRanges(name)!),
]

/** First and last characters of all ranges and their neighbours, as far as XML allows them. */
const EDGES = [...new Set(RANGES.flatMap(([from, to]) => [from - 1, from, to, to + 1]))].filter((codePoint) =>
  parsePattern('\\s|\\S').expression.alternatives.some(
    ({ elements: [element] }) => element?.type === 'CharacterClass' && element.characters.has(codePoint),
  ),
)

for (const pattern of [
  '\\w',
  '\\d',
  '\\i',
  '\\c',
  ...BLOCK_NAMES.map((name) => `\\p{Is${name}}`),
  ...NAMES.map((name) => `\\p{${name}}`),
]) {
  test(`${pattern} has the characters that it has to libxml2`, () => {
    const [element] = parsePattern(pattern).expression.alternatives[0]!.elements
    assert.ok(element?.type === 'CharacterClass')
    const accepted = acceptedBy(
      // If the tables of libxml2 lack characters, the rewritten pattern is used.
      parsePattern(pattern).text,
      EDGES.map((codePoint) => String.fromCodePoint(codePoint)),
    )
    const wrong = EDGES.filter((codePoint, i) => accepted![i] !== element.characters.has(codePoint))
    assert.deepEqual(wrong, [])
  })
}
