import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testEnv } from '@sluice/policies/testing'
import type { XsltConfig } from '../transform/xslt/schema.js'
import { compiled, requestAfter, stylesheet, template } from '../transform/xslt/testing/stylesheets.js'

/**
 * Attempts of an XSLT 2.0 or 3.0 author to run JavaScript or to evaluate text as code. All of them are refused when
 * the document is deployed or validated. saxon-engine.test.ts tests what the engine does with stylesheets that bypass
 * the check.
 */

const JS = 'http://saxonica.com/ns/globalJS'
const IXSL = 'http://saxonica.com/ns/interactiveXSLT'
const CODE =
  /No namespace binding for prefix|calls JavaScript|runs code|evaluates text|while it is compiled|static expression/

const value = (expression: string): string => template(`<xsl:value-of select="${expression}"/>`)
const xsl = (templates: string, attributes = ''): string => stylesheet(templates, '3.0', attributes)

const ATTACKS: readonly (readonly [name: string, text: string])[] = [
  ['a prefix for globalJS', xsl(value("js:eval('1')"), `xmlns:js="${JS}"`)],
  ['another prefix for it', xsl(value("a:eval('1')"), `xmlns:a="${JS}"`)],
  ['interactiveXSLT', xsl(value("ixsl:eval('1')"), `xmlns:ixsl="${IXSL}"`)],
  ['a prefix that nobody declares', xsl(value("js:eval('1')"))],
  ['such a prefix while it is compiled', xsl(`<xsl:template match="/" use-when="js:eval('1')"/>`)],
  ['such a prefix of another kind', xsl(value("ixsl:eval('1')"))],
  ['an EQName', xsl(value(`Q{${JS}}eval('1')`))],
  ['an EQName with white space', xsl(value(`Q{ ${JS} }eval('1')`))],
  ['an EQName with character references', xsl(value(`Q{http://saxonica.com/ns/global&#74;&#x53;}eval('1')`))],
  ['an EQName with white space as references', xsl(value(`Q{&#10;${JS}&#9;}eval('1')`))],
  ['a reference to a function', xsl(value(`for-each('1', Q{${JS}}eval#1)`))],
  ['a partial application', xsl(value(`Q{${JS}}eval(?)('1')`))],
  ['an arrow', xsl(value(`'1' => Q{${JS}}eval()`))],
  ['a property of the global scope', xsl(value(`Q{${IXSL}}get(Q{${IXSL}}window(), 'process')`))],
  ['an attribute value template', xsl(template(`<o a="{Q{${JS}}eval('1')}"/>`))],
  ['a text value template', xsl(template(`<o>{Q{${JS}}eval('1')}</o>`), 'expand-text="yes"')],
  [
    'a declaration on an inner element',
    xsl(template(`<o xmlns:z="${JS}">{z:eval('1')}</o>`), 'expand-text="1"'),
  ],
  ['an instruction', xsl(template(`<i:schedule-action wait="1" xmlns:i="${IXSL}"/>`))],
  ['a static parameter', xsl(`<xsl:param name="p" static="yes" select="Q{${JS}}eval('1')"/>`)],
  ['a static variable', xsl(`<xsl:variable name="p" static="yes" select="Q{${JS}}eval('1')"/>`)],
  ['use-when', xsl(`<xsl:template match="/" use-when="Q{${JS}}eval('1')"/>`)],
  ['use-when on a literal element', xsl(template(`<o xsl:use-when="Q{${JS}}eval('1')"/>`))],
  ['a shadow attribute', xsl(template(`<xsl:value-of _select="{'Q{${JS}}eval(1)'}"/>`))],
  [
    'a shadow attribute put together',
    xsl(template(`<xsl:value-of _select="{concat('Q{http://saxon', 'ica.com/ns/globalJS}eval(1)')}"/>`)),
  ],
  [
    'a static parameter put together',
    xsl(
      `<xsl:param name="p" static="yes" _select="{concat('Q{http://saxon', 'ica.com/ns/globalJS}eval(1)')}"/>`,
    ),
  ],
  [
    'a static parameter that is static by computation',
    xsl(`<xsl:param name="p" _static="{'yes'}" select="Q{${JS}}eval('1')"/>`),
  ],
  [
    'use-when put together',
    xsl(template(`<xsl:if test="1" _use-when="{concat('Q{http://saxon', 'ica.com/ns/globalJS}eval(1)')}"/>`)),
  ],
  ['xsl:evaluate of the body', xsl(template('<xsl:evaluate xpath="string(/d/u)"/>'))],
  [
    'xsl:evaluate in a fallback',
    xsl(template('<xsl:try>1<xsl:catch><xsl:evaluate xpath="."/></xsl:catch></xsl:try>')),
  ],
  [
    'function-lookup of a name put together',
    xsl(value("function-lookup(QName(concat('http://saxonica.com/', 'ns/globalJS'), 'eval'), 1)('1')")),
  ],
  [
    'function-lookup as a value',
    xsl(value("let $f := function-lookup#2 return $f(QName('', string(.)), 1)('1')")),
  ],
  [
    'function-lookup by a prefix, while it is compiled',
    xsl(
      `<xsl:param name="p" static="yes" select="f:function-lookup (QName(concat('http://saxonica.com/', 'ns/globalJS'), 'eval'), 1)('1')"/>`,
      'xmlns:f="http://www.w3.org/2005/xpath-functions"',
    ),
  ],
  [
    'function-lookup after a comment, while it is compiled',
    xsl(`<xsl:template match="/" use-when="function-lookup(: ' :)(QName('', 'a'), 1)('1')"/>`),
  ],
  ['transform', xsl(value("transform(map{'stylesheet-text': string(.)})?output"))],
  ['transform while it is compiled', xsl(`<xsl:param name="p" static="yes" select="transform(map{})"/>`)],
  ['load-xquery-module', xsl(value("load-xquery-module('urn:x')"))],
  [
    'compile-XPath of Saxon',
    xsl(value('saxon:compile-XPath(string(.))'), 'xmlns:saxon="http://saxon.sf.net/"'),
  ],
  [
    'compile-XPath of Saxon, while it is compiled',
    xsl(`<xsl:param name="p" static="yes" select="s:parse-XPath('1')"/>`, 'xmlns:s="http://saxon.sf.net/"'),
  ],
  [
    'a namespace from an entity',
    `<!DOCTYPE x [<!ENTITY a "http://saxonica"><!ENTITY b ".com/ns/globalJS">]>${xsl(value("js:eval('1')"), 'xmlns:js="&a;&b;"')}`,
  ],
  [
    'an expression from an entity',
    `<!DOCTYPE x [<!ENTITY e "Q{http://saxonica.com/ns/globalJS}eval('1')">]>${xsl(template('<xsl:value-of select="&e;"/>'))}`,
  ],
  [
    'a namespace from the DTD',
    `<!DOCTYPE x [<!ATTLIST o xmlns:js CDATA "${JS}">]>${xsl(template(`<o><xsl:value-of select="js:eval('1')"/></o>`))}`,
  ],
]

for (const [name, text] of ATTACKS) {
  test(`a stylesheet that runs code by ${name} is refused when it is deployed`, async (t) => {
    await assert.rejects(compiled({ stylesheet: { inline: text } }, envFor(t)), CODE)
  })
}

test('a version that the document sets does not open a way around', async (t) => {
  const text = stylesheet(value(`Q{${JS}}eval('1')`), '1.0')
  await assert.rejects(compiled({ stylesheet: { inline: text }, version: '3.0' }, envFor(t)), CODE)
})

test('imports are read as the stylesheet is, whatever their encoding and however they are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'xslt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const part = xsl(`<xsl:param name="p" static="yes" select="Q{${JS}}eval('1')"/>`)
  const split = `<!DOCTYPE x [<!ENTITY a "http://www.w3.org/1999"><!ENTITY b "/XSL/Transform">]>${part.replace('http://www.w3.org/1999/XSL/Transform', '&a;&b;')}`
  const literal = `<o x:version="3.0" xmlns:x="http://www.w3.org/1999/XSL/Transform" xmlns:js="${JS}"/>`
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    ['plain', part],
    ['UTF-16', Buffer.from(`\ufeff${part}`, 'utf16le')],
    ['a namespace in parts', split],
    ['a simplified stylesheet', literal],
  ]
  for (const [name, bytes] of files) {
    const path = join(folder, 'part.xsl')
    writeFileSync(path, bytes)
    for (const href of ['href="part.xsl"', `_href="{concat('part', '.xsl')}"`]) {
      const config: XsltConfig = {
        stylesheet: { inline: xsl(`<xsl:import ${href}/>${template('<o/>')}`) },
        imports: { 'part.xsl': { file: path } },
      }
      await assert.rejects(compiled(config, envFor(t)), CODE, name)
    }
  }
})

test('an import that only the lenient parser of SaxonJS could read is no stylesheet for it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'xslt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'part.xsl')
  const part = xsl(`<xsl:param name="p" static="yes" select="Q{${JS}}eval('1')"/>`)
  writeFileSync(path, `${part.replace('/1999/', '/1999&#x2F;')}<`)
  const inline = xsl(`<xsl:import _href="{'part.xsl'}"/>${template('<o/>')}`)
  const config: XsltConfig = { stylesheet: { inline }, imports: { 'part.xsl': { file: path } } }
  await assert.rejects(compiled(config, envFor(t)), /cannot be compiled|not well-formed/)
})

test('stylesheets that only compute are not taken for attacks', async (t) => {
  const ordinary = xsl(
    `<xsl:param name="on" static="yes" select="true()"/>
     <xsl:function name="f:transform"><xsl:param name="n"/><xsl:sequence select="$n || '!'"/></xsl:function>
     <xsl:template match="/" use-when="$on and function-available('map:get') and not(system-property('xsl:version') = '1.0')">
       <o style="transform(1)"><xsl:value-of _select="{'upper-case(/a)'}"/>
         <xsl:value-of select="f:transform(map:get(map{'a': 'b'}, 'a')), math:pi() gt 3, sort((3, 1)), fold-left((1, 2), 0, function($a, $b) {$a + $b}), xs:integer('7')"/>
       </o>
     </xsl:template>`,
    'xmlns:f="urn:f" xmlns:map="http://www.w3.org/2005/xpath-functions/map" xmlns:math="http://www.w3.org/2005/xpath-functions/math" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:saxon="http://saxon.sf.net/" xmlns:doc="http://www.saxonica.com/ns/documentation" exclude-result-prefixes="#all"',
  )
  const step = await compiled({ stylesheet: { inline: ordinary } }, envFor(t))
  assert.match(
    String(await requestAfter(step, '<a>x</a>')),
    /<o style="transform\(1\)">X\s*b! true 1 3 3 7<\/o>/,
  )
})

function envFor(t: TestContext) {
  const env = testEnv()
  t.after(() => env.close())
  return env
}
