import type { X509Certificate } from 'node:crypto'
import type { ClientCertificate } from '../contract/client-certificate.js'

/**
 * Matches one alternative name as printed by OpenSSL. Node.js quotes values that could be misread as several
 * names.
 */
const NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y
/** Maximum number of names to read. Certificates from authorities have fewer. */
const MAX_NAMES = 100

/** Extracts the properties of a certificate. Does not verify it. */
export function certificateFacts(certificate: X509Certificate): ClientCertificate {
  return {
    subject: distinguishedName(certificate.subject),
    issuer: distinguishedName(certificate.issuer),
    names: alternativeNames(certificate.subjectAltName ?? ''),
    serial: certificate.serialNumber,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    expiresAt: Date.parse(certificate.validTo),
  }
}

/**
 * Converts OpenSSL's format, with one attribute per line, to the reversed order of RFC 4514. The escaping is
 * the same.
 */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',')
}

/** Returns no names if the text cannot be parsed completely, because a forged name must not count. */
function alternativeNames(text: string): string[] {
  const names: string[] = []
  NAME.lastIndex = 0
  while (NAME.lastIndex < text.length && names.length < MAX_NAMES) {
    const match = NAME.exec(text)
    if (match === null) return []
    const [, kind, value] = match as unknown as [string, string, string]
    names.push(`${kind}:${value.startsWith('"') ? (JSON.parse(value) as string) : value}`)
  }
  return names
}
