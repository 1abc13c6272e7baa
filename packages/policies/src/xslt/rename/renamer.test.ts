import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { LibxsltRunner } from '../libxslt/runner.js'
import { readStylesheet } from '../stylesheet-source.js'
import { stylesheet } from '../testing.js'
import { Renamer } from './renamer.js'

const COPY =
  '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>'

function rename(from: string, to: string): string {
  return `<xsl:template match="${from}"><xsl:element name="${to}"><xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>`
}

const RENAMES = `${rename('order', 'redro')}${rename('a', 'longer-name')}${rename('symbol', 's')}${rename('item', 'order')}`
const STYLESHEETS = [
  stylesheet(`<xsl:output method="xml" omit-xml-declaration="yes"/>${COPY}${RENAMES}`),
  stylesheet(`${RENAMES}${COPY}`),
]

/** Both ways for each stylesheet. */
const ways: { readonly fast: Renamer; readonly libxslt: LibxsltRunner }[] = []

before(async () => {
  for (const inline of STYLESHEETS) {
    const source = await readStylesheet({ stylesheet: { inline } })
    assert.ok(source.renaming !== null)
    const limits = { timeoutMs: 10_000, maxOutputBytes: 50_000_000 }
    ways.push({ fast: new Renamer(source.renaming), libxslt: await LibxsltRunner.create({ source, limits }) })
  }
})

after(() => {
  for (const { libxslt } of ways) libxslt.close()
})

/** @returns whether the document was plain; asserts that then libxslt makes the same of it. */
function isSame(document: string | Uint8Array): boolean {
  const body = Buffer.from(document)
  let isPlain = false
  for (const { fast, libxslt } of ways) {
    const output = fast.rename(body)
    if (output === null) continue
    isPlain = true
    const expected = libxslt.run({ body, params: [] })
    assert.ok(expected instanceof Uint8Array, `libxslt refuses ${body.toString()}`)
    assert.equal(
      Buffer.from(output).toString('latin1'),
      Buffer.from(expected).toString('latin1'),
      body.toString(),
    )
  }
  return isPlain
}

const PLAIN = [
  '<a/>',
  '<a></a>',
  '<a b="1" c=""></a>',
  '<order><a>1</a><x><a/></x></order>',
  '<s:e xmlns:s="http://a/b"><s:order><order a="it\'s"/></s:order></s:e>',
  '<a>\n\t<!-- a - b --> text &amp; &lt;&gt; "é" \u{1f600}</a>\n ',
  '<?xml version="1.0" encoding="UTF-8"?>\n<symbol>1</symbol>',
  '<?xml version="1.0"?><b><!----></b>',
  `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`,
]

/** What libxslt would write in another way, or refuse. */
const NOT_PLAIN = [
  '',
  '<a>',
  '<a></b>',
  '<a/><a/>',
  '<a/>x',
  '<a b="1" b="2"/>',
  "<a b='1'/>",
  '<a b="1"c="2"/>',
  '<a  b="1"/>',
  '<a />',
  '<a b="&lt;"/>',
  '<a b="\n"/>',
  '<a b="<"/>',
  '<a x:b="1"/>',
  '<x:a/>',
  '<a xmlns="http://u"/>',
  '<a xmlns:s="http://u"/>',
  '<b xmlns:s="not a uri"/>',
  '<b xmlns:s="urn://host:port"/>',
  '<b xmlns:s=""/>',
  '<b xmlns:xml="http://u"/>',
  '<b xmlns:s="http://www.w3.org/2000/xmlns/"/>',
  '<b><c xmlns:s="http://u"/></b>',
  '<b xmlns:s="http://u" xmlns:t="http://u"/>',
  '<b c="1" xmlns:s="http://u"/>',
  '<a>]]></a>',
  '<a>></a>',
  '<a>&quot;</a>',
  '<a>&x;</a>',
  '<a>&#65;</a>',
  '<a>\r</a>',
  '<a>\x01</a>',
  '<a>\ufffe</a>',
  '<a><![CDATA[x]]></a>',
  '<a><?p i?></a>',
  '<a><!-- -- --></a>',
  '<!-- c --><a/>',
  '<!DOCTYPE a><a/>',
  '<a><!DOCTYPE a></a>',
  '\ufeff<a/>',
  `${'<a>'.repeat(101)}${'</a>'.repeat(101)}`,
  `<a${Array.from({ length: 30 }, (_, i) => ` a${i}="1"`).join('')}/>`,
]

test('plain documents are renamed exactly as libxslt does it', () => {
  for (const document of PLAIN) assert.ok(isSame(document), document)
})

test('all other documents are left to libxslt', () => {
  for (const document of NOT_PLAIN) assert.ok(!isSame(document), document)
  for (const bytes of ['<a>\xff</a>', '<a>\xed\xa0\x80</a>', '<a>\xc0\x80</a>'])
    assert.ok(!isSame(Buffer.from(bytes, 'latin1')))
  assert.ok(!isSame(Buffer.from('<a/>', 'utf16le')))
})

const name = fc.constantFrom('a', 'order', 'item', 'symbol', 'b', 's:a', 's:order', 'longer-name', '_x.1-2')
const text = fc.oneof(
  fc.constantFrom(
    '',
    'text',
    ' ',
    '\n\t',
    '&amp;',
    '&lt;x&gt;',
    'é😀',
    '"\'',
    ']]',
    '&#65;',
    '&quot;',
    '>',
    '\r',
  ),
  fc.string({ maxLength: 5 }),
)
const attribute = fc.tuple(
  fc.constantFrom('a', 'b', 'order', 'c-d', 's:x'),
  fc.constantFrom('', '1', "it's", 'é', '&amp;', '\t', '>', '<', '  x'),
)

interface Tree {
  readonly name: string
  readonly attributes: readonly (readonly [string, string])[]
  readonly content: readonly (Tree | string)[]
  readonly style: number
}

const { tree } = fc.letrec<{ tree: Tree; content: Tree | string }>((tie) => ({
  tree: fc.record({
    name,
    attributes: fc.array(attribute, { maxLength: 2 }),
    content: fc.array(tie('content'), { maxLength: 3 }),
    style: fc.nat({ max: 40 }),
  }),
  content: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, text, tie('tree'), fc.constant('<!-- c -->')),
}))

/** Mostly in the plain form, and now and then in another one. */
function written({ name, attributes, content, style }: Tree, declares = true): string {
  const declaration = declares && style !== 3 ? ' xmlns:s="http://s/t"' : ''
  const quote = style === 1 ? "'" : '"'
  const fields = attributes.map(([key, value]) => ` ${key}=${quote}${value}${quote}`).join('')
  const inside = content.map((each) => (typeof each === 'string' ? each : written(each, false))).join('')
  if (inside === '' && style % 2 === 0) return `<${name}${declaration}${fields}/>`
  return `<${name}${declaration}${fields}${style === 5 ? ' ' : ''}>${inside}</${style === 7 ? 'b' : name}>`
}

test('whatever is renamed here is renamed by libxslt in the same way', () => {
  let plain = 0
  fc.assert(
    fc.property(tree, (each) => {
      if (isSame(written(each))) plain++
    }),
    { numRuns: 3000 },
  )
  assert.ok(plain > 100, `only ${plain} documents were plain`)
})

test('a document with some bytes changed is renamed as libxslt does it, or left to it', () => {
  const whole = `<?xml version="1.0"?>\n<s:e xmlns:s="http://s/t"><s:b a="1"><order b="2" c="3"><symbol>IBM &amp; é</symbol><a></a><item/><!-- c --></order></s:b></s:e>\n`
  const bytes = fc.constantFrom(...Buffer.from('<>/="\'&; \n\t-!?[]xs:a\r\0\x80\xef'))
  const edit = fc.record({
    at: fc.nat({ max: whole.length }),
    remove: fc.nat({ max: 3 }),
    insert: fc.array(bytes, { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
      let body = Buffer.from(whole)
      for (const { at, remove, insert } of edits)
        body = Buffer.concat([body.subarray(0, at), Buffer.from(insert), body.subarray(at + remove)])
      isSame(body)
    }),
    { numRuns: 6000 },
  )
})

test('a stylesheet that does anything more is not taken for a renaming', async () => {
  const others = [
    `${COPY}${rename('a', 'b')}<xsl:strip-space elements="*"/>`,
    `${COPY}${rename('a', 'b')}<xsl:param name="p"/>`,
    `${COPY}${rename('a', '{@b}')}`,
    `${COPY}${rename('a/b', 'c')}`,
    `${COPY}${rename('s:a', 'c').replace('<xsl:template', '<xsl:template xmlns:s="urn:s"')}`,
    `${COPY}${rename('a', 'b')}${rename('a', 'c')}`,
    `${COPY}<xsl:output indent="yes"/>`,
    `${COPY}<xsl:output method="html"/>`,
    `${COPY}<xsl:template match="a"/>`,
    `${COPY}<xsl:template match="a" priority="2"><xsl:element name="b"><xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>`,
    `${COPY}<xsl:template match="a"><xsl:element name="b" namespace="urn:b"><xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>`,
    `${COPY}<xsl:template match="a"><xsl:element name="b"><xsl:apply-templates select="node()"/></xsl:element></xsl:template>`,
    `${COPY}<xsl:template match="a"><xsl:element name="b">x<xsl:apply-templates select="@*|node()"/></xsl:element></xsl:template>`,
    rename('a', 'b'),
    `${COPY}${COPY}`,
  ]
  for (const templates of others) {
    const { renaming } = await readStylesheet({ stylesheet: { inline: stylesheet(templates) } })
    assert.equal(renaming, null, templates)
  }
  const inline = stylesheet(`${COPY}${rename('a', 'b')}`)
  assert.notEqual((await readStylesheet({ stylesheet: { inline } })).renaming, null)
  assert.equal((await readStylesheet({ stylesheet: { inline }, select: '/a' })).renaming, null)
  assert.equal((await readStylesheet({ stylesheet: { inline }, version: '3.0' })).renaming, null)
})
