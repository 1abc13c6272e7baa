import { createHash, type X509Certificate } from 'node:crypto'

/** The names under which a message may refer to a certificate. */
export interface CertificateNames {
  /** SHA-1 of the DER form, in Base64. */
  readonly thumbprint: string
  /** The extension, in Base64; null when the certificate has none. */
  readonly subjectKeyIdentifier: string | null
  readonly serial: bigint
  /** The issuer in a form that does not depend on how it is written. */
  readonly issuer: string
}

/** The names of a certificate. */
export function namesOf(certificate: X509Certificate): CertificateNames {
  return {
    thumbprint: thumbprintOf(certificate.raw),
    subjectKeyIdentifier: subjectKeyIdentifier(certificate.raw)?.toString('base64') ?? null,
    serial: BigInt(`0x${certificate.serialNumber}`),
    issuer: comparable(certificate.issuer.split('\n')),
  }
}

/** Whether these are the names of the certificate in that Base64. */
export function isNameOf({ thumbprint }: CertificateNames, base64: string): boolean {
  return thumbprint === thumbprintOf(Buffer.from(base64, 'base64'))
}

function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('base64')
}

/** A distinguished name as messages write it (RFC 4514), in the same form as `CertificateNames.issuer`. */
export function comparableIssuer(name: string): string {
  return comparable(name.split(/(?<!\\),/))
}

/** Order, spaces and case say nothing about who it is; this is for finding a certificate, not for trusting one. */
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

/** The issuer as RFC 4514 writes it: the last part first. */
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

/** OID 2.5.29.14, then an OCTET STRING that holds the OCTET STRING of the identifier. */
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
