import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import type { Exchange, Outcome, Step } from '@sluice/core'
import { exchange, makeCertificate, testEnv } from '@sluice/policies/testing'
import { soapMessage } from '../../content/ws-security/testing/soap.js'
import { saml } from './policy.js'
import type { SamlConfig } from './schema.js'
import {
  ACS,
  type AssertionParts,
  AUDIENCE,
  assertionXml,
  ENTITY,
  goodAssertion,
  idp,
  responseXml,
  signedXml,
  stranger,
} from './testing/issuer.js'

const CONFIG: SamlConfig = {
  idp: { entityId: ENTITY, certificates: [idp.certificatePem] },
  audience: AUDIENCE,
  recipient: ACS,
}

async function stepOf(config: Partial<SamlConfig> = {}, env = testEnv()): Promise<Step> {
  return (await saml.compile({ ...CONFIG, ...config }, env)) as Step
}

function inHeader(xml: string): Exchange {
  return exchange({
    headers: ['x-saml-assertion', Buffer.from(xml).toString('base64')],
    startedAt: Date.now(),
  })
}

async function admit(step: Step, x: Exchange, body: Uint8Array = new Uint8Array(0)): Promise<Outcome> {
  return (await step.onRequest!(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
}

let body: Step
before(async () => {
  body = await stepOf({ from: 'body' })
})

/** Returns the refusal code of a document, or the consumer id. */
async function verdict(xml: string | Buffer, step = body): Promise<string> {
  const bytes = Buffer.from(xml)
  const x = exchange({ contentLength: bytes.length, startedAt: Date.now() })
  const outcome = await admit(step, x, bytes)
  assert.equal(outcome === null, x.consumer !== null)
  return outcome?.problem?.code ?? x.consumer!.id
}

test('an assertion in a header identifies the consumer, with its attributes', async () => {
  const step = await stepOf({ groupsClaim: 'groups', forwardClaims: { email: 'x-email', nameId: 'x-user' } })
  const xml = goodAssertion()
  for (let i = 0; i < 2; i++) {
    const x = inHeader(xml)
    x.headers.push('x-email', 'boss@example.com', 'x_user', 'boss')
    assert.equal(await admit(step, x), null)
    const { id, auth, groups, claims } = x.consumer!
    assert.deepEqual([id, auth, groups], ['ann', 'saml', ['staff', 'readers']])
    assert.deepEqual(Object.fromEntries(claims!), {
      ...{ email: 'ann@example.com', groups: 'staff readers', nameId: 'ann' },
    })
    assert.deepEqual(x.headers, ['x-email', 'ann@example.com', 'x-user', 'ann'])
  }
})

test('the assertion is read from a response, a SOAP message or a form', async () => {
  const soap = await stepOf({ from: 'soap-header' })
  const security = (content: string) =>
    `<wsse:Security xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">${content}</wsse:Security>`
  assert.equal(await verdict(responseXml(goodAssertion())), 'ann')
  assert.equal(await verdict(signedXml(responseXml(assertionXml()), { element: 'Response' })), 'ann')
  assert.equal(await verdict(soapMessage({ header: security(goodAssertion()) }), soap), 'ann')
  assert.equal(await verdict(soapMessage({ header: security('') }), soap), 'GW_AUTH_MISSING')
  assert.equal(await verdict(soapMessage({ content: goodAssertion() }), soap), 'GW_AUTH_MISSING')
  const twice = security(goodAssertion() + goodAssertion())
  assert.equal(await verdict(soapMessage({ header: twice }), soap), 'GW_TOKEN_MALFORMED')
  const form = await stepOf({ from: 'form' })
  const post = async (fields: string, type = 'application/x-www-form-urlencoded') => {
    const x = exchange({
      headers: ['content-type', type],
      contentLength: fields.length,
      startedAt: Date.now(),
    })
    const outcome = await admit(form, x, Buffer.from(fields))
    return outcome?.problem?.code ?? x.consumer!.id
  }
  const field = `SAMLResponse=${encodeURIComponent(Buffer.from(responseXml(goodAssertion())).toString('base64'))}`
  assert.equal(await post(`RelayState=x&${field}`), 'ann')
  assert.equal(await post(field), 'GW_TOKEN_REPLAYED')
  for (const fields of ['', 'a=b', 'SAMLResponse=', 'SAMLResponse=%3Cx%3E', `${field}&${field}`])
    assert.equal(await post(fields), 'GW_AUTH_MISSING', fields.slice(0, 20))
  assert.equal(await post(field, 'text/plain'), 'GW_AUTH_MISSING')
})

test('times, audience, issuer, recipient and confirmation must be valid', async () => {
  const cases: readonly (readonly [AssertionParts, string])[] = [
    [{}, 'ann'],
    [{ notOnOrAfter: -59, confirmedUntil: -59 }, 'ann'],
    [{ notOnOrAfter: -61 }, 'GW_TOKEN_EXPIRED'],
    [{ confirmedUntil: -61 }, 'GW_TOKEN_EXPIRED'],
    [{ notOnOrAfter: -600 }, 'GW_TOKEN_EXPIRED'],
    [{ notBefore: 55 }, 'ann'],
    [{ notBefore: 65 }, 'GW_TOKEN_NOT_YET_VALID'],
    [{ issued: 600 }, 'GW_TOKEN_NOT_YET_VALID'],
    [{ notOnOrAfter: null }, 'GW_TOKEN_MALFORMED'],
    [{ confirmedUntil: null }, 'GW_TOKEN_MALFORMED'],
    [{ issuer: 'https://evil.example.com' }, 'GW_TOKEN_ISSUER'],
    [{ issuer: ` ${ENTITY}` }, 'GW_TOKEN_ISSUER'],
    [{ audience: 'urn:other' }, 'GW_TOKEN_AUDIENCE'],
    [{ audience: null }, 'GW_TOKEN_AUDIENCE'],
    [{ recipient: 'https://other.example.com/acs' }, 'GW_TOKEN_AUDIENCE'],
    [{ recipient: null }, 'GW_TOKEN_AUDIENCE'],
    [{ inResponseTo: '_somebody' }, 'GW_TOKEN_AUDIENCE'],
    [{ method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }, 'GW_TOKEN_AUDIENCE'],
    [{ conditions: '<saml:OneTimeUse/>' }, 'ann'],
    [{ conditions: '<saml:ProxyRestriction Count="0"/>' }, 'ann'],
    [
      { conditions: '<saml:AudienceRestriction><saml:Audience>x</saml:Audience></saml:AudienceRestriction>' },
      'GW_TOKEN_AUDIENCE',
    ],
    [{ conditions: '<saml:Condition xmlns:x="urn:x"/>' }, 'GW_TOKEN_MALFORMED'],
    [{ nameId: '' }, 'GW_TOKEN_MALFORMED'],
    [{ nameId: 'x'.repeat(257) }, 'GW_TOKEN_MALFORMED'],
    [{ id: 'x'.repeat(257) }, 'GW_TOKEN_MALFORMED'],
  ]
  for (const [parts, expected] of cases)
    assert.equal(await verdict(goodAssertion(parts)), expected, JSON.stringify(parts))
  const open = await stepOf({ from: 'body', recipient: undefined as never })
  assert.equal(await verdict(goodAssertion({ recipient: 'https://other.example.com' }), open), 'ann')
})

test('the attributes of a response must be valid, signed or not', async () => {
  const issuer = (text: string) =>
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${text}</saml:Issuer>`
  const cases: readonly (readonly [string, string, string])[] = [
    ['', '', 'ann'],
    ['', issuer(ENTITY), 'ann'],
    [` Destination="${ACS}"`, issuer(ENTITY), 'ann'],
    [' Destination="https://other.example.com/acs"', '', 'GW_TOKEN_AUDIENCE'],
    [' Destination=""', '', 'GW_TOKEN_AUDIENCE'],
    ['', issuer('https://evil.example.com'), 'GW_TOKEN_ISSUER'],
    ['', issuer(ENTITY) + issuer(ENTITY), 'GW_TOKEN_ISSUER'],
    ['', issuer('<!---->'), 'GW_TOKEN_MALFORMED'],
    [' InResponseTo="_somebody"', '', 'GW_TOKEN_AUDIENCE'],
  ]
  for (const [attributes, content, expected] of cases) {
    const unsigned = responseXml(content + goodAssertion(), 'Success', attributes)
    const signed = signedXml(responseXml(content + assertionXml(), 'Success', attributes), {
      element: 'Response',
    })
    for (const xml of [unsigned, signed]) assert.equal(await verdict(xml), expected, attributes + content)
  }
  const old = responseXml(goodAssertion()).replace('Version="2.0"', 'Version="1.1"')
  assert.equal(await verdict(old), 'GW_TOKEN_MALFORMED')
  const open = await stepOf({ from: 'body', recipient: undefined as never })
  assert.equal(await verdict(responseXml(goodAssertion(), 'Success', ' Destination="x"'), open), 'ann')
})

test('groups and roles are whole names, even very many', async () => {
  const attribute = (name: string, values: readonly string[]) =>
    `<saml:AttributeStatement><saml:Attribute Name="${name}">${values.map((one) => `<saml:AttributeValue>${one}</saml:AttributeValue>`).join('')}</saml:Attribute></saml:AttributeStatement>`
  const groupsOf = async (values: readonly string[]): Promise<readonly string[] | undefined> => {
    const step = await stepOf({ from: 'body', groupsClaim: 'memberOf', rolesClaim: 'role' })
    const xml = goodAssertion({ more: attribute('memberOf', values) + attribute('role', ['the boss']) })
    const x = exchange({ contentLength: xml.length, startedAt: Date.now() })
    await admit(step, x, Buffer.from(xml))
    assert.deepEqual(x.consumer?.roles, x.consumer === null ? undefined : ['the boss'])
    return x.consumer?.groups
  }
  assert.deepEqual(await groupsOf(['Domain Admins']), ['Domain Admins'])
  assert.deepEqual(await groupsOf(['a b', 'c']), ['a b', 'c'])
  const many = Array.from({ length: 900 }, (_, i) => `group ${i}`)
  assert.deepEqual(await groupsOf(many), many)
  assert.equal(await groupsOf([...many, ...many]), undefined)
})

test('a cached assertion expires with the certificate of its signer', async (t) => {
  const now = Date.now()
  // Creating a key may take long on a busy machine.
  const short = makeCertificate({ name: 'idp', to: new Date(now + 30_000) })
  const step = await stepOf({ idp: { ...CONFIG.idp, certificates: [short.certificatePem] } })
  t.mock.timers.enable({ apis: ['Date'], now })
  const xml = goodAssertion({}, { keyPem: short.keyPem })
  assert.equal(await admit(step, inHeader(xml)), null)
  t.mock.timers.setTime(now + 25_000)
  assert.equal(await admit(step, inHeader(xml)), null)
  t.mock.timers.setTime(now + 31_000)
  assert.equal((await admit(step, inHeader(xml)))?.problem?.code, 'GW_TOKEN_SIGNATURE')
  const lenient = { ...CONFIG.idp, certificates: [short.certificatePem], allowExpired: true }
  assert.equal(await admit(await stepOf({ idp: lenient }), inHeader(xml)), null)
})

test('one-time assertions are accepted once', async () => {
  const env = testEnv()
  const once = await stepOf({ once: true }, env)
  const xml = goodAssertion({ id: '_once' })
  assert.equal(await admit(once, inHeader(xml)), null)
  assert.equal((await admit(once, inHeader(xml)))?.problem?.code, 'GW_TOKEN_REPLAYED')
  const again = goodAssertion({ id: '_once', nameId: 'bob' })
  assert.equal((await admit(once, inHeader(again)))?.problem?.code, 'GW_TOKEN_REPLAYED', 'the id counts')
  const old = goodAssertion({ issued: -4000 })
  assert.equal((await admit(once, inHeader(old)))?.problem?.code, 'GW_TOKEN_EXPIRED')
  const many = await stepOf({}, env)
  const own = goodAssertion({ conditions: '<saml:OneTimeUse/>' })
  assert.equal(await admit(many, inHeader(own)), null)
  assert.equal((await admit(many, inHeader(own)))?.problem?.code, 'GW_TOKEN_REPLAYED')
  const reused = goodAssertion()
  for (let i = 0; i < 3; i++) assert.equal(await admit(many, inHeader(reused)), null)
})

test('a provider is read from metadata, and may sign with any currently valid certificate', async (t) => {
  const file = fileOf(t)
  writeFileSync(
    file,
    metadataXml(keyXml(' use="encryption"', stranger.certificatePem) + keyXml('', idp.certificatePem)),
  )
  const step = await stepOf({ from: 'body', idp: { metadata: { file } } })
  assert.equal(await verdict(goodAssertion(), step), 'ann')
  const foreign = goodAssertion({}, { keyPem: stranger.keyPem })
  assert.equal(await verdict(foreign, step), 'GW_TOKEN_SIGNATURE', 'that one encrypts')
  const both = await stepOf({
    ...{ from: 'body', idp: { ...CONFIG.idp, certificates: [stranger.certificatePem, idp.certificatePem] } },
  })
  for (const xml of [goodAssertion(), foreign]) assert.equal(await verdict(xml, both), 'ann')
  for (const [idp, message] of [
    [{}, /either 'metadata' or/],
    [{ entityId: ENTITY }, /needs 'idp.certificates'/],
    [{ entityId: ENTITY, certificates: ['x'] }, /is not a PEM certificate/],
    [{ metadata: { file }, entityId: ENTITY }, /either/],
  ] as const)
    await assert.rejects(stepOf({ idp: idp as never }), message)
  const weak = makeCertificate({ name: 'idp', bits: 1024 })
  await assert.rejects(
    stepOf({ idp: { entityId: ENTITY, certificates: [weak.certificatePem] } }),
    /the key of a certificate of 'idp' is an RSA key of 1024 bits/,
  )
  writeFileSync(file, metadataXml(''))
  await assert.rejects(stepOf({ idp: { metadata: { file } } }), /has no signing certificate/)
})

test('expired metadata are refused, also if they expire at run time', async (t) => {
  const [file, now] = [fileOf(t), Date.now()]
  const key = keyXml('', idp.certificatePem)
  const until = (ms: number) => ` validUntil="${new Date(ms).toISOString()}"`
  for (const ended of [metadataXml(key, until(now)), metadataXml(key, until(now + 60_000), until(now - 1))]) {
    writeFileSync(file, ended)
    const env = testEnv()
    const step = await stepOf({ idp: { metadata: { file }, allowExpired: true } }, env)
    assert.match(JSON.stringify(env.reports), /saml_metadata_expired.*was valid until 2\S+Z: get a new file/)
    assert.equal((await admit(step, inHeader(goodAssertion())))?.problem?.code, 'GW_TOKEN_SIGNATURE')
  }
  for (const text of [
    '',
    'tomorrow',
    '9999-12-31',
    '2100-01-01T00:00:00',
    '2100-01-01T00:00:00+01:00',
    '1e99',
  ]) {
    writeFileSync(file, metadataXml(key, ` validUntil="${text}"`))
    await assert.rejects(
      stepOf({ idp: { metadata: { file } } }),
      /'validUntil' in 'idp.metadata' is not a time in UTC/,
      text,
    )
  }
  for (const [whole, role] of [
    [until(now + 30_000), ''],
    [until(now + 90_000), until(now + 30_000)],
  ] as const) {
    writeFileSync(file, metadataXml(key, whole, role))
    const jobs: (() => unknown)[] = []
    const env = testEnv()
    const watched = { ...env, schedule: (_: number, job: () => unknown) => void jobs.push(job) }
    const step = await stepOf({ idp: { metadata: { file }, allowExpired: true } }, watched)
    t.mock.timers.enable({ apis: ['Date'], now })
    const xml = goodAssertion()
    for (const job of jobs) job()
    assert.equal(await admit(step, inHeader(xml)), null)
    t.mock.timers.setTime(now + 31_000)
    for (const one of [xml, goodAssertion()])
      assert.equal((await admit(step, inHeader(one)))?.problem?.code, 'GW_TOKEN_SIGNATURE')
    for (const job of [...jobs, ...jobs]) job()
    assert.deepEqual(
      env.reports.map(({ event }) => event),
      ['saml_metadata_expired'],
    )
    t.mock.timers.reset()
  }
})

/** Returns the path of a temporary file. */
function fileOf(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-saml-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'idp.xml')
}

function keyXml(use: string, pem: string): string {
  const certificate = pem.replaceAll(/-----[^-]+-----/g, '')
  return `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
}

/**
 * Returns a metadata document.
 * @param whole attributes of the entity.
 * @param role attributes of the provider role.
 */
function metadataXml(keys: string, whole = '', role = ''): string {
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${ENTITY}"${whole}><md:IDPSSODescriptor${role}>${keys}</md:IDPSSODescriptor></md:EntityDescriptor>`
}
