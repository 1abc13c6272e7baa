import { type KeyObject, X509Certificate } from 'node:crypto'
import type { CompileEnv } from '@sluice/core'
import { rsaWeaknessOf } from '@sluice/policies/crypto/keys/key-strength'
import { type TextSource, textOfSource } from '@sluice/policies/shared/options/text-source'
import { parseTime } from '@sluice/policies/shared/time/utc-time'
import type { XmlElement } from 'libxml2-wasm'
import { attributeOf, base64Bytes, childrenNamed, isElement } from '../../content/ws-security/elements.js'
import { NS } from '../../content/ws-security/names.js'
import { certificateFrom } from '../../content/ws-security/pem.js'
import { parseXml } from '../../engines/xml/gate.js'
import { XML_LIMITS } from '../../engines/xml/limits.js'
import { SAML } from './names.js'
import type { SamlConfig } from './schema.js'

/**
 * Key of an identity provider. Its validity combines that of the certificate and the metadata, in
 * milliseconds since 1970.
 */
export interface IssuerKey {
  readonly key: KeyObject
  readonly validFromMs: number
  readonly validToMs: number
}

/** Configuration of an identity provider. */
export interface IdentityProvider {
  readonly entityId: string
  readonly keys: readonly IssuerKey[]
  /** Login URL for redirects, or null if unknown. */
  readonly ssoUrl: string | null
  /** Expiry of its metadata in milliseconds since 1970, or Infinity. */
  readonly validUntilMs: number
}

const MAX_METADATA_BYTES = 1024 * 1024
const MAX_CERTIFICATE_LENGTH = 16_384

/** Interval of the check for expired metadata, in milliseconds. */
const LOOK_EVERY_MS = 60_000
const EXPIRED = 'saml_metadata_expired'

/**
 * Opens the provider of a policy, and reports when its metadata expire.
 * @throws Error as `identityProvider` does.
 */
export function openIdentityProvider(idp: SamlConfig['idp'], env: CompileEnv): IdentityProvider {
  const provider = identityProvider(idp)
  const { validUntilMs } = provider
  if (validUntilMs === Number.POSITIVE_INFINITY) return provider
  const problem = `'idp.metadata' was valid until ${new Date(validUntilMs).toISOString()}: get a new file from the provider`
  let isReported = Date.now() >= validUntilMs
  if (isReported) env.reportOutdated(EXPIRED, problem)
  env.schedule(LOOK_EVERY_MS, () => {
    if (isReported || Date.now() < validUntilMs) return
    isReported = true
    env.report(EXPIRED, { problem })
  })
  return provider
}

/** Reads the configuration of a provider. @throws Error for a missing or unreadable description. */
export function identityProvider(idp: SamlConfig['idp']): IdentityProvider {
  const { metadata, entityId, certificates, ssoUrl, allowExpired = false } = idp
  if ((metadata === undefined) === (entityId === undefined))
    throw new Error("'idp' needs either 'metadata' or 'entityId' with 'certificates'")
  const description =
    metadata === undefined
      ? {
          ...{ entityId: entityId!, certificates: configuredCertificates(certificates), ssoUrl: null },
          validUntilMs: Number.POSITIVE_INFINITY,
        }
      : readMetadata(metadata)
  const { validUntilMs } = description
  const keys = description.certificates.map((certificate) => {
    const key = keyOf(certificate, allowExpired)
    return { ...key, validToMs: Math.min(key.validToMs, validUntilMs) }
  })
  return { entityId: description.entityId, keys, ssoUrl: ssoUrl ?? description.ssoUrl, validUntilMs }
}

function configuredCertificates(certificates: readonly string[] | undefined): X509Certificate[] {
  if (certificates === undefined)
    throw new Error("'idp.entityId' needs 'idp.certificates': add the signing certificates of the provider")
  return certificates.map((pem, i) => certificateFrom(pem, `idp.certificates[${i}]`))
}

function keyOf(certificate: X509Certificate, allowExpired: boolean): IssuerKey {
  const key = certificate.publicKey
  if (!['rsa', 'ec'].includes(key.asymmetricKeyType ?? ''))
    throw new Error("'idp' has a key that is neither RSA nor EC")
  const weakness = rsaWeaknessOf(key)
  if (weakness !== null) throw new Error(`the key of a certificate of 'idp' ${weakness}`)
  if (allowExpired) return { key, validFromMs: Number.NEGATIVE_INFINITY, validToMs: Number.POSITIVE_INFINITY }
  return { key, validFromMs: Date.parse(certificate.validFrom), validToMs: Date.parse(certificate.validTo) }
}

interface ProviderMetadata {
  readonly entityId: string
  readonly certificates: readonly X509Certificate[]
  readonly ssoUrl: string | null
  readonly validUntilMs: number
}

/** Reads metadata (SAML Metadata 2.0, section 2). @throws Error */
function readMetadata(source: TextSource): ProviderMetadata {
  const view = parseXml(Buffer.from(textOfSource(source)), { ...XML_LIMITS, maxBytes: MAX_METADATA_BYTES })
  try {
    const { root } = view.document
    const entityId = attributeOf(root, 'entityID')
    const [role, ...more] = childrenNamed(root, SAML.metadata, 'IDPSSODescriptor')
    if (!isElement(root, SAML.metadata, 'EntityDescriptor') || entityId === null || role === undefined)
      throw new Error("'idp.metadata' is not the metadata of one identity provider")
    if (more.length > 0) throw new Error("'idp.metadata' describes the provider more than once")
    const certificates = childrenNamed(role, SAML.metadata, 'KeyDescriptor')
      .filter((one) => attributeOf(one, 'use') !== 'encryption')
      .flatMap(certificatesIn)
    if (certificates.length === 0) throw new Error("'idp.metadata' has no signing certificate")
    const [sso] = childrenNamed(role, SAML.metadata, 'SingleSignOnService').filter(
      (one) => attributeOf(one, 'Binding') === SAML.redirect,
    )
    const ssoUrl = sso === undefined ? null : attributeOf(sso, 'Location')
    return { entityId, certificates, ssoUrl, validUntilMs: Math.min(...[root, role].map(endOf)) }
  } finally {
    view.close()
  }
}

/**
 * Returns `validUntil` (SAML Metadata 2.0, sections 2.3.2 and 2.4.1), or Infinity if it is missing.
 * @throws Error for an invalid time.
 */
function endOf(element: XmlElement): number {
  const text = attributeOf(element, 'validUntil')
  if (text === null) return Number.POSITIVE_INFINITY
  const ms = parseTime(text)
  if (Number.isNaN(ms)) throw new Error("'validUntil' in 'idp.metadata' is not a time in UTC")
  return ms
}

function certificatesIn(descriptor: XmlElement): X509Certificate[] {
  return childrenNamed(descriptor, NS.ds, 'KeyInfo')
    .flatMap((info) => childrenNamed(info, NS.ds, 'X509Data'))
    .flatMap((data) => childrenNamed(data, NS.ds, 'X509Certificate'))
    .map((element) => new X509Certificate(base64Bytes(element, MAX_CERTIFICATE_LENGTH)))
}
