import assert from 'node:assert/strict'
import { constants, publicEncrypt, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import { makeCertificate } from '@sluice/policies/testing'
import { dataCipher, encryptData } from './ciphers.js'
import { ENCRYPTED, NS } from './names.js'
import { added, checked, signWith, trust, verdict } from './testing/run.js'
import { soapMessage } from './testing/soap.js'

const rsa = makeCertificate({ name: 'receiver' })
const next = makeCertificate({ name: 'next' })
const signer = makeCertificate({ name: 'signer' })
const key = { key: rsa.keyPem, certificate: rsa.certificatePem }
const rules = { decryption: { keys: [key] } }
const encryption = { certificate: rsa.certificatePem }
const encrypted = added(soapMessage(), { encryption })

/** Returns a message whose Body is this plaintext, encrypted by the rules. */
function encryptedText(
  plaintext: string | Buffer,
  type: string = ENCRYPTED.content,
  cipherName = 'aes256-gcm',
): string {
  const cipher = dataCipher(cipherName)
  const dataKey = randomBytes(cipher.keyBytes)
  const value = encryptData(cipher, dataKey, Buffer.from(plaintext)).toString('base64')
  const wrapped = publicEncrypt(
    { key: rsa.certificatePem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
    dataKey,
  )
  return soapMessage({
    header:
      `<wsse:Security xmlns:wsse="${NS.wsse}"><x:EncryptedKey xmlns:x="${NS.xenc}"><x:EncryptionMethod Algorithm="${NS.xenc}rsa-oaep-mgf1p"/>` +
      `<x:CipherData><x:CipherValue>${wrapped.toString('base64')}</x:CipherValue></x:CipherData>` +
      '<x:ReferenceList><x:DataReference URI="#D"/></x:ReferenceList></x:EncryptedKey></wsse:Security>',
    content:
      `<x:EncryptedData xmlns:x="${NS.xenc}" Id="D" Type="${type}"><x:EncryptionMethod Algorithm="${cipher.uri}"/>` +
      `<x:CipherData><x:CipherValue>${value}</x:CipherValue></x:CipherData></x:EncryptedData>`,
  })
}

function body(text: string, config: Parameters<typeof checked>[1] = rules): string {
  const answer = checked(text, config)
  assert.ok(answer.kind === 'passed', JSON.stringify(answer))
  return Buffer.from(answer.body!).toString()
}

test('encrypted content is decrypted, and the header is removed', () => {
  assert.doesNotMatch(encrypted, /widget/)
  const text = body(encrypted)
  assert.match(
    text,
    /<s:Body><m:order xmlns:m="urn:shop"><m:item>widget<\/m:item><m:note>a &amp; b<\/m:note><\/m:order><\/s:Body>/,
  )
  assert.doesNotMatch(text, /Encrypted|Security/)
})

test('text, empty content and several elements survive a round trip', () => {
  for (const content of ['', 'text &lt; &#13; more', '<a/> <b/>', '<a xmlns="urn:d"/><!-- c --><?p i?>']) {
    assert.match(
      body(added(soapMessage({ content }), { encryption })),
      new RegExp(
        `<s:Body>${content.replace('?p i?', '\\?p i\\?')}</s:Body>`.replace('<s:Body></s:Body>', '<s:Body/>'),
      ),
    )
  }
})

test('a message that is not encrypted is refused, unless that is allowed', () => {
  const plain = added(soapMessage(), { timestamp: {} })
  assert.equal(verdict(plain, rules), 'InvalidSecurity')
  assert.equal(verdict(plain, { decryption: { keys: [key], needsBody: false } }), 'passed')
  // A key for other data does not hide the reason of the failure.
  const elsewhere = encrypted.replace('<s:Body>', '<s:Body><plain/>')
  assert.equal(verdict(elsewhere, rules), 'FailedCheck')
})

test('all failures after a key is used get the same fault', () => {
  const value = (text: string, at: number) => [...text.matchAll(/<xenc:CipherValue>([^<]*)/g)][at]![1]!
  const [wrapped, data] = [value(encrypted, 0), value(encrypted, 1)]
  const flipped = (text: string, at: number) => {
    const bytes = Buffer.from(text, 'base64')
    bytes[at]! ^= 1
    return bytes.toString('base64')
  }
  const broken = [
    encrypted.replace(wrapped, flipped(wrapped, 10)),
    encrypted.replace(wrapped, 'AAAA'),
    encrypted.replace(data, flipped(data, 0)),
    encrypted.replace(data, flipped(data, 20)),
    encrypted.replace(data, flipped(data, Buffer.from(data, 'base64').length - 1)),
    encrypted.replace(data, 'AAAA'),
    encrypted.replace(data, ''),
    encrypted.replace('aes256-gcm', 'aes128-gcm'),
    encrypted.replace('aes256-gcm', 'aes256-cbc'),
    encrypted.replace('#mgf1sha256', '#mgf1sha1'),
    encrypted.replace('xmlenc11#rsa-oaep', 'xmlenc#rsa-1_5'),
    encrypted.replace(/#ED-\w+/, '#nowhere'),
    encrypted.replace(ENCRYPTED.content, 'urn:other'),
    added(soapMessage(), { encryption: { certificate: next.certificatePem } }),
    encryptedText('<open>'),
    encryptedText('</s:Body><s:Body>'),
    encryptedText('</fragment><fragment>'),
    encryptedText('<a:undeclared/>'),
    encryptedText('<!DOCTYPE a><a/>'),
    encryptedText('<a>&undeclared;</a>'),
    encryptedText(Buffer.from([0xff, 0xfe, 0x00])),
    encryptedText('<a/><b/>', ENCRYPTED.element),
    encryptedText('<a/>', ENCRYPTED.content, 'aes256-cbc'),
  ]
  const answers = broken.map((text) => checked(text, rules))
  for (const [i, answer] of answers.entries()) {
    assert.deepEqual(
      answer,
      { kind: 'fault', code: 'FailedCheck', version: '1.1', reason: 'cannot be decrypted' },
      `case ${i}`,
    )
  }
})

test('later failures are reported like failed decryptions', () => {
  const signed = added(soapMessage(), { timestamp: {}, signature: signWith(signer), encryption })
  const both = { ...rules, timestamp: {}, signature: trust(signer) }
  assert.equal(verdict(signed, both), 'passed')
  assert.equal(verdict(signed, { ...both, signature: trust(next) }), 'FailedCheck')
  assert.equal(verdict(encrypted, { ...rules, signature: trust(signer) }), 'FailedCheck')
  const users = [{ name: 'u', password: 'right' }]
  const token = added(soapMessage(), { usernameToken: { name: 'u', password: 'wrong' }, encryption })
  assert.equal(verdict(token, { ...rules, usernameToken: { users } }), 'FailedCheck')
  // The timestamp is checked before the decryption, so the fault reveals nothing about the content.
  assert.equal(verdict(signed, both, Date.now() + 3_600_000), 'MessageExpired')
})

test('if signed and then encrypted, any change is detected', () => {
  const text = added(soapMessage(), { timestamp: {}, signature: signWith(signer), encryption })
  const both = { ...rules, timestamp: {}, signature: trust(signer) }
  const created = /<wsu:Expires>([^<]*)/.exec(text)![1]!
  const later = new Date(Date.parse(created) + 1000).toISOString()
  assert.equal(verdict(text.replace(created, later), both), 'FailedCheck')
  assert.equal(verdict(encryptedText('<m:order xmlns:m="urn:shop"/>'), both), 'FailedCheck')
})

test('a key is found by its certificate, and a single key is always used', () => {
  const both = {
    decryption: {
      keys: [{ key: next.keyPem, certificate: next.certificatePem }, key],
    },
  }
  for (const keyInfo of ['thumbprint', 'issuer-serial', 'subject-key-identifier'] as const) {
    const text = added(soapMessage(), { encryption: { ...encryption, keyInfo } })
    assert.match(body(text, both), /widget/)
  }
  assert.equal(verdict(encryptedText('<a/>'), both), 'FailedCheck', 'which one is not said')
  assert.match(
    body(encryptedText('<a/>'), { decryption: { keys: [{ key: key.key }] } }),
    /<s:Body><a\/><\/s:Body>/,
  )
})

test('data that is encrypted twice, nested or too often is refused', () => {
  const data = /<xenc:EncryptedData.*<\/xenc:EncryptedData>/s.exec(encrypted)![0]
  assert.equal(verdict(encrypted.replace(data, data + data), rules), 'InvalidSecurity')
  const nested = data.replace(
    '<xenc:CipherData>',
    `<xenc:CipherData>${data.replace(/Id="[^"]*"/, 'Id="inner"')}`,
  )
  assert.equal(verdict(encrypted.replace(data, nested), rules), 'FailedCheck')
  const reference = /<xenc:DataReference.*<\/xenc:DataReference>/.exec(encrypted)![0]
  assert.equal(verdict(encrypted.replace(reference, reference + reference), rules), 'FailedCheck')
  assert.equal(verdict(encrypted.replace(reference, reference.repeat(100)), rules), 'FailedCheck')
  const ownKey = /<xenc:EncryptedKey.*<\/xenc:EncryptedKey>/s.exec(encrypted)![0]
  assert.equal(
    verdict(encrypted.replace(ownKey, ownKey.replace(/ Id="[^"]*"/, '').repeat(5)), rules),
    'FailedCheck',
  )
})

test('external data is not fetched', () => {
  const away = encrypted.replaceAll(
    /<xenc:CipherValue>[^<]*<\/xenc:CipherValue>/g,
    '<xenc:CipherReference URI="http://evil.example/"/>',
  )
  assert.equal(verdict(away, rules), 'FailedCheck')
})

test('a message with many keys and long values is refused at once', () => {
  const beforeMs = cpuMs()
  const data = [...encrypted.matchAll(/<xenc:CipherValue>([^<]*)/g)][1]![1]!
  assert.equal(verdict(encrypted.replace(data, 'A'.repeat(4_000_000)), rules), 'FailedCheck')
  assert.equal(
    verdict(encrypted.replace('<s:Body>', `<s:Body>${'<x/>'.repeat(50_000)}`), rules),
    'FailedCheck',
  )
  assert.ok(cpuMs() - beforeMs < 10_000)
})
