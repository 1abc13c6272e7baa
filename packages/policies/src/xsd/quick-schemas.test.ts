import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { loadLibxml } from '../xml/libxml.js'
import { quickSchemas } from './quick-schemas.js'
import { Validator } from './validator.js'

before(() => loadLibxml())

/** A schema of elements `a0`, `a1`, … of which each has a pattern. */
function schemaOf(...patterns: readonly string[]): string {
  const elements = patterns.map(
    (pattern, i) => `<xs:element name="a${i}"><xs:simpleType><xs:restriction base="xs:string">
<xs:pattern value="${pattern}"/></xs:restriction></xs:simpleType></xs:element>`,
  )
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${elements.join('\n')}</xs:schema>`
}

function quick(...texts: readonly string[]) {
  const documents = texts.map((text, i) => ({ systemId: `${i}.xsd`, bytes: Buffer.from(text) }))
  return quickSchemas({ root: '0.xsd', documents })
}

function verdict(schemas: ReturnType<typeof quick>, document: string): string {
  const validator = new Validator({ ...schemas, select: undefined, names: {}, maxErrors: 10, maxDepth: 10 })
  try {
    const found = validator.validateBytes(Buffer.from(document))
    return found.kind === 'valid' ? '' : found.mistakes
  } finally {
    validator.close()
  }
}

test('schemas whose patterns are quick are the bytes that they were', () => {
  const text = schemaOf('[a-z]+', '\\d+(\\.\\d+)?')
  const { schemas, patterns, isSlow } = quick(text)
  assert.equal(schemas.documents[0]!.bytes.toString(), text)
  assert.deepEqual(patterns, {})
  assert.equal(isSlow, false)
})

test('a message has the pattern as it was written, also of two that become the same', () => {
  const schemas = quick(schemaOf('(a+)+b', '(a|aa)+b', '(&lt;|&lt;&lt;&amp;?)+&#10;?\\s+', 'constructor'))
  assert.equal(Object.keys(schemas.patterns).length, 3)
  assert.match(verdict(schemas, '<a0>c</a0>'), /by the pattern '\(a\+\)\+b'/)
  assert.match(verdict(schemas, '<a1>c</a1>'), /by the pattern '\(a\|aa\)\+b'/)
  assert.match(verdict(schemas, '<a2>c</a2>'), /by the pattern '\(<\|<<&\?\)\+ \?\\s\+'/)
  assert.match(verdict(schemas, '<a3>c</a3>'), /by the pattern 'constructor'/)
  assert.equal(verdict(schemas, '<a0>aab</a0>'), '')
  assert.equal(verdict(schemas, '<a2>&lt;&lt;&amp;&lt;&#10;</a2>'), '')
})

test('patterns of schemas that are included are written anew as well', () => {
  const root = `<?xml version="1.0" encoding="UTF-8"?>
    <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="1.xsd"/></xs:schema>`
  const schemas = quick(root, `<?xml version="1.0" encoding="UTF-8"?>${schemaOf('(ğ|ğğ)+b')}`)
  assert.equal(verdict(schemas, '<a0>ğğğb</a0>'), '')
  assert.match(verdict(schemas, '<a0>ğ</a0>'), /by the pattern '\(ğ\|ğğ\)\+b'/)
})

test('one that takes many steps for each character is known as slow', () => {
  assert.equal(quick(schemaOf('[a-z]{0,35}[a-z0-9]{0,35}')).isSlow, true)
})

test('an example in an annotation is no pattern', () => {
  const example = '<xs:annotation><xs:appinfo><xs:pattern value="(("/></xs:appinfo></xs:annotation>'
  const text = schemaOf('a').replace('<xs:element', `${example}<xs:element`)
  assert.deepEqual(quick(text).patterns, {})
})

test('what is known of a pattern is not found out again', () => {
  const text = schemaOf('.*a.{21}', '.*b.{21}')
  quick(text)
  const began = performance.now()
  for (let i = 0; i < 20; i++) quick(text)
  assert.ok(performance.now() - began < 2000)
})

test('schemas whose patterns take too long to look into are refused, each time', () => {
  const patterns = Array.from({ length: 30 }, (_, i) => `.*a.{20}[b-y]{${i}}`)
  for (let i = 0; i < 2; i++) {
    assert.throws(() => quick(schemaOf(...patterns)), /at line \d+ the pattern '.*', which is one too many/)
  }
  assert.equal(quick(schemaOf(...patterns.slice(0, 3))).isSlow, true)
})

const BROKEN: readonly (readonly [what: string, text: string, words: RegExp])[] = [
  [
    'a pattern without a quick equal',
    schemaOf('a', '(.?a.{20})*'),
    /'0\.xsd' has at line 4 the pattern '\(\.\?a\.\{20\}\)\*', which may take more than linear time/,
  ],
  ['a pattern that is none', schemaOf('a('), /the schema '0\.xsd' is broken at line 2/],
  [
    'what is broken beside a pattern that is written anew',
    schemaOf('(a+)+b').replace('xs:string', 'xs:sting'),
    /the schema '0\.xsd' is broken at line 1/,
  ],
  ['what is not well-formed', '<a>', /the schema '0\.xsd' is not well-formed/],
]

for (const [what, text, words] of BROKEN) {
  test(`${what} is told`, () => assert.throws(() => quick(text), words))
}
