import assert from 'node:assert/strict'
import { createHash, createHmac, createPublicKey } from 'node:crypto'
import { before, test } from 'node:test'
import type { Step } from '@sluice/core'
import { exchange, testEnv } from '@sluice/policies/testing'
import { saml } from './policy.js'
import type { SamlConfig } from './schema.js'
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

const CONFIG: SamlConfig = {
  idp: { entityId: ENTITY, certificates: [idp.certificatePem] },
  audience: AUDIENCE,
  recipient: ACS,
}
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

let step: Step
let form: Step
before(async () => {
  step = (await saml.compile({ ...CONFIG, from: 'body' }, testEnv())) as Step
  form = (await saml.compile({ ...CONFIG, from: 'form', once: false }, testEnv())) as Step
})

/** Returns the refusal code of a body, or the consumer id. Rejects if the policy fails. */
async function verdictOf(one: Step, body: string, headers: readonly string[] = []): Promise<string> {
  const bytes = Buffer.from(body)
  const x = exchange({ contentLength: bytes.length, startedAt: Date.now(), headers: [...headers] })
  const outcome = (await one.onRequest!(x)) ?? (await one.onRequestBody!(x, bytes)) ?? null
  assert.equal(outcome === null, x.consumer !== null)
  return outcome?.problem?.code ?? x.consumer!.id
}

const good = goodAssertion({ id: '_good' })
const [signature] = /<Signature .*<\/Signature>/s.exec(good)!
const [signedInfo] = /<SignedInfo>.*<\/SignedInfo>/s.exec(good)!
const [, digest] = /<DigestValue>([^<]*)/.exec(good)!
const evil = assertionXml({ id: '_good', nameId: 'root' })
const evilDigest = createHash('sha256').update(evil).digest('base64')
/** Combines an assertion of the attacker with the signature of another one. */
const evilSigned = evil.replace('</saml:Issuer>', `</saml:Issuer>${signature}`)

test('injected content neither passes nor breaks the policy', async () => {
  const declared = '<DigestValue xmlns="http://www.w3.org/2000/09/xmldsig#">'
  for (const [what, xml] of [
    ['no canonical form', good.replace('<saml:Assertion', '<saml:Assertion xmlns:z="z"')],
    ['no canonical form of a default namespace', good.replace('<saml:NameID', '<saml:NameID xmlns="a/b"')],
    ['no canonical form of what is signed', good.replace('<SignedInfo', '<SignedInfo xmlns:z="z"')],
    ['an instruction before the issuer', good.replace('<saml:Issuer>', '<?x?><saml:Issuer>')],
    ['an instruction before the signature', good.replace('<Signature', '<?x?><Signature')],
    ['an instruction before the subject', good.replace('<saml:Subject>', '<?x?><saml:Subject>')],
    ['an instruction in the signature', good.replace('<SignedInfo>', '<?x?><SignedInfo>')],
    ['an instruction in the name', good.replace('ann<', 'ann<?x?><')],
    ['an instruction in the response', responseXml(`<?x?>${good}`)],
    ['another digest in a comment', evilSigned.replace(digest!, `<!--${digest}-->${evilDigest}`)],
    ['another digest behind a comment', evilSigned.replace(digest!, `${digest}<!---->`)],
    ['two digests', evilSigned.replace('<DigestValue>', `<DigestValue>${evilDigest}</DigestValue>$&`)],
    ['two SignedInfo', evilSigned.replace(signedInfo, signedInfo.replace(digest!, evilDigest) + signedInfo)],
    ['SignedInfo last', evilSigned.replace('</Signature>', `${signedInfo}</Signature>`)],
    [
      'a digest in the status',
      responseXml(evilSigned).replace('</samlp:Status>', `${declared}${evilDigest}</DigestValue>$&`),
    ],
    [
      'a digest in extensions',
      responseXml(`<samlp:Extensions>${declared}${evilDigest}</DigestValue></samlp:Extensions>${evilSigned}`),
    ],
    ['an ID of another name', evilSigned.replace(' ID=', ' Id=')],
    ['an AssertionID', evilSigned.replace(' ID=', ' AssertionID=')],
    ['an ID in a namespace', evilSigned.replace(' ID=', ' xmlns:x="urn:x" x:ID=')],
    ['an xml:id', evilSigned.replace(' ID=', ' xml:id=')],
    ['two of them', evilSigned.replace(' ID="_good"', ' ID="_evil" xml:id="_good"')],
    ['another meaning of a prefix', good.replace('<saml:NameID>', '<saml:NameID xmlns:saml="urn:x">')],
    ['no meaning of it', good.replace('xmlns:saml="urn:oasis', 'xmlns:saml="" xmlns:x="urn:oasis')],
    ['xml:space', good.replace('<saml:NameID>', '<saml:NameID xml:space="preserve">')],
    ['xml:lang', good.replace('<saml:Subject>', '<saml:Subject xml:lang="de">')],
    ['xml:base', good.replace('<saml:Assertion', '<saml:Assertion xml:base="https://evil.example/"')],
    ['an entity', good.replace('ann<', '&root;<')],
    ['a NUL', good.replace('ann<', 'ann&#0;<')],
    ['a space', good.replace('ann<', 'ann <')],
    ['a line', good.replace('ann<', 'ann&#10;<')],
    ['a list of prefixes', good.replace(`${EXCLUSIVE}"/></Transforms>`, `${EXCLUSIVE}">${prefixes('saml')}`)],
    ['a long one', good.replace(`${EXCLUSIVE}"/></T`, `${EXCLUSIVE}">${prefixes('z '.repeat(9000))}`)],
    ['no SignedInfo', good.replace(signedInfo, '<SignedInfo/>')],
    ['no KeyInfo but an object', good.replace('</Signature>', '<Object/></Signature>')],
    ['a signature of another namespace', good.replace('xmldsig#"><S', 'xmldsig"><S')],
    ['the signature further in', bareWith('<saml:Subject>', `<saml:Subject>${signature}`)],
    ['the signature outside', responseXml(signature + good.replace(signature, ''))],
    [
      'a response of a stranger around it',
      signedXml(responseXml(good), { element: 'Response', keyPem: stranger.keyPem }),
    ],
    [
      'changed within a signed response',
      signedXml(responseXml(assertionXml()), { element: 'Response' }).replace('>ann<', '>root<'),
    ],
    [
      'a signed response with a broken assertion',
      signedXml(responseXml(good.replace('>ann<', '>root<')), { element: 'Response' }),
    ],
    ['too many elements', good.replace('</saml:Assertion>', `${'<x/>'.repeat(300)}$&`)],
    [
      'comments without end in the signature',
      good.replace('<SignedInfo>', `<SignedInfo>${'<!---->'.repeat(4800)}`),
    ],
  ] as const) {
    assert.notEqual(xml, good, what)
    assert.match(await verdictOf(step, xml), /^GW_TOKEN_(?:SIGNATURE|MALFORMED)$/, what)
  }
})

function prefixes(list: string): string {
  return `<InclusiveNamespaces xmlns="${EXCLUSIVE}" PrefixList="${list}"/></Transform></Transforms>`
}

function bareWith(place: string, content: string): string {
  return good.replace(signature, '').replace(place, content)
}

test('a public key is never a shared secret, and key types are not interchangeable', async () => {
  const key = createPublicKey(idp.certificatePem)
  const der = key.export({ type: 'spki', format: 'der' })
  for (const hash of ['sha1', 'sha256', 'sha512'])
    for (const secret of [idp.certificatePem, key.export({ type: 'spki', format: 'pem' }), der, '']) {
      const more = hash === 'sha1' ? 'http://www.w3.org/2000/09/xmldsig#' : RSA_SHA256.replace(/[^#]*$/, '')
      const info = canonical(signedInfo.replace(RSA_SHA256, `${more}hmac-${hash}`))
      const value = createHmac(hash, secret).update(info).digest('base64')
      const xml = good
        .replace(RSA_SHA256, `${more}hmac-${hash}`)
        .replace(/<SignatureValue>[^<]*/, `<SignatureValue>${value}`)
      assert.equal(await verdictOf(step, xml), 'GW_TOKEN_SIGNATURE', hash)
    }
  for (const method of [
    '',
    'none',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-md5',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha224',
    'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
    'http://www.w3.org/2000/09/xmldsig#dsa-sha1',
    RSA_SHA256.toUpperCase(),
    ` ${RSA_SHA256}`,
  ])
    assert.equal(await verdictOf(step, good.replace(RSA_SHA256, method)), 'GW_TOKEN_SIGNATURE', method)
  for (const value of ['AA==', 'A'.repeat(344), '/'.repeat(344), `${'A'.repeat(342)}==`, 'A'.repeat(4096)]) {
    const xml = good.replace(/<SignatureValue>[^<]*/, `<SignatureValue>${value}`)
    assert.equal(await verdictOf(step, xml), 'GW_TOKEN_SIGNATURE', value.slice(0, 8))
  }
})

/** Returns SignedInfo as xml-crypto serializes it, with its inherited namespace. */
function canonical(info: string): string {
  return info
    .replace('<SignedInfo>', '<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#">')
    .replaceAll(/<(\w+)( [^>]*)\/>/g, '<$1$2></$1>')
}

test('forms with junk, repetitions or other types are refused at once', async () => {
  const type = ['content-type', 'application/x-www-form-urlencoded']
  const text = Buffer.from(responseXml(good)).toString('base64')
  const field = `SAMLResponse=${encodeURIComponent(text)}`
  const lines = text.replaceAll(/.{76}/g, '$&\r\n')
  assert.equal(await verdictOf(form, `SAMLResponse=${encodeURIComponent(lines)}`, type), 'ann')
  assert.equal(await verdictOf(form, field, ['content-type', `${type[1]};charset=utf-8`]), 'ann')
  for (const [what, body] of [
    // A single expression for text and lines would take minutes here.
    ['lines without end', `SAMLResponse=${'\n'.repeat(500_000)}!`],
    ['text and lines without end', `SAMLResponse=${'A\n'.repeat(250_000)}!`],
    ['twice', `${field}&${field}`],
    ['empty beside it', `${field}&SAMLResponse=`],
    ['as a list', field.replace('SAMLResponse', 'SAMLResponse%5B%5D')],
    ['in another case', field.toLowerCase()],
    ['other characters', `${field}%00`],
    ['base64url', field.replaceAll('A', '_')],
    ['spaces', `SAMLResponse=${text.slice(0, 40)}+%20${text.slice(40)}`],
    ['padding inside', `SAMLResponse=QQ==${encodeURIComponent(text)}`],
    ['padding alone', 'SAMLResponse=%3D%3D'],
    ['XML', `SAMLResponse=${encodeURIComponent(good)}`],
    ['escaped twice', `SAMLResponse=${encodeURIComponent(encodeURIComponent(text))}`],
    ['another separator', `a=b;${field}`],
    ['many fields', `${'&'.repeat(100_000)}x`],
  ] as const) {
    const code = await verdictOf(form, body, type)
    assert.equal(code, 'GW_AUTH_MISSING', what)
  }
  for (const other of ['multipart/form-data; boundary=x', 'text/xml', 'application/json', 'x/y', ''])
    assert.equal(await verdictOf(form, field, ['content-type', other]), 'GW_AUTH_MISSING', other)
})
