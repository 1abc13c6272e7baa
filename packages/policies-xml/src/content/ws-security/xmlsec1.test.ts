import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeCertificate } from '@sluice/policies/testing'
import { NS, TOKEN } from './names.js'
import { added, checked, signWith, trust } from './testing/run.js'
import { soapMessage } from './testing/soap.js'
import { xmlsec1, xmlsec1Skip } from './testing/xmlsec1.js'

const rsa = makeCertificate({ name: 'client' })
const ec = makeCertificate({ name: 'curve', kind: 'ec' })
const XMLENC = 'http://www.w3.org/2001/04/xmlenc#'
const XMLENC11 = 'http://www.w3.org/2009/xmlenc11#'
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const C14N11 = 'http://www.w3.org/2006/12/xml-c14n11'

const CONTENT =
  '<m:order xmlns:m="urn:shop" xmlns="urn:other" m:b="\t1" a="&lt;&quot;"><m:item>&#13;\n<![CDATA[<x>]]> \u00e9</m:item>' +
  '<!-- c --><plain xml:lang="de" xmlns=""/></m:order>'

interface Template {
  readonly transform?: string
  readonly method?: string
  readonly digest?: string
  readonly root?: string
}

/** A message template for xmlsec1 to fill in. */
function template({
  transform = `<ds:Transform Algorithm="${EXCLUSIVE}"/>`,
  method = `${MORE}rsa-sha256`,
  digest = `${XMLENC}sha256`,
  root = '',
}: Template): string {
  const c14n = transform
    .replace('Transform', 'CanonicalizationMethod')
    .replace('/ds:Transform', '/ds:CanonicalizationMethod')
  const now = new Date().toISOString()
  const reference = (id: string) =>
    `<ds:Reference URI="#${id}"><ds:Transforms>${transform}</ds:Transforms><ds:DigestMethod Algorithm="${digest}"/>` +
    '<ds:DigestValue/></ds:Reference>'
  const thumbprint = createHash('sha1')
    .update((method.includes('ecdsa') ? ec : rsa).der)
    .digest('base64')
  const signature =
    `<ds:Signature xmlns:ds="${NS.ds}"><ds:SignedInfo>${c14n}<ds:SignatureMethod Algorithm="${method}"/>` +
    `${reference('TS-1')}${reference('B-1')}</ds:SignedInfo><ds:SignatureValue/><ds:KeyInfo>` +
    `<wsse:SecurityTokenReference><wsse:KeyIdentifier ValueType="${TOKEN.thumbprint}">${thumbprint}</wsse:KeyIdentifier>` +
    '</wsse:SecurityTokenReference></ds:KeyInfo></ds:Signature>'
  return (
    `<s:Envelope xmlns:s="${NS.soap11}" xmlns:unused="urn:unused" ${root}><s:Header>` +
    `<wsse:Security xmlns:wsse="${NS.wsse}" xmlns:wsu="${NS.wsu}"><wsu:Timestamp wsu:Id="TS-1">` +
    `<wsu:Created>${now}</wsu:Created></wsu:Timestamp>${signature}</wsse:Security></s:Header>` +
    `<s:Body xmlns:wsu="${NS.wsu}" wsu:Id="B-1">${CONTENT}</s:Body></s:Envelope>`
  )
}

describe('xmlsec1', { skip: xmlsec1Skip }, () => {
  const prefixes = `<ds:Transform Algorithm="${EXCLUSIVE}"><ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE}" PrefixList="unused wsu #default"/></ds:Transform>`
  const templates: readonly (readonly [string, Template])[] = [
    ['exclusive form', {}],
    ['exclusive form with prefixes', { transform: prefixes }],
    [
      'exclusive form with prefixes and a default namespace',
      { transform: prefixes, root: 'xmlns="urn:default"' },
    ],
    ['C14N 1.0', { transform: `<ds:Transform Algorithm="${INCLUSIVE}"/>` }],
    [
      'C14N 1.0 with an inherited language',
      { transform: `<ds:Transform Algorithm="${INCLUSIVE}"/>`, root: 'xml:lang="en"' },
    ],
    ['C14N 1.1', { transform: `<ds:Transform Algorithm="${C14N11}"/>`, root: 'xmlns="urn:default"' }],
    ['SHA-384', { method: `${MORE}rsa-sha384`, digest: `${MORE}sha384` }],
    ['SHA-512', { method: `${MORE}rsa-sha512`, digest: `${XMLENC}sha512` }],
    ['ECDSA', { method: `${MORE}ecdsa-sha256` }],
  ]
  for (const [name, options] of templates) {
    test(`xmlsec1 signatures are accepted, and refused after a change: ${name}`, () => {
      const pair = options.method?.includes('ecdsa') === true ? ec : rsa
      const signed = xmlsec1(['--sign', '--privkey-pem', '{key}'], {
        main: template(options),
        key: pair.keyPem,
      })
      assert.ok(signed.isRight, signed.complaints)
      const rules = { timestamp: {}, signature: trust(pair) }
      const answer = checked(signed.output, rules)
      assert.equal(answer.kind, 'passed', JSON.stringify(answer))
      const changed = checked(signed.output.replace('<x>', '<y>'), rules)
      assert.equal(changed.kind === 'fault' && changed.code, 'FailedCheck')
    })
  }

  for (const [pair, algorithm] of [
    [rsa, 'rsa-sha256'],
    [rsa, 'rsa-sha384'],
    [rsa, 'rsa-sha512'],
    [ec, 'ecdsa-sha256'],
  ] as const) {
    for (const version of ['1.1', '1.2'] as const) {
      test(`xmlsec1 accepts our signatures with ${algorithm} in SOAP ${version}, and refuses changed ones`, () => {
        const ours = added(soapMessage({ version, content: CONTENT }), {
          timestamp: {},
          usernameToken: { name: 'a&b', password: 'p' },
          signature: signWith(pair, { algorithm, parts: ['body', 'timestamp', 'username-token'] }),
        })
        const verify = ['--verify', '--pubkey-cert-pem', '{certificate}']
        const right = xmlsec1(verify, { main: ours, certificate: pair.certificatePem })
        assert.ok(right.isRight, right.complaints)
        const changed = ours.replace('a&amp;b', 'a&amp;c')
        assert.ok(!xmlsec1(verify, { main: changed, certificate: pair.certificatePem }).isRight)
      })
    }
  }

  for (const cipher of ['aes128-gcm', 'aes256-gcm']) {
    test(`data that xmlsec1 encrypts with ${cipher} is decrypted`, () => {
      const frame =
        `<xenc:EncryptedData xmlns:xenc="${NS.xenc}" Id="ED-1" Type="${XMLENC}Content">` +
        `<xenc:EncryptionMethod Algorithm="${XMLENC11}${cipher}"/><ds:KeyInfo xmlns:ds="${NS.ds}"><xenc:EncryptedKey>` +
        `<xenc:EncryptionMethod Algorithm="${XMLENC}rsa-oaep-mgf1p"/><xenc:CipherData><xenc:CipherValue/></xenc:CipherData>` +
        '</xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedData>'
      const options = ['--pubkey-cert-pem', '{certificate}', '--session-key', `aes-${cipher.slice(3, 6)}`]
      const location = ['--xml-data', '{message}', '--node-name', `${NS.soap11}:Body`]
      const message = soapMessage({ header: `<wsse:Security xmlns:wsse="${NS.wsse}"></wsse:Security>` })
      const encrypted = xmlsec1(['--encrypt', ...options, ...location], {
        main: frame,
        message,
        certificate: rsa.certificatePem,
      })
      assert.ok(encrypted.isRight, encrypted.complaints)
      assert.doesNotMatch(encrypted.output, /urn:shop/)
      const answer = checked(withKeyInHeader(encrypted.output), {
        decryption: { keys: [{ key: rsa.keyPem }] },
      })
      assert.ok(answer.kind === 'passed', JSON.stringify(answer))
      assert.match(Buffer.from(answer.body!).toString(), /<m:item>widget<\/m:item>/)
    })
  }

  for (const cipher of ['aes128-gcm', 'aes256-gcm', 'aes256-cbc'] as const) {
    test(`xmlsec1 decrypts our data with ${cipher}`, () => {
      const ours = added(soapMessage(), {
        timestamp: {},
        signature: signWith(rsa),
        encryption: { certificate: rsa.certificatePem, cipher, keyTransport: 'rsa-oaep-mgf1p' },
      })
      const decrypted = xmlsec1(['--decrypt', '--privkey-pem', '{key}'], {
        main: withKeyInData(ours),
        key: rsa.keyPem,
      })
      assert.ok(decrypted.isRight, decrypted.complaints)
      assert.match(decrypted.output, /<m:item>widget<\/m:item>/)
    })
  }
})

const KEY = /<xenc:EncryptedKey.*?<\/xenc:EncryptedKey>/s

/** Moves the key: xmlsec1 expects it inside the encrypted data, WS-Security in the header. */
function withKeyInHeader(message: string): string {
  const key = KEY.exec(message)![0]
  const list =
    '<xenc:ReferenceList><xenc:DataReference URI="#ED-1"/></xenc:ReferenceList></xenc:EncryptedKey>'
  const own = key.replace('<xenc:EncryptedKey', `<xenc:EncryptedKey xmlns:xenc="${NS.xenc}"`)
  return message
    .replace(/<ds:KeyInfo.*?<\/ds:KeyInfo>/s, '')
    .replace(/<wsse:Security ([^>]*)\/?>(<\/wsse:Security>)?/, (_, attributes: string) => {
      const moved = own.replace('</xenc:EncryptedKey>', list)
      return `<wsse:Security ${attributes.replace(/\/$/, '')}>${moved}</wsse:Security>`
    })
}

function withKeyInData(message: string): string {
  const key = KEY.exec(message)![0].replace(/<ds:KeyInfo.*?<\/ds:KeyInfo>/s, '')
  const info = `<ds:KeyInfo xmlns:ds="${NS.ds}">${key}</ds:KeyInfo>`
  return message
    .replace(KEY, '')
    .replace(/<xenc:EncryptionMethod[^>]*-(?:gcm|cbc)"><\/xenc:EncryptionMethod>/, `$&${info}`)
}
