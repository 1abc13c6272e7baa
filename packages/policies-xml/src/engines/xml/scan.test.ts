import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { parseXml } from './gate.js'
import { loadLibxml } from './libxml.js'
import { XML_LIMITS } from './limits.js'
import { scanXml } from './scan.js'
import { compileValue } from './xpath.js'

before(() => loadLibxml())

/** Content of an element other than elements. A careless reader would take all of it for markup. */
const FILLINGS = [
  'text',
  ' &lt;a&gt; &#60; ]] > " \' = / ',
  '<!-- <a b="1"> - > -->',
  '<![CDATA[<a></a> ]> <!-- ]]>',
  '<?target <a b="?"> ?>',
  '\r\n\t',
  'ş€𝄞',
]
const ATTRIBUTES = [
  '',
  ' b="1"',
  " b='/>'",
  ' b="&gt;=\'"',
  '\n b = "a=b" c\t=\n\'"\' ',
  ' xmlns:p="urn:p" p:b=">"',
  ' xmlns=""',
]

const element = fc.letrec<{ node: string; tree: string }>((tie) => ({
  node: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...FILLINGS) },
    { weight: 3, arbitrary: tie('tree') },
  ),
  tree: fc
    .tuple(
      fc.constantFrom(...ATTRIBUTES),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.constantFrom('', ' ', '\n'),
    )
    .map(([attributes, children, space]) =>
      children.length === 0
        ? `<a${attributes}${space}/>`
        : `<a${attributes}${space}>${children.join('')}</a${space}>`,
    ),
})).tree

const document = fc
  .tuple(
    fc.constantFrom('', '\ufeff', '<?xml version="1.0"?>\n', '<!-- <a> -->'),
    element,
    fc.constantFrom('', '\n<?end?>'),
  )
  .map((parts) => parts.join(''))

test('depth and number of nodes are what the parser makes of it', () => {
  const count = compileValue(
    'count(//*) + count(//@*) + count(//comment()) + count(//processing-instruction())',
    {},
  )
  fc.assert(
    fc.property(document, fc.boolean(), (text, isWide) => {
      const body = isWide ? Buffer.from(`\ufeff${text.replace(/^\ufeff/, '')}`, 'utf16le') : Buffer.from(text)
      const view = parseXml(body)
      try {
        const rest = (text.match(/<!\[CDATA\[/g)?.length ?? 0) + (text.match(/xmlns/g)?.length ?? 0)
        const declaration = text.includes('<?xml ') ? 1 : 0
        assert.equal(view.shape.nodes, Number(count(view)) + rest + declaration)
        const { depth } = view.shape
        assert.notEqual(compileValue('/*'.repeat(depth), {})(view), null)
        assert.equal(compileValue('/*'.repeat(depth + 1), {})(view), null)
      } finally {
        view.close()
      }
    }),
    { numRuns: 500 },
  )
})

const WITHOUT_END = ['<a', '<a b="', '<a><!-- ', '<a><![CDATA[', '<a><?b ', '<!--'.repeat(10)]

for (const text of WITHOUT_END) {
  test(`${text} is refused before a parser sees it`, () => {
    assert.throws(() => scanXml(Buffer.from(text), XML_LIMITS), /unterminated/)
  })
}
