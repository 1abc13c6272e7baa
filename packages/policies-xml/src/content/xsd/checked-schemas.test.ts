import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { checkSchemas } from './checked-schemas.js'
import { Validator } from './validator.js'

before(() => loadLibxml())

/** Returns a schema with elements `a0`, `a1`, … that each have a pattern. */
function schemaOf(...patterns: readonly string[]): string {
  const elements = patterns.map(
    (pattern, i) => `<xs:element name="a${i}"><xs:simpleType><xs:restriction base="xs:string">
<xs:pattern value="${pattern}"/></xs:restriction></xs:simpleType></xs:element>`,
  )
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${elements.join('\n')}</xs:schema>`
}

function checked(...texts: readonly string[]) {
  const documents = texts.map((text, i) => ({ systemId: `${i}.xsd`, bytes: Buffer.from(text) }))
  return checkSchemas({ root: '0.xsd', documents })
}

function verdict(schemas: ReturnType<typeof checked>, document: string): string {
  const validator = new Validator({ ...schemas, select: undefined, names: {}, maxErrors: 10, maxDepth: 10 })
  try {
    const found = validator.validateBytes(Buffer.from(document))
    return found.kind === 'invalid' ? found.mistakes : found.kind === 'valid' ? '' : found.kind
  } finally {
    validator.close()
  }
}

test('schemas with supported patterns stay unchanged', () => {
  const text = schemaOf('[a-z]+', '\\d+(\\.\\d+)?')
  const { schemas, isSlow } = checked(text)
  assert.equal(schemas.documents[0]!.bytes.toString(), text)
  assert.equal(isSlow, false)
})

test('a message shows the pattern as it is written', () => {
  const schemas = checked(schemaOf('a(c)*|b', '(&lt;\\p{L}&amp;?)*&#10;?\\s', '[.\\w\\-]', 'constructor'))
  assert.match(verdict(schemas, '<a0>d</a0>'), /by the pattern 'a\(c\)\*\|b'/)
  assert.match(verdict(schemas, '<a1>c</a1>'), /by the pattern '\(<\[\\p\{L\}\]&\?\)\* \?\\s'/)
  assert.match(verdict(schemas, '<a2>!</a2>'), /by the pattern '\[\.\\w\\-\]'/)
  assert.match(verdict(schemas, '<a3>c</a3>'), /by the pattern 'constructor'/)
  assert.equal(verdict(schemas, '<a0>acc</a0>'), '')
  assert.equal(verdict(schemas, '<a1>&lt;中&amp;&lt;b&#10; </a1>'), '')
})

test('patterns of included schemas are checked, too', () => {
  const root = `<?xml version="1.0" encoding="UTF-8"?>
    <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="1.xsd"/></xs:schema>`
  const schemas = checked(root, `<?xml version="1.0" encoding="UTF-8"?>${schemaOf('ğ(ş)*|b')}`)
  assert.equal(verdict(schemas, '<a0>ğşş</a0>'), '')
  assert.match(verdict(schemas, '<a0>bş</a0>'), /by the pattern 'ğ\(ş\)\*\|b'/)
})

test('an ambiguous pattern makes its schema slow', () => {
  assert.equal(checked(schemaOf('a', '[a-z]{0,35}[a-z0-9]{0,35}')).isSlow, true)
})

test('a missing verdict is neither valid nor a client error', () => {
  const long = 'x'.repeat(60)
  const schemas = checked(schemaOf('(x+x+)+y'))
  assert.equal(verdict(schemas, `<a0>${long}y</a0>`), '')
  assert.equal(verdict(schemas, `<a0>${long}</a0>`), 'undecided')
})

test('an example in an annotation is not a pattern', () => {
  const example = '<xs:annotation><xs:appinfo><xs:pattern value="(("/></xs:appinfo></xs:annotation>'
  const text = schemaOf('a').replace('<xs:element', `${example}<xs:element`)
  assert.equal(checked(text).schemas.documents[0]!.bytes.toString(), text)
})

const BROKEN: readonly (readonly [what: string, text: string, words: RegExp])[] = [
  ['a pattern that is none', schemaOf('a('), /the schema '0\.xsd' is invalid at line 2/],
  [
    'what is broken beside a pattern that is refused',
    schemaOf('[\\w-.]').replace('xs:string', 'xs:sting'),
    /the schema '0\.xsd' is invalid at line 1/,
  ],
  [
    'a pattern that is refused',
    schemaOf('a', '[\\w-.]'),
    /the schema '0\.xsd', line 4: the pattern '\[\\w-\.\]' has an unescaped hyphen/,
  ],
  [
    'a block that does not exist',
    schemaOf('\\p{IsElvish}'),
    /uses the Unicode block 'Elvish', which libxml2 does not have/,
  ],
  ['what is not well-formed', '<a>', /the schema '0\.xsd' is not well-formed/],
]

for (const [what, text, words] of BROKEN) {
  test(`${what} is reported`, () => assert.throws(() => checked(text), words))
}
