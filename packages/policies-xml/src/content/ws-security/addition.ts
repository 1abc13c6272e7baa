import { createHash, randomBytes } from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { buildXml, element, rawXml, type XmlPart } from '../../engines/xml/xml-builder.js'
import type { AdditionRules, EncryptionRules, SigningRules } from './addition-rules.js'
import { digestUri, signatureOf } from './algorithms.js'
import { canonicalDigest, EXCLUSIVE_C14N } from './canonical.js'
import { encryptData } from './ciphers.js'
import { attributeIn } from './elements.js'
import type { Envelope } from './envelope.js'
import { SecurityFault } from './fault.js'
import { encryptKey } from './key-transport.js'
import type { Message } from './message.js'
import { ENCRYPTED, NS, TOKEN } from './names.js'
import { Splice } from './splice.js'
import { passwordDigest } from './username-token.js'

/**
 * Adds a Security header to a message. Signed parts are generated in canonical form, so that only the Body
 * has to be canonicalized.
 * @returns the message with the header.
 * @throws SecurityFault if it is not SOAP or already has such a header
 */
export function addSecurity(message: Message, rules: AdditionRules, nowMs: number): Buffer {
  const { envelope } = message
  if (message.security(rules.actor) !== null)
    throw new SecurityFault('InvalidSecurity', 'the message already has a Security header for this actor')
  message.touch()
  const timestamp = rules.timestampTtlMs === null ? null : timestampElement(nowMs, rules.timestampTtlMs)
  const usernameToken = rules.usernameToken === null ? null : usernameTokenElement(rules.usernameToken, nowMs)
  const { signature, encryption } = rules
  const signed =
    signature === null ? [] : signatureElements(envelope, signature, { timestamp, usernameToken })
  const splice = new Splice()
  const encrypted = encryption === null ? null : new EncryptedBody(envelope, encryption)
  const parts = [timestamp, usernameToken].map((part) => rawXml(part?.text ?? ''))
  const content = [...(encrypted === null ? [] : [encrypted.keyElement]), ...parts, ...signed]
  const header = element('wsse:Security', content, headerAttributes(envelope, rules))
  insertHeader(envelope, buildXml(header), splice)
  if (encrypted === null) return splice.write(message.document)
  return encrypted.write(message, splice)
}

/** A part of the header in canonical form, with its id. */
interface Part {
  readonly id: string
  readonly text: string
}

function newId(kind: string): string {
  return `${kind}-${randomBytes(12).toString('hex')}`
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

function timestampElement(nowMs: number, ttlMs: number): Part {
  const id = newId('TS')
  const times = [element('wsu:Created', instant(nowMs)), element('wsu:Expires', instant(nowMs + ttlMs))]
  return { id, text: buildXml(element('wsu:Timestamp', times, { 'xmlns:wsu': NS.wsu, 'wsu:Id': id })) }
}

/**
 * Creates a UsernameToken. Nonce and creation time are also included for a plain-text password, to make
 * replays detectable.
 */
function usernameTokenElement(
  { name, password, type }: NonNullable<AdditionRules['usernameToken']>,
  nowMs: number,
): Part {
  const id = newId('UT')
  const nonce = randomBytes(16)
  const created = instant(nowMs)
  const shown = type === 'digest' ? passwordDigest(nonce, created, password) : password
  const uri = type === 'digest' ? TOKEN.passwordDigest : TOKEN.passwordText
  const content = [
    element('wsse:Username', name),
    element('wsse:Password', shown, { Type: uri }),
    element('wsse:Nonce', nonce.toString('base64'), { EncodingType: TOKEN.base64 }),
    element('wsu:Created', created),
  ]
  const attributes = { 'xmlns:wsse': NS.wsse, 'xmlns:wsu': NS.wsu, 'wsu:Id': id }
  return { id, text: buildXml(element('wsse:UsernameToken', content, attributes)) }
}

/** Creates the signature, and the certificate token if it is included. */
function signatureElements(
  { body }: Envelope,
  { key, method, parts, token, reference }: SigningRules,
  { timestamp, usernameToken }: { readonly timestamp: Part | null; readonly usernameToken: Part | null },
): XmlPart[] {
  const digests: [string, string][] = []
  if (parts.has('body')) {
    const id = wsuIdOf(body)
    digests.push([id, canonicalDigest(body, EXCLUSIVE_C14N, method.hash)])
  }
  if (parts.has('timestamp')) digests.push([timestamp!.id, textDigest(timestamp!.text, method.hash)])
  if (parts.has('username-token'))
    digests.push([usernameToken!.id, textDigest(usernameToken!.text, method.hash)])
  const signedInfo = signedInfoText(digests, method.uri, method.hash)
  const value = signatureOf(key, method, Buffer.from(signedInfo)).toString('base64')
  const tokenId = newId('X509')
  const tokenAttributes = { EncodingType: TOKEN.base64, ValueType: TOKEN.x509, 'wsu:Id': tokenId }
  const sent = token === null ? [] : [element('wsse:BinarySecurityToken', token, tokenAttributes)]
  const target = reference ?? element('wsse:Reference', [], { URI: `#${tokenId}`, ValueType: TOKEN.x509 })
  const content = [rawXml(signedInfo), element('ds:SignatureValue', value), keyInfo(target)]
  return [...sent, element('ds:Signature', content, { 'xmlns:ds': NS.ds })]
}

function keyInfo(reference: XmlPart, attributes?: Readonly<Record<string, string>>): XmlPart {
  return element('ds:KeyInfo', [element('wsse:SecurityTokenReference', [reference])], attributes)
}

/** Creates SignedInfo in canonical form. It declares its namespace, although the parent does, too. */
function signedInfoText(digests: readonly [string, string][], methodUri: string, hash: string): string {
  const references = digests.map(([id, digest]) => {
    const transforms = element('ds:Transforms', [algorithm('ds:Transform', NS.ec)])
    const digestMethod = algorithm('ds:DigestMethod', digestUri(hash))
    const content = [transforms, digestMethod, element('ds:DigestValue', digest)]
    return element('ds:Reference', content, { URI: `#${id}` })
  })
  const methods = [algorithm('ds:CanonicalizationMethod', NS.ec), algorithm('ds:SignatureMethod', methodUri)]
  return buildXml(element('ds:SignedInfo', [...methods, ...references], { 'xmlns:ds': NS.ds }))
}

function algorithm(name: string, uri: string): XmlPart {
  return element(name, [], { Algorithm: uri })
}

function textDigest(text: string, hash: string): string {
  return createHash(hash).update(text, 'utf8').digest('base64')
}

/** Returns the id of the Body. Adds one if needed. */
function wsuIdOf(body: XmlElement): string {
  const known = attributeIn(body, NS.wsu, 'Id')
  if (known !== null) return known
  const taken = body.namespaces
  let prefix = Object.keys(taken).find((one) => one !== '' && taken[one] === NS.wsu)
  if (prefix === undefined) {
    prefix = 'wsu'
    for (let i = 0; Object.hasOwn(taken, prefix); i++) prefix = `wsu${i}`
    body.addNsDeclaration(NS.wsu, prefix)
  }
  const id = newId('Body')
  body.setAttr('Id', id, prefix)
  return id
}

/** Returns the attributes of the header, with all namespaces that the parts need. */
function headerAttributes(
  { version, root }: Envelope,
  { actor, mustUnderstand }: AdditionRules,
): Readonly<Record<string, string>> {
  return {
    ...{ 'xmlns:wsse': NS.wsse, 'xmlns:wsu': NS.wsu, 'xmlns:env': root.namespaceUri },
    ...(actor === '' ? {} : { [version === '1.1' ? 'env:actor' : 'env:role']: actor }),
    ...(mustUnderstand ? { 'env:mustUnderstand': '1' } : {}),
  }
}

/** Inserts the header as the first block. Later additions come first. */
function insertHeader({ root, header, body }: Envelope, security: string, splice: Splice): void {
  if (header === null) {
    const prefix = root.prefix === '' ? '' : `${root.prefix}:`
    body.prependText(splice.mark(buildXml(element(`${prefix}Header`, [rawXml(security)]))))
    return
  }
  const mark = splice.mark(security)
  if (header.firstChild === null) header.addText(mark)
  else header.firstChild.prependText(mark)
}

/** The Body content, encrypted with a fresh key. */
class EncryptedBody {
  readonly keyElement: XmlPart
  readonly #body: XmlElement
  readonly #rules: EncryptionRules
  readonly #dataKey: Buffer
  readonly #dataId = newId('ED')

  constructor({ body }: Envelope, rules: EncryptionRules) {
    this.#body = body
    this.#rules = rules
    this.#dataKey = randomBytes(rules.cipher.keyBytes)
    const { value, method } = encryptKey(rules.key, rules.keyTransport, this.#dataKey)
    const data = element('xenc:ReferenceList', [
      element('xenc:DataReference', [], { URI: `#${this.#dataId}` }),
    ])
    const content = [method, keyInfo(rules.reference, { 'xmlns:ds': NS.ds }), cipherData(value), data]
    this.keyElement = element('xenc:EncryptedKey', content, { 'xmlns:xenc': NS.xenc, Id: newId('EK') })
  }

  /**
   * Serializes the message with the encrypted Body. The content is cut from the serialized text, so that it
   * is exactly what the receiver restores.
   */
  write(message: Message, splice: Splice): Buffer {
    const fence = `fence-${randomBytes(16).toString('hex')}`
    if (this.#body.firstChild === null) this.#body.addText(fence)
    else this.#body.firstChild.prependText(fence)
    this.#body.addText(fence)
    const text = splice.write(message.document).toString()
    const start = text.indexOf(fence)
    const end = text.lastIndexOf(fence)
    const content = text.slice(start + fence.length, end)
    return Buffer.from(text.slice(0, start) + this.#dataElement(content) + text.slice(end + fence.length))
  }

  #dataElement(content: string): string {
    const { cipher } = this.#rules
    const value = encryptData(cipher, this.#dataKey, Buffer.from(content))
    const attributes = { 'xmlns:xenc': NS.xenc, Id: this.#dataId, Type: ENCRYPTED.content }
    const parts = [algorithm('xenc:EncryptionMethod', cipher.uri), cipherData(value)]
    return buildXml(element('xenc:EncryptedData', parts, attributes))
  }
}

function cipherData(value: Buffer): XmlPart {
  return element('xenc:CipherData', [element('xenc:CipherValue', value.toString('base64'))])
}
