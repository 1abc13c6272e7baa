import { X509Certificate } from 'node:crypto'

/**
 * The server names that a certificate is for: those that its document gives it, else those that stand in it; in lower case.
 * @param pem read only where the document gives no names.
 * @throws Error when it is no certificate.
 */
export function certificateNames(serverNames: readonly string[], pem: () => string | Buffer): string[] {
  if (serverNames.length > 0) return serverNames.map((name) => name.toLowerCase())
  const { subjectAltName = '' } = new X509Certificate(pem())
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,]+)/g)].map(([, name]) => name!.toLowerCase())
}
