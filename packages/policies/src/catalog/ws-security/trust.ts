import { type KeyObject, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type CertificateNames, namesOf } from './certificate-names.js'
import type { Identity } from './identity.js'

/** OID 2.5.29.15, then perhaps "critical", then an OCTET STRING with the BIT STRING of the usages. */
const KEY_USAGE_OID = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0f])
const CRITICAL = Buffer.from([0x01, 0x01, 0xff])
const OCTET_STRING = 0x04
const BIT_STRING = 0x03
/** digitalSignature and nonRepudiation (RFC 5280 section 4.2.1.3). */
const SIGNING = 0xc0

/**
 * Whether the authority lets the key sign messages; a certificate that does not say what its key is for may do all.
 * Node.js does not report the usage. Where its OID stands more than once, in a name perhaps, each has to allow it.
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

/** A certificate that may sign, and for whom. */
export interface Signer {
  readonly key: KeyObject
  readonly identity: Identity
  readonly validFromMs: number
  readonly validToMs: number
}

/** A certificate that the configuration names. */
export interface PinnedCertificate {
  readonly certificate: X509Certificate
  readonly identity: Identity
}

/** Longest certificate that is looked at, in bytes. */
export const MAX_CERTIFICATE_BYTES = 8192
/** Certificates that are remembered with who they are for. */
const MAX_REMEMBERED = 1000
/** What a key that an authority has signed has at least. */
const MIN_RSA_BITS = 2048

/** Which certificates may sign. A message can only point at one of them, or bring one that an authority has signed. */
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

  /** The signer of messages that do not say who signed; null when there could be several. */
  get only(): Signer | null {
    return this.#pinned.length === 1 && this.#authorities.length === 0 ? this.#pinned[0]!.signer : null
  }

  /** The configured certificate with such a name; null when there is none. */
  named(isNamed: (names: CertificateNames) => boolean): Signer | null {
    return this.#pinned.find(({ names }) => isNamed(names))?.signer ?? null
  }

  /** The signer of a certificate that came with a message, in Base64; null when it is not trusted. */
  signerFor(base64: string, nowMs: number): Signer | null {
    const known = this.#remembered.get(base64)
    if (known !== undefined) return known
    const signer = this.#authenticated(Buffer.from(base64, 'base64'), nowMs)
    if (signer !== null) this.#remembered.set(base64, signer)
    return signer
  }

  /** What anybody sends is not remembered, so that it drives nobody else out. */
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

/** A signer is remembered for longer than this moment: it is not trusted once the authority has ended. */
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
    // Bytes after the certificate would make many of one.
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
