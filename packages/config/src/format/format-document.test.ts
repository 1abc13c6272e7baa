import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readYaml } from '@sluice/core/yaml'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { formatDocument } from './format-document.js'

function format(text: string): string {
  const result = formatDocument(text)
  assert.ok(result.ok, result.ok ? '' : `${result.line}:${result.column}: ${result.message}\n${text}`)
  const again = formatDocument(result.text)
  assert.deepEqual(again, result, 'formatting again changes nothing')
  return result.text
}

/** Texts and their formatted form. */
const CASES: readonly (readonly [string, string, string])[] = [
  ['indentation', 'a:\n    - b:   1\n      c:\n            d: 2\n', 'a:\n  - b: 1\n    c:\n      d: 2\n'],
  ['an end of line', 'a: 1', 'a: 1\n'],
  ['brackets', 'a: {b: [ 1,2 ]}\n', 'a: { b: [1, 2] }\n'],
  [
    'quotes',
    `a: "b"\nc: 'd: e'\nf: 'true'\ng: "1"\nh: 'yes'\ni: "22:22"\nj: "a #b"\nk: '*'\n`,
    `a: b\nc: 'd: e'\nf: 'true'\ng: "1"\nh: 'yes'\ni: "22:22"\nj: "a #b"\nk: '*'\n`,
  ],
  ['quotes in brackets', "a: ['b, c', 'd e', '/x/{id}']\n", "a: ['b, c', d e, '/x/{id}']\n"],
  ['quoted keys', '"a": 1\n"b: c": 2\n"3": 4\n', 'a: 1\n"b: c": 2\n"3": 4\n'],
  [
    'order of a document',
    'routes: [{ respond: {}, match: { path: /a }, id: a }]\nversion: 1\n',
    'version: 1\nroutes: [{ id: a, match: { path: /a }, respond: {} }]\n',
  ],
  [
    'names of users',
    'version: 1\nupstreams:\n  b: { targets: [] }\n  a: { targets: [] }\n',
    'version: 1\nupstreams:\n  b: { targets: [] }\n  a: { targets: [] }\n',
  ],
  [
    'parameters of policies',
    'policies:\n  - { with: { b: 1, a: 2 }, id: p, use: mock }\n',
    'policies:\n  - { id: p, use: mock, with: { b: 1, a: 2 } }\n',
  ],
  ['other files', 'zebra: 1\nversion: 2\n', 'zebra: 1\nversion: 2\n'],
  [
    'comments',
    '# top\n\n# of a\nworkers:  2   # many\nversion: 1\n# end\n',
    '# top\n\nversion: 1\n# of a\nworkers: 2 # many\n\n# end\n',
  ],
  [
    'comments on keys',
    'version: 1\nadmin: # here\n  # there\n  ui: true\n  address: a\n',
    'version: 1\nadmin: # here\n  address: a\n  # there\n  ui: true\n',
  ],
  ['blank lines', 'version: 1\n\n\n\nworkers: 1\n', 'version: 1\n\nworkers: 1\n'],
  [
    'folded strings',
    'a:\n    b: >-\n        long  text\n        more\n\n          deep\n    c: 1\n',
    'a:\n  b: >-\n    long  text\n    more\n\n      deep\n  c: 1\n',
  ],
  [
    'literal strings in lists',
    'a:\n- |\n  x\n   y\n- - >\n    z\n',
    'a:\n  - |\n    x\n     y\n  - - >\n      z\n',
  ],
  ['strings with an indentation', 'a: |2\n    x\n  y\n', 'a: |2\n    x\n  y\n'],
  ['strings with lines at the end', 'a: |+\n  x\n\n\nb: 1\n', 'a: |+\n  x\n\n\nb: 1\n'],
  [
    'strings over lines',
    'a: "b\n   c\n\n   d\\\n   e"\nf: g\n     h\n',
    'a: "b\n  c\n\n  d\\\n  e"\nf: g\n  h\n',
  ],
  ['long strings', `a: ${'word '.repeat(60)}end\n`, `a: ${'word '.repeat(60)}end\n`],
  ['numbers', 'a: 0x1F\nb: 1.50\nc: 1e3\nd: +1\ne: 0o17\n', 'a: 0x1F\nb: 1.50\nc: 1e3\nd: +1\ne: 0o17\n'],
  ['nothing', 'a:\nb: ~\nc: null\nd: [~]\n', 'a:\nb: ~\nc: null\nd: [~]\n'],
  [
    'anchors, aliases and merge keys',
    'version: 1\nx-a: &a\n    upstream: u\n    id: x\nroutes:\n  - { id: b, <<: *a }\n  - <<: [*a]\n    id: c\n',
    'version: 1\nx-a: &a\n  upstream: u\n  id: x\nroutes:\n  - { <<: *a, id: b }\n  - <<: [*a]\n    id: c\n',
  ],
  [
    'an anchor that must stay first',
    'routes: &r []\nversion: 1\nlisteners: *r\n',
    'routes: &r []\nversion: 1\nlisteners: *r\n',
  ],
  ['tags', 'a: !!str  1\nb: !!seq [ 1 ]\n', 'a: !!str "1"\nb: !!seq [1]\n'],
  ['several documents', '---\na:  1\n---\n# b\nb:  2\n', '---\na: 1\n---\n# b\nb: 2\n'],
  ['Windows line ends', 'a:   1\r\nb: |\r\n    x\r\n    y\r\n', 'a: 1\r\nb: |\r\n  x\r\n  y\r\n'],
  ['JSON', '{"routes": [], "version":1}', '{\n  "version": 1,\n  "routes": []\n}\n'],
  ['an empty file', '\n', ''],
  ['only a comment', '# a\n', '# a\n'],
]

for (const [what, text, expected] of CASES) {
  test(`${what}: formatted as expected`, () => assert.equal(format(text), expected))
}

test('a long object gets a line for each key', () => {
  const members = Array.from({ length: 20 }, (_, i) => `key${i}: ${i}`)
  assert.equal(format(`a: { ${members.join(', ')} }\n`), `a:\n  {\n    ${members.join(',\n    ')}\n  }\n`)
})

test('large numbers keep their digits', () => {
  assert.equal(format('a:  12345678901234567890\n'), 'a: 12345678901234567890\n')
  assert.equal(formatDocument('{"a":12345678901234567890}').ok, false)
})

test('a file with a syntax error is refused with its position', () => {
  assert.deepEqual(formatDocument('a: 1\nb: [1\nc: 2\n').ok, false)
  const result = formatDocument('a: 1\na: 2\n')
  assert.ok(!result.ok)
  assert.deepEqual([result.line, result.message], [2, "duplicate key 'a'"])
})

test('the documents of the examples and tests keep their values', () => {
  const root = join(import.meta.dirname, '../../../..')
  const found = ['examples', 'packages/config/golden', 'packages/policies/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
  assert.ok(found.length > 100)
  for (const text of found) {
    const { issues, value } = readYaml(text)
    if (issues.length === 0) assert.deepEqual(readYaml(format(text)).value, value)
  }
})

test('any value in any style keeps its value', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '#', "'", '"', '-', '1') }),
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      tie('any'),
      { maxKeys: 4 },
    ),
  })).any
  const style = fc.record({
    lineWidth: fc.constantFrom(20, 40, 0),
    indent: fc.constantFrom(1, 3, 4),
    indentSeq: fc.boolean(),
    singleQuote: fc.constantFrom(true, false, null),
    blockQuote: fc.constantFrom(true, false, 'folded' as const, 'literal' as const),
    collectionStyle: fc.constantFrom('any' as const, 'flow' as const),
  })
  fc.assert(
    fc.property(value, style, (data, options) => {
      const written = stringify({ a: data }, { ...options, schema: 'core', aliasDuplicateObjects: false })
      const before = readYaml(written)
      if (before.issues.length === 0) assert.deepEqual(readYaml(format(written)).value, before.value)
    }),
    { numRuns: 500 },
  )
})

test('a block scalar with an indentation indicator stays formatted', () => {
  assert.equal(format("a:\n '':\n  '': |2-\n   \n    a\n"), "a:\n  '':\n    '': |-\n\n      a\n")
})

test('keys that the library refuses in a merged object are reported', () => {
  for (const text of ['a: { <<: { b: 1, b: 2 } }\n', 'a: { <<: { <<: { b: 1, b: 2 } } }\n']) {
    const result = formatDocument(text)
    assert.ok(!result.ok, text)
    assert.match(result.message, /duplicate key 'b'|unique/)
  }
})
