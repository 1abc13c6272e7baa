import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { exchange } from '@sluice/policies/testing'
import { openXmlBytes } from '../memory.js'
import { xmlLanguage } from './xml-language.js'

const ENVELOPE = `<?xml version="1.0"?>
<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>
<m:buy xmlns:m="urn:stocks"><order n="1"><symbol>IBM</symbol><price>140.5</price></order>
<order n="2"><symbol>SUN</symbol><price>7</price></order></m:buy></e:Body></e:Envelope>`

before(() => xmlLanguage.load())

function ask(path: string, body = ENVELOPE, names: Record<string, string> = { m: 'urn:stocks' }): unknown {
  const x = exchange({ body: Buffer.from(body) })
  try {
    return xmlLanguage.compile(path, names)(x)
  } finally {
    x.views?.close()
  }
}

test('nodes answer with the text of the first in the document, or with nothing', () => {
  assert.equal(ask('/soap:Envelope/soap:Body/m:buy/order[1]/symbol'), 'IBM')
  assert.equal(ask('//symbol'), 'IBM')
  assert.equal(ask('//order[2]/symbol | //order[1]/symbol'), 'IBM')
  assert.equal(ask('//order[last()]/@n'), '2')
  assert.equal(ask('//order[3]'), null)
  assert.equal(ask('//order/text()', '<order></order>'), null)
  assert.equal(ask('//order', '<order></order>'), '')
})

test('a body in a content coding, or in a charset that could be another document, is not asked', () => {
  for (const headers of [
    ['content-encoding', 'gzip'],
    ['content-encoding', 'identity', 'content-encoding', 'br'],
    ['content-type', 'text/xml; charset=utf-7'],
  ]) {
    const x = exchange({ body: Buffer.from('<a/>'), headers })
    assert.throws(
      () => xmlLanguage.compile('/a', {})(x),
      (error) => error instanceof UnreadableBody && error.code === 'GW_MEDIA_TYPE' && error.isAmbiguous,
    )
  }
})

test('a path begins at the document', () => {
  assert.equal(ask('a/b', '<a><b>1</b></a>'), '1')
  assert.equal(ask('b', '<a><b>1</b></a>'), null)
})

test('expressions answer with numbers, booleans and texts', () => {
  assert.equal(ask('count(//order)'), 2)
  assert.equal(ask('sum(//price)'), 147.5)
  assert.equal(ask('number(//nothing)'), null)
  assert.equal(ask("//symbol = 'SUN'"), true)
  assert.equal(ask("//symbol = 'DEC'"), false)
  assert.equal(ask("concat(//symbol, '-', //order[2]/@n)"), 'IBM-2')
  assert.equal(ask('string(//nothing)'), '')
  assert.equal(ask("'a:b($c)'"), 'a:b($c)')
})

test('prefixes are predefined or configured', () => {
  assert.equal(ask('//soap:buy', ENVELOPE, { soap: 'urn:stocks' })?.toString().includes('IBM'), true)
  assert.equal(ask('count(//soap12:Body)'), 0)
  assert.throws(() => ask('//x:order', ENVELOPE, { x: '' }), /uses the prefix 'x'/)
  assert.equal(ask('local-name(/*)'), 'Envelope')
  assert.equal(ask('count(/child::soap:Envelope/child::*)'), 1)
})

const MISTAKES: readonly (readonly [path: string, words: RegExp])[] = [
  ['', /'' is not an XPath 1\.0 expression/],
  ['//a[', /is not an XPath 1\.0 expression/],
  ['//a]', /is not an XPath 1\.0 expression/],
  ['a b', /is not an XPath 1\.0 expression/],
  ["'open", /is not an XPath 1\.0 expression/],
  ['if (a) then b else c', /calls 'if\(\)', which is not an XPath 1\.0 function/],
  ['//a[@x:b]', /uses the prefix 'x'; declare it under 'namespaces'/],
  ['//toString:a', /uses the prefix 'toString'/],
  ["document('file:///etc/passwd')", /calls 'document\(\)'/],
  ["php:function('a')", /calls 'php:function\(\)'/],
  ['//a[matches(., "x")]', /calls 'matches\(\)'/],
  ['$x', /uses a variable/],
  ['//a//b', /may take cubic time on large bodies; .*\/\/b\[ancestor::a\] instead/],
  ['count(1)', /cannot be evaluated/],
  [`//a${'/a'.repeat(1000)}`, /longer than 2000 characters/],
]

for (const [path, words] of MISTAKES) {
  test(`the expression ${path.slice(0, 30)} is refused when it is compiled`, () => {
    assert.throws(() => xmlLanguage.compile(path, {}), words)
  })
}

test('all readers of an exchange share one document, which its end closes', () => {
  const x = exchange({ body: Buffer.from(ENVELOPE) })
  xmlLanguage.compile('//symbol', {})(x)
  const taken = openXmlBytes()
  xmlLanguage.compile('//price', {})(x)
  assert.equal(openXmlBytes(), taken)
  x.body = Buffer.from('<symbol>DEC</symbol>')
  assert.equal(xmlLanguage.compile('//symbol', {})(x), 'DEC')
  assert.ok(openXmlBytes() > taken)
  x.views?.close()
  assert.equal(openXmlBytes(), 0)
})

test('an empty body is null, and a body that is not XML is reported each time', () => {
  const reader = xmlLanguage.compile('//a', {})
  assert.equal(reader(exchange()), null)
  const x = exchange({ body: Buffer.from('{}') })
  for (let i = 0; i < 2; i++) {
    assert.throws(
      () => reader(x),
      (problem) => problem instanceof UnreadableBody && problem.code === 'GW_BODY_UNPARSABLE',
    )
  }
})

test('deeper than 100 elements is refused', () => {
  const deep = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)
  assert.equal(ask('count(//a)', deep(100)), 100)
  assert.throws(() => ask('count(//a)', deep(101)), /deeper than 100/)
})

test('an expression is not asked of more nodes than its time allows', () => {
  const flat = (nodes: number) => `<a>${'<b/>'.repeat(nodes - 1)}</a>`
  assert.equal(ask('count(//b)', flat(100_000)), 99_999)
  assert.equal(ask('count(/a/b//c)', flat(10_000)), 0)
  assert.throws(
    () => ask('count(/a/b//c)', flat(10_001)),
    /more than 10000 elements and attributes, too many/,
  )
  assert.equal(ask('count(//b[following::c])', flat(1000)), 0)
  assert.throws(() => ask('count(//b[following::c])', flat(1001)), /more than 1000 elements/)
})
