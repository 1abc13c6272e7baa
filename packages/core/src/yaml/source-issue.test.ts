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
  ['a:1\nb: 2\n', '1:1 no space after the colon (write a space after it, for example key: value)'],
  ['a:\n  b:1\n  c: 2\n', '2:3 no space after the colon (write a space after it, for example key: value)'],
  [
    'a:\n  -b: 1\n   c: 2\n',
    "2:7 no space after the '-' of a list item (write a space after it, for example - key: value)",
  ],
  [
    "a: 'x\nb: 1\n",
    "1:4 the quote ' that opens here is not closed in its line (add ' at the end of the text)",
  ],
  [
    'a: "x \\" y\nb: 1\n',
    '1:4 the quote " that opens here is not closed in its line (add " at the end of the text)',
  ],
  [
    "a: 'x\nb: 'y'\n",
    "1:4 the quote ' that opens here is not closed in its line (add ' at the end of the text)",
  ],
  ['a: @b\n', '1:4 a value cannot start with @ (put it in quotes, for example "@...")'],
  ['a: %b\n', '1:4 a value cannot start with % (put it in quotes, for example "%...")'],
  ['a: `b`\n', '1:4 a value cannot start with ` (put it in quotes, for example "`...")'],
  [
    'a: [b\n',
    '2:1 ] is missing, or lines before it are not indented (close the bracket, and indent all lines inside it)',
  ],
  [
    'a: { b: 1\n',
    '2:1 } is missing, or lines before it are not indented (close the bracket, and indent all lines inside it)',
  ],
  ['a: {{ b }}\n', '1:5 an object cannot be a key (quote a text that starts with {)'],
  ['a:\n\t- b\n', '2:1 tabs are not allowed as indentation (indent with spaces)'],
  ['a: [\n  - x\n]\n', "2:3 a list item with '-' inside { } or [ ] (write the list as [a, b])"],
]

for (const [text, expected] of MISTAKES) {
  test(`a mistake in the layout is explained: ${JSON.stringify(text)}`, () => {
    const source = readYaml(text)
    const { offset, message, remedy } = source.issues[0]!
    const { line, column } = source.positionOfOffset(offset)
    assert.equal(
      `${line}:${column} ${message.replace(/^invalid YAML: |, near '.*'$/g, '')} (${remedy})`,
      expected,
    )
  })
}

test('the text at a mistake is shown without what may be a secret', () => {
  for (const [text, shown] of [
    ['a:\n  b: 1\n - use: x\n', "near '- use: x'"],
    ['a: @bcd\n', "near '@bcd'"],
    [`a: @${'b '.repeat(50)}\n`, `near '@${'b '.repeat(20).slice(0, 39)}…'`],
    ['a:\n  b: 1\n password: hunter\n', "near 'password: …'"],
    ['apiKey: @bcd\n', null],
    ['a: @AbCdEf0123456789AbCdEf0123456789\n', "near '@…'"],
  ] as const) {
    const { message } = readYaml(text).issues[0]!
    if (shown === null) assert.doesNotMatch(message, /near/)
    else assert.ok(message.endsWith(shown), message)
  }
})
