import type { XmlElement } from 'libxml2-wasm'
import { type CertificateNames, comparableIssuer } from './certificate-names.js'
import {
  attributeOf,
  base64Bytes,
  base64Text,
  childElements,
  childrenNamed,
  idOf,
  isElement,
  localReference,
  plainText,
  requiredChild,
} from './elements.js'
import { SecurityFault } from './fault.js'
import { NS, TOKEN } from './names.js'
import { MAX_CERTIFICATE_BYTES } from './trust.js'

/**
 * Reference to a key: an included certificate, or the identifier of a known one. It does not establish trust.
 */
export type TokenReference =
  | { readonly kind: 'certificate'; readonly base64: string }
  | { readonly kind: 'name'; isNamed(names: CertificateNames): boolean }

/** Maximum length in base64, with room for line breaks. */
const MAX_CERTIFICATE_TEXT = MAX_CERTIFICATE_BYTES * 1.5
const MAX_NAME_LENGTH = 1024

/**
 * Reads a ds:KeyInfo, which must have exactly one wsse:SecurityTokenReference to an X.509 certificate.
 * @throws SecurityFault for any other reference
 */
export function tokenReference(keyInfo: XmlElement, security: XmlElement): TokenReference {
  const [reference, ...others] = childElements(keyInfo)
  if (
    reference === undefined ||
    others.length > 0 ||
    !isElement(reference, NS.wsse, 'SecurityTokenReference')
  )
    throw new SecurityFault('UnsupportedSecurityToken', 'the key is not in a SecurityTokenReference')
  const [target, ...more] = childElements(reference)
  if (target === undefined || more.length > 0)
    throw new SecurityFault('InvalidSecurity', 'expected exactly one reference')
  if (isElement(target, NS.wsse, 'Reference')) return includedToken(target, security)
  if (isElement(target, NS.wsse, 'KeyIdentifier')) return byIdentifier(target)
  if (isElement(target, NS.ds, 'X509Data')) return byIssuerSerial(target)
  throw new SecurityFault('UnsupportedSecurityToken', 'unknown type of reference')
}

/** Resolves a wsse:BinarySecurityToken in the same Security header. */
function includedToken(reference: XmlElement, security: XmlElement): TokenReference {
  const id = localReference(attributeOf(reference, 'URI'), 'SecurityTokenUnavailable')
  const token = childrenNamed(security, NS.wsse, 'BinarySecurityToken').find((child) => idOf(child) === id)
  if (token === undefined) throw new SecurityFault('SecurityTokenUnavailable', 'no such token in the header')
  return { kind: 'certificate', base64: certificateText(token) }
}

function certificateText(token: XmlElement): string {
  const encoding = attributeOf(token, 'EncodingType')
  if (attributeOf(token, 'ValueType') !== TOKEN.x509 || (encoding !== null && encoding !== TOKEN.base64))
    throw new SecurityFault('UnsupportedSecurityToken', 'the token is not an X.509 certificate')
  return base64Text(token, MAX_CERTIFICATE_TEXT, 'InvalidSecurityToken')
}

function byIdentifier(identifier: XmlElement): TokenReference {
  const type = attributeOf(identifier, 'ValueType')
  if (type === TOKEN.x509) return { kind: 'certificate', base64: certificateText(identifier) }
  if (type !== TOKEN.thumbprint && type !== TOKEN.subjectKeyIdentifier)
    throw new SecurityFault('UnsupportedSecurityToken', 'unknown type of key identifier')
  const value = base64Bytes(identifier, MAX_NAME_LENGTH, 'InvalidSecurityToken').toString('base64')
  if (type === TOKEN.thumbprint) return { kind: 'name', isNamed: (names) => names.thumbprint === value }
  return { kind: 'name', isNamed: (names) => names.subjectKeyIdentifier === value }
}

function byIssuerSerial(x509Data: XmlElement): TokenReference {
  const pair = requiredChild(x509Data, NS.ds, 'X509IssuerSerial', 'UnsupportedSecurityToken')
  const issuerText = plainText(requiredChild(pair, NS.ds, 'X509IssuerName'))
  const serialText = plainText(requiredChild(pair, NS.ds, 'X509SerialNumber')).trim()
  if (issuerText.length > MAX_NAME_LENGTH || !/^\d{1,60}$/.test(serialText))
    throw new SecurityFault('InvalidSecurityToken', 'not an issuer and a serial number')
  const issuer = comparableIssuer(issuerText)
  const serial = BigInt(serialText)
  return { kind: 'name', isNamed: (names) => names.serial === serial && names.issuer === issuer }
}
