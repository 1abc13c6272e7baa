import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Outcome } from '@sluice/core'
import { exchange, schemaMistakes, type TestEnv, testEnv } from '@sluice/policies/testing'
import { xslt } from './policy.js'
import type { XsltConfig } from './schema.js'
import {
  assertRefused,
  compiled,
  requestAfter,
  responseAfter,
  stylesheet,
  template,
} from './testing/stylesheets.js'

function envFor(t: TestContext): TestEnv {
  const env = testEnv()
  t.after(() => env.close())
  return env
}

function inline(templates: string, more: Omit<XsltConfig, 'stylesheet'> = {}): XsltConfig {
  return { stylesheet: { inline: stylesheet(templates) }, ...more }
}

const NAME_OF_A = template('<o><xsl:value-of select="/a/b"/></o>')

test('a request body is replaced, an empty one stays unchanged', async (t) => {
  const step = await compiled(inline(NAME_OF_A), envFor(t))
  assert.equal(await requestAfter(step, '<a><b>é &amp; <![CDATA[<]]></b></a>'), '<o>é &amp; &lt;</o>\n')
  assert.equal(await requestAfter(step, ''), '')
  assert.equal(step.onResponseBody, undefined)
})

test('a body of 32 KB or more is transformed on a thread with the same result', async (t) => {
  const step = await compiled(inline(NAME_OF_A), envFor(t))
  const filling = `<c>${'x'.repeat(40_000)}</c>`
  assert.equal(await requestAfter(step, `<a><b>1</b>${filling}</a>`), '<o>1</o>\n')
})

const IDENTITIES: readonly (readonly [name: string, templates: string])[] = [
  [
    'attributes and nodes in one template',
    '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>',
  ],
  [
    'two templates',
    '<xsl:template match="*"><xsl:copy><xsl:apply-templates select="@* | node()"/></xsl:copy></xsl:template><xsl:template match="@*|text()|comment()|processing-instruction()"><xsl:copy/></xsl:template>',
  ],
  ['a copy of everything', '<xsl:template match="/"><xsl:copy-of select="."/></xsl:template>'],
  [
    'white space and a comment of its own',
    '\n  <!-- identity -->\n  <xsl:template match="node()|@*">\n    <xsl:copy>\n      <xsl:apply-templates select="@*"/>\n      <xsl:apply-templates/>\n    </xsl:copy>\n  </xsl:template>\n',
  ],
]

for (const [name, templates] of IDENTITIES) {
  test(`the identity stylesheet as ${name} copies the body`, async (t) => {
    const step = await compiled(inline(templates), envFor(t))
    const body =
      '<a x="1" y="&quot;"><b xmlns="urn:b" xmlns:p="urn:p" p:q="2">é &amp; <!-- c --><?pi d?></b>\n<c/></a>'
    assert.equal(await requestAfter(step, body), `<?xml version="1.0"?>\n${body}\n`)
  })
}

test('built-in templates omit attributes, and renaming works with the identity template', async (t) => {
  const bare = '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates/></xsl:copy></xsl:template>'
  const output = '<xsl:output omit-xml-declaration="yes"/>'
  const step = await compiled(inline(`${output}${bare}`), envFor(t))
  assert.equal(await requestAfter(step, '<a x="1"><b>1</b></a>'), '<a><b>1</b></a>\n')
  const rename = '<xsl:template match="b"><c><xsl:apply-templates/></c></xsl:template>'
  const renaming = await compiled(inline(`${output}${bare}${rename}`), envFor(t))
  assert.equal(await requestAfter(renaming, '<a><b>1</b></a>'), '<a><c>1</c></a>\n')
})

test('a response body is replaced with phase response, both with both', async (t) => {
  const response = await compiled(inline(NAME_OF_A, { phase: 'response' }), envFor(t))
  assert.equal(await responseAfter(response, '<a><b>1</b></a>'), '<o>1</o>\n')
  assert.equal(response.onRequestBody, undefined)
  const both = await compiled(inline(NAME_OF_A, { phase: 'both' }), envFor(t))
  assert.equal(await responseAfter(both, '<a><b>1</b></a>'), '<o>1</o>\n')
  assert.equal(await requestAfter(both, '<a><b>1</b></a>'), '<o>1</o>\n')
})

test('the content type follows the output method, and headers about the old body are removed', async (t) => {
  const step = await compiled(inline(NAME_OF_A), envFor(t))
  for (const [before, after] of [
    [
      'application/soap+xml; charset="ISO-8859-1"; action="a"',
      'application/soap+xml; charset=utf-8; action="a"',
    ],
    ['text/xml', 'text/xml'],
    ['text/plain', 'application/xml; charset=utf-8'],
  ] as const) {
    const x = exchange({ headers: ['content-type', before, 'etag', '"1"', 'content-digest', 'sha-256=:a:'] })
    assert.equal(await step.onRequestBody!(x, Buffer.from('<a/>')), null)
    assert.deepEqual(x.headers, ['content-type', after])
  }
  const text = inline(`<xsl:output method="text"/><xsl:template match="/">1</xsl:template>`)
  const x = exchange()
  await (await compiled(text, envFor(t))).onRequestBody!(x, Buffer.from('<a/>'))
  assert.deepEqual(x.headers, ['content-type', 'text/plain; charset=utf-8'])
  const fixed = inline(NAME_OF_A, { output: { contentType: 'application/x-o' } })
  await (await compiled(fixed, envFor(t))).onRequestBody!(x, Buffer.from('<a/>'))
  assert.deepEqual(x.headers, ['content-type', 'application/x-o'])
})

const PARAMS = `<xsl:param name="s" select="'default'"/><xsl:param name="n" select="0"/><xsl:param name="b" select="false()"/>`
const SHOW = template("<xsl:value-of select=\"concat($s, '|', $n + 1, '|', not($b))\"/>")

test('parameters are typed values, whatever they contain', async (t) => {
  const step = await compiled(
    inline(`${PARAMS}${SHOW}`, {
      params: {
        s: { type: 'string', value: '{{req.header.x-s}}' },
        n: { type: 'number', value: '{{req.header.x-n}}' },
        b: { type: 'boolean', value: '{{req.header.x-b}}' },
      },
    }),
    envFor(t),
  )
  const show = (...headers: string[]) => requestAfter(step, '<a/>', { headers })
  assert.equal(await show(), 'default|1|true\n')
  assert.equal(await show('x-s', 'plain', 'x-n', '41', 'x-b', 'true'), 'plain|42|false\n')
  for (const hostile of [
    `it's`,
    `a"b`,
    `'"mixed"'`,
    `'"Ā`,
    `'"`.repeat(4000),
    `') or true() or ('`,
    `document('file:///etc/passwd')`,
    '/a',
  ]) {
    const shown = hostile.replaceAll('&', '&amp;')
    assert.equal(await show('x-s', hostile), `${shown}|1|true\n`)
  }
  assertRefused(await show('x-n', '1 or 1'), 'GW_TRANSFORM_INPUT', /'n' is not a number/)
  assertRefused(await show('x-n', '1e9'), 'GW_TRANSFORM_INPUT', /'n' is not a number/)
  assertRefused(await show('x-b', 'yes'), 'GW_TRANSFORM_INPUT', /'b' is not a boolean/)
  assertRefused(await show('x-s', 'a\0b'), 'GW_TRANSFORM_INPUT', /'s' is not a string/)
})

test('fixed parameters are checked when the document is deployed', async (t) => {
  const step = await compiled(
    inline(`${PARAMS}${SHOW}`, { params: { s: { value: 'x' }, b: { type: 'boolean', value: '1' } } }),
    envFor(t),
  )
  assert.equal(await requestAfter(step, '<a/>'), 'x|1|false\n')
  const wrong: NonNullable<XsltConfig['params']>[] = [
    { n: { type: 'number', value: 'many' } },
    { 'a b': { value: '1' } },
    { s: { value: '{{unknown}}' } },
  ]
  for (const params of wrong) {
    await assert.rejects(compiled(inline(SHOW, { params }), envFor(t)), /is not|unknown variable/)
  }
})

test('select uses one element with its namespaces as the document', async (t) => {
  const step = await compiled(
    inline(template('<xsl:copy-of select="/*"/>'), { select: '/s:e/s:b/*', namespaces: { s: 'urn:s' } }),
    envFor(t),
  )
  const body = '<s:e xmlns:s="urn:s" xmlns:x="urn:x"><s:b><x:one/><x:two/></s:b></s:e>'
  const result = await requestAfter(step, body)
  assert.match(String(result), /^<x:one xmlns:(?:s="urn:s" xmlns:x="urn:x"|x="urn:x" xmlns:s="urn:s")\/>\n$/)
  assertRefused(await requestAfter(step, '<a/>'), 'GW_TRANSFORM_INPUT', /no element that matches 'select'/)
  await assert.rejects(
    compiled(inline(NAME_OF_A, { select: '/a[' }), envFor(t)),
    /'select' cannot be compiled/,
  )
})

test('imports, includes and documents come from configured files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'xslt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const rule = '<xsl:template match="a">A<xsl:value-of select="document(\'../codes.xml\')/c"/></xsl:template>'
  const imports = {
    'parts/a.xsl': { file: write('a', stylesheet('<xsl:include href="b.xsl"/>')) },
    'parts/b.xsl': { inline: stylesheet(rule) },
    'codes.xml': { file: write('c', '<c>7</c>') },
  }
  const file = write(
    'main',
    stylesheet(`<xsl:import href="parts/a.xsl"/>${template('<xsl:apply-templates/>')}`),
  )
  const step = await compiled({ stylesheet: { file }, imports }, envFor(t))
  assert.equal(await requestAfter(step, '<a/>'), 'A7\n')
  const { 'parts/b.xsl': _, ...fewer } = imports
  await assert.rejects(
    compiled({ stylesheet: { file }, imports: fewer }, envFor(t)),
    /the import 'parts\/a.xsl' imports 'b.xsl', which is not in 'imports'/,
  )
})

test('an invalid stylesheet is refused when the document is deployed', async (t) => {
  const cases: readonly (readonly [XsltConfig, RegExp])[] = [
    [{ stylesheet: {} }, /fewer than 1 properties/],
    [{ stylesheet: { inline: 'a', file: 'b' } }, /more than 1 properties/],
    [{ stylesheet: { file: '/nowhere/a.xsl' } }, /ENOENT/],
    [{ stylesheet: { inline: '<a>' } }, /not well-formed/],
    [{ stylesheet: { inline: '<a/>' } }, /no xsl:version/],
    [inline('<xsl:template match="["/>'), /cannot be compiled/],
    [inline('<xsl:template match="/"><xsl:bogus/></xsl:template>'), /cannot be compiled/],
    [inline('<xsl:output encoding="ISO-8859-1"/>'), /asks for the encoding 'ISO-8859-1'/],
    [inline('<xsl:import href="http://127.0.0.1/a.xsl"/>'), /is not in 'imports'/],
    [
      inline(template('<e:document xmlns:e="http://exslt.org/common" href="/tmp/a"/>')),
      /element 'document', which writes files/,
    ],
    [inline(template('<xsl:document href="/tmp/a"/>')), /element 'document', which writes files/],
    [inline(NAME_OF_A, { timeout: '1m' }), /'timeout' must be between/],
    [inline(NAME_OF_A, { select: '/s:e' }), /uses the prefix 's'; declare it under 'namespaces'/],
    [inline(NAME_OF_A, { select: '/a[$b]' }), /uses a variable/],
    [inline(NAME_OF_A, { select: '/a[document(.)]' }), /calls 'document\(\)'/],
    [inline(NAME_OF_A, { select: "concat('a', 'b')" }), /'select' cannot be compiled|computes a value/],
    [inline(NAME_OF_A, { maxBodyBytes: '1gb' }), /'maxBodyBytes' must be between/],
  ]
  for (const [config, words] of cases) {
    await assert.rejects(compiled(config, envFor(t)), words, JSON.stringify(config))
  }
})

test('engine messages are reported to the operator, not to the client', async (t) => {
  for (const [version, failing, words] of [
    ['1.0', "format-number(1, '0', 'nope')", /undeclared decimal format/],
    ['1.0', 'substring(1)', /Invalid number of arguments/],
    ['3.0', "format-number(1, '0', 'nope')", /FODF1280: Unknown decimal format/],
    ['3.0', '1 + xs:integer(/a)', /FORG0001/],
  ] as const) {
    const env = envFor(t)
    const names = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    const text = stylesheet(template(`<xsl:value-of select="${failing}"/>`), version, names)
    const step = await compiled({ stylesheet: { inline: text } }, env)
    for (const body of ['<a>x</a>', `<a>${'x'.repeat(40_000)}</a>`]) {
      assertRefused(await requestAfter(step, body), 'GW_TRANSFORM_FAILED', /^the stylesheet failed$/)
    }
    assert.equal(env.reports.length, 2)
    for (const { event, fields } of env.reports) {
      const { reason, route } = fields as { readonly reason: string; readonly route: string }
      assert.deepEqual([event, route], ['xslt_failed', 'test'])
      assert.match(reason, words)
      assert.ok(reason.length <= 500 && !reason.includes('\n'))
    }
  }
})

test('a terminating message refuses the body, other messages have no effect', async (t) => {
  const step = await compiled(
    inline(
      template(
        '<o><xsl:message>seen</xsl:message><xsl:if test="/bad"><xsl:message terminate="yes">no</xsl:message></xsl:if></o>',
      ),
      { phase: 'both' },
    ),
    envFor(t),
  )
  assert.equal(await requestAfter(step, '<good/>'), '<o/>\n')
  assertRefused(await requestAfter(step, '<bad/>'), 'GW_TRANSFORM_INPUT', /does not accept/)
  assertRefused(await responseAfter(step, '<bad/>'), 'GW_RESPONSE_INVALID', /does not accept/)
  assert.equal(await requestAfter(step, '<good/>'), '<o/>\n')
})

test('bodies with a content coding or above the limit are refused', async (t) => {
  const step = await compiled(inline(NAME_OF_A, { phase: 'both', maxBodyBytes: '1kb' }), envFor(t))
  const coded = { headers: ['content-encoding', 'gzip'], responseHeaders: ['content-encoding', 'gzip'] }
  assertRefused(await requestAfter(step, '<a/>', coded), 'GW_MEDIA_TYPE', /content coding/)
  assertRefused(await responseAfter(step, '<a/>', coded), 'GW_RESPONSE_INVALID', /content coding/)
  const large = `<a>${'x'.repeat(1024)}</a>`
  assertRefused(await requestAfter(step, large), 'GW_BODY_TOO_LARGE', /1024 bytes/)
  assertRefused(await responseAfter(step, large), 'GW_RESPONSE_INVALID', /1024 bytes/)
  const announced = exchange({ contentLength: 2000 })
  assert.equal((await step.onRequest!(announced))?.status, 413)
  const chunked = exchange({ contentLength: -1, status: 200 })
  assert.equal(await step.onRequest!(chunked), null)
  assert.equal(await step.onResponse!(chunked), null)
  assert.deepEqual([chunked.bodyLimit, chunked.responseBodyLimit], [1024, 1024])
})

test('an error is transformed if it is XML, a partial response never', async (t) => {
  const step = await compiled(inline(template('<b/>'), { phase: 'response' }), envFor(t))
  const after = (status: number, type: string): Promise<string | Outcome> =>
    responseAfter(step, '<a/>', { status, responseHeaders: ['content-type', type] })
  for (const type of ['text/xml', 'application/soap+xml; charset=utf-8', 'Application/XML']) {
    assert.equal((await after(500, type))?.toString().trim(), '<b/>', type)
  }
  for (const type of ['text/html', 'application/problem+json', 'text/xml-external-parsed-entity', '']) {
    assert.equal(await after(500, type), '<a/>', type)
    assert.equal(await after(302, type), '<a/>', type)
  }
  assert.equal((await after(201, 'text/html'))?.toString().trim(), '<b/>')
  assert.equal(await after(206, 'text/xml'), '<a/>')
  const part = exchange({ status: 206, responseLength: 5000, responseHeaders: ['content-encoding', 'gzip'] })
  const { responseBodyLimit } = part
  assert.equal(await step.onResponse!(part), null)
  assert.equal(part.responseBodyLimit, responseBodyLimit)
})

test('the schema accepts documented options and refuses others', () => {
  const config = { stylesheet: { inline: 'x' } }
  assert.deepEqual(schemaMistakes(xslt, config), [])
  assert.deepEqual(config, {
    stylesheet: { inline: 'x' },
    phase: 'request',
    timeout: '250ms',
    maxBodyBytes: '1mb',
    maxOutputBytes: '10mb',
  })
  for (const wrong of [
    {},
    { stylesheet: 'x' },
    { ...config, phase: 'error' },
    { ...config, version: '4.0' },
    { ...config, params: { a: 'b' } },
    { ...config, timeout: '1 s' },
    { ...config, secure: false },
  ]) {
    assert.notDeepEqual(schemaMistakes(xslt, wrong), [], JSON.stringify(wrong))
  }
})
