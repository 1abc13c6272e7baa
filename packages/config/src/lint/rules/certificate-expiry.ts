import { X509Certificate } from 'node:crypto'
import { type DocumentPath, isMapping } from '../../diagnostic/document-path.js'
import type { LintRule, LintSubject } from './rule.js'

const DAY_MS = 86_400_000
const SOON_DAYS = 30
const FILES: readonly (string | number | undefined)[] = ['certFile', 'caFile', 'clientCaFile']
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Reports certificates that expire soon or have expired. */
export const certificateExpiry: LintRule = {
  id: 'certificate-expiry',
  severity: 'warning',
  title: 'A certificate has expired, or expires within 30 days.',
  why: 'Clients refuse a listener with an expired certificate, and the gateway refuses targets. The rule reads every certificate of the files that the document names.',
  bad: `listeners:
  - { address: 127.0.0.1:8443, engine: node, tls: { certFile: expired.pem, keyFile: key.pem } }
`,
  good: `listeners:
  - { address: 127.0.0.1:8443, engine: node, tls: { certFile: valid.pem, keyFile: key.pem } }
`,
  check: (subject) =>
    filesIn(subject.whole, []).flatMap(({ path, file }) => {
      const ends = expiryOf(file, subject)
      if (ends === null || ends > subject.nowMs + SOON_DAYS * DAY_MS) return []
      const date = new Date(ends).toISOString().slice(0, 10)
      const days = Math.floor((ends - subject.nowMs) / DAY_MS)
      const message =
        days < 0
          ? `the certificate expired on ${date}`
          : `the certificate expires on ${date}, in ${days} days`
      return [
        { path, message, remedy: 'renew the certificate; engine: node loads renewed files within 10 s' },
      ]
    }),
}

function filesIn(
  value: unknown,
  path: DocumentPath,
): { readonly path: DocumentPath; readonly file: string }[] {
  if (typeof value === 'string') return FILES.includes(path.at(-1)) ? [{ path, file: value }] : []
  if (Array.isArray(value)) return value.flatMap((item, i) => filesIn(item, [...path, i]))
  return isMapping(value) ? Object.entries(value).flatMap(([key, item]) => filesIn(item, [...path, key])) : []
}

/** Returns the earliest end of the certificates in a file, or null if it contains none. */
function expiryOf(file: string, { readFile }: LintSubject): number | null {
  try {
    const ends = (readFile(file).match(PEM) ?? []).map((pem) => Date.parse(new X509Certificate(pem).validTo))
    return ends.length === 0 ? null : Math.min(...ends)
  } catch {
    // Validation reports files that cannot be read.
    return null
  }
}
