import type { KeyObject, X509Certificate } from 'node:crypto'
import { parseDuration } from '@sluice/core'
import { element, type XmlPart } from '../../engines/xml/xml-builder.js'
import type { AddConfig } from './add-schema.js'
import { kindOf, type SignatureMethod, signatureMethod } from './algorithms.js'
import { issuerName, namesOf } from './certificate-names.js'
import { DEFAULT_TTL } from './check-schema.js'
import { type DataCipher, dataCipher } from './ciphers.js'
import type { KeyTransportName } from './key-transport.js'
import { NS, TOKEN } from './names.js'
import { assertSameKey, certificateFrom, privateKeyFrom } from './pem.js'
import type { SignedPart } from './signature-check.js'
import type { PasswordType } from './username-token.js'

/** Compiled rules for adding security elements to requests or responses. */
export interface AdditionRules {
  readonly actor: string
  readonly mustUnderstand: boolean
  readonly timestampTtlMs: number | null
  readonly usernameToken: {
    readonly name: string
    readonly password: string
    readonly type: PasswordType
  } | null
  readonly signature: SigningRules | null
  readonly encryption: EncryptionRules | null
}

/** Compiled rules for signing. */
export interface SigningRules {
  readonly key: KeyObject
  readonly method: SignatureMethod
  readonly parts: ReadonlySet<SignedPart>
  /** Base64 certificate to include, or null. */
  readonly token: string | null
  /** Reference to the certificate, or null if it is included. */
  readonly reference: XmlPart | null
}

/** Compiled rules for encrypting the Body. */
export interface EncryptionRules {
  readonly key: KeyObject
  readonly cipher: DataCipher
  readonly keyTransport: KeyTransportName
  readonly reference: XmlPart
}

/** Compiles the `add` configuration. @throws Error for problems that the schema cannot find */
export function additionRules(config: AddConfig): AdditionRules {
  const { timestamp, usernameToken, signature, encryption } = config
  if (!timestamp && !usernameToken && !signature && !encryption)
    throw new Error("'add' is empty: set timestamp, usernameToken, signature or encryption, or remove it")
  return {
    actor: config.actor ?? '',
    mustUnderstand: config.mustUnderstand ?? true,
    timestampTtlMs: timestamp === undefined ? null : parseDuration(timestamp.ttl ?? DEFAULT_TTL),
    usernameToken: usernameToken === undefined ? null : { type: 'digest', ...usernameToken },
    signature: signature === undefined ? null : signingRules(signature, config),
    encryption: encryption === undefined ? null : encryptionRules(encryption, signature !== undefined),
  }
}

function signingRules(
  config: NonNullable<AddConfig['signature']>,
  { timestamp, usernameToken }: AddConfig,
): SigningRules {
  const key = privateKeyFrom(config.key, 'signature.key')
  const certificate = certificateFrom(config.certificate, 'signature.certificate')
  assertSameKey(key, certificate, 'signature.certificate')
  const kind = kindOf(key)
  const method = signatureMethod(config.algorithm ?? (kind === 'ec' ? 'ecdsa-sha256' : 'rsa-sha256'))
  if (method.kind !== kind)
    throw new Error(`'signature.key' cannot sign with ${method.name}: use a matching key`)
  const parts = new Set<SignedPart>(
    config.parts ?? (timestamp === undefined ? ['body'] : ['body', 'timestamp']),
  )
  if (parts.has('timestamp') && timestamp === undefined)
    throw new Error("'signature.parts' includes the timestamp: set 'timestamp'")
  if (parts.has('username-token') && usernameToken === undefined)
    throw new Error("'signature.parts' includes the username-token: set 'usernameToken'")
  const { keyInfo = 'token' } = config
  return {
    key,
    method,
    parts,
    token: keyInfo === 'token' ? certificate.raw.toString('base64') : null,
    reference: keyInfo === 'token' ? null : certificateReference(certificate, keyInfo, 'signature.keyInfo'),
  }
}

function encryptionRules(config: NonNullable<AddConfig['encryption']>, isSigned: boolean): EncryptionRules {
  const option = 'encryption.certificate'
  const certificate = certificateFrom(config.certificate, option)
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') throw new Error(`'${option}' must have an RSA key`)
  const cipher = dataCipher(config.cipher ?? 'aes256-gcm')
  if (cipher.isCbc && !isSigned)
    throw new Error(
      `'encryption.cipher' ${cipher.name} does not protect the message from changes: add a signature or use GCM`,
    )
  return {
    key: certificate.publicKey,
    cipher,
    keyTransport: config.keyTransport ?? 'rsa-oaep',
    reference: certificateReference(certificate, config.keyInfo ?? 'thumbprint', 'encryption.keyInfo'),
  }
}

/** Returns the content of the SecurityTokenReference. It uses namespaces declared outside of it. */
function certificateReference(
  certificate: X509Certificate,
  how: 'thumbprint' | 'issuer-serial' | 'subject-key-identifier',
  option: string,
): XmlPart {
  const names = namesOf(certificate)
  if (how === 'issuer-serial') {
    const issuer = element('ds:X509IssuerName', issuerName(certificate))
    const serial = element('ds:X509SerialNumber', String(names.serial))
    return element('ds:X509Data', [element('ds:X509IssuerSerial', [issuer, serial])], { 'xmlns:ds': NS.ds })
  }
  const value = how === 'thumbprint' ? names.thumbprint : names.subjectKeyIdentifier
  if (value === null)
    throw new Error(`'${option}': the certificate has no subject key identifier: use thumbprint`)
  const type = how === 'thumbprint' ? TOKEN.thumbprint : TOKEN.subjectKeyIdentifier
  return element('wsse:KeyIdentifier', value, { EncodingType: TOKEN.base64, ValueType: type })
}
