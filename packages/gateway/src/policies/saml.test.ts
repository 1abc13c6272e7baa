import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import {
  type AssertionParts,
  AUDIENCE,
  assertionXml,
  ENTITY,
  goodAssertion,
  idp,
  responseXml,
  type SigningOptions,
  stranger,
} from '@sluice/policies-xml/testing/saml-issuer'
import { policyMistakes } from '../explain/policy-mistakes.js'
import { startGateway } from '../testing/gateway.js'
import { captureOf } from '../testing/traffic-records.js'
import { ask, errorOf } from './testing/browser.js'
import { recipientOf, startSamlSite } from './testing/saml-site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'
const EVERYTHING = { headers: true, body: true }

interface Got {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function base64(xml: string): string {
  return Buffer.from(xml).toString('base64')
}

test('an assertion in a header, a form, a body or a SOAP message says who it is, and is in no log', async (t) => {
  const capture = captureOf({ requestIn: EVERYTHING, requestUp: EVERYTHING, maxBodyBytes: 65_536 })
  const gateway = await startSamlSite(t, { capture })
  const { url } = gateway
  const good = () => goodAssertion({ recipient: recipientOf(url) })
  const spoofed = { 'x-email': 'boss@example.com', X_Email: 'boss' }
  const soap = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header><w:Security xmlns:w="${WSSE}">${good()}</w:Security></s:Header><s:Body/></s:Envelope>`
  const form = `a=b&SAMLResponse=${encodeURIComponent(base64(responseXml(good())))}`
  for (const [path, headers, body] of [
    ['/header', { 'x-saml-assertion': base64(good()) }, undefined],
    ['/form', FORM, form],
    ['/body', { 'content-type': 'text/xml' }, responseXml(good())],
    ['/soap-header', { 'content-type': 'text/xml' }, soap],
  ] as const) {
    const method = body === undefined ? 'GET' : 'POST'
    const response = await ask(`${url}${path}`, {
      method,
      headers: { ...spoofed, ...headers },
      ...(body !== undefined && { body }),
    })
    assert.equal(response.status, 200, path)
    const got = (await response.json()) as Got
    assert.deepEqual([got.headers['x-who'], got.headers['x-email']], ['ann', 'ann@example.com'], path)
    assert.deepEqual([got.headers['x_email'], got.headers['x-saml-assertion']], [undefined, undefined])
    assert.equal(got.body, body ?? '', path)
  }
  const [header, posted] = await gateway.records()
  const text = JSON.stringify([header, posted])
  assert.match(text, /"ann"/)
  for (const part of [base64(good()).slice(0, 60), base64(responseXml('')).slice(0, 60)])
    assert.ok(!text.includes(part), 'an assertion is a secret')
})

test('the caller learns briefly why an assertion is refused, the log in detail', async (t) => {
  const gateway = await startSamlSite(t)
  const { url } = gateway
  const recipient = recipientOf(url)
  const cases: readonly (readonly [AssertionParts, SigningOptions, string, RegExp | null])[] = [
    [{ notOnOrAfter: -61 }, {}, 'GW_TOKEN_EXPIRED', /has expired/],
    [{ confirmedUntil: -61 }, {}, 'GW_TOKEN_EXPIRED', /has expired/],
    [{ notBefore: 90 }, {}, 'GW_TOKEN_NOT_YET_VALID', /not valid yet/],
    [{ audience: 'urn:other' }, {}, 'GW_TOKEN_AUDIENCE', /another audience/],
    [{ audience: null }, {}, 'GW_TOKEN_AUDIENCE', /names no audience/],
    [{ recipient: 'https://evil.example.com' }, {}, 'GW_TOKEN_AUDIENCE', /another recipient/],
    [{ inResponseTo: '_1' }, {}, 'GW_TOKEN_AUDIENCE', /answers a request/],
    [{ issuer: 'https://evil.example.com' }, {}, 'GW_TOKEN_ISSUER', /issuer/],
    [{}, { keyPem: stranger.keyPem }, 'GW_TOKEN_SIGNATURE', /not signed by a key of the issuer/],
    [{}, { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }, 'GW_TOKEN_SIGNATURE', /digest/],
    [{ nameId: 'a<!---->b' }, {}, 'GW_TOKEN_MALFORMED', /NameID is not plain text/],
  ]
  const send = async (path: string, value: string) =>
    errorOf(await ask(`${url}${path}`, { headers: { 'x-saml-assertion': value } }))
  for (const [parts, options, code] of cases)
    assert.deepEqual(await send('/header', base64(goodAssertion({ recipient, ...parts }, options))), [
      401,
      code,
    ])
  const unsigned = base64(assertionXml({ recipient }))
  assert.deepEqual(await send('/header', unsigned), [401, 'GW_TOKEN_SIGNATURE'])
  const once = base64(goodAssertion({ recipient }))
  assert.deepEqual(await send('/once', once), [200, null])
  assert.deepEqual(await send('/once', once), [401, 'GW_TOKEN_REPLAYED'])
  assert.deepEqual(errorOf(await ask(`${url}/header`)), [401, 'GW_AUTH_MISSING'])
  const records = await gateway.records()
  cases.forEach(([, , code, reason], i) => {
    assert.equal(records[i]!.error?.['code'], code)
    assert.match(records[i]!.error?.['reason'] ?? '', reason!)
  })
  assert.match(records[cases.length]!.error?.['reason'] ?? '', /not signed/)
  assert.match(records[cases.length + 2]!.error?.['reason'] ?? '', /used before/)
  const refused = records.filter(({ error }) => error !== undefined)
  assert.equal(refused.length, cases.length + 3)
  assert.ok(!JSON.stringify(refused).includes('ann@example.com'), 'the log quotes none of it')
})

for (const engine of ['uws', 'node'] as const)
  test(`${engine}: malicious input is refused, whatever its shape`, async (t) => {
    const { url } = await startSamlSite(t, { engine })
    const good = goodAssertion({ recipient: recipientOf(url) })
    const form = `SAMLResponse=${encodeURIComponent(base64(responseXml(good)))}`
    const xml = { 'content-type': 'text/xml' }
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'A'))
    for (const [what, path, headers, body, expected] of [
      ['a long header', '/header', { 'x-saml-assertion': 'A'.repeat(20_000) }, null, 431],
      ['junk', '/header', { 'x-saml-assertion': `${base64(good)}!` }, null, 'GW_TOKEN_MALFORMED'],
      ['base64url', '/header', { 'x-saml-assertion': '-_-_' }, null, 'GW_TOKEN_MALFORMED'],
      ['an empty header', '/header', { 'x-saml-assertion': '' }, null, 'GW_AUTH_MISSING'],
      ['a form elsewhere', '/header', FORM, form, 'GW_AUTH_MISSING'],
      ['a query', `/form?${form}`, FORM, 'a=b', 'GW_AUTH_MISSING'],
      ['a field twice', '/form', FORM, `${form}&${form}`, 'GW_AUTH_MISSING'],
      ['a long form', '/form', FORM, `${form}&a=${'a'.repeat(600_000)}`, 413],
      ['lines without end', '/form', FORM, `SAMLResponse=${'\n'.repeat(500_000)}!`, 'GW_AUTH_MISSING'],
      ['another type', '/form', { 'content-type': 'multipart/form-data' }, form, 'GW_AUTH_MISSING'],
      ['a bomb', '/form', { ...FORM, 'content-encoding': 'gzip' }, bomb, 'GW_AUTH_MISSING'],
      ['a bomb of XML', '/body', { ...xml, 'content-encoding': 'gzip' }, bomb, 'GW_TOKEN_MALFORMED'],
      ['a long document', '/body', xml, good + ' '.repeat(300_000), 413],
      ['an instruction', '/body', xml, good.replace('<saml:Subject>', '<?x?>$&'), 'GW_TOKEN_MALFORMED'],
      [
        'relative names',
        '/body',
        xml,
        good.replace('<saml:Assertion', '$& xmlns:z="z"'),
        'GW_TOKEN_MALFORMED',
      ],
      ['a DOCTYPE', '/body', xml, `<!DOCTYPE x SYSTEM "file:///etc/passwd">${good}`, 'GW_TOKEN_MALFORMED'],
      ['no body', '/body', xml, '', 'GW_AUTH_MISSING'],
    ] as const) {
      const asked = { headers, ...(body !== null && { method: 'POST', body }) }
      const [status, code] = errorOf(await ask(`${url}${path}`, asked))
      if (typeof expected === 'number') assert.equal(status, expected, what)
      else assert.deepEqual([status, code], [401, expected], what)
    }
    const response = await ask(`${url}/form`, { method: 'POST', headers: FORM, body: form })
    assert.equal(response.status, 200, 'the honest one passes after all of them')
  })

test('metadata that have ended are a mistake of the document, and close their routes alone where a worker starts', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-saml-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'idp.xml')
  const certificate = idp.certificatePem.replaceAll(/-----[^-]+-----/g, '')
  const key = `<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>`
  writeFileSync(
    file,
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${ENTITY}" validUntil="2020-01-01T00:00:00Z"><IDPSSODescriptor><KeyDescriptor>${key}</KeyDescriptor></IDPSSODescriptor></EntityDescriptor>`,
  )
  const saml = {
    use: 'saml',
    with: { idp: { metadata: { file } }, audience: AUDIENCE, from: 'header' },
  }
  const text = `version: 1
routes:
  - { id: a, match: { path: /a }, respond: { status: 200 }, policies: [${JSON.stringify(saml)}] }
  - { id: b, match: { path: /b }, respond: { status: 200 } }
`
  const bundle = loadOrThrow(text, catalog)
  const [found] = await policyMistakes(bundle, catalog)
  assert.match(found?.message ?? '', /was valid until 2020-01-01T00:00:00.000Z: get a new file/)
  const gateway = await startGateway(t, { routes: bundle.plan.routes }, { catalog })
  const headers = { 'x-saml-assertion': base64(goodAssertion()) }
  const statusOf = async (path: string) => (await fetch(gateway.url + path, { headers })).status
  assert.deepEqual([await statusOf('/a'), await statusOf('/b')], [401, 200])
  assert.ok(gateway.events.some(({ event }) => event === 'saml_metadata_expired'))
})
