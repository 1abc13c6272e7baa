import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

function stylesheet(templates: string, version = '1.0'): { readonly inline: string } {
  return {
    inline: `<xsl:stylesheet version="${version}" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output omit-xml-declaration="yes"/>${templates}</xsl:stylesheet>`,
  }
}

/** Renames one element and copies the rest, in the form that the engine optimizes. */
function renaming(from: string, to: string): { readonly inline: string } {
  const all = '<xsl:apply-templates select="@*|node()"/>'
  return stylesheet(
    `<xsl:template match="@*|node()"><xsl:copy>${all}</xsl:copy></xsl:template>` +
      `<xsl:template match="${from}"><xsl:element name="${to}">${all}</xsl:element></xsl:template>`,
  )
}

interface Use {
  readonly use: string
  readonly with: object
}

/** Starts a gateway in front of an origin that echoes requests, or responds as the test says. */
async function serve(
  t: TestContext,
  uses: readonly Use[],
  reply?: { body: string; type: string; status?: number },
) {
  const seen: { body: string; type: string | undefined; length: string | undefined }[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push({ body, type: req.headers['content-type'], length: req.headers['content-length'] })
    res
      .writeHead(reply?.status ?? 200, { 'content-type': reply?.type ?? 'text/xml', etag: '"1"' })
      .end(reply?.body ?? body)
  })
  const policies = uses.map((use, i) => ({
    id: `${use.use}-${i}`,
    ...use,
    when: null,
    onError: 'fail' as const,
  }))
  const overrides = { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] }
  const gateway = await startGateway(t, overrides, { catalog })
  const post = (body: string, type = 'text/xml') =>
    fetch(gateway.url, { method: 'POST', body, headers: { 'content-type': type } })
  return { seen, post }
}

const THERE = { use: 'xslt', with: { stylesheet: renaming('order', 'redro') } }
const BACK = { use: 'xslt', with: { phase: 'response', stylesheet: renaming('redro', 'order') } }

test('a stylesheet renames on the way there, another one on the way back', async (t) => {
  const { seen, post } = await serve(t, [THERE, BACK])
  const body = '<a><order id="1">é</order></a>'
  const answer = await post(body)
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), `${body}\n`)
  assert.equal(answer.headers.get('etag'), null)
  const upstream = '<a><redro id="1">é</redro></a>\n'
  assert.deepEqual(seen, [{ body: upstream, type: 'text/xml', length: String(Buffer.byteLength(upstream)) }])
})

test('large bodies are transformed on threads, with libxslt and with SaxonJS', async (t) => {
  const sum = (version: string) => ({
    use: 'xslt',
    with: {
      stylesheet: stylesheet(
        '<xsl:template match="/"><n><xsl:value-of select="sum(//b)"/></n></xsl:template>',
        version,
      ),
      timeout: '10s',
    },
  })
  const large = `<a>${'<b>1</b>'.repeat(10_000)}</a>`
  for (const version of ['1.0', '3.0']) {
    const { seen, post } = await serve(t, [sum(version)])
    assert.equal((await post(large)).status, 200)
    assert.match(seen[0]!.body, /<n>10000<\/n>\s*$/)
  }
})

test('what cannot be transformed never reaches the upstream, and says why', async (t) => {
  const slow = stylesheet(
    `<xsl:template match="/slow"><xsl:value-of select="count(//a[count(//a[count(//a[. = 'y']) = 0]) = 0])"/></xsl:template>`,
  )
  const { seen, post } = await serve(t, [{ use: 'xslt', with: { stylesheet: slow, timeout: '100ms' } }])
  const malformed = await post('<a><b></a>')
  assert.equal(malformed.status, 400)
  assert.equal(malformed.headers.get('x-gw-error'), 'GW_TRANSFORM_INPUT')
  assert.match(await malformed.text(), /do not match \(line 1, column/)
  const timed = await post(`<slow>${'<a>x</a>'.repeat(2000)}</slow>`)
  assert.equal(timed.status, 500)
  assert.equal(timed.headers.get('x-gw-error'), 'GW_TRANSFORM_FAILED')
  assert.match(await timed.text(), /takes too long/)
  assert.equal((await post('<a>fine</a>')).status, 200)
  assert.equal(seen.length, 1)
})

test('an answer that is not XML is refused, not passed on', async (t) => {
  const { post } = await serve(t, [BACK], { body: '{"a":1}', type: 'application/json' })
  const answer = await post('<a/>')
  assert.equal(answer.status, 502)
  assert.equal(answer.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
})

test('a fault of an XML service becomes JSON, an error page and a part of a document stay as they are', async (t) => {
  const uses = [{ use: 'xml-json', with: { direction: 'to-json', phase: 'response' } }]
  for (const [status, type, body, expected] of [
    [500, 'text/xml', '<fault>late</fault>', '{"fault":"late"}'],
    [502, 'text/html', '<p>Bad Gateway<br>', '<p>Bad Gateway<br>'],
    [206, 'text/xml', '<order><it', '<order><it'],
  ] as const) {
    const { post } = await serve(t, uses, { status, type, body })
    const answer = await post('<a/>')
    assert.deepEqual([answer.status, await answer.text()], [status, expected])
  }
})

test('a JSON client talks to an XML service', async (t) => {
  const { seen, post } = await serve(
    t,
    [
      { use: 'xml-json', with: { direction: 'to-xml', root: 'order' } },
      { use: 'xml-json', with: { direction: 'to-json', phase: 'response', unwrap: true, numbers: 'number' } },
    ],
    { body: '<orders><order id="7"><price>1.5</price></order></orders>', type: 'text/xml' },
  )
  const answer = await post('{"@id":7,"symbol":["IBM","A&B"]}', 'application/json')
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.deepEqual(await answer.json(), { order: { '@id': 7, price: 1.5 } })
  assert.equal(seen[0]!.body, '<order id="7"><symbol>IBM</symbol><symbol>A&amp;B</symbol></order>')
  assert.equal(seen[0]!.type, 'application/xml; charset=utf-8')
  const refused = await post('{"a":1,"a":2}', 'application/json')
  assert.equal(refused.headers.get('x-gw-error'), 'GW_TRANSFORM_INPUT')
})
