import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { loadLibxml } from '../../xml/libxml.js'
import { categoryRanges } from './categories.js'
import { parsePattern } from './pattern-parser.js'
import { acceptedBy } from './testing.js'

before(() => loadLibxml())

const NAMES = [
  ...['L', 'Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'M', 'Mn', 'Mc', 'Me', 'N', 'Nd', 'Nl', 'No'],
  ...['P', 'Pc', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'Z', 'Zs', 'Zl', 'Zp'],
  ...['S', 'Sm', 'Sc', 'Sk', 'So', 'C', 'Cc', 'Cf', 'Co', 'Cn'],
]

/** The first and the last characters of all ranges, and those beside them, as far as documents can have them. */
const EDGES = [...new Set(categoryRanges('').flatMap(([from, to]) => [from - 1, from, to, to + 1]))].filter(
  (codePoint) =>
    parsePattern('\\s|\\S').expression.alternatives.some(
      ({ elements: [element] }) => element?.type === 'CharacterClass' && element.characters.has(codePoint),
    ),
)

for (const pattern of ['\\w', '\\d', ...NAMES.map((name) => `\\p{${name}}`)]) {
  test(`${pattern} has the characters that it has to libxml2`, () => {
    const [element] = parsePattern(pattern).expression.alternatives[0]!.elements
    assert.ok(element?.type === 'CharacterClass')
    const accepted = acceptedBy(
      pattern,
      EDGES.map((codePoint) => String.fromCodePoint(codePoint)),
    )
    const wrong = EDGES.filter((codePoint, i) => accepted![i] !== element.characters.has(codePoint))
    assert.deepEqual(wrong, [])
  })
}
