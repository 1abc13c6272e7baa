import assert from 'node:assert/strict'
import { createHash, createHmac, sign } from 'node:crypto'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import { makeCertificate, type Pair } from '@sluice/policies/testing'
import { NS, TOKEN } from './names.js'
import { Securing } from './securing.js'
import { added, checked, signWith, trust, verdict } from './testing/run.js'
import { largeContent, soapMessage } from './testing/soap.js'

const rsa = makeCertificate({ name: 'client' })
const other = makeCertificate({ name: 'other' })
const rules = { timestamp: {}, signature: trust(rsa) }
const signed = added(soapMessage({ header: '<x:trace xmlns:x="urn:x">1</x:trace>' }), {
  timestamp: {},
  signature: signWith(rsa),
})
const BODY = /<s:Body[^>]*>.*<\/s:Body>/s
const EVIL = '<m:order xmlns:m="urn:shop"><m:item>everything</m:item></m:order>'

/** Asserts a quick refusal, also of documents made to be slow. */
function assertRefused(text: string, code: string | readonly string[], more: object = {}): void {
  assert.notEqual(text, signed, 'the attack changes the message')
  const beforeMs = cpuMs()
  const answer = checked(text, { ...rules, ...more })
  assert.ok(cpuMs() - beforeMs < 10_000)
  const found = answer.kind === 'passed' ? 'passed' : answer.code
  assert.ok([code].flat().includes(found), `${found}: ${JSON.stringify(answer)}`)
}

test('the signer is identified, and the header removed', () => {
  const answer = checked(signed, rules)
  assert.ok(answer.kind === 'passed')
  assert.equal(answer.identity?.id, 'client')
  const text = Buffer.from(answer.body!).toString()
  assert.doesNotMatch(text, /Security|Signature/)
  assert.match(text, /<x:trace xmlns:x="urn:x">1<\/x:trace>/)
})

test('elements that are not stripped stay unchanged', () => {
  const answer = checked(signed, { ...rules, strip: [] })
  assert.ok(answer.kind === 'passed' && answer.body === null)
  const some = checked(signed, { ...rules, strip: ['signature', 'token'] })
  assert.ok(some.kind === 'passed')
  const text = Buffer.from(some.body!).toString()
  assert.match(text, /<wsu:Timestamp/)
  assert.doesNotMatch(text, /Signature|BinarySecurityToken/)
})

test('a Body moved into the header with its id does not replace the Body', () => {
  const body = BODY.exec(signed)![0]
  const moved = `<w:wrapper xmlns:w="urn:w">${body}</w:wrapper></s:Header><s:Body>${EVIL}</s:Body>`
  const text = signed.replace(body, '').replace('</s:Header>', moved)
  assertRefused(text, 'InvalidSecurity')
  // A Header block may be referred to, but it is still not the Body.
  const block = signed.replace(body, `<s:Body>${EVIL}</s:Body>`).replace('</s:Header>', `${body}</s:Header>`)
  assertRefused(block, 'FailedCheck')
})

test('a Body moved below another Body, beside it or into the signature does not replace it', () => {
  const body = BODY.exec(signed)![0]
  assertRefused(signed.replace(body, `<s:Body>${body}</s:Body>`), 'InvalidSecurity')
  assertRefused(signed.replace(body, `<s:Body>${EVIL}</s:Body>${body}`), 'InvalidSecurity')
  assertRefused(signed.replace(body, `${body}<s:Body>${EVIL}</s:Body>`), 'InvalidSecurity')
  const object = `<ds:Object>${body}</ds:Object></ds:Signature>`
  assertRefused(
    signed.replace(body, `<s:Body>${EVIL}</s:Body>`).replace('</ds:Signature>', object),
    'InvalidSecurity',
  )
})

test('a duplicate id is refused, whatever its attribute is called', () => {
  const id = /wsu:Id="(Body-[^"]+)"/.exec(signed)![1]!
  for (const attribute of [
    `wsu:Id="${id}" xmlns:wsu="${NS.wsu}"`,
    `Id="${id}"`,
    `ID="${id}"`,
    `xml:id="${id}"`,
    `AssertionID="${id}"`,
  ]) {
    assertRefused(signed.replace('</s:Header>', `<w ${attribute}/></s:Header>`), 'InvalidSecurity')
  }
  const twins = '<w xmlns:wsu="' + NS.wsu + '"><a wsu:Id="t"/><b wsu:Id="t"/></w></s:Header>'
  assertRefused(signed.replace('</s:Header>', twins), 'InvalidSecurity')
  const evil = signed.replace(BODY, (body) => body.replace('<m:item>', `<m:item Id="${id}">`))
  assertRefused(evil, 'InvalidSecurity')
})

test('attributes of an application that look like ids may repeat', () => {
  const content = '<o><line ID="1"/><line ID="1"/></o>'
  const text = added(soapMessage({ content }), { timestamp: {}, signature: signWith(rsa) })
  assert.equal(verdict(text, rules), 'passed')
})

test('a second Security header, a second signature and a second Timestamp are refused', () => {
  const security = /<wsse:Security.*<\/wsse:Security>/s.exec(signed)![0]
  assertRefused(signed.replace(security, security + security), 'InvalidSecurity')
  const plain = `<wsse:Security xmlns:wsse="${NS.wsse}"/>`
  assertRefused(signed.replace(security, plain + security), 'InvalidSecurity')
  const forOther = `<wsse:Security xmlns:wsse="${NS.wsse}" s:actor="urn:other"/>`
  assert.equal(verdict(signed.replace(security, forOther + security), rules), 'passed')
  const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(signed)![0]
  assertRefused(signed.replace(signature, signature + signature), 'InvalidSecurity')
  const timestamp = /<wsu:Timestamp.*<\/wsu:Timestamp>/s.exec(signed)![0]
  const copy = timestamp.replace(/wsu:Id="[^"]+"/, '')
  assertRefused(signed.replace(timestamp, timestamp + copy), 'InvalidSecurity')
})

test('a Timestamp of another Security header is ignored', () => {
  const timestamp = /<wsu:Timestamp.*<\/wsu:Timestamp>/s.exec(signed)![0]
  const elsewhere = `<wsse:Security xmlns:wsse="${NS.wsse}" s:actor="urn:other">${timestamp}</wsse:Security></s:Header>`
  assertRefused(signed.replace(timestamp, '').replace('</s:Header>', elsewhere), 'InvalidSecurity')
})

test('a message without header, without signature or with an unsigned part is refused', () => {
  assertRefused(soapMessage(), 'InvalidSecurity')
  assertRefused(added(soapMessage(), { timestamp: {} }), 'InvalidSecurity')
  const bodyOnly = added(soapMessage(), { timestamp: {}, signature: signWith(rsa, { parts: ['body'] }) })
  assertRefused(bodyOnly, 'FailedCheck')
  assert.equal(verdict(bodyOnly, { ...rules, signature: { ...trust(rsa), parts: ['body'] } }), 'passed')
  const headOnly = added(soapMessage(), { timestamp: {}, signature: signWith(rsa, { parts: ['timestamp'] }) })
  assertRefused(headOnly, 'FailedCheck')
})

test('unknown, weak and missing algorithms are refused, even if allowed for other keys', () => {
  const method = `http://www.w3.org/2001/04/xmldsig-more#rsa-sha256`
  for (const uri of [
    'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
    'http://www.w3.org/2000/09/xmldsig#dsa-sha1',
    'none',
    '',
    `${method} `,
  ]) {
    assertRefused(signed.replace(method, uri), 'UnsupportedAlgorithm')
  }
  const short = `<ds:SignatureMethod Algorithm="${method}"><ds:HMACOutputLength>8</ds:HMACOutputLength>`
  assertRefused(signed.replace(`<ds:SignatureMethod Algorithm="${method}">`, short), 'UnsupportedAlgorithm')
  assertRefused(signed.replaceAll('xmlenc#sha256', 'xmldsig#md5'), 'FailedCheck')
  const sha512 = { timestamp: {}, signature: { ...trust(rsa), algorithms: ['rsa-sha512'] } }
  assert.equal(verdict(signed, sha512), 'UnsupportedAlgorithm')
})

test('the key of an RSA signature is never a secret for HMAC', () => {
  const hmac = 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256'
  const changed = signed.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', hmac)
  const info = /<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(changed)![0]
  for (const secret of [rsa.certificatePem, rsa.der, rsa.certificatePem.trim()]) {
    const value = createHmac('sha256', secret).update(info).digest('base64')
    const text = changed.replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${value}`)
    assertRefused(text, 'UnsupportedAlgorithm')
    // With a configured secret, HMAC is allowed and the key in KeyInfo is ignored.
    const both = { ...trust(rsa), secret: { id: 'partner', value: 'x'.repeat(32) } }
    assertRefused(text, 'FailedCheck', { signature: both })
  }
})

test('a configured secret may sign', () => {
  const value = 'a shared secret of some length, 40 chars'
  const hmac = 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256'
  const changed = signed.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', hmac)
  const info = /<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(changed)![0]
  const mac = createHmac('sha256', value).update(info).digest('base64')
  const text = changed.replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${mac}`)
  const answer = checked(text, { timestamp: {}, signature: { secret: { id: 'partner', value } } })
  assert.equal(answer.kind === 'passed' && answer.identity?.id, 'partner')
})

test('comments and instructions inside a signature are refused', () => {
  const digest = /<ds:DigestValue>([^<]*)/.exec(signed)![1]!
  const forged = createHash('sha256').update('x').digest('base64')
  for (const trick of [
    `<!--${forged}-->${digest}`,
    `${digest}<!---->`,
    `${forged}<!--${digest}-->`,
    `<?x ${forged}?>${digest}`,
  ]) {
    assertRefused(signed.replace(digest, trick), 'InvalidSecurity')
  }
  assertRefused(signed.replace(digest, `<x/>${digest}`), 'FailedCheck')
  assertRefused(signed.replace('<ds:SignedInfo', '<!-- x --><ds:SignedInfo'), 'InvalidSecurity')
  const info = /<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(signed)![0]
  assertRefused(signed.replace(info, info + info), 'InvalidSecurity')
  assertRefused(signed.replace(digest, ` \n${digest} `), 'FailedCheck')
  const many = '<!---->'.repeat(90_000)
  assertRefused(signed.replace('<ds:SignedInfo', `${many}<ds:SignedInfo`), 'InvalidSecurity')
  for (const place of ['<s:Header', '<wsse:Security', '<ds:Signature', '<s:Body', '<wsu:Created'])
    assertRefused(signed.replace(new RegExp(`${place}\\b`), '<?x?>$&'), 'InvalidSecurity')
})

test('CDATA sections are the text that was signed', () => {
  const [, digest] = /<ds:DigestValue>([^<]*)/.exec(signed)!
  const [, value] = /<ds:SignatureValue>([^<]*)/.exec(signed)!
  const forged = createHash('sha256').update('x').digest('base64')
  for (const text of [digest!, value!]) {
    for (const section of [`<![CDATA[${text}]]>`, `${text.slice(0, 4)}<![CDATA[${text.slice(4)}]]>`])
      assert.equal(checked(signed.replace(text, section), rules).kind, 'passed', section)
  }
  assertRefused(signed.replace(digest!, `<![CDATA[${forged}]]>`), 'FailedCheck')
  assertRefused(signed.replace(digest!, `${digest}<![CDATA[${forged}]]>`), 'FailedCheck')
})

test('spaces in unsigned base64 are ignored, other characters are refused', () => {
  const value = /<ds:SignatureValue>([^<]*)/.exec(signed)![1]!
  assert.equal(verdict(signed.replace(value, `\n  ${value.replace(/.{60}/g, '$&\n')} `), rules), 'passed')
  for (const wrong of ['', 'AAAA', `${value}!`, value.slice(1), `${value}=`]) {
    assertRefused(signed.replace(value, wrong), 'FailedCheck')
  }
})

test('transforms that select, compute or fetch are refused', () => {
  const transform = '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform>'
  const bombs = [
    '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><x/></ds:Transform>',
    '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>//x</ds:XPath></ds:Transform>',
    '<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/>',
    '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>',
    '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"/>',
    '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#WithComments"/>',
    '<ds:Transform/>',
    transform + transform,
    '',
  ]
  for (const bomb of bombs) {
    // Signed with the right key, so that only the transform is wrong.
    assertRefused(resigned(signed.replace(transform, bomb), rsa), 'UnsupportedAlgorithm')
  }
  const c14n = '<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#">'
  const withComments = c14n.replace('#', '#WithComments')
  assertRefused(signed.replace(c14n, withComments), 'UnsupportedAlgorithm')
})

test('external, dangling and whole-document references are refused', () => {
  const uri = /URI="(#Body-[^"]+)"/.exec(signed)![1]!
  for (const away of [
    '',
    '#',
    'http://evil.example/x',
    'file:///etc/passwd',
    'cid:1',
    '#xpointer(/)',
    `x${uri}`,
    '#nobody',
    `#${'x'.repeat(300)}`,
  ]) {
    assertRefused(resigned(signed.replace(`URI="${uri}"`, `URI="${away}"`), rsa), 'InvalidSecurity')
  }
  const inside = resigned(signed.replace(` URI="${uri}"`, ''), rsa)
  assertRefused(inside, 'InvalidSecurity')
})

test('a part of the Body is not accepted, even if its digest matches', () => {
  const part = `<m:item xmlns:m="urn:shop" xmlns:wsu="${NS.wsu}" wsu:Id="part">widget</m:item>`
  const uri = /URI="(#Body-[^"]+)"/.exec(signed)![1]!
  const text = signed.replace('<m:item>widget</m:item>', part).replace(`URI="${uri}"`, 'URI="#part"')
  assertRefused(resigned(text, rsa), 'InvalidSecurity')
})

test('a key in the message is not trusted by itself', () => {
  const foreign = added(soapMessage(), { timestamp: {}, signature: signWith(other) })
  assertRefused(foreign, 'FailedAuthentication')
  const named = added(soapMessage(), { timestamp: {}, signature: signWith(other, { keyInfo: 'thumbprint' }) })
  assertRefused(named, 'SecurityTokenUnavailable')
  // Owning the right certificate does not mean owning its key.
  const token = />([^<]+)<\/wsse:BinarySecurityToken>/
  assertRefused(
    foreign.replace(token, `>${rsa.der.toString('base64')}</wsse:BinarySecurityToken>`),
    'FailedCheck',
  )
})

test('other key references are refused, and large ones at once', () => {
  const info = /<ds:KeyInfo>.*<\/ds:KeyInfo>/s
  const embedded = `<ds:X509Data><ds:X509Certificate>${rsa.der.toString('base64')}</ds:X509Certificate></ds:X509Data>`
  const value = '<ds:KeyValue><ds:RSAKeyValue/></ds:KeyValue>'
  for (const content of [
    embedded,
    value,
    '',
    '<ds:RetrievalMethod URI="http://evil.example/"/>',
    `${embedded}${embedded}`,
  ]) {
    assertRefused(signed.replace(info, `<ds:KeyInfo>${content}</ds:KeyInfo>`), 'UnsupportedSecurityToken')
  }
  const many = '<ds:KeyName>x</ds:KeyName>'.repeat(90_000)
  assertRefused(signed.replace(info, `<ds:KeyInfo>${many}</ds:KeyInfo>`), 'InvalidSecurity')
  const long = `<ds:KeyInfo><wsse:SecurityTokenReference><wsse:KeyIdentifier ValueType="${TOKEN.thumbprint}">${'A'.repeat(4_000_000)}</wsse:KeyIdentifier></wsse:SecurityTokenReference></ds:KeyInfo>`
  assertRefused(signed.replace(info, long), 'InvalidSecurityToken')
  const token = />[^<]+<\/wsse:BinarySecurityToken>/
  assertRefused(
    signed.replace(token, `>${'A'.repeat(4_000_000)}</wsse:BinarySecurityToken>`),
    'InvalidSecurityToken',
  )
  assertRefused(
    signed.replace(/(<wsse:Reference URI=")#[^"]+/, '$1http://evil.example/cert'),
    'SecurityTokenUnavailable',
  )
})

test('too many ids, references, headers and prefixes are refused at once', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => `<i wsu:Id="i${i}"/>`).join('')
  assertRefused(signed.replace('<m:item>', `<m:item xmlns:wsu="${NS.wsu}">${ids}`), 'InvalidSecurity')
  assertRefused(signed.replace('</s:Header>', `${'<h/>'.repeat(50_000)}</s:Header>`), 'InvalidSecurity')
  const reference = /<ds:Reference.*?<\/ds:Reference>/s.exec(signed)![0]
  assertRefused(signed.replace(reference, reference.repeat(500)), 'InvalidSecurity')
  const list = `><ec:InclusiveNamespaces xmlns:ec="${NS.ec}" PrefixList="${'a '.repeat(5000)}"/></ds:Transform>`
  assertRefused(resigned(signed.replace('></ds:Transform>', list), rsa), 'InvalidSecurity')
  const others = Array.from({ length: 32_000 }, (_, i) => `<i Id="i${i}" ID="j${i}"/>`).join('')
  assertRefused(signed.replace('<m:item>', `<m:item>${others}`), 'FailedCheck')
  const encrypted = `<xenc:EncryptedData xmlns:xenc="${NS.xenc}"/>`.repeat(30_000)
  assertRefused(signed.replace('<m:item>', `<m:item>${encrypted}`), 'FailedCheck')
})

test('a DOCTYPE is refused by the XML parser', () => {
  const text = signed.replace('<s:Envelope', '<!DOCTYPE s [<!ENTITY x "y">]><s:Envelope')
  assertRefused(text, 'GW_BODY_UNPARSABLE')
})

test('several signatures are accepted if allowed, and each must be valid', () => {
  const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(signed)![0]
  const timestampOnly = signature.replace(/<ds:Reference URI="#Body.*?<\/ds:Reference>/s, '')
  const first = resignedSignature(timestampOnly, rsa)
  const text = signed.replace(signature, first + signature)
  const two = { ...rules, signature: { ...trust(rsa), maxSignatures: 2 } }
  assert.equal(verdict(text, two), 'passed')
  assert.equal(verdict(text, rules), 'InvalidSecurity')
  assert.equal(verdict(signed.replace(signature, timestampOnly + signature), two), 'FailedCheck')
  assert.equal(verdict(signed.replace(signature, first + first), two), 'FailedCheck', 'no one signs the Body')
})

test('an authority authenticates included certificates while both are valid', () => {
  const authority = makeCertificate({ name: 'authority', isAuthority: true })
  const issued = makeCertificate({ name: 'issued', issuer: authority })
  const check = { timestamp: {}, signature: { authorities: [authority.certificatePem] } }
  const of = (pair: Pair) => added(soapMessage(), { timestamp: {}, signature: signWith(pair) })
  const answer = checked(of(issued), check)
  assert.equal(answer.kind === 'passed' && answer.identity?.id, 'O=Sluice tests, CN=issued')
  assert.equal(verdict(of(rsa), check), 'FailedAuthentication')
  assert.equal(verdict(of(authority), check), 'FailedAuthentication', 'an authority signs no messages')
  const between = makeCertificate({ name: 'between', issuer: issued })
  assert.equal(
    verdict(of(between), check),
    'FailedAuthentication',
    'who was authenticated authenticates nobody',
  )
  const impostor = makeCertificate({ name: 'authority', isAuthority: true })
  assert.equal(
    verdict(of(makeCertificate({ name: 'fake', issuer: impostor })), check),
    'FailedAuthentication',
  )
  const short = makeCertificate({ name: 'short', issuer: authority, bits: 1024 })
  assert.equal(verdict(of(short), check), 'FailedAuthentication')
  const ended = makeCertificate({ name: 'ended', issuer: authority, to: new Date(Date.now() - 1000) })
  assert.equal(verdict(of(ended), check), 'InvalidSecurityToken')
  assert.equal(verdict(of(issued), check, Date.now()), 'passed', 'it is remembered')
})

test('a certificate is not cached beyond the validity of its authority', () => {
  const nowMs = Date.now()
  const to = new Date(nowMs + 10_000)
  const authority = makeCertificate({ name: 'authority', isAuthority: true, to })
  const issued = makeCertificate({ name: 'issued', issuer: authority })
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(issued) }, nowMs)
  const check = { timestamp: {}, signature: { authorities: [authority.certificatePem] } }
  const securing = new Securing({ check })
  assert.equal(securing.secure(Buffer.from(text), null, nowMs).kind, 'passed')
  assert.equal(securing.secure(Buffer.from(text), null, nowMs + 20_000).kind, 'fault')
})

test('a certificate without the signing key usage is refused', () => {
  const authority = makeCertificate({ name: 'authority', isAuthority: true })
  const check = { timestamp: {}, signature: { authorities: [authority.certificatePem] } }
  const verdictOf = (usage: number) => {
    const pair = makeCertificate({ name: 'issued', issuer: authority, usage })
    return verdict(added(soapMessage(), { timestamp: {}, signature: signWith(pair) }), check)
  }
  const [digitalSignature, nonRepudiation, keyEncipherment] = [0x80, 0x40, 0x20]
  assert.equal(verdictOf(keyEncipherment), 'FailedAuthentication')
  assert.equal(verdictOf(digitalSignature | keyEncipherment), 'passed')
  assert.equal(verdictOf(nonRepudiation), 'passed')
})

test('even a configured certificate must be within its validity period', () => {
  const late = makeCertificate({ name: 'late', from: new Date(Date.now() + 3_600_000) })
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(late) })
  assert.equal(verdict(text, { timestamp: {}, signature: trust(late) }), 'InvalidSecurityToken')
})

test('a large message is signed and checked like a small one', () => {
  const text = added(soapMessage({ content: largeContent(300_000) }), {
    timestamp: {},
    signature: signWith(rsa),
  })
  assert.equal(verdict(text, rules), 'passed')
  assertRefused(
    text.replace('>100</m:volume></m:order></m:orders>', '>101</m:volume></m:order></m:orders>'),
    'FailedCheck',
  )
})

/** Signs the SignedInfo of a message again, as the owner of the key could. */
function resigned(text: string, pair: Pair): string {
  const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(text)![0]
  return text.replace(signature, resignedSignature(signature, pair))
}

function resignedSignature(signature: string, { key }: Pair): string {
  const info = canonical(/<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(signature)![0])
  const value = sign('sha256', Buffer.from(info), key).toString('base64')
  return signature.replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${value}`)
}

/** Returns the canonical form of a SignedInfo in these tests. */
function canonical(text: string): string {
  return text
    .replaceAll(/<([\w:]+)((?: [^<>]*?)?)\/>/g, '<$1$2></$1>')
    .replaceAll(/(<ec:InclusiveNamespaces) xmlns:ec="([^"]*)" (PrefixList="[^"]*")/g, '$1 xmlns:ec="$2" $3')
}
