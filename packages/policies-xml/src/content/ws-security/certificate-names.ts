import { createHash, type X509Certificate } from 'node:crypto'

/** Identifiers that a message may use to refer to a certificate. */
export interface CertificateNames {
  /** Base64 SHA-1 of the DER form. */
  readonly thumbprint: string
  /** Subject key identifier in base64, or null if the certificate has none. */
  readonly subjectKeyIdentifier: string | null
  readonly serial: bigint
  /** Normalized issuer name. */
  readonly issuer: string
}

/** Returns the identifiers of a certificate. */
export function namesOf(certificate: X509Certificate): CertificateNames {
  return {
    thumbprint: thumbprintOf(certificate.raw),
    subjectKeyIdentifier: subjectKeyIdentifier(certificate.raw)?.toString('base64') ?? null,
    serial: BigInt(`0x${certificate.serialNumber}`),
    issuer: comparable(certificate.issuer.split('\n')),
  }
}

/** True if the identifiers belong to the base64 certificate. */
export function isNameOf({ thumbprint }: CertificateNames, base64: string): boolean {
  return thumbprint === thumbprintOf(Buffer.from(base64, 'base64'))
}

function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('base64')
}

/** Normalizes a distinguished name in a message (RFC 4514), to compare it with `CertificateNames.issuer`. */
export function comparableIssuer(name: string): string {
  return comparable(name.split(/(?<!\\),/))
}

/** Normalizes order, spaces and case. The result is used only to find a certificate, not to trust it. */
function comparable(parts: readonly string[]): string {
  return parts
    .map((part) =>
      part
        .replaceAll(/[\\\s"]/g, '')
        .toLowerCase()
        .replace(/^(?:emailaddress|1\.2\.840\.113549\.1\.9\.1)=/, 'e='),
    )
    .sort()
    .join(',')
}

/** Returns the issuer in the order of RFC 4514, the last part first. */
export function issuerName({ issuer }: X509Certificate): string {
  return issuer
    .split('\n')
    .reverse()
    .map((part) => {
      const equals = part.indexOf('=')
      return `${part.slice(0, equals)}=${part.slice(equals + 1).replaceAll(/[,+"\\<>;]/g, '\\$&')}`
    })
    .join(',')
}

/** OID 2.5.29.14 (subject key identifier) in DER. The identifier follows in two nested OCTET STRINGs. */
const SKI_OID = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0e])
const OCTET_STRING = 0x04

function subjectKeyIdentifier(der: Buffer): Buffer | null {
  const at = der.indexOf(SKI_OID)
  if (at === -1) return null
  const outer = at + SKI_OID.length
  if (der[outer] !== OCTET_STRING || der[outer + 2] !== OCTET_STRING) return null
  const length = der[outer + 3]!
  return der.subarray(outer + 4, outer + 4 + length)
}
