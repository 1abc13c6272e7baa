import {
  constants,
  createHash,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { element, type XmlPart } from '../../engines/xml/xml-builder.js'
import { attributeOf, childElements, isElement } from './elements.js'
import { SecurityFault } from './fault.js'
import { NS } from './names.js'

/** Encryption of a data key. */
export type KeyTransport =
  | { readonly padding: 'oaep'; readonly hash: string; readonly mgfHash: string }
  | { readonly padding: 'pkcs1' }

/** Configurable key transports, with their URIs and hashes. */
const TRANSPORTS = {
  'rsa-oaep': { uri: `${NS.xenc11}rsa-oaep`, hash: 'sha256' },
  'rsa-oaep-mgf1p': { uri: `${NS.xenc}rsa-oaep-mgf1p`, hash: 'sha1' },
} as const

/** Name of a key transport for encryption. */
export type KeyTransportName = keyof typeof TRANSPORTS

const DIGEST_HASHES: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2000/09/xmldsig#sha1', 'sha1'],
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])
const MGF_HASHES: ReadonlyMap<string, string> = new Map(
  ['sha1', 'sha256', 'sha384', 'sha512'].map((hash) => [`${NS.xenc11}mgf1${hash}`, hash]),
)

/**
 * Reads the xenc:EncryptionMethod of an EncryptedKey (XML Encryption 1.1 section 5.5). OAEP does not depend
 * on collision resistance, so SHA-1 is not weak here.
 * @throws SecurityFault if it is not allowed
 */
export function keyTransportOf(method: XmlElement, allowsPkcs1: boolean): KeyTransport {
  const uri = attributeOf(method, 'Algorithm')
  if (uri === `${NS.xenc}rsa-1_5` && allowsPkcs1) return { padding: 'pkcs1' }
  const isMgf1p = uri === TRANSPORTS['rsa-oaep-mgf1p'].uri
  if (!isMgf1p && uri !== TRANSPORTS['rsa-oaep'].uri)
    throw new SecurityFault('UnsupportedAlgorithm', 'the key transport is not allowed')
  let hash = 'sha1'
  let mgfHash = 'sha1'
  for (const child of childElements(method)) {
    const algorithm = attributeOf(child, 'Algorithm') ?? ''
    if (isElement(child, NS.ds, 'DigestMethod')) hash = known(DIGEST_HASHES, algorithm)
    else if (!isMgf1p && isElement(child, NS.xenc11, 'MGF')) mgfHash = known(MGF_HASHES, algorithm)
    else throw new SecurityFault('UnsupportedAlgorithm', 'unsupported parameter of the key transport')
  }
  return { padding: 'oaep', hash, mgfHash }
}

function known(hashes: ReadonlyMap<string, string>, uri: string): string {
  const hash = hashes.get(uri)
  if (hash === undefined) throw new SecurityFault('UnsupportedAlgorithm', 'unknown hash of the key transport')
  return hash
}

/**
 * Returns the data key, or a random key on failure. The data then fails to decrypt, so an attacker who
 * changes ciphertexts learns nothing.
 */
export function decryptKey(key: KeyObject, how: KeyTransport, value: Buffer, keyBytes: number): Buffer {
  const instead = randomBytes(keyBytes)
  const found = how.padding === 'oaep' ? oaepKey(key, how, value) : pkcs1Key(key, value)
  return found !== null && found.length === keyBytes ? found : instead
}

/** Encrypts a data key. Returns it with its encryption method. */
export function encryptKey(
  key: KeyObject,
  name: KeyTransportName,
  dataKey: Buffer,
): { value: Buffer; method: XmlPart } {
  const { uri, hash } = TRANSPORTS[name]
  const value = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }, dataKey)
  const digest = element('ds:DigestMethod', [], { 'xmlns:ds': NS.ds, Algorithm: `${NS.xenc}sha256` })
  const mgf = { 'xmlns:xenc11': NS.xenc11, Algorithm: `${NS.xenc11}mgf1sha256` }
  const parameters = name === 'rsa-oaep' ? [digest, element('xenc11:MGF', [], mgf)] : []
  return { value, method: element('xenc:EncryptionMethod', parameters, { Algorithm: uri }) }
}

function oaepKey(
  key: KeyObject,
  { hash, mgfHash }: { hash: string; mgfHash: string },
  value: Buffer,
): Buffer | null {
  try {
    if (hash === mgfHash)
      return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }, value)
    return unpadOaep(rawDecrypt(key, value), hash, mgfHash)
  } catch {
    return null
  }
}

/**
 * Removes OAEP padding with two different hashes (RFC 8017 section 7.1.2 step 3), which the library does not
 * support. Always executes every step.
 */
function unpadOaep(padded: Buffer, hash: string, mgfHash: string): Buffer | null {
  const label = createHash(hash).digest()
  const seed = padded.subarray(1, 1 + label.length)
  const block = padded.subarray(1 + label.length)
  xor(seed, mask(block, seed.length, mgfHash))
  xor(block, mask(seed, block.length, mgfHash))
  let wrong = padded[0]!
  for (let i = 0; i < label.length; i++) wrong |= block[i]! ^ label[i]!
  const one = block.findIndex((byte, i) => i >= label.length && byte !== 0)
  if (one === -1 || block[one] !== 1) wrong |= 1
  return wrong === 0 ? block.subarray(one + 1) : null
}

function xor(bytes: Buffer, by: Buffer): void {
  for (let i = 0; i < bytes.length; i++) bytes[i]! ^= by[i]!
}

/** Creates an MGF1 mask (RFC 8017 appendix B.2.1). */
function mask(seed: Buffer, length: number, hash: string): Buffer {
  const blocks: Buffer[] = []
  const counter = Buffer.alloc(4)
  for (let bytes = 0; bytes < length; bytes += blocks[0]!.length) {
    counter.writeUInt32BE(blocks.length)
    blocks.push(createHash(hash).update(seed).update(counter).digest())
  }
  return Buffer.concat(blocks).subarray(0, length)
}

/** Removes PKCS #1 v1.5 padding (RFC 8017 section 7.2.2 step 3), which the library does not allow. */
function pkcs1Key(key: KeyObject, value: Buffer): Buffer | null {
  try {
    const padded = rawDecrypt(key, value)
    const end = padded.indexOf(0, 2)
    const isPadded = padded[0] === 0 && padded[1] === 2 && end >= 10
    return isPadded ? padded.subarray(end + 1) : null
  } catch {
    return null
  }
}

function rawDecrypt(key: KeyObject, value: Buffer): Buffer {
  return privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, value)
}
