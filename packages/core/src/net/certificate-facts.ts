import type { X509Certificate } from 'node:crypto'
import type { ClientCertificate } from '../contract/client-certificate.js'

/** One alternative name as OpenSSL prints it; Node.js puts values in quotes that could be read as several names. */
const NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y
/** More than any authority signs; what is beyond is not read. */
const MAX_NAMES = 100

/** What a certificate says of its bearer. Whether it is to be believed is the caller's question. */
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

/** OpenSSL prints an attribute on each line, escaped as in RFC 4514, whose order is the other way round. */
function distinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',')
}

/** None where the text cannot be read to its end: a name that somebody else could have written must not count. */
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
