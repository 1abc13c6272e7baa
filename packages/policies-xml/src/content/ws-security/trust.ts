import { type KeyObject, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type CertificateNames, namesOf } from './certificate-names.js'
import type { Identity } from './identity.js'

/** OID 2.5.29.15. It is followed by an optional "critical" flag and an OCTET STRING with the usage bits. */
const KEY_USAGE_OID = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0f])
const CRITICAL = Buffer.from([0x01, 0x01, 0xff])
const OCTET_STRING = 0x04
const BIT_STRING = 0x03
/** Bits of digitalSignature and nonRepudiation (RFC 5280 section 4.2.1.3). */
const SIGNING = 0xc0

/**
 * Returns true if the key usage allows signatures. A certificate without the extension may be used for
 * everything. Node.js does not report the usage. If its OID occurs several times, perhaps in a name, each
 * must allow it.
 */
function maySign({ raw }: X509Certificate): boolean {
  for (let at = raw.indexOf(KEY_USAGE_OID); at !== -1; at = raw.indexOf(KEY_USAGE_OID, at + 1)) {
    let value = at + KEY_USAGE_OID.length
    if (raw.subarray(value, value + CRITICAL.length).equals(CRITICAL)) value += CRITICAL.length
    const isBits = raw[value] === OCTET_STRING && raw[value + 2] === BIT_STRING
    if (!isBits || (raw[value + 5]! & SIGNING) === 0) return false
  }
  return true
}

/** A certificate that may sign, with its consumer. */
export interface Signer {
  readonly key: KeyObject
  readonly identity: Identity
  readonly validFromMs: number
  readonly validToMs: number
}

/** A configured certificate. */
export interface PinnedCertificate {
  readonly certificate: X509Certificate
  readonly identity: Identity
}

/** Maximum certificate size in bytes. */
export const MAX_CERTIFICATE_BYTES = 8192
/** Maximum number of cached signers. */
const MAX_REMEMBERED = 1000
/** Minimum RSA key size in certificates of an authority. */
const MIN_RSA_BITS = 2048

/** Trusted certificates. A message can only refer to one of them, or include one issued by an authority. */
export class Trust {
  readonly #pinned: readonly {
    readonly raw: Buffer
    readonly names: CertificateNames
    readonly signer: Signer
  }[]
  readonly #authorities: readonly X509Certificate[]
  readonly #remembered = new LRUCache<string, Signer>({ max: MAX_REMEMBERED })

  constructor(pinned: readonly PinnedCertificate[], authorities: readonly X509Certificate[]) {
    this.#pinned = pinned.map(({ certificate, identity }) => ({
      raw: certificate.raw,
      names: namesOf(certificate),
      signer: signerOf(certificate, identity),
    }))
    this.#authorities = authorities
  }

  /** Returns the signer of messages without KeyInfo, or null if there are several candidates. */
  get only(): Signer | null {
    return this.#pinned.length === 1 && this.#authorities.length === 0 ? this.#pinned[0]!.signer : null
  }

  /** Returns the configured certificate that matches, or null. */
  named(isNamed: (names: CertificateNames) => boolean): Signer | null {
    return this.#pinned.find(({ names }) => isNamed(names))?.signer ?? null
  }

  /** Returns the signer of an included base64 certificate, or null if it is not trusted. */
  signerFor(base64: string, nowMs: number): Signer | null {
    const known = this.#remembered.get(base64)
    if (known !== undefined) return known
    const signer = this.#authenticated(Buffer.from(base64, 'base64'), nowMs)
    if (signer !== null) this.#remembered.set(base64, signer)
    return signer
  }

  /** Returns the signer, or null. Untrusted certificates are not cached, so they cannot evict others. */
  #authenticated(der: Buffer, nowMs: number): Signer | null {
    const pinned = this.#pinned.find(({ raw }) => raw.equals(der))
    if (pinned !== undefined) return pinned.signer
    if (this.#authorities.length === 0 || der.length > MAX_CERTIFICATE_BYTES) return null
    return this.#issued(der, nowMs)
  }

  #issued(der: Buffer, nowMs: number): Signer | null {
    const certificate = parse(der)
    if (certificate === null || certificate.ca || !isLongEnough(certificate.publicKey)) return null
    if (!maySign(certificate)) return null
    const issuer = this.#authorities.find((authority) => isIssuedBy(certificate, authority, nowMs))
    if (issuer === undefined) return null
    const name = certificate.subject.split('\n').join(', ')
    return within(signerOf(certificate, { id: name, name, groups: [] }), issuer)
  }
}

/** Limits the validity of a cached signer to that of the authority. */
function within(signer: Signer, authority: X509Certificate): Signer {
  return {
    ...signer,
    validFromMs: Math.max(signer.validFromMs, Date.parse(authority.validFrom)),
    validToMs: Math.min(signer.validToMs, Date.parse(authority.validTo)),
  }
}

function signerOf(certificate: X509Certificate, identity: Identity): Signer {
  return {
    key: certificate.publicKey,
    identity,
    validFromMs: Date.parse(certificate.validFrom),
    validToMs: Date.parse(certificate.validTo),
  }
}

function parse(der: Buffer): X509Certificate | null {
  try {
    const certificate = new X509Certificate(der)
    // Trailing bytes would give one certificate many cache keys.
    return certificate.raw.equals(der) ? certificate : null
  } catch {
    return null
  }
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate, nowMs: number): boolean {
  const isCurrent = Date.parse(authority.validFrom) <= nowMs && nowMs <= Date.parse(authority.validTo)
  return isCurrent && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isLongEnough({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS
}
