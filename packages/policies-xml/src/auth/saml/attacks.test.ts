import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Step } from '@sluice/core'
import { exchange, testEnv } from '@sluice/policies/testing'
import { saml } from './policy.js'
import {
  ACS,
  AUDIENCE,
  assertionXml,
  ENTITY,
  goodAssertion,
  idp,
  responseXml,
  signedXml,
  stranger,
} from './testing/issuer.js'

let step: Step
before(async () => {
  const idpConfig = { entityId: ENTITY, certificates: [idp.certificatePem] }
  const config = { idp: idpConfig, audience: AUDIENCE, recipient: ACS, from: 'body' as const }
  step = (await saml.compile(config, testEnv())) as Step
})

/** Returns the refusal code of a document, or the consumer id. */
async function verdict(xml: string | Uint8Array): Promise<string> {
  const bytes = Buffer.from(xml as string)
  const x = exchange({ contentLength: bytes.length, startedAt: Date.now() })
  const outcome = (await step.onRequest!(x)) ?? (await step.onRequestBody!(x, bytes)) ?? null
  assert.equal(outcome === null, x.consumer !== null)
  return outcome?.problem?.code ?? x.consumer!.id
}

const SIGNATURE = /<(?:ds:)?Signature[ >].*<\/(?:ds:)?Signature>/s

/** Splits a document: the signature of the assertion, and the assertion without it. */
function parts(xml: string): { readonly signature: string; readonly bare: string } {
  const [signature] = SIGNATURE.exec(xml)!
  return { signature, bare: xml.replace(SIGNATURE, '') }
}

/** Returns an assertion with content of the attacker and this id. */
function evil(id = '_evil'): string {
  return assertionXml({ id, nameId: 'root' })
}

test('unsigned, changed and wrongly signed assertions are refused', async () => {
  const good = goodAssertion()
  assert.equal(await verdict(good), 'ann')
  const { signature, bare } = parts(good)
  for (const [what, xml] of [
    ['no signature', bare],
    ['another name', good.replace('>ann<', '>root<')],
    ['another attribute', good.replace('>staff<', '>admin<')],
    ['another audience restriction', good.replace('urn:shop', 'urn:shap')],
    ['a longer time', good.replace(/NotOnOrAfter="20/g, 'NotOnOrAfter="29')],
    [
      'one more attribute',
      good.replace('</saml:AttributeStatement>', '<saml:Attribute Name="x"/></saml:AttributeStatement>'),
    ],
    ['an empty signature value', good.replace(/(<(?:ds:)?SignatureValue>)[^<]*/, '$1')],
    ['an empty digest', good.replace(/(<(?:ds:)?DigestValue>)[^<]*/, '$1')],
    ['no reference', good.replace(/<(?:ds:)?Reference .*<\/(?:ds:)?Reference>/s, '')],
    ['another id', good.replace(/ ID="[^"]*"/, ' ID="_other"')],
    ['the whole document', good.replace(/ URI="[^"]*"/, ' URI=""')],
    ['two signatures', good.replace(signature, signature + signature)],
    ['a stranger', goodAssertion({}, { keyPem: stranger.keyPem })],
  ] as const) {
    const code = await verdict(xml)
    assert.match(code, /^GW_TOKEN_(?:SIGNATURE|MALFORMED)$/, `${what}: ${code}`)
  }
})

test('the certificate in a signature is ignored', async () => {
  const base64 = stranger.certificatePem.replaceAll(/-----[^-]+-----|\s/g, '')
  const info = `<KeyInfo><X509Data><X509Certificate>${base64}</X509Certificate></X509Data></KeyInfo>`
  const foreign = goodAssertion({}, { keyPem: stranger.keyPem })
  const named = foreign.replace(/<\/SignatureValue>(?:<KeyInfo>.*<\/KeyInfo>)?/s, `</SignatureValue>${info}`)
  assert.match(named, /X509Certificate/)
  assert.equal(await verdict(named), 'GW_TOKEN_SIGNATURE')
  const own = goodAssertion().replace(
    /<\/SignatureValue>(?:<KeyInfo>.*<\/KeyInfo>)?/s,
    `</SignatureValue>${info}`,
  )
  assert.equal(await verdict(own), 'ann', 'nor does it harm')
})

test('weak and unusual signature algorithms are refused', async () => {
  const dsig = 'http://www.w3.org/2000/09/xmldsig#'
  const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  for (const options of [
    { algorithm: `${dsig}rsa-sha1` },
    { digest: `${dsig}sha1` },
    { transforms: [exclusive] },
    { transforms: [`${dsig}enveloped-signature`] },
    { transforms: [`${dsig}enveloped-signature`, `${exclusive}WithComments`] },
    { transforms: [`${dsig}enveloped-signature`, exclusive, exclusive] },
    { transforms: [`${dsig}enveloped-signature`, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'] },
  ])
    assert.equal(await verdict(goodAssertion({}, options)), 'GW_TOKEN_SIGNATURE', JSON.stringify(options))
  const hmac = goodAssertion().replace(
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
  )
  assert.equal(await verdict(hmac), 'GW_TOKEN_SIGNATURE')
  const xslt = goodAssertion().replace(
    /<(?:ds:)?Transforms>/,
    '$&<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"/></Transform>',
  )
  assert.equal(await verdict(xslt), 'GW_TOKEN_SIGNATURE')
})

// Wrapping attacks of Somorovsky et al., "On Breaking SAML: Be Whoever You Want to Be", 2012.
test('wrapped, moved and copied elements never replace the signed ones', async () => {
  const good = goodAssertion({ id: '_good' })
  const { signature, bare } = parts(good)
  const around = (content: string, inside: string) =>
    content.replace('</saml:Assertion>', `${inside}</saml:Assertion>`)
  const inObject = signature.replace('</Signature>', `<Object>${bare}</Object></Signature>`)
  const evilSigned = evil().replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
  const sameId = evil('_good').replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
  const response = signedXml(responseXml(evil()), { element: 'Response', keyPem: stranger.keyPem })
  for (const [what, xml] of [
    [
      '1: a signed response inside of another',
      responseXml(evil()).replace('<samlp:Status>', `<x>${response}</x><samlp:Status>`),
    ],
    ['2: an evil response beside the signature', responseXml(evil() + signature)],
    ['3: evil before good', responseXml(evil() + good)],
    ['3: good before evil', responseXml(good + evil())],
    ['4: good inside of evil', responseXml(around(evil(), good))],
    ['5: the signature in evil, good behind', responseXml(evilSigned + bare)],
    [
      '6: good in the object of the signature of evil',
      responseXml(evil().replace('</saml:Issuer>', `</saml:Issuer>${inObject}`)),
    ],
    ['7: good in extensions', responseXml(`<samlp:Extensions>${good}</samlp:Extensions>${evil()}`)],
    [
      '8: good in the object, the same id',
      responseXml(evil('_good').replace('</saml:Issuer>', `</saml:Issuer>${inObject}`)),
    ],
    ['the same id twice', responseXml(sameId + bare)],
    ['the same id inside', responseXml(around(sameId, bare))],
    [
      'good inside of the subject of evil',
      responseXml(evil().replace('<saml:Subject>', `<saml:Subject>${good}`)),
    ],
    [
      'good in advice',
      responseXml(
        evil().replace('<saml:AuthnStatement', `<saml:Advice>${good}</saml:Advice><saml:AuthnStatement`),
      ),
    ],
    ['another root', `<x>${good}</x>`],
    ['evil as the root, good inside', around(evil(), good)],
  ] as const) {
    const code = await verdict(xml)
    assert.match(code, /^GW_TOKEN_/, `${what}: ${code}`)
  }
  const honest = responseXml(`<samlp:Extensions>${evil()}</samlp:Extensions>${good}`)
  assert.equal(await verdict(honest), 'ann', 'what is elsewhere is not looked at')
})

test('comments, instructions and elements never truncate a name', async () => {
  for (const nameId of [
    'root<!---->.evil.example.com',
    '<!---->root',

    'root<b/>',
    '<b>root</b>',
  ])
    assert.equal(await verdict(goodAssertion({ nameId })), 'GW_TOKEN_MALFORMED', nameId)
  for (const inserted of ['<!---->', '<?x?>']) {
    const late = goodAssertion({ nameId: 'root.evil.example.com' }).replace('root.', `root${inserted}.`)
    assert.match(await verdict(late), /^GW_TOKEN_/, 'canonical forms have no comments')
  }
  assert.equal(await verdict(goodAssertion({ nameId: 'a&amp;b&lt;c' })), 'a&b<c')
  // CDATA does not change the signature, so anyone can add it. The name must consist of all text parts.
  const cut = goodAssertion({ nameId: 'root.evil.example.com' }).replace('.evil', '<![CDATA[.evil]]>')
  assert.equal(await verdict(cut), 'root.evil.example.com')
  const whole = goodAssertion().replace('>ann<', '><![CDATA[ann]]><')
  assert.equal(await verdict(whole), 'ann')
})

test('documents with DOCTYPE, huge and deep ones are refused at once', async () => {
  const good = goodAssertion()
  for (const xml of [
    '',
    'not XML',
    good.slice(0, -10),
    `<!DOCTYPE x>${good}`,
    `<!DOCTYPE x [<!ENTITY a "root">]>${good}`,
    `<!DOCTYPE x SYSTEM "file:///etc/passwd">${good}`,
    `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${good}`,
    `<?xml version="1.0" encoding="UTF-7"?>${good}`,
    goodAssertion({ more: '<saml:Advice>' + '<x>'.repeat(100) + '</x>'.repeat(100) + '</saml:Advice>' }),
    `${good}${' '.repeat(300_000)}`,
    '<saml:Assertion '.repeat(10_000),
    responseXml('<x/>'.repeat(6000)),
    responseXml(good, 'Responder'),
    responseXml('<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>'),
    good.replace('Version="2.0"', 'Version="1.1"'),
    good.replaceAll('urn:oasis:names:tc:SAML:2.0:assertion', 'urn:oasis:names:tc:SAML:1.0:assertion'),
  ]) {
    const code = await verdict(xml)
    assert.match(code, /^GW_(?:TOKEN_|AUTH_MISSING)/, `${xml.slice(0, 60)}: ${code}`)
  }
})

test('attributes cannot replace a prototype or the NameID', async () => {
  const attribute = (name: string) =>
    `<saml:AttributeStatement><saml:Attribute Name="${name}"><saml:AttributeValue>root</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`
  assert.equal(await verdict(goodAssertion({ more: attribute('__proto__') })), 'ann')
  assert.equal(await verdict(goodAssertion({ more: attribute('nameId') })), 'ann')
  assert.equal(Object.hasOwn(Object.prototype, 'root'), false)
})
