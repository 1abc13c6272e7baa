import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import { testEnv } from '@sluice/policies/testing'
import {
  assertRefused,
  compiled,
  requestAfter,
  responseAfter,
  stylesheet,
  template,
} from './testing/stylesheets.js'

/** Generous time limit for a busy machine. Run times are measured elsewhere. */
const MAX_MS = 2000

const COPY = stylesheet(
  '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>',
)
const XSL3 = stylesheet('<xsl:mode on-no-match="shallow-copy"/>', '3.0')

function attributes(count: number): string {
  return Array.from({ length: count }, (_, i) => ` a${i}="1"`).join('')
}

function utf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text}`, 'utf16le')
}

const LAUGHS = `<!DOCTYPE a [<!ENTITY a "ha">${Array.from({ length: 20 }, (_, i) => `<!ENTITY ${'a'.repeat(i + 2)} "${`&${'a'.repeat(i + 1)};`.repeat(10)}">`).join('')}]><a>&${'a'.repeat(21)};</a>`

const BODIES: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ['a file as an entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', /DOCTYPE/],
  ['a server as an entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]><a>&x;</a>', /DOCTYPE/],
  [
    'a DOCTYPE in UTF-16',
    utf16('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
    /DOCTYPE/,
  ],
  ['billion laughs', LAUGHS, /DOCTYPE/],
  ['100,000 levels', '<a>'.repeat(100_000), /deeper than 100/],
  ['20,000 attributes', `<a${attributes(20_000)}/>`, /more than 256 attributes/],
  ['a million elements', `<a>${'<b/>'.repeat(200_000)}</a>`, /more than 100000/],
  ['overlapping elements', '<a><b></a></b>', /do not match/],
  ['an end that is missing', '<a>', /before all of its elements/],
  ['two roots', '<a/><b/>', /after the root element/],
  ['a prefix that nobody declared', '<x:a/>', /prefix is not declared/],
  ['an entity that nobody declared', '<a>&x;</a>', /reference is not valid/],
  ['UTF-7', '<?xml version="1.0" encoding="UTF-7"?><a/>', /encoding/],
  ['bytes that are no UTF-8', Buffer.from('<a>\xff</a>', 'latin1'), /not match its encoding|not allowed/],
  ['JSON', '{"a":1}', /does not begin with an element/],
]

for (const [engine, text] of [
  ['libxslt', COPY],
  ['SaxonJS', XSL3],
] as const) {
  test(`${engine}: bodies that attack are refused in words that do not quote them`, async (t) => {
    const env = testEnv()
    t.after(() => env.close())
    const step = await compiled({ stylesheet: { inline: text }, phase: 'both', maxBodyBytes: '5mb' }, env)
    await requestAfter(step, '<a/>')
    for (const [name, body, words] of BODIES) {
      const beforeMs = cpuMs()
      const outcome = await requestAfter(step, body)
      assert.ok(cpuMs() - beforeMs < MAX_MS, name)
      assertRefused(outcome, 'GW_TRANSFORM_INPUT', words)
      assert.doesNotMatch(JSON.stringify(outcome), /passwd|root:/, name)
    }
    assertRefused(await responseAfter(step, '<a><b></a>'), 'GW_RESPONSE_INVALID', /upstream: .*do not match/)
    assert.match(String(await requestAfter(step, '<a/>')), /<a\/>/)
  })
}

const TWICE = `<xsl:template name="r"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><xsl:call-template name="r"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template><xsl:call-template name="r"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>`
const DOUBLING = `<xsl:template name="r"><xsl:param name="s"/><xsl:param name="n"/><xsl:if test="$n = 0"><xsl:value-of select="$s"/></xsl:if><xsl:if test="$n &gt; 0"><xsl:call-template name="r"><xsl:with-param name="s" select="concat($s, $s)"/><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>`

const CUBE = `<xsl:template match="/"><o><xsl:for-each select="//a"><xsl:for-each select="//a"><xsl:for-each select="//a"><x>long enough</x></xsl:for-each></xsl:for-each></xsl:for-each></o></xsl:template>`

const STYLESHEETS: readonly (readonly [string, string, RegExp])[] = [
  [
    'recursion without end',
    template('<xsl:call-template name="r"/>') +
      '<xsl:template name="r"><xsl:call-template name="r"/></xsl:template>',
    /recurses too deeply|stylesheet failed|too long/,
  ],
  [
    'recursion that doubles',
    template('<xsl:call-template name="r"><xsl:with-param name="n" select="200"/></xsl:call-template>') +
      TWICE,
    /takes too long/,
  ],
  [
    'a text that doubles',
    template(
      `<xsl:call-template name="r"><xsl:with-param name="s" select="'xxxxxxxx'"/><xsl:with-param name="n" select="200"/></xsl:call-template>`,
    ) + DOUBLING,
    /takes too long|failed|too deeply|larger/,
  ],
  ['output that is cubic', CUBE, /takes too long|larger than the limit|failed/],
  [
    'XPath that is cubic',
    template(`<xsl:value-of select="count(//a[count(//a[count(//a[. = 'y']) = 0]) = 0])"/>`),
    /takes too long/,
  ],
]

for (const version of ['1.0', '3.0']) {
  for (const [name, templates, words] of STYLESHEETS) {
    test(`XSLT ${version}: ${name} is contained, and the next request is served`, async (t) => {
      const env = testEnv()
      t.after(() => env.close())
      const guarded = templates.replace(
        '<xsl:template match="/">',
        '<xsl:template match="/good">fine</xsl:template><xsl:template match="/r">',
      )
      const step = await compiled(
        { stylesheet: { inline: stylesheet(guarded, version) }, timeout: '200ms', maxOutputBytes: '1mb' },
        env,
      )
      assert.match(String(await requestAfter(step, '<good/>')), /fine/)
      const beforeMs = cpuMs()
      const outcome = await requestAfter(step, `<r>${'<a>x</a>'.repeat(2000)}</r>`)
      assert.ok(cpuMs() - beforeMs < MAX_MS * 2)
      assertRefused(outcome, 'GW_TRANSFORM_FAILED', words)
      assert.match(String(await requestAfter(step, '<good/>')), /fine/)
    })
  }
}

test('XSLT 1.0: document() finds neither files nor servers', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  for (const address of ['file:///etc/passwd', '/etc/passwd', 'http://127.0.0.1:1/', '../x.xsl']) {
    const content = `<o><xsl:copy-of select="document('${address}')"/></o>`
    const step = await compiled({ stylesheet: { inline: stylesheet(template(content)) } }, env)
    const outcome = await requestAfter(step, '<a/>')
    if (typeof outcome === 'string') assert.equal(outcome, '<o/>\n')
    else assertRefused(outcome, 'GW_TRANSFORM_FAILED', /failed/)
  }
})

test('XSLT 3.0: no function finds files, servers or the environment', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  process.env['SLUICE_TEST_SECRET'] = 'hunter2'
  t.after(() => delete process.env['SLUICE_TEST_SECRET'])
  for (const call of [
    "doc('file:///etc/passwd')",
    "document('/etc/passwd')",
    "unparsed-text('file:///etc/passwd')",
    "json-doc('http://127.0.0.1:1/')",
    "environment-variable('SLUICE_TEST_SECRET')",
    'available-environment-variables()',
    "function-lookup(xs:QName('fn:unparsed-text'), 1)('file:///etc/passwd')",
    "collection('file:///etc')",
  ]) {
    const text = stylesheet(
      template(`<o><xsl:sequence select="${call}"/></o>`),
      '3.0',
      'xmlns:xs="http://www.w3.org/2001/XMLSchema" exclude-result-prefixes="xs"',
    )
    let outcome: unknown
    try {
      outcome = await requestAfter(await compiled({ stylesheet: { inline: text } }, env), '<a/>')
    } catch (problem) {
      assert.match(String(problem), /cannot be compiled|runs code/, call)
      continue
    }
    if (typeof outcome === 'string') assert.equal(outcome.trim(), '<o/>', call)
    else assert.doesNotMatch(JSON.stringify(outcome), /root:|hunter2/)
  }
})
