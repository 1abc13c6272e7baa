import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { plant } from '@sluice/policies/attacks/testing/planted'
import { testEnv } from '@sluice/policies/testing'
import {
  compiled,
  requestAfter,
  responseAfter,
  stylesheet,
  template,
} from '../transform/xslt/testing/stylesheets.js'

/**
 * Attacks of XSLT 1.0 stylesheets (libxslt, EXSLT) and of the documents that they transform: run code, read files or
 * the environment, use the network, hang, use memory.
 */

const planted = await plant()
const addressed = (text: string): string =>
  text.replaceAll('FOLDER', planted.folder).replaceAll('ORIGIN', planted.origin)

/** Stylesheets that may or may not compile. Their results must not reveal planted secrets. */
const STYLESHEETS: readonly (readonly [name: string, templates: string, attributes?: string])[] = [
  ['document() of a file', template('<o><xsl:copy-of select="document(\'FOLDER/secret.xml\')"/></o>')],
  [
    'document() of a file address',
    template('<o><xsl:copy-of select="document(\'file://FOLDER/secret.xml\')"/></o>'),
  ],
  ['document() of a server', template('<o><xsl:copy-of select="document(\'ORIGIN/\')"/></o>')],
  ['document() of many', template('<o><xsl:copy-of select="document(/a/u)"/></o>')],
  [
    'document() with a base',
    template('<o xml:base="file://FOLDER/"><xsl:copy-of select="document(\'secret.xml\', /)"/></o>'),
  ],
  ['xsl:include of a file', '<xsl:include href="file://FOLDER/secret.xsl"/>'],
  ['xsl:import of a server', '<xsl:import href="ORIGIN/"/>'],
  [
    'XInclude',
    template('<xi:include href="file://FOLDER/secret.xml" xmlns:xi="http://www.w3.org/2001/XInclude"/>'),
  ],
  ['the environment', template('<o><xsl:value-of select="system-property(\'SLUICE_PLANTED\')"/></o>')],
  [
    'environment of XSLT 3.0',
    template('<o><xsl:value-of select="environment-variable(\'SLUICE_PLANTED\')"/></o>'),
  ],
  ['unparsed-text()', template('<o><xsl:value-of select="unparsed-text(\'FOLDER/secret.txt\')"/></o>')],
  [
    'dyn:evaluate',
    template('<o><xsl:value-of select="d:evaluate(\'document(&quot;ORIGIN/&quot;)\')"/></o>'),
    'xmlns:d="http://exslt.org/dynamic"',
  ],
  [
    'saxon:evaluate',
    template('<o><xsl:value-of select="s:evaluate(\'document(&quot;ORIGIN/&quot;)\')"/></o>'),
    'xmlns:s="http://icl.com/saxon"',
  ],
  [
    'a script of another processor',
    `<m:script implements-prefix="m" language="javascript">function f() { return process.env.SLUICE_PLANTED }</m:script>${template('<o><xsl:value-of select="m:f()"/></o>')}`,
    'xmlns:m="urn:schemas-microsoft-com:xslt"',
  ],
  [
    'Java of another processor',
    template('<o><xsl:value-of select="r:exec(r:getRuntime(), \'id\')"/></o>'),
    'xmlns:r="http://xml.apache.org/xalan/java/java.lang.Runtime"',
  ],
  [
    'func:script',
    `<f:script implements-prefix="f" language="javascript" src="ORIGIN/"/>${template('<o/>')}`,
    'xmlns:f="http://exslt.org/functions" extension-element-prefixes="f"',
  ],
  [
    'crypto of libxslt',
    template('<o><xsl:value-of select="c:md5(\'1\')"/></o>'),
    'xmlns:c="http://exslt.org/crypto"',
  ],
]

for (const [name, templates, attributes] of STYLESHEETS) {
  test(`${name} finds neither files, the environment nor servers`, async (t) => {
    const text = stylesheet(addressed(templates), '1.0', attributes)
    const outcome = await outcomeOf(
      t,
      text,
      `<a><u>file://${planted.folder}/secret.xml</u><u>${planted.origin}/</u></a>`,
    )
    assert.doesNotMatch(outcome, /hunter2/)
    assert.equal(planted.requests(), 0)
  })
}

/** Prefix of the stylesheet, which then contains `&x;`. */
const PROLOGUES: readonly (readonly [name: string, prologue: string])[] = [
  ['an external entity', '<!DOCTYPE x [<!ENTITY x SYSTEM "file://FOLDER/secret.txt">]>'],
  ['an entity of a server', '<!DOCTYPE x [<!ENTITY x SYSTEM "ORIGIN/">]>'],
  ['a parameter entity', '<!DOCTYPE x [<!ENTITY % p SYSTEM "file://FOLDER/secret.dtd"> %p;]>'],
  ['an external DTD', '<!DOCTYPE x SYSTEM "file://FOLDER/secret.dtd">'],
  ['a DTD of a server', '<!DOCTYPE x SYSTEM "ORIGIN/">'],
  ['a catalog', '<?oasis-xml-catalog catalog="file://FOLDER/secret.xml"?><!DOCTYPE x PUBLIC "p" "urn:x">'],
  [
    'a billion laughs',
    `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')}<!ENTITY x "&a12;">]>`,
  ],
]

for (const version of ['1.0', '3.0']) {
  for (const [name, prologue] of PROLOGUES) {
    test(`a stylesheet of XSLT ${version} with ${name} is refused, or works without it`, async (t) => {
      const text = addressed(prologue) + stylesheet(template('<o>&x;</o>'), version)
      const outcome = await outcomeOf(t, text, '<a/>')
      assert.doesNotMatch(outcome, /hunter2|haha/)
      assert.equal(planted.requests(), 0)
    })
  }
}

const WRITERS: readonly (readonly [name: string, element: string])[] = [
  ['exsl:document', '<e:document href="PATH" xmlns:e="http://exslt.org/common">1</e:document>'],
  ['xsl:document', '<xsl:document href="PATH">1</xsl:document>'],
  ['saxon:output', '<s:output href="PATH" xmlns:s="http://icl.com/saxon">1</s:output>'],
  ['xt:document', '<x:document href="PATH" xmlns:x="http://www.jclark.com/xt">1</x:document>'],
  ['redirect:write', '<r:write file="PATH" xmlns:r="http://xml.apache.org/xalan/redirect">1</r:write>'],
  [
    'redirect:write by another name',
    '<r:write select="\'PATH\'" xmlns:r="org.apache.xalan.xslt.extensions.Redirect">1</r:write>',
  ],
]

test('elements that write files are refused, and nothing is written', async (t) => {
  for (const [name, element] of WRITERS) {
    const path = join(planted.folder, 'written.xml')
    const text = stylesheet(
      template(`<o>${element.replace('PATH', path)}</o>`),
      '1.1',
      'extension-element-prefixes="xsl"',
    )
    assert.match(await outcomeOf(t, text, '<a/>'), /writes files/, name)
    assert.ok(!existsSync(path), name)
  }
})

/** Templates for `/r` that take endless time or memory. */
const GREEDY: readonly (readonly [name: string, templates: string, attributes?: string])[] = [
  [
    'padding of EXSLT',
    '<xsl:template match="/r"><xsl:value-of select="string-length(s:padding(2000000000, \'xyz\'))"/></xsl:template>',
    'xmlns:s="http://exslt.org/strings"',
  ],
  [
    'a replacement that grows',
    `<xsl:template match="/r"><xsl:variable name="a" select="s:padding(100000, 'x')"/><xsl:value-of select="s:replace(s:replace($a, 'x', $a), 'x', $a)"/></xsl:template>`,
    'xmlns:s="http://exslt.org/strings"',
  ],
  [
    'a function that calls itself',
    '<f:function name="m:f"><f:result select="m:f()"/></f:function><xsl:template match="/r"><xsl:value-of select="m:f()"/></xsl:template>',
    'xmlns:f="http://exslt.org/functions" xmlns:m="urn:m" extension-element-prefixes="f"',
  ],
  [
    'messages without end',
    '<xsl:template match="/r"><xsl:for-each select="//a"><xsl:for-each select="//a"><xsl:message>long enough to be a message</xsl:message></xsl:for-each></xsl:for-each></xsl:template>',
  ],
  [
    'numbers as long as letters',
    `<xsl:template match="/r"><xsl:number value="999999999999" format="i"/><xsl:for-each select="//a"><xsl:for-each select="//a"><xsl:number level="any" count="a"/></xsl:for-each></xsl:for-each></xsl:template>`,
  ],
  [
    'keys over everything',
    '<xsl:key name="k" match="*" use="string(//a[. = current()/..])"/><xsl:template match="/r"><xsl:value-of select="count(key(\'k\', //a))"/></xsl:template>',
  ],
]

for (const [name, templates, attributes] of GREEDY) {
  test(`${name} cannot take the gateway down, and the next body is served`, async (t) => {
    const env = testEnv()
    t.after(() => env.close())
    const output = '<xsl:output omit-xml-declaration="yes"/><xsl:template match="/good">fine</xsl:template>'
    const text = stylesheet(`${output}${templates}`, '1.0', attributes)
    const step = await compiled(
      { stylesheet: { inline: text }, timeout: '200ms', maxOutputBytes: '1mb' },
      env,
    )
    const before = process.memoryUsage().rss
    const outcome = JSON.stringify(await requestAfter(step, `<r>${'<a>x</a>'.repeat(3000)}</r>`))
    assert.ok(process.memoryUsage().rss - before < 600 << 20)
    assert.match(outcome, /GW_TRANSFORM_FAILED|^"/)
    assert.match(String(await requestAfter(step, '<good/>')), /fine/)
  })
}

/** Bodies from a caller or the upstream. A copying stylesheet would show what they found. */
const BODIES: readonly (readonly [name: string, body: string])[] = [
  ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file://FOLDER/secret.txt">]><a>&x;</a>'],
  ['an external DTD', '<!DOCTYPE a SYSTEM "ORIGIN/"><a/>'],
  [
    'XInclude',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file://FOLDER/secret.xml"/></a>',
  ],
  ['a stylesheet of its own', '<?xml-stylesheet type="text/xsl" href="file://FOLDER/secret.xsl"?><a/>'],
  [
    'a schema of its own',
    '<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:noNamespaceSchemaLocation="ORIGIN/"/>',
  ],
  ['a base of its own', '<a xml:base="file://FOLDER/"><b>secret.xml</b></a>'],
]

for (const version of ['1.0', '3.0']) {
  test(`XSLT ${version}: bodies with addresses in them make the engine read nothing`, async (t) => {
    const env = testEnv()
    t.after(() => env.close())
    const copy = template(
      '<o><xsl:copy-of select="."/><xsl:if test="/a/b"><xsl:copy-of select="document(/a/b, /a)"/></xsl:if></o>',
    )
    const step = await compiled({ stylesheet: { inline: stylesheet(copy, version) }, phase: 'both' }, env)
    for (const [name, body] of BODIES) {
      for (const side of [requestAfter, responseAfter]) {
        const outcome = JSON.stringify(await side(step, addressed(body)))
        assert.doesNotMatch(outcome, /hunter2/, name)
        assert.equal(planted.requests(), 0, name)
      }
    }
  })
}

/** Returns the result of a stylesheet for a body, or why it is refused or fails. */
async function outcomeOf(t: TestContext, text: string, body: string): Promise<string> {
  const env = testEnv()
  t.after(() => env.close())
  try {
    const step = await compiled({ stylesheet: { inline: text } }, env)
    return JSON.stringify([await requestAfter(step, body), env.reports])
  } catch (problem) {
    return String(problem)
  }
}
