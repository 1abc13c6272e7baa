import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYaml } from './yaml-source.js'

const ALIGN = 'wrong indentation (align this line with the other keys or list items of its block)'
const COMMA =
  'two keys without a comma between them (separate them with a comma, or quote the value if it contains a colon)'

const OPEN =
  'a missing comma or colon at the end of this line (separate the entries of { } and [ ] with commas, and write a colon after each key)'

const MISTAKES: readonly (readonly [string, string])[] = [
  ['routes:\n  - id: a\n    match: {}\n   upstream: x\n', `4:1 ${ALIGN}`],
  ['a:\n  b: 1\n c: 2\n', `3:1 ${ALIGN}`],
  ['a:\n    - x\n  - y\n', `3:1 ${ALIGN}`],
  ['  a: 1\n b: 2\n', `2:2 ${ALIGN}`],
  [
    'routes:\n  - id: a\n     match: {}\n',
    '2:9 wrong indentation: the next line is indented further than this key (align the next line with this key)',
  ],
  [
    'routes:\n  - id: pace use: x\n',
    '2:9 two keys on one line (put each key on its own line, or quote the value if it contains a colon)',
  ],
  ['routes:\n  - { id: pace use: x }\n', `2:11 ${COMMA}`],
  ['a: { b: -1 c: 2 }\n', `1:9 ${COMMA}`],
  ['a: { b: 1\n  c: 2 }\n', `1:9 ${OPEN}`],
  ['a: [x\n  y: 2]\n', `1:5 ${OPEN}`],
  ['a:\n  b\n  c: 1\n', `2:3 ${OPEN}`],
  ['a: [\n  - x\n]\n', "2:3 a list item with '-' inside { } or [ ] (write the list as [a, b])"],
]

for (const [text, expected] of MISTAKES) {
  test(`a mistake in the layout is explained: ${JSON.stringify(text)}`, () => {
    const source = readYaml(text)
    const { offset, message, remedy } = source.issues[0]!
    const { line, column } = source.positionOfOffset(offset)
    assert.equal(`${line}:${column} ${message.replace('invalid YAML: ', '')} (${remedy})`, expected)
  })
}
