import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testEnv } from '@sluice/policies/testing'
import { compileSef } from '../../engines/xslt/saxon/compile-sef.js'
import { assertRefused, compiled, requestAfter, stylesheet, template } from './testing/stylesheets.js'

test('XSLT 3.0 groups, maps and writes JSON, with typed parameters and imports', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const folder = mkdtempSync(join(tmpdir(), 'xslt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const part = join(folder, 'part.xsl')
  writeFileSync(
    part,
    stylesheet('<xsl:template match="o" mode="sum">{sum(*)}</xsl:template>', '3.0', 'expand-text="yes"'),
  )
  const text = stylesheet(
    `<xsl:import href="part.xsl"/><xsl:output method="json"/>
     <xsl:param name="who" as="xs:string"/><xsl:param name="least" as="xs:double"/>
     <xsl:template match="/"><xsl:map>
       <xsl:map-entry key="'who'" select="$who"/>
       <xsl:for-each-group select="//n[number() ge $least]" group-by="@k">
         <xsl:map-entry key="string(current-grouping-key())" select="sum(current-group())"/>
       </xsl:for-each-group>
       <xsl:map-entry key="'sum'"><xsl:apply-templates select="o" mode="sum"/></xsl:map-entry>
     </xsl:map></xsl:template>`,
    '3.0',
    'xmlns:xs="http://www.w3.org/2001/XMLSchema"',
  )
  const step = await compiled(
    {
      stylesheet: { inline: text },
      imports: { 'part.xsl': { file: part } },
      params: {
        who: { type: 'string', value: `{{req.header.x-who}}` },
        least: { type: 'number', value: '2' },
      },
    },
    env,
  )
  const body = '<o><n k="a">1</n><n k="a">2</n><n k="b">3</n><n k="a">4</n></o>'
  const result = await requestAfter(step, body, { headers: ['x-who', `it's "me"`] })
  assert.equal(typeof result, 'string', JSON.stringify(result))
  assert.deepEqual(JSON.parse(String(result)), { who: `it's "me"`, a: 6, b: 3, sum: '10' })
})

test('xsl:document creates a node, and elements that write files stay refused', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  for (const version of ['2.0', '3.0']) {
    const whole =
      '<xsl:variable name="d"><xsl:document><b><xsl:value-of select="/a"/></b></xsl:document></xsl:variable>' +
      '<o><xsl:copy-of select="$d/b"/></o>'
    const step = await compiled({ stylesheet: { inline: stylesheet(template(whole), version) } }, env)
    assert.equal(String(await requestAfter(step, '<a>x</a>')).trim(), '<o><b>x</b></o>', version)
    const writing = template('<xsl:result-document href="/tmp/a"><a/></xsl:result-document>')
    await assert.rejects(
      compiled({ stylesheet: { inline: stylesheet(writing, version) } }, env),
      /element 'result-document', which writes files/,
    )
  }
})

test('compiling a stylesheet has a CPU time limit', async () => {
  const text = stylesheet(
    '<xsl:variable name="n" static="yes" select="count((1 to 1000000)[some $i in 1 to . satisfies $i = 0])"/>' +
      template('<o/>'),
    '3.0',
  )
  const main = { url: 'gateway:/stylesheet.xsl', base64: Buffer.from(text).toString('base64'), isXml: true }
  const source = { main, imports: [], selection: null, version: '3.0', method: '' } as const
  await assert.rejects(
    compileSef(source, 1000),
    /the stylesheet cannot be compiled: compiling it takes too long/,
  )
})

test('the configured version overrides that of the stylesheet', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const text = stylesheet(template('<o><xsl:value-of select="string-join(//b, \'-\')"/></o>'), '1.0')
  await assert.rejects(compiled({ stylesheet: { inline: text } }, env), /no function 'string-join\(\)'/)
  const step = await compiled({ stylesheet: { inline: text }, version: '3.0' }, env)
  assert.equal(String(await requestAfter(step, '<a><b>1</b><b>2</b></a>')).trim(), '<o>1-2</o>')
})

test('compile errors fail the deployment, run-time errors fail the request', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  await assert.rejects(
    compiled(
      { stylesheet: { inline: stylesheet(template('<xsl:value-of select="no-such()"/>'), '3.0') } },
      env,
    ),
    /the stylesheet cannot be compiled: .*no-such/,
  )
  const ending = stylesheet(template('<xsl:message terminate="yes">no</xsl:message>'), '3.0')
  const step = await compiled({ stylesheet: { inline: ending } }, env)
  assertRefused(await requestAfter(step, '<a/>'), 'GW_TRANSFORM_INPUT', /does not accept/)
  const failing = stylesheet(
    template('<xsl:value-of select="1 div xs:integer(/a)"/>'),
    '3.0',
    'xmlns:xs="http://www.w3.org/2001/XMLSchema"',
  )
  const fails = await compiled({ stylesheet: { inline: failing } }, env)
  assertRefused(await requestAfter(fails, '<a>x</a>'), 'GW_TRANSFORM_FAILED', /stylesheet failed/)
})

test('bodies in other encodings reach SaxonJS as text', async (t) => {
  const env = testEnv()
  t.after(() => env.close())
  const step = await compiled(
    { stylesheet: { inline: stylesheet(template('<o><xsl:value-of select="/a"/></o>'), '3.0') } },
    env,
  )
  const latin1 = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1')
  assert.equal(String(await requestAfter(step, latin1)).trim(), '<o>é</o>')
  assert.equal(String(await requestAfter(step, Buffer.from('\ufeff<a>é</a>', 'utf16le'))).trim(), '<o>é</o>')
})
