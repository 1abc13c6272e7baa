import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type TestEnv, testEnv } from '@sluice/policies/testing'
import type { XsltConfig } from '../../../transform/xslt/schema.js'
import { compiled, requestAfter, stylesheet, template } from '../../../transform/xslt/testing/stylesheets.js'

function envFor(t: TestContext): TestEnv {
  const env = testEnv()
  t.after(() => env.close())
  return env
}

function inline(templates: string): XsltConfig {
  return { stylesheet: { inline: stylesheet(templates) } }
}

const UNKNOWN: readonly (readonly [content: string, words: RegExp])[] = [
  ['<xsl:value-of select="$nope"/>', /no variable '\$nope' \(the stylesheet, line 1\)/],
  ['<o a="{$nope}"/>', /no variable '\$nope'/],
  ['<xsl:if test="false()"><o><xsl:value-of select="1 + $nope"/></o></xsl:if>', /no variable '\$nope'/],
  ['<xsl:if test="1"><xsl:variable name="v" select="1"/></xsl:if><xsl:value-of select="$v"/>', /'\$v'/],
  ['<xsl:variable name="v" select="$v"/>', /no variable '\$v'/],
  ['<xsl:for-each select="*"><xsl:sort select="$nope"/></xsl:for-each>', /no variable '\$nope'/],
  ['<xsl:call-template name="nope"/>', /no template 'nope'/],
  ['<xsl:copy use-attribute-sets="nope"/>', /no attribute set 'nope'/],
  ['<o xsl:use-attribute-sets="nope"/>', /no attribute set 'nope'/],
  ['<xsl:value-of select="nope(1)"/>', /no function 'nope\(\)'/],
  ['<xsl:value-of select="f:nope(1)" xmlns:f="urn:f"/>', /no function 'f:nope\(\)'/],
  ['<xsl:value-of select="string-join(//a, 1)"/>', /no function 'string-join\(\)'/],
  ['<xsl:value-of select="d:evaluate(.)" xmlns:d="http://exslt.org/dynamic"/>', /no function 'd:evaluate/],
  ['<xsl:value-of select="z:a"/>', /no namespace is declared for the prefix 'z'/],
  ['<xsl:apply-templates select="a[z:b = 1]"/>', /prefix 'z'/],
  ['<o a="{count(z:*)}"/>', /prefix 'z'/],
]

test('undeclared names in an XSLT 1.0 stylesheet fail the deployment', async (t) => {
  for (const [content, words] of UNKNOWN) {
    await assert.rejects(compiled(inline(template(content)), envFor(t)), words, content)
  }
})

test('names declared elsewhere, or tested before use, are accepted', async (t) => {
  const declared = `<xsl:variable name="g" select="1"/><xsl:attribute-set name="s"><xsl:attribute name="z">1</xsl:attribute></xsl:attribute-set>
    <func:function name="f:twice"><xsl:param name="n"/><func:result select="2 * $n"/></func:function>
    <f:data at="{$nobody}" xmlns:f="urn:f"><x select="$nobody"/></f:data>
    <xsl:template name="t"><xsl:param name="p" select="$g"/><xsl:variable name="q" select="$p"/><i a="{$q}{{$nobody}}{concat('{$nobody}', '')}"/></xsl:template>`
  const content = `<o xsl:use-attribute-sets="s"><xsl:call-template name="t"/><xsl:value-of select="f:twice(math:max(//n) + count(child::node()) + str:tokenize('1') + 3)"/></o>`
  const names =
    'xmlns:f="urn:f" xmlns:func="http://exslt.org/functions" xmlns:math="http://exslt.org/math" xmlns:str="http://exslt.org/strings" extension-element-prefixes="func" exclude-result-prefixes="f math str"'
  const text = stylesheet(`${declared}${template(content)}`, '1.0', names)
  const step = await compiled({ stylesheet: { inline: text } }, envFor(t))
  assert.match(
    String(await requestAfter(step, '<a><n>2</n></a>')),
    /<i a="1\{\$nobody\}\{\$nobody\}"\/>14<\/o>/,
  )
  const cautious = template(
    `<xsl:choose><xsl:when test="function-available('f:x')"><xsl:value-of select="f:x()"/></xsl:when><xsl:otherwise>2</xsl:otherwise></xsl:choose>`,
  )
  const asking = stylesheet(cautious, '1.0', 'xmlns:f="urn:f"')
  const asks = await compiled({ stylesheet: { inline: asking } }, envFor(t))
  assert.equal(await requestAfter(asks, '<a/>'), '2\n')
})
