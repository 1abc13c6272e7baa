import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type BodyReader, UnreadableBody } from '@sluice/core'
import { exchange } from '@sluice/policies/testing'
import fc from 'fast-check'
import { KNOWN_PREFIXES } from '../namespaces.js'
import { plainPath } from './plain-path.js'
import { PlainReader } from './plain-reader.js'
import { xmlLanguage } from './xml-language.js'

const NAMES = { m: 'urn:stocks', s: 'http://s/t' }

before(() => xmlLanguage.load())

interface Asked {
  readonly reader: PlainReader
  readonly oracle: BodyReader
}

const asked = new Map<string, Asked>()

function ask(path: string): Asked {
  const known = asked.get(path)
  if (known !== undefined) return known
  const plain = plainPath(path, { ...KNOWN_PREFIXES, ...NAMES })
  assert.ok(plain !== null, `${path} is plain`)
  const both = { reader: new PlainReader(plain), oracle: xmlLanguage.compile(path, NAMES) }
  asked.set(path, both)
  return both
}

/** Returns the first match of libxml2, or undefined if it rejects the document. */
function firstFound(oracle: BodyReader, body: Uint8Array): unknown {
  const x = exchange({ body })
  try {
    return oracle(x)
  } catch (error) {
    assert.ok(error instanceof UnreadableBody)
    return undefined
  } finally {
    x.views?.close()
  }
}

/** Returns the shortest prefix of a document that yields a result. */
function readPart(reader: PlainReader, body: Uint8Array): Buffer {
  let [from, to] = [0, body.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (reader.first(body.subarray(0, middle)) === undefined) from = middle + 1
    else to = middle
  }
  // A text ends where markup begins.
  const end = body[to - 1] === 0x3c ? to - 1 : to
  return Buffer.from(body.subarray(0, end))
}

/** Returns a plain prefix of a document with end tags for all elements that are open at its end. */
function completed(part: Buffer): Buffer {
  const markup = part.toString('latin1').replace(/<!--.*?-->|<!\[CDATA\[.*?\]\]>/gs, '')
  const open: string[] = []
  for (const [tag, end, name] of markup.matchAll(/<(\/)?([\w.:-]+)(?:"[^"]*"|'[^']*'|[^"'>])*>/g)) {
    if (end !== undefined) open.pop()
    else if (!tag.endsWith('/>')) open.push(name!)
  }
  return Buffer.concat([
    part,
    Buffer.from(
      open
        .reverse()
        .map((name) => `</${name}>`)
        .join(''),
    ),
  ])
}

/**
 * Returns true if the path yielded a result. Asserts that libxml2 yields the same for the part read and for the whole
 * document.
 */
function isAnswered(path: string, body: Buffer): boolean {
  const { reader, oracle } = ask(path)
  const seen = reader.first(body)
  if (seen === undefined) return false
  const whole = completed(readPart(reader, body))
  assert.equal(firstFound(oracle, whole), seen, `${path} in ${whole}`)
  const all = firstFound(oracle, body)
  if (all !== undefined) assert.equal(all, seen, `${path} in ${body}`)
  return true
}

const ENVELOPE = `<?xml version="1.0" encoding="UTF-8"?>
<!-- an order -->
<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"
            xmlns:x="urn:x:y#z">
  <e:Header/><e:Body x:id='1'><m:buy xmlns:m="urn:stocks" class='a "b" &lt;'>
    <order n="1"><symbol><![CDATA[I<B]]>M &amp; Co<!-- c --></symbol><price kind="ask">140</price></order>
    <order n="2"><symbol>SUN</symbol><price>7</price><m:note/></order>
    <section xmlns="urn:stocks"><order n="3">DEC<symbol xmlns="">é</symbol></order></section></m:buy></e:Body></e:Envelope>`

const ANSWERS: readonly (readonly [path: string, answer: string])[] = [
  ['//m:buy/order[1]/symbol', 'I<BM & Co'],
  ['/soap:Envelope/soap:Body/m:buy/order[2]/symbol', 'SUN'],
  ['soap:Envelope/soap:Body/m:buy/order/price', '140'],
  ['//order[@n="2"]/price', '7'],
  ["//order[@n='2']/m:note", ''],
  ['//price/@kind', 'ask'],
  ['//m:buy/@class', 'a "b" <'],
  ['//m:order/@n', '3'],
  ['//m:order/text()', 'DEC'],
  ['//m:order/symbol', 'é'],
  ['//symbol[1]', 'I<BM & Co'],
  ['//order[2]/symbol/text()', 'SUN'],
  ['//*[local-name() = "note"]', ''],
  ['/*/*[2]/*/order/@n', '1'],
  ['//symbol', 'I<BM & Co'],
]

for (const [path, answer] of ANSWERS) {
  test(`${path} is answered from the beginning of a document`, () => {
    const { reader, oracle } = ask(path)
    const body = Buffer.from(ENVELOPE)
    assert.equal(reader.first(body), answer)
    assert.equal(firstFound(oracle, body), answer)
    assert.ok(isAnswered(path, body))
  })
}

test('what stands after the answer is not read', () => {
  const { reader } = ask('//symbol')
  assert.equal(reader.first(Buffer.from('<a><symbol>IBM</symbol></b><!DOCTYPE')), 'IBM')
  assert.equal(reader.first(Buffer.from('<a><symbol>IBM</symbol>\0\xff')), 'IBM')
})

const NOT_PLAIN: readonly string[] = [
  '//a//b',
  '//a | //b',
  'count(//a)',
  "//a = 'x'",
  '//a[b]',
  '//a[2][@c="1"]',
  '//a[last()]',
  '//a[0]',
  '/',
  '//@a',
  '.',
  '//a/..',
  'child::a',
  '//a/node()',
  '//a/@*',
  '//m:*',
  ' //a',
  '//a/',
  `//a${'/b'.repeat(16)}`,
]

for (const path of NOT_PLAIN) {
  test(`the expression ${path.slice(0, 20)} is left to libxml2`, () => {
    assert.equal(plainPath(path, NAMES), null)
  })
}

test('the prefix xml is predefined', () => {
  const names = { xml: 'urn:x' }
  const body = Buffer.from('<a xmlns="urn:x"/>')
  assert.equal(new PlainReader(plainPath('//xml:a', names)!).first(body), undefined)
  assert.equal(firstFound(xmlLanguage.compile('//xml:a', names), body), null)
})

/** Documents with a match, and something before or in it that only a parser can decide. */
const NOT_READ: readonly string[] = [
  '',
  ' <symbol>IBM</symbol>',
  '<symbol>IBM',
  '<symbol>IBM</symbol',
  '<symbol',
  '<a/><symbol>IBM</symbol>',
  '<!DOCTYPE symbol><symbol>IBM</symbol>',
  '<!DOCTYPE a [<!ENTITY e "IBM">]><a><symbol>&e;</symbol></a>',
  '<?xml version="1.1"?><symbol>IBM</symbol>',
  '<?xml version="1.0" encoding="iso-8859-1"?><symbol>\xe9</symbol>',
  '<?xml version="1.0" encoding="utf-7"?><symbol>IBM</symbol>',
  '<?XML version="1.0"?><symbol>IBM</symbol>',
  '<?xml VERSION="1.0"?><symbol>IBM</symbol>',
  '<?xml version="1.0" ENCODING="utf-8"?><symbol>IBM</symbol>',
  '<?xml version="1.0" standalone="YES"?><symbol>IBM</symbol>',
  '<?xml\u00a0version="1.0"?><symbol>IBM</symbol>',
  '<?xml version="1.0"\f?><symbol>IBM</symbol>',
  '<?xml version="1.0" \ufeff?><symbol>IBM</symbol>',
  '<a><?php 1 ?><symbol>IBM</symbol></a>',
  '<a>&e;<symbol>IBM</symbol></a>',
  '<a><symbol>&#73;BM</symbol></a>',
  '<a>]]><symbol>IBM</symbol></a>',
  '<a>\0<symbol>IBM</symbol></a>',
  '<a><!-- -- --><symbol>IBM</symbol></a>',
  '<a><b></c><symbol>IBM</symbol></a>',
  '<a><b x="1" x="2"/><symbol>IBM</symbol></a>',
  '<a xmlns:p="urn:p" xmlns:q="urn:p"><b p:x="1" q:x="2"/><symbol>IBM</symbol></a>',
  '<a><p:b/><symbol>IBM</symbol></a>',
  '<a p:b=""><symbol>IBM</symbol></a>',
  '<a xmlns:p=""><symbol>IBM</symbol></a>',
  '<a xmlns:xml="urn:p"><symbol>IBM</symbol></a>',
  '<a xmlns:p="urn://host:port"><symbol>IBM</symbol></a>',
  '<a xmlns:p="urn://:"><symbol>IBM</symbol></a>',
  '<a xmlns:p="urn:p" xmlns:p="urn:q"><symbol>IBM</symbol></a>',
  '<a x="<"><symbol>IBM</symbol></a>',
  '<a x=1><symbol>IBM</symbol></a>',
  '<a x="1"y="2"><symbol>IBM</symbol></a>',
  '<a><symbol>IBM</symbol x="1"></a>',
  '<a><symbol>I\r\nBM</symbol></a>',
  '<a xmlns="urn:other"><symbol>IBM</symbol></a>',
  `${'<a>'.repeat(100)}<symbol>IBM</symbol>`,
  `<a>${'x'.repeat(33_000)}<symbol>IBM</symbol></a>`,
  `<a${Array.from({ length: 33 }, (_, i) => ` a${i}=""`).join('')}><symbol>IBM</symbol></a>`,
  `<a${Array.from({ length: 65 }, (_, i) => ` xmlns:a${i}="urn:a"`).join('')}><symbol>IBM</symbol></a>`,
  '<symb\u00f6l/><symbol>IBM</symbol>',
]

for (const text of NOT_READ) {
  test(`the parser has to read ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.equal(ask('//symbol').reader.first(Buffer.from(text)), undefined)
  })
}

/** Declarations that keep a document as plain as without one. */
const BEGINNINGS: readonly string[] = [
  '<?xml version="1.0"?>',
  "<?xml\tversion = '1.0'\r\nencoding= 'Utf-8' ?>",
  '<?xml version="1.0" standalone="yes"?>\r\n<!-- - -->\n',
  '\ufeff<?xml version="1.0" encoding="UTF-8" standalone="no"?>',
]

for (const beginning of BEGINNINGS) {
  test(`a document is read that begins with ${JSON.stringify(beginning)}`, () => {
    assert.ok(isAnswered('//symbol', Buffer.from(`${beginning}<symbol>IBM</symbol>`)))
  })
}

test('bytes that are no UTF-8 are left to the parser', () => {
  for (const bytes of [
    '<a>\xff<symbol>IBM</symbol></a>',
    '<a>\xed\xa0\x80<symbol/></a>',
    '<symbol>\xef\xbf\xbf</symbol>',
  ])
    assert.equal(ask('//symbol').reader.first(Buffer.from(bytes, 'latin1')), undefined)
})

const path = fc.constantFrom(
  '//a',
  '/a/b',
  '/a/a/a',
  '//a/b/a',
  '//a[2]',
  '//a/b[2]/a[1]',
  '//s:a/b',
  '//s:b[1]/@s:x',
  '//a/@b',
  '//b/text()',
  '//a/b/text()',
  '//*[2]/a',
  '/*/*/*/text()',
  "//a[@a='1']/b",
  '//b[@b="1 &"]',
  "//*[local-name()='b']/a",
  "//*[local-name()='b'][2]",
)
const text = fc.constantFrom(
  '',
  'text',
  ' \n\t',
  '&amp;&lt;x&gt;&quot;&apos;',
  'é😀',
  ']]',
  '&#65;',
  '>',
  '\r\n',
  '<![CDATA[<a>]]>',
  '<![CDATA[]]>',
  '<!-- <b> -->',
  '<?p?>',
)
const tag = fc.record({
  name: fc.constantFrom('a', 'b', 's:a', 's:b', 'p:b'),
  attributes: fc.array(
    fc.constantFrom(
      ' a="1"',
      " b='1 &amp;'",
      ' s:x="2"',
      '\n p:x="3"',
      ' xmlns="urn:stocks"',
      ' xmlns=""',
      ' xmlns:s="http://s/t"',
      ' xmlns:p="http://s/t"',
      ' a="\t"',
    ),
    { maxLength: 2 },
  ),
  isEmpty: fc.boolean(),
})

interface Tree {
  readonly tag: { readonly name: string; readonly attributes: readonly string[]; readonly isEmpty: boolean }
  readonly content: readonly (Tree | string)[]
}

const { tree } = fc.letrec<{ tree: Tree; content: Tree | string }>((tie) => ({
  tree: fc.record({ tag, content: fc.array(tie('content'), { maxLength: 4 }) }),
  content: fc.oneof({ maxDepth: 5, depthSize: 'medium' }, text, tie('tree'), tie('tree')),
}))

function written({ tag: { name, attributes, isEmpty }, content }: Tree): string {
  const inside = content.map((each) => (typeof each === 'string' ? each : written(each))).join('')
  const start = `<${name}${[...new Set(attributes)].join('')}`
  return inside === '' && isEmpty ? `${start} />` : `${start}>${inside}</${name}>`
}

test('every result equals that of libxml2', () => {
  let answers = 0
  const run = (each: Tree, asking: string): void => {
    const declarations = [' xmlns:s="http://s/t"', ' xmlns:p="urn:p"']
    const root = { ...each, tag: { ...each.tag, name: 'a', attributes: declarations } }
    if (isAnswered(asking, Buffer.from(written(root)))) answers++
  }
  fc.assert(fc.property(tree, path, run), { numRuns: 6000 })
  assert.ok(answers > 150, `only ${answers} were answered`)
})

test('a document with some bytes changed is answered as libxml2 does it, or left to it', () => {
  const bytes = fc.constantFrom(...Buffer.from('<>/="\'&; \n\t-!?[]xs:ab\r\0\x80\xef'))
  const edit = fc.record({
    at: fc.nat({ max: ENVELOPE.length }),
    remove: fc.nat({ max: 3 }),
    insert: fc.array(bytes, { maxLength: 3 }),
  })
  const paths = fc.constantFrom(...ANSWERS.map(([each]) => each))
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), paths, (edits, asking) => {
      let body = Buffer.from(ENVELOPE)
      for (const { at, remove, insert } of edits)
        body = Buffer.concat([body.subarray(0, at), Buffer.from(insert), body.subarray(at + remove)])
      isAnswered(asking, body)
    }),
    { numRuns: 6000 },
  )
})
