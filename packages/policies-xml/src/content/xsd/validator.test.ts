import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import { parseXml } from '../../engines/xml/gate.js'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { openXmlBytes } from '../../engines/xml/memory.js'
import { checkSchemas } from './checked-schemas.js'
import { readSchemas } from './schema-documents.js'
import { line, order, orderOf, PURCHASE_SCHEMAS } from './testing/purchase.js'
import { Validator } from './validator.js'

before(() => loadLibxml())

type Schemas = Parameters<typeof readSchemas>[0]['schemas']

function validatorOf(schemas: Schemas = PURCHASE_SCHEMAS, select?: string, maxErrors = 10): Validator {
  return new Validator({
    ...checkSchemas(readSchemas({ schemas })),
    select,
    names: {},
    maxErrors,
    maxDepth: 100,
  })
}

/** Returns the violations of a document, or an empty string. */
function mistakes(document: string, validator = validatorOf()): string {
  const verdict = validator.validateBytes(Buffer.from(document))
  assert.equal(openXmlBytes(), 0)
  return verdict.kind === 'valid' ? '' : `${verdict.kind}: ${'mistakes' in verdict ? verdict.mistakes : ''}`
}

const VALID: readonly (readonly [what: string, document: string])[] = [
  ['lines, a list, a pattern and a choice', orderOf(3)],
  [
    'a derived type by xsi:type',
    order(
      line(1).replace('<line', '<line xsi:type="WeighedLine"').replace('</line>', '<grams>5</grams></line>'),
    ),
  ],
  ['a reference to a key', order(`${line(1)}${line(2)}<gift line="2"/>`)],
  [
    'a schema location that leads nowhere',
    orderOf(1).replace(
      ' id=',
      ' xsi:schemaLocation="urn:x file:///etc/passwd urn:purchase http://127.0.0.1:1/x.xsd" id=',
    ),
  ],
  [
    'letters beyond ASCII, in a schema that claims another encoding',
    orderOf(1).replace(' id=', ' şehir="İzmir" id='),
  ],
]

for (const [what, document] of VALID) {
  test(`${what}: valid`, () => assert.equal(mistakes(document), ''))
}

const INVALID: readonly (readonly [what: string, document: string, words: RegExp])[] = [
  [
    'a pattern',
    order(line(1).replace('AB-', 'ab-')),
    /^invalid: the body is not valid: line 2, \/.*: Element 'article'.*pattern/,
  ],
  ['a list with a member of another type', order(line(1).replace('1 2 255', '1 2 256')), /Element 'sizes'/],
  ['a list that is too long', order(line(1).replace('1 2 255', '1 2 3 4')), /maxLength/],
  ['a facet of a number', order(line(1).replace('12.50', '12.505')), /fractionDigits/],
  ['a key twice', order(line(1) + line(1)), /Duplicate key-sequence/],
  ['a reference to no key', order(`${line(1)}<gift line="7"/>`), /No match found for key-sequence/],
  ['an element that is missing', order(''), /Missing child element/],
  ['an element too many', order(`${line(1)}<other/>`), /Element 'other': This element is not expected/],
  ['an attribute that is missing', orderOf(1).replace(' id="o1"', ''), /attribute 'id' is required/],
  [
    'both of a choice',
    order(line(1), '<customer><c:name>A</c:name><c:email/><c:phone/></customer>'),
    /'phone'/,
  ],
  [
    'a derived type that does not exist',
    order(line(1).replace('<line', '<line xsi:type="Gone"')),
    /does not resolve/,
  ],
  [
    'a derived type without its own part',
    order(line(1).replace('<line', '<line xsi:type="WeighedLine"')),
    /grams/,
  ],
  ['another root', '<a/>', /No matching global/],
  ['another namespace', orderOf(1).replace('urn:purchase', 'urn:other'), /No matching global/],
]

for (const [what, document, words] of INVALID) {
  test(`${what}: not valid, and where`, () => assert.match(mistakes(document), words))
}

test('violations are listed once up to the limit, and counted beyond', () => {
  const document = order(Array.from({ length: 30 }, (_, i) => line(i + 1).replace('AB-', 'ab-')).join(''))
  const text = mistakes(document, validatorOf(PURCHASE_SCHEMAS, undefined, 3))
  assert.equal(text.match(/line \d+,/g)?.length, 3)
  assert.match(text, /line 2, .*line 3, .*line 4, .*and \d\d more\)$/)
})

test('messages show no values and are short', () => {
  for (const value of [
    'hunter2',
    "a' is 'hunter2",
    "hunter2' is not a valid value of 'x",
    'hunter2]',
    'hunter2'.repeat(20_000),
  ]) {
    const wrong = [
      line(1).replace('AB-1001', value),
      line(1).replace('1 2 255', value),
      line(1).replace('12.50', value),
      line(1).replace('number="1"', `number="${value}"`),
      line(1).replace('<line', `<line xsi:type="${value}"`),
      `${line(1)}<gift line="${value}"/>`,
    ]
    for (const inner of wrong) assert.doesNotMatch(mistakes(order(inner)), /hunter2/)
  }
  const text = mistakes(order(line(1).replace('AB-1001', 'x'.repeat(100_000))))
  assert.ok(text.length < 1000, String(text.length))
})

test('as many violations as elements do not take long', () => {
  const document = order(`${line(1)}${'<x/>'.repeat(90_000)}`)
  const beforeMs = cpuMs()
  assert.match(mistakes(document), /not expected/)
  const wrong = order(Array.from({ length: 9000 }, (_, i) => line(i).replace('AB-', 'ab-')).join(''))
  assert.match(mistakes(wrong), /more\)$/)
  assert.ok(cpuMs() - beforeMs < 10_000)
})

test('the SOAP body of both versions is unwrapped and has one element', () => {
  const validator = validatorOf(PURCHASE_SCHEMAS, 'soap-body')
  const envelope = (body: string, uri = 'http://schemas.xmlsoap.org/soap/envelope/') =>
    `<e:Envelope xmlns:e="${uri}"><e:Header/><e:Body>${body}</e:Body></e:Envelope>`
  assert.equal(mistakes(envelope(orderOf(1)), validator), '')
  assert.equal(mistakes(envelope(orderOf(1), 'http://www.w3.org/2003/05/soap-envelope'), validator), '')
  assert.match(mistakes(envelope(order('')), validator), /Missing child element/)
  assert.match(mistakes(envelope(orderOf(1) + orderOf(1)), validator), /must have exactly one element/)
  assert.match(mistakes(envelope(''), validator), /must have exactly one element/)
  assert.match(mistakes(envelope(orderOf(1), 'urn:x'), validator), /not a SOAP envelope/)
  assert.match(mistakes(orderOf(1), validator), /not a SOAP envelope/)
  const twoBodies = envelope(orderOf(1)).replace('<e:Header/>', '<e:Body/>')
  assert.match(mistakes(twoBodies, validator), /not a SOAP envelope with one body/)
})

test('everything that an XPath selects is validated, and it must select something', () => {
  const validator = validatorOf(PURCHASE_SCHEMAS, '/batch/*')
  assert.equal(mistakes(`<batch>${orderOf(1)}${orderOf(2).replace('o1', 'o2')}</batch>`, validator), '')
  assert.match(
    mistakes(`<batch>${orderOf(1)}${order('').replace('o1', 'o2')}</batch>`, validator),
    /Missing child/,
  )
  assert.match(
    mistakes(`<batch>${orderOf(1)}${orderOf(1)}</batch>`, validator),
    /attribute 'id': the value is not a valid value/,
  )
  assert.match(mistakes('<batch/>', validator), /no element matches \/batch\/\*/)
  const texts = validatorOf(PURCHASE_SCHEMAS, '/a/text()')
  assert.match(mistakes('<a>b</a>', texts), /is not an element/)
  assert.match(mistakes(`<batch>${'<a/>'.repeat(1001)}</batch>`, validator), /more than 1000 elements/)
  assert.throws(() => validatorOf(PURCHASE_SCHEMAS, 'count(/a)'), /computes a value/)
  assert.throws(() => validatorOf(PURCHASE_SCHEMAS, '//['), /not an XPath/)
})

test('invalid XML is distinguished from schema violations', () => {
  assert.match(mistakes('{}'), /^unreadable: the body is not well-formed/)
  assert.match(mistakes('<!DOCTYPE a><a/>'), /^unreadable: .*DOCTYPE/)
  assert.match(mistakes('<a>'.repeat(150) + '</a>'.repeat(150)), /^unreadable: .*deeper than 100/)
})

const [ROOT, LINES, COMMON] = PURCHASE_SCHEMAS

const BROKEN: readonly (readonly [what: string, schemas: Schemas, words: RegExp])[] = [
  [
    'a type that does not exist',
    [changed('c:Party', 'c:Partei'), LINES!, COMMON!],
    /'purchase\/order.xsd' is invalid at line 9 .*Partei/,
  ],
  [
    'a mistake in an included schema',
    [ROOT!, { ...LINES!, inline: LINES!.inline.replace('xs:decimal', 'xs:dezimal') }, COMMON!],
    /'purchase\/lines.xsd' is invalid at line 19 /,
  ],
  [
    'a schema that is not well-formed',
    [ROOT!, LINES!, { ...COMMON!, inline: '<xs:schema>\n<a>' }],
    /'common.xsd' is not well-formed XML: .*line/,
  ],
  [
    'a schema with a DOCTYPE',
    [ROOT!, LINES!, { ...COMMON!, inline: '<!DOCTYPE a><a/>' }],
    /'common.xsd' is not a schema document/,
  ],
  [
    'an include that is not there',
    [ROOT!, COMMON!],
    /includes or imports 'purchase\/lines.xsd': add it under 'schemas'/,
  ],
  ['an import that is not there', [ROOT!, LINES!], /includes or imports 'common.xsd'/],
  [
    'an import that is a file',
    [changed('../common.xsd', 'file:///etc/passwd'), LINES!, COMMON!],
    /imports 'file:\/\/\/etc\/passwd'/,
  ],
  [
    'an import that is on a server',
    [changed('../common.xsd', 'http://127.0.0.1:1/x'), LINES!, COMMON!],
    /imports 'http:\/\/127.0.0.1:1\/x'/,
  ],
  [
    'a schema that nobody uses',
    [...PURCHASE_SCHEMAS, { ...COMMON!, systemId: 'spare.xsd' }],
    /'spare.xsd' is not used/,
  ],
  ['no schema at all', [{ inline: '<a/>' }], /'schema.xsd'.*not a schema document/],
  [
    'a pattern that is none',
    [ROOT!, { ...LINES!, inline: LINES!.inline.replace('[A-Z]{2}', '[A-Z{2}') }, COMMON!],
    /lines.xsd' is invalid at line \d+/,
  ],
]

function changed(from: string, to: string): Schemas[number] {
  return { ...ROOT!, inline: ROOT!.inline.replace(from, to) }
}

for (const [what, schemas, words] of BROKEN) {
  test(`${what} fails the deployment, and where`, () => {
    assert.throws(() => validatorOf(schemas), words)
    assert.equal(mistakes(orderOf(1)), '')
  })
}

test('twenty thousand validations do not leak memory', () => {
  const validator = validatorOf()
  const documents = [orderOf(5), order(`${line(1)}${line(1)}<gift line="9"/>`), '<a>', '{}'].map((text) =>
    Buffer.from(text),
  )
  const run = (times: number): void => {
    for (let i = 0; i < times; i++) validator.validateBytes(documents[i % documents.length]!)
  }
  run(2000)
  const before = process.memoryUsage().rss
  run(20_000)
  assert.ok(process.memoryUsage().rss - before < 40 << 20, String(process.memoryUsage().rss - before))
  validator.close()
  validator.close()
})

test('compiling and closing schemas does not leak memory', () => {
  for (let i = 0; i < 20; i++) validatorOf().close()
  const before = process.memoryUsage().rss
  for (let i = 0; i < 200; i++) validatorOf().close()
  assert.ok(process.memoryUsage().rss - before < 40 << 20)
})

/** Returns a schema with one element `a` and additional content. */
function schemaOf(content: string, more = ''): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"${more}>${content}</xs:schema>`
}

test('white space around values of all types except strings is ignored', () => {
  const values = {
    ...{
      dateTime: '2026-01-31T00:00:00Z',
      date: '2026-01-31',
      time: '10:00:00',
      duration: 'P1D',
      gYear: '2026',
    },
    ...{ gYearMonth: '2026-01', gMonthDay: '--01-31', gDay: '---31', gMonth: '--01', boolean: 'true' },
    ...{
      decimal: '1.5',
      float: '1.5',
      double: 'INF',
      int: '5',
      hexBinary: 'AA',
      base64Binary: 'AAAA',
      QName: 'a',
    },
    ...{ anyURI: 'urn:x', language: 'en', NMTOKENS: 'a  b', ID: 'x' },
  }
  for (const [type, value] of Object.entries(values)) {
    const least = /^(date|g|dur|time)/.test(type) ? `<xs:minInclusive value="${value}"/>` : ''
    const restricted = `<xs:simpleType><xs:restriction base="xs:${type}">${least}</xs:restriction></xs:simpleType>`
    const schema = schemaOf(
      `<xs:element name="a" type="xs:${type}"/><xs:element name="r">${restricted}</xs:element>` +
        `<xs:element name="b"><xs:complexType><xs:attribute name="c" type="xs:${type}"/></xs:complexType></xs:element>`,
    )
    const validator = validatorOf([{ inline: schema }])
    for (const document of [
      `<a> ${value}\n\t</a>`,
      `<r>\n  ${value} </r>`,
      `<a><![CDATA[ ${value} ]]></a>`,
      `<b c="&#10;${value}&#9; "/>`,
    ])
      assert.equal(mistakes(document, validator), '', `${type} ${document}`)
    if (/^(date|g|dur|time)/.test(type)) {
      for (const wrong of [`<a>\u00a0${value}</a>`, `<a> ${value} ${value} </a>`, '<r> x </r>', '<a> </a>'])
        assert.match(mistakes(wrong, validator), /not a valid value/, wrong)
    }
  }
})

test('white space around a string is significant', () => {
  const digits =
    '<xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="[0-9-]+"/></xs:restriction></xs:simpleType>'
  const validator = validatorOf([{ inline: schemaOf(`<xs:element name="a">${digits}</xs:element>`) }])
  assert.equal(mistakes('<a>2026-01-31</a>', validator), '')
  assert.match(mistakes('<a> 2026-01-31 </a>', validator), /facet 'pattern'/)
  const words = "x' is not a valid value of the atomic type 'xs:date'."
  assert.match(mistakes(`<a> ${words} </a>`, validator), /not a valid value|facet 'pattern'/)
})

test('a validation restores the white space of the document', () => {
  const schema = schemaOf('<xs:element name="a" type="xs:date"/>')
  const validator = validatorOf([{ inline: schema }])
  const view = parseXml(Buffer.from('<a>\n 2026-01-31 </a>'))
  const before = view.document.toString({ format: false })
  assert.equal(validator.validate(() => view).kind, 'valid')
  assert.equal(view.document.toString({ format: false }), before)
  view.close()
})

const T = ' targetNamespace="urn:t"'
const NAMED = (name: string) => schemaOf(`<xs:element name="${name}" type="xs:int"/>`, T)
const IMPORT = (location?: string) =>
  `<xs:import namespace="urn:t"${location === undefined ? '' : ` schemaLocation="${location}"`}/>`
const USING = (imports: string, name: string) =>
  schemaOf(
    `${imports}<xs:element name="m"><xs:complexType><xs:sequence><xs:element ref="t:${name}"/></xs:sequence></xs:complexType></xs:element>`,
    ' xmlns:t="urn:t"',
  )

for (const [what, systemIds, imports] of [
  ['two imports of one namespace', ['m.xsd', 'a.xsd', 'b.xsd'], IMPORT('a.xsd') + IMPORT('b.xsd')],
  ['an import without a location', ['m.xsd', 'a.xsd'], IMPORT()],
  ['an import without a location of two documents', ['m.xsd', 'a.xsd', 'b.xsd'], IMPORT()],
  ['./ in front of a location', ['m.xsd', 'a.xsd'], IMPORT('./a.xsd')],
  ['./ in front of a system id', ['m.xsd', './a.xsd'], IMPORT('a.xsd')],
  ['locations in folders', ['x/m.xsd', 'y/a.xsd'], IMPORT('.././y/a.xsd')],
  ['two spellings of a location', ['m.xsd', 'a.xsd'], IMPORT('a.xsd') + IMPORT('./a.xsd')],
] as const) {
  test(`schemas find each other: ${what}`, () => {
    const names = ['a', 'b']
    const [root, ...others] = systemIds
    for (const name of names.slice(0, others.length)) {
      const schemas = others.map((systemId, i) => ({ systemId, inline: NAMED(names[i]!) }))
      const validator = validatorOf([{ systemId: root, inline: USING(imports, name) }, ...schemas])
      assert.equal(mistakes(`<m xmlns:t="urn:t"><t:${name}>1</t:${name}></m>`, validator), '')
      assert.match(
        mistakes(`<m xmlns:t="urn:t"><t:${name}>x</t:${name}></m>`, validator),
        /not a valid value/,
      )
    }
  })
}

test('a schema may have a DOCTYPE, which reads nothing and is limited', () => {
  const subset = '<!ATTLIST xs:schema xmlns:ds CDATA #FIXED "urn:d"><!ENTITY dsig "urn:d"><!ENTITY % p "">'
  const withDoctype = (inside: string) =>
    `<!DOCTYPE xs:schema PUBLIC "-//W3C//DTD XMLSchema 200102//EN" "http://127.0.0.1:1/XMLSchema.dtd" [${inside}]>` +
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="&dsig;">' +
    '<xs:element name="a" type="ds:T"/><xs:simpleType name="T"><xs:restriction base="xs:int"/></xs:simpleType></xs:schema>'
  const validator = validatorOf([{ inline: withDoctype(subset) }])
  assert.equal(mistakes('<a xmlns="urn:d">1</a>', validator), '')
  assert.match(mistakes('<a xmlns="urn:d">x</a>', validator), /not a valid value/)
  assert.match(mistakes('<!DOCTYPE a><a xmlns="urn:d">1</a>', validator), /DOCTYPE/)
  const names = [...'bcdefghi']
  const laughs = `<!ENTITY a "${'x'.repeat(1000)}">${names.map((name, i) => `<!ENTITY ${name} "${`&${'abcdefgh'[i]};`.repeat(10)}">`).join('')}<!ENTITY dsig "&i;">`
  for (const [inside, words] of [
    [laughs, /DOCTYPE that cannot be resolved: .*amplification/],
    ['<!ENTITY dsig SYSTEM "file:///etc/hostname">', /an external entity/],
    ['<!ENTITY % p PUBLIC "x" "http://127.0.0.1:1/p">%p;', /an external entity/],
    ['', /no corresponding namespace/],
  ] as const)
    assert.throws(() => validatorOf([{ inline: withDoctype(inside) }]), words)
})
