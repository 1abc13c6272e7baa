import { X509Certificate } from 'node:crypto'

/** A certificate that is not valid or expires soon. */
export interface CertificateWarning {
  readonly kind: 'expired' | 'not-yet-valid' | 'expires-soon'
  /** Common name of the subject, or the whole subject. */
  readonly name: string
  /** End of the validity, or its start for a certificate that is not valid yet. */
  readonly date: Date
}

const DAY_MS = 86_400_000
/** Time before expiry in which a warning is given, in milliseconds. */
const SOON_MS = 14 * DAY_MS
/** Maximum number of certificates that are read from a text. System bundles have about 150. */
const MAX_CERTIFICATES = 500
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g
/** Matches base64 certificates in SAML metadata (`<ds:X509Certificate>`) and JWKS (`"x5c": [`). */
const EMBEDDED = /(?:<(?:\w+:)?X509Certificate>|"x5c"\s*:\s*\[\s*")\s*([A-Za-z0-9+/=\s]{100,16384})/g

/**
 * Returns the certificates in a text that need attention: PEM, SAML metadata or a JWKS. Others are ignored.
 * @param soonMs time before expiry in which a certificate needs attention, in milliseconds
 */
export function certificateWarnings(
  text: string,
  nowMs: number,
  soonMs = SOON_MS,
): readonly CertificateWarning[] {
  const pems = [...text.matchAll(PEM)].map(([pem]) => pem)
  const embedded = [...text.matchAll(EMBEDDED)].map(([, base64]) => Buffer.from(base64!, 'base64'))
  return [...pems, ...embedded]
    .slice(0, MAX_CERTIFICATES)
    .flatMap((source) => warningOf(source, nowMs, soonMs))
}

/**
 * Describes a certificate, such as `the certificate 'api.example.com' in certFile 'a.pem' expired on 2026-11-30`.
 * @param place file with the certificate, for example ` in certFile 'a.pem'`, or an empty text
 */
export function describeCertificate(
  { kind, name, date }: CertificateWarning,
  place: string,
  nowMs: number,
): string {
  const day = date.toISOString().slice(0, 10)
  const days = Math.floor((date.getTime() - nowMs) / DAY_MS)
  const left = days === 0 ? 'within a day' : `in ${days} day${days === 1 ? '' : 's'}`
  const state = {
    expired: `expired on ${day}`,
    'not-yet-valid': `is not valid before ${day}`,
    'expires-soon': `expires ${left}, on ${day}`,
  }[kind]
  return `the certificate '${name}'${place} ${state}`
}

function warningOf(source: string | Buffer, nowMs: number, soonMs: number): CertificateWarning[] {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(source)
  } catch {
    return []
  }
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)]
  const name = /^CN=(.+)$/m.exec(certificate.subject)?.[1] ?? certificate.subject.replaceAll('\n', ', ')
  if (to.getTime() <= nowMs) return [{ kind: 'expired', name, date: to }]
  if (from.getTime() > nowMs) return [{ kind: 'not-yet-valid', name, date: from }]
  return to.getTime() - nowMs < soonMs ? [{ kind: 'expires-soon', name, date: to }] : []
}
