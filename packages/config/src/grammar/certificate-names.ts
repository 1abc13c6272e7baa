import { X509Certificate } from 'node:crypto'

/**
 * Returns the server names of a certificate in lower case: the configured ones, or the DNS names in the
 * certificate.
 * @param pem called only if no names are configured
 * @throws Error if it is not a certificate
 */
export function certificateNames(serverNames: readonly string[], pem: () => string | Buffer): string[] {
  if (serverNames.length > 0) return serverNames.map((name) => name.toLowerCase())
  const { subjectAltName = '' } = new X509Certificate(pem())
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,]+)/g)].map(([, name]) => name!.toLowerCase())
}
