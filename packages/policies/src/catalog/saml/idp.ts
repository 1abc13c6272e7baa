import { type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { XmlElement } from 'libxml2-wasm'
import { rsaWeaknessOf } from '../../crypto/keys/key-strength.js'
import { parseXml } from '../../engines/xml/gate.js'
import { XML_LIMITS } from '../../engines/xml/limits.js'
import { attributeOf, base64Bytes, childrenNamed, isElement } from '../ws-security/elements.js'
import { NS } from '../ws-security/names.js'
import { certificateFrom } from '../ws-security/pem.js'
import { SAML } from './names.js'
import type { SamlConfig } from './schema.js'

/** A key of an identity provider, and when its certificate is valid, ms since 1970. */
export interface IssuerKey {
  readonly key: KeyObject
  readonly validFromMs: number
  readonly validToMs: number
}

/** What is known of an identity provider. */
export interface IdentityProvider {
  readonly entityId: string
  readonly keys: readonly IssuerKey[]
  /** Where it takes requests by redirect; null: nobody says. */
  readonly ssoUrl: string | null
}

const MAX_METADATA_BYTES = 1024 * 1024
const MAX_CERTIFICATE_LENGTH = 16_384

/** @throws Error for a provider that is not described, or by what cannot be read. */
export function identityProvider(idp: SamlConfig['idp']): IdentityProvider {
  const { metadataFile, entityId, certificates, ssoUrl, allowExpired = false } = idp
  if ((metadataFile === undefined) === (entityId === undefined))
    throw new Error("'idp' needs either 'metadataFile' or 'entityId' with 'certificates'")
  const found =
    metadataFile === undefined
      ? { entityId: entityId!, certificates: written(certificates), ssoUrl: null }
      : described(metadataFile)
  const keys = found.certificates.map((certificate) => keyOf(certificate, allowExpired))
  return { entityId: found.entityId, keys, ssoUrl: ssoUrl ?? found.ssoUrl }
}

function written(certificates: readonly string[] | undefined): X509Certificate[] {
  if (certificates === undefined) throw new Error("'idp.entityId' needs 'idp.certificates'")
  return certificates.map((pem, i) => certificateFrom(pem, `idp.certificates[${i}]`))
}

function keyOf(certificate: X509Certificate, allowExpired: boolean): IssuerKey {
  const key = certificate.publicKey
  if (!['rsa', 'ec'].includes(key.asymmetricKeyType ?? ''))
    throw new Error("'idp' has a key that is neither RSA nor of an EC curve")
  const weakness = rsaWeaknessOf(key)
  if (weakness !== null) throw new Error(`the key of a certificate of 'idp' ${weakness}`)
  if (allowExpired) return { key, validFromMs: Number.NEGATIVE_INFINITY, validToMs: Number.POSITIVE_INFINITY }
  return { key, validFromMs: Date.parse(certificate.validFrom), validToMs: Date.parse(certificate.validTo) }
}

interface Described {
  readonly entityId: string
  readonly certificates: readonly X509Certificate[]
  readonly ssoUrl: string | null
}

/** SAML Metadata 2.0, section 2. @throws Error */
function described(file: string): Described {
  const view = parseXml(readFileSync(file), { ...XML_LIMITS, maxBytes: MAX_METADATA_BYTES })
  try {
    const { root } = view.document
    const entityId = attributeOf(root, 'entityID')
    const [role, ...more] = childrenNamed(root, SAML.metadata, 'IDPSSODescriptor')
    if (!isElement(root, SAML.metadata, 'EntityDescriptor') || entityId === null || role === undefined)
      throw new Error("'idp.metadataFile' is not the metadata of one identity provider")
    if (more.length > 0) throw new Error("'idp.metadataFile' describes the provider more than once")
    const certificates = childrenNamed(role, SAML.metadata, 'KeyDescriptor')
      .filter((one) => attributeOf(one, 'use') !== 'encryption')
      .flatMap(certificatesIn)
    if (certificates.length === 0) throw new Error("'idp.metadataFile' has no certificate that signs")
    const [sso] = childrenNamed(role, SAML.metadata, 'SingleSignOnService').filter(
      (one) => attributeOf(one, 'Binding') === SAML.redirect,
    )
    return { entityId, certificates, ssoUrl: sso === undefined ? null : attributeOf(sso, 'Location') }
  } finally {
    view.close()
  }
}

function certificatesIn(descriptor: XmlElement): X509Certificate[] {
  return childrenNamed(descriptor, NS.ds, 'KeyInfo')
    .flatMap((info) => childrenNamed(info, NS.ds, 'X509Data'))
    .flatMap((data) => childrenNamed(data, NS.ds, 'X509Certificate'))
    .map((element) => new X509Certificate(base64Bytes(element, MAX_CERTIFICATE_LENGTH)))
}
