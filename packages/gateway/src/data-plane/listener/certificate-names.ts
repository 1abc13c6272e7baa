import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { NamedCertificatePlan } from '@sluice/config'

/**
 * The server names that a certificate is for: those of the plan, else those that stand in it; in lower case.
 * @throws Error when it cannot be read.
 */
export function certificateNames({ certFile, serverNames }: NamedCertificatePlan): string[] {
  if (serverNames.length > 0) return serverNames.map((name) => name.toLowerCase())
  const { subjectAltName = '' } = new X509Certificate(readFileSync(certFile))
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,]+)/g)].map(([, name]) => name!.toLowerCase())
}
