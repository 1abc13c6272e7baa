import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '@sluice/policies/testing'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { convert } from './convert.js'
import { mappingOf } from './mapping.js'
import { xmlJson } from './policy.js'
import type { XmlJsonConfig } from './schema.js'

await loadLibxml()

type Options = Omit<XmlJsonConfig, 'direction'>

function toJson(xml: string | Uint8Array, options: Options = {}): string {
  return converted(xml, { direction: 'to-json', ...options })
}

function toXml(json: string, options: Options = {}): string {
  return converted(json, { direction: 'to-xml', ...options })
}

function converted(body: string | Uint8Array, config: XmlJsonConfig): string {
  const result = convert(Buffer.from(body), mappingOf(config))
  return result instanceof Uint8Array ? Buffer.from(result).toString() : `${result.kind}: ${result.detail}`
}

test('elements, attributes, text and repetition become JSON', () => {
  const xml = `<?xml version="1.0"?><!-- c --><order id="7">
    <item sku="a&amp;b">1</item><item>2 &lt; <![CDATA[3 & 4]]></item><note/><?p i?>
    <name>  é &#x1F600; </name></order>`
  assert.deepEqual(JSON.parse(toJson(xml)), {
    order: {
      '@id': '7',
      item: [{ '@sku': 'a&b', '#text': '1' }, '2 < 3 & 4'],
      note: '',
      name: '  é 😀 ',
    },
  })
})

test('line ends and attributes are normalized as in XML', () => {
  assert.equal(
    toJson('<a b="1\r\n2\t3&#10;4">x\r\ny\rz&#13;</a>'),
    '{"a":{"@b":"1 2 3\\n4","#text":"x\\ny\\nz\\r"}}',
  )
})

test('each option has its documented effect', () => {
  assert.equal(toJson('<a><b>1</b></a>', { unwrap: true }), '{"b":"1"}')
  assert.equal(toJson('<a b="1">x</a>', { attributePrefix: '', textKey: '$' }), '{"a":{"b":"1","$":"x"}}')
  assert.equal(toJson('<s:a xmlns:s="u"><s:b/></s:a>', { stripPrefixes: true }), '{"a":{"b":""}}')
  assert.equal(
    toJson('<a><b/><c>1</c><d e="1"/></a>', { ignoreEmpty: true }),
    '{"a":{"c":"1","d":{"@e":"1"}}}',
  )
  const nil = '<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><b i:nil="true"/><c>1</c></a>'
  const declared = '"@xmlns:i":"http://www.w3.org/2001/XMLSchema-instance"'
  assert.equal(toJson(nil), `{"a":{${declared},"b":null,"c":"1"}}`)
  assert.equal(toJson(nil, { ignoreNull: true }), `{"a":{${declared},"c":"1"}}`)
  assert.equal(toJson(nil, { nil: false }), `{"a":{${declared},"b":{"@i:nil":"true"},"c":"1"}}`)
})

test('forceArray accepts paths and names', () => {
  const xml = '<o><items><item>1</item></items><item>2</item></o>'
  assert.equal(toJson(xml, { forceArray: ['/o/items/item'] }), '{"o":{"items":{"item":["1"]},"item":"2"}}')
  assert.equal(toJson(xml, { forceArray: ['item'] }), '{"o":{"items":{"item":["1"]},"item":["2"]}}')
  assert.equal(toJson(xml, { forceArray: ['/o'], unwrap: false }).startsWith('{"o":[{'), true)
})

test('only numbers that JSON represents exactly become numbers', () => {
  const show = (text: string) => JSON.parse(toJson(`<a>${text}</a>`, { numbers: 'number', unwrap: true }))
  for (const [text, value] of [
    ['0', 0],
    ['-12.50', -12.5],
    ['123456789012345', 123456789012345],
  ] as const)
    assert.equal(show(text), value)
  for (const text of ['007', '1e5', '+1', '.5', '5.', '1234567890123456', '0x10', ' 1', 'NaN', ''])
    assert.equal(show(text), text)
})

test('JSON becomes XML, with attributes, arrays, null and markup in texts', () => {
  const json = JSON.stringify({
    '@id': 7,
    a: [1, 'x<y & "z"', null, { b: true }],
    c: {},
    d: '',
    '#text': 't',
  })
  assert.equal(
    toXml(json),
    '<root id="7"><a>1</a><a>x&lt;y &amp; "z"</a><a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/><a><b>true</b></a><c/><d/>t</root>',
  )
  assert.equal(toXml('{"a":null,"b":1}', { nil: false }), '<root><a/><b>1</b></root>')
  assert.equal(
    toXml('{"a":null,"b":"","c":1}', { ignoreNull: true, ignoreEmpty: true }),
    '<root><c>1</c></root>',
  )
  assert.equal(
    toXml('[1,[2,3]]', { root: 'list', item: 'i' }),
    '<list><i>1</i><i><i>2</i><i>3</i></i></list>',
  )
  assert.equal(toXml('{"a":{"b":1}}', { unwrap: true }), '<a><b>1</b></a>')
  assert.equal(toXml('"x"'), '<root>x</root>')
  assert.equal(toXml('{"@b":"1\\n\\t\\"<"}'), '<root b="1&#10;&#9;&quot;&lt;"/>')
})

test('JSON that cannot become XML is refused without quoting it', () => {
  const cases: readonly (readonly [string, RegExp, Options?])[] = [
    ['{"a b":1}', /^refused: .*not a valid element or attribute name/],
    ['{"1a":1}', /^refused: .*not a valid element or attribute name/],
    ['{"a><script>":1}', /^refused: .*not a valid element or attribute name/],
    ['{"x:a":1}', /^refused: .*prefixes/],
    ['{"@a":1,"@a ":1}', /^refused: .*not a valid element or attribute name/],
    ['{"@xmlns:x":"u","@xmlns:y":"u","@x:a":1,"@y:a":2}', /^refused: .*prefixes/],
    ['{"a":"\\u0000"}', /^refused: .*character/],
    ['{"a":"\\ud800"}', /^refused: .*character/],
    ['{"@a":{"b":1}}', /^refused: .*only text/],
    ['{"a":12345678901234567890}', /^refused: .*would lose digits/],
    ['{"a":1e400}', /^unreadable: .*number that is too large/],
    [`{"@a":-${'9'.repeat(400)}}`, /^unreadable: .*number that is too large/],
    ['{"a":1,"a":2}', /^unreadable: .*duplicate/],
    ['{"a":1', /^unreadable: .*not JSON/],
    ['{"a":1,"b":2}', /^refused: .*exactly one member/, { unwrap: true }],
    [`${'['.repeat(200)}${']'.repeat(200)}`, /^unreadable: .*deeper/],
    ['['.repeat(100_000), /^unreadable: .*deeper/],
  ]
  for (const [json, words, options] of cases) assert.match(toXml(json, options), words, json.slice(0, 50))
})

test('malicious XML is refused by the parser', () => {
  for (const [xml, words] of [
    ['<a><b></a>', /^unreadable: .*do not match/],
    ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', /^unreadable: .*DOCTYPE/],
    ['<a>'.repeat(100_000), /^unreadable: .*deeper/],
    [`${'<a>'.repeat(101)}${'</a>'.repeat(101)}`, /^unreadable: .*deeper than 100/],
    ['<a b="1" b="2"/>', /^unreadable: .*twice/],
    ['', /^unreadable: .*empty/],
  ] as const) {
    assert.match(toJson(xml), words)
  }
})

test('names of prototype members are ordinary names in both directions', () => {
  const xml = '<a><__proto__><polluted>yes</polluted></__proto__><constructor>c</constructor><toString/></a>'
  const json = toJson(xml)
  assert.equal(json, '{"a":{"__proto__":{"polluted":"yes"},"constructor":"c","toString":""}}')
  assert.equal(toXml(json, { unwrap: true }), xml)
  assert.equal(({} as { polluted?: string }).polluted, undefined)
})

test('a result beyond its limit fails', () => {
  assert.match(toXml(JSON.stringify({ a: 'x'.repeat(2000) }), { maxOutputBytes: '1kb' }), /^failed: .*larger/)
  assert.match(toJson(`<a>${'\n'.repeat(1000)}</a>`, { maxOutputBytes: '1kb' }), /^failed: .*larger/)
})

test('documents in other encodings are read', () => {
  assert.equal(toJson(Buffer.from('\ufeff<a>é</a>', 'utf16le')), '{"a":"é"}')
  const latin1 = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
  assert.equal(toJson(Buffer.from(latin1, 'latin1')), '{"a":"é"}')
})

const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/),
  fc.constantFrom('__proto__', 'constructor', 'é', 'hasOwnProperty'),
)
const text = fc
  .string({ unit: 'grapheme' })
  .filter((each) => !/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u.test(each))
const visible = text.filter((each) => !/^[ \t\r\n]*$/.test(each))

/** JSON as converted from XML: strings, objects, and arrays of at least two items. */
const { value } = fc.letrec<{ value: unknown; object: unknown; list: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, depthSize: 'small' }, text, tie('object'), tie('list')),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([key]) => key }),
      fc.uniqueArray(fc.tuple(name, text), { maxLength: 2, selector: ([key]) => key }),
      fc.option(visible),
    )
    .map(([members, attributes, own]) => {
      const entries: [string, unknown][] = attributes.map(([key, each]) => [`@${key}`, each])
      entries.push(...members)
      if (own !== null && entries.length > 0) entries.push(['#text', own])
      return entries.length === 0 ? '' : Object.fromEntries(entries)
    }),
  list: fc.array(fc.oneof(text, tie('object')), { minLength: 2, maxLength: 3 }),
}))

test('JSON survives the conversion to XML and back', () => {
  fc.assert(
    fc.property(value, (content) => {
      const json = JSON.stringify(Array.isArray(content) ? { a: content } : content)
      const xml = toXml(json)
      assert.ok(!/^(?:refused|unreadable|failed)/.test(xml), xml)
      assert.deepEqual(JSON.parse(toJson(xml, { unwrap: true })), JSON.parse(json))
    }),
    { numRuns: 500 },
  )
})

async function outcomeOf(
  config: XmlJsonConfig,
  body: string,
  isResponse = false,
  [status, type]: readonly [number, string] = [200, ''],
) {
  assert.deepEqual(schemaMistakes(xmlJson, config), [])
  const step = await xmlJson.compile(config, testEnv())
  const x = exchange({ headers: ['content-type', 'text/xml', 'etag', '"1"'] })
  Object.assign(x, { status, responseHeaders: type === '' ? [] : ['content-type', type] })
  const bytes = Buffer.from(body)
  const outcome: Outcome = await (isResponse
    ? step!.onResponseBody!(x, bytes)
    : step!.onRequestBody!(x, bytes))
  return { outcome, x }
}

test('an error is converted if its type matches, a partial response never', async () => {
  const after = async (direction: 'to-json' | 'to-xml', status: number, type: string): Promise<boolean> => {
    const body = direction === 'to-json' ? '<a/>' : '{}'
    const { outcome, x } = await outcomeOf({ direction, phase: 'response' }, body, true, [status, type])
    assert.equal(outcome, null)
    return x.responseBody !== null
  }
  assert.ok(await after('to-json', 500, 'text/xml; charset=utf-8'))
  assert.ok(await after('to-xml', 404, 'application/problem+json'))
  assert.ok(await after('to-json', 201, 'text/html'))
  for (const [direction, status, type] of [
    ['to-json', 502, 'text/html'],
    ['to-json', 404, 'application/json'],
    ['to-xml', 404, 'application/xml'],
    ['to-json', 500, ''],
    ['to-json', 206, 'text/xml'],
    ['to-xml', 206, 'application/json'],
  ] as const) {
    assert.ok(!(await after(direction, status, type)), `${direction} ${status} ${type}`)
  }
})

test('the policy replaces body and content type, or refuses by side', async () => {
  const request = await outcomeOf({ direction: 'to-json' }, '<a>1</a>')
  assert.equal(Buffer.from(request.x.body!).toString(), '{"a":"1"}')
  assert.deepEqual(request.x.headers, ['content-type', 'application/json'])
  const response = await outcomeOf({ direction: 'to-xml', phase: 'response' }, '{"a":1}', true)
  assert.equal(Buffer.from(response.x.responseBody!).toString(), '<root><a>1</a></root>')
  assert.deepEqual(response.x.responseHeaders, ['content-type', 'application/xml; charset=utf-8'])
  const bad = await outcomeOf({ direction: 'to-json' }, '<a>')
  assert.equal(bad.outcome?.problem?.code, 'GW_TRANSFORM_INPUT')
  const badResponse = await outcomeOf({ direction: 'to-json', phase: 'response' }, '<a>', true)
  assert.equal(badResponse.outcome?.problem?.code, 'GW_RESPONSE_INVALID')
})

test('a body of 32 KB or more is converted on a thread with the same result', async () => {
  const long = 'x'.repeat(40_000)
  const { x } = await outcomeOf({ direction: 'to-json' }, `<a>${long}</a>`)
  assert.equal(Buffer.from(x.body!).toString(), `{"a":"${long}"}`)
})

test('invalid configurations are refused', async () => {
  const wrong: XmlJsonConfig[] = [
    { direction: 'to-json', textKey: '@text' },
    { direction: 'to-json', maxBodyBytes: '1gb' },
    { direction: 'to-json', maxOutputBytes: '1gb' },
  ]
  for (const config of wrong)
    await assert.rejects(async () => xmlJson.compile(config, testEnv()), /'(?:textKey|max)/)
  for (const config of [
    {},
    { direction: 'both' },
    { direction: 'to-xml', root: 'a b' },
    { direction: 'to-xml', maxDepth: 251 },
  ])
    assert.notDeepEqual(schemaMistakes(xmlJson, config), [], JSON.stringify(config))
})

/** Elements with attributes and either text or child elements. The two parsers differ for mixed content. */
const element: fc.Arbitrary<string> = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      fc.constantFrom('a', 'b', 'c:d'),
      fc.uniqueArray(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.stringMatching(/^[\w .é]{0,6}$/)), {
        selector: ([name]) => name,
        maxLength: 3,
      }),
      fc.oneof(
        { depthSize: 'small' },
        fc.stringMatching(/^[\w.é]{0,8}$/).map((text) => text.replaceAll('_', '&amp;')),
        fc.array(tie('element'), { minLength: 1, maxLength: 4 }).map((all) => all.join('')),
      ),
    )
    .map(([name, attributes, inner]) => {
      const written = attributes.map(([key, value]) => ` ${key}="${value}"`).join('')
      return `<${name}${written}>${inner}</${name}>`
    }),
})).element

test('another XML parser gets the same result for unambiguous documents', () => {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    textNodeName: '#text',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
  })
  fc.assert(
    fc.property(element, (inner) => {
      const xml = `<root xmlns:c="urn:c">${inner}</root>`
      assert.deepEqual(JSON.parse(toJson(xml)), JSON.parse(JSON.stringify(parser.parse(xml))))
    }),
    { numRuns: 500 },
  )
})

test('name characters that look like white space cannot hide markup', () => {
  // U+1680 and U+FEFF are letters to XML 1.0, and white space to regular expressions.
  for (const letter of ['\u1680', '\ufeff']) {
    const xml = `<r><u x${letter}y="/><role>admin</role>"/></r>`.replace(
      '/><role>admin</role>',
      '/>&lt;role>admin',
    )
    assert.deepEqual(JSON.parse(toJson(xml)), { r: { u: { [`@x${letter}y`]: '/><role>admin' } } })
  }
})
