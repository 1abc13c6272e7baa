import type { KeyObject, X509Certificate } from 'node:crypto'
import { escapedXml } from '@sluice/core'
import { type XmlDocument, XmlElement, XmlXPath } from 'libxml2-wasm'
import { parseXml } from '../../engines/xml/gate.js'
import { type CertificateNames, isNameOf, namesOf } from './certificate-names.js'
import { type DataCipher, decryptData, undecryptable } from './ciphers.js'
import {
  attributeOf,
  base64Bytes,
  childElements,
  childrenNamed,
  isElement,
  isInside,
  localReference,
  onlyElement,
  optionalChild,
  requiredChild,
} from './elements.js'
import type { Envelope } from './envelope.js'
import { SecurityFault } from './fault.js'
import { decryptKey, keyTransportOf } from './key-transport.js'
import type { Message } from './message.js'
import { ENCRYPTED, NS } from './names.js'
import { Splice } from './splice.js'
import { tokenReference } from './token-reference.js'

/** Rules for decrypting messages. */
export interface DecryptionRules {
  readonly keys: readonly DecryptionKey[]
  readonly ciphers: ReadonlyMap<string, DataCipher>
  readonly allowsPkcs1: boolean
  /** True if the content of the Body must be encrypted. */
  readonly needsBody: boolean
}

/** A private key with the identifiers of its certificate, or null without a certificate. */
export interface DecryptionKey {
  readonly key: KeyObject
  readonly names: CertificateNames | null
}

/** Creates a decryption key. */
export function decryptionKey(key: KeyObject, certificate: X509Certificate | null): DecryptionKey {
  return { key, names: certificate === null ? null : namesOf(certificate) }
}

const MAX_KEYS = 4
const MAX_REFERENCES = 16
const MAX_KEY_LENGTH = 4096
const MAX_LOCATIONS = 64
/** Selects encrypted data. Nested ones are processed with the outer one. */
const ENCRYPTED_DATA = XmlXPath.compile(
  '/descendant::xenc:EncryptedData[not(ancestor::xenc:EncryptedData)]',
  { xenc: NS.xenc },
)

/**
 * Decrypts the data that the keys in the Security header refer to. Changes the document.
 * @returns the decrypted message, or null if nothing was encrypted.
 * @throws SecurityFault
 */
export function decryptMessage(
  message: Message,
  security: XmlElement,
  rules: DecryptionRules,
): Buffer | null {
  const { document, envelope } = message
  const keys = childrenNamed(security, NS.xenc, 'EncryptedKey')
  if (keys.length > MAX_KEYS) throw new SecurityFault('InvalidSecurity', 'too many keys')
  const locations = encryptedLocations(document, envelope, security)
  const bodyLocation = encryptedBody(envelope)
  const splice = new Splice()
  let isBodyDecrypted = false
  for (const key of keys) {
    for (const location of referredLocations(key, locations)) {
      if (bodyLocation !== null && location.isSameNode(bodyLocation)) isBodyDecrypted = true
      replace(location, decryptLocation(location, key, security, rules), splice)
    }
  }
  if (rules.needsBody && !isBodyDecrypted)
    throw new SecurityFault('InvalidSecurity', 'the Body is not encrypted')
  if (splice.isEmpty) return null
  message.touch()
  return splice.write(document)
}

/**
 * Returns encrypted data by Id, at allowed locations: in the Body, or a whole token in the Security header.
 */
function encryptedLocations(
  document: XmlDocument,
  { body }: Envelope,
  security: XmlElement,
): Map<string, XmlElement> {
  const locations = new Map<string, XmlElement>()
  const found = document.find(ENCRYPTED_DATA)
  if (found.length > MAX_LOCATIONS) throw new SecurityFault('InvalidSecurity', 'too much encrypted data')
  for (const location of found) {
    if (
      !(location instanceof XmlElement) ||
      !(isInside(location, body) || location.parent?.isSameNode(security))
    )
      continue
    const id = attributeOf(location, 'Id')
    if (id === null) continue
    if (locations.has(id)) throw new SecurityFault('InvalidSecurity', 'duplicate id')
    locations.set(id, location)
  }
  return locations
}

/** Returns the encrypted data that replaces the whole content of the Body, or null. */
function encryptedBody({ body }: Envelope): XmlElement | null {
  const only = onlyElement(body)
  if (only === null) return null
  return only.name === 'EncryptedData' && only.namespaceUri === NS.xenc ? only : null
}

/** Returns the data that a key refers to. Each is decrypted once; a second reference fails. */
function referredLocations(key: XmlElement, locations: Map<string, XmlElement>): XmlElement[] {
  const list = optionalChild(key, NS.xenc, 'ReferenceList')
  const references = list === null ? [] : childElements(list)
  if (references.length > MAX_REFERENCES) throw new SecurityFault('InvalidSecurity', 'too many references')
  return references.map((reference) => {
    const id = localReference(attributeOf(reference, 'URI'), 'InvalidSecurity')
    const location = locations.get(id)
    if (location === undefined || reference.name !== 'DataReference')
      throw new SecurityFault('InvalidSecurity', 'a reference does not point to encrypted data')
    locations.delete(id)
    return location
  })
}

function decryptLocation(
  location: XmlElement,
  key: XmlElement,
  security: XmlElement,
  rules: DecryptionRules,
): string {
  const cipher = rules.ciphers.get(methodOf(location))
  if (cipher === undefined) throw new SecurityFault('UnsupportedAlgorithm', 'the cipher is not allowed')
  const method = requiredChild(key, NS.xenc, 'EncryptionMethod')
  const transport = keyTransportOf(method, rules.allowsPkcs1)
  const wrapped = base64Bytes(cipherValue(key), MAX_KEY_LENGTH)
  const value = base64Bytes(cipherValue(location), Number.POSITIVE_INFINITY)
  const dataKey = decryptKey(privateKeyFor(key, security, rules.keys), transport, wrapped, cipher.keyBytes)
  return checkedFragment(decryptData(cipher, dataKey, value), location)
}

function methodOf(location: XmlElement): string {
  return attributeOf(requiredChild(location, NS.xenc, 'EncryptionMethod'), 'Algorithm') ?? ''
}

/** Returns the CipherValue. Remote data (xenc:CipherReference) is never fetched. */
function cipherValue(element: XmlElement): XmlElement {
  const value = onlyElement(requiredChild(element, NS.xenc, 'CipherData'))
  if (value === null || !isElement(value, NS.xenc, 'CipherValue')) throw undecryptable()
  return value
}

/**
 * Returns the private key. A single configured key is always used. Otherwise the message must refer to one.
 */
function privateKeyFor(key: XmlElement, security: XmlElement, keys: readonly DecryptionKey[]): KeyObject {
  if (keys.length === 1) return keys[0]!.key
  const keyInfo = optionalChild(key, NS.ds, 'KeyInfo')
  if (keyInfo === null) throw undecryptable()
  const reference = tokenReference(keyInfo, security)
  const named = keys.find(({ names }) => {
    if (names === null) return false
    return reference.kind === 'name' ? reference.isNamed(names) : isNameOf(names, reference.base64)
  })
  if (named === undefined) throw undecryptable()
  return named.key
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Returns the plaintext if it is a well-formed fragment. Closing tags of outer elements would move the
 * content to another location. It is parsed in the scope of its location, and later as part of the message.
 */
function checkedFragment(plaintext: Buffer, location: XmlElement): string {
  const type = attributeOf(location, 'Type')
  const parent = location.parent
  try {
    if (parent === null || (type !== ENCRYPTED.content && type !== ENCRYPTED.element)) throw undecryptable()
    const fragment = UTF8.decode(plaintext)
    const view = parseXml(Buffer.from(`<fragment${declarations(parent)}>${fragment}</fragment>`))
    try {
      if (type === ENCRYPTED.element && onlyElement(view.document.root) === null) throw undecryptable()
    } finally {
      view.close()
    }
    return fragment
  } catch {
    throw undecryptable()
  }
}

function declarations(scope: XmlElement): string {
  return Object.entries(scope.namespaces)
    .map(([prefix, uri]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapedXml(uri)}"`)
    .join('')
}

function replace(location: XmlElement, content: string, splice: Splice): void {
  location.appendText(splice.mark(content))
  location.remove()
}
