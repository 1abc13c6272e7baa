import { resolve } from 'node:path'
import { type DocumentPath, isMapping } from '../diagnostic/document-path.js'
import {
  type CertificateWarning,
  certificateWarnings,
  describeCertificate,
} from '../grammar/certificate-dates.js'
import { writtenPathsOf } from '../reference/relative-files.js'
import type { Finding } from '../report/report.js'
import type { Inspection } from './inspection.js'

/** Minimum length of an inline certificate in characters. */
const MIN_LENGTH = 200

/**
 * Warns of certificates that have expired, soon expire or are not valid yet, wherever a document or a policy names a
 * file with certificates or has them inline.
 */
export function checkCertificateDates(inspection: Inspection): void {
  for (const finding of certificateFindings(inspection)) inspection.report.add(finding)
}

/** Returns the warnings about certificates. @param soonMs time before expiry in which a certificate needs attention */
export function certificateFindings(inspection: Inspection, soonMs?: number): readonly Finding[] {
  const { whole, catalog, readFile, report } = inspection
  const nowMs = Date.now()
  const findings: Finding[] = []
  const files = new Set(writtenPathsOf(whole, catalog))
  const known = new Map<string, readonly CertificateWarning[]>()
  const warningsOf = (text: string): readonly CertificateWarning[] => {
    if (text.length > MIN_LENGTH && text.includes('-----BEGIN CERTIFICATE'))
      return certificateWarnings(text, nowMs, soonMs)
    if (!files.has(text)) return []
    const file = resolve(inspection.folder, text)
    const warnings = known.get(file) ?? certificateWarnings(contentOf(file, readFile), nowMs, soonMs)
    known.set(file, warnings)
    return warnings
  }
  const visit = (value: unknown, path: DocumentPath): void => {
    if (typeof value === 'string') {
      const [first, ...others] = warningsOf(value)
      if (first === undefined) return
      const rest = others.length === 0 ? '' : `; ${others.length} more in this file need attention`
      const where = value.includes('\n') ? '' : ` in ${String(path.at(-1))} ${report.quote(value, path)}`
      findings.push({
        path,
        severity: 'warning',
        rule: 'certificate-expiry',
        message: `${describeCertificate(first, where, nowMs)}${rest}`,
        remedy: first.kind === 'not-yet-valid' ? 'check the clock and the certificate' : 'renew it',
        ofMachine: true,
      })
    } else if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) visit(item, [...path, i])
    } else if (isMapping(value)) {
      for (const [key, part] of Object.entries(value)) visit(part, [...path, key])
    }
  }
  visit(whole, [])
  return findings
}

/** Returns the content of a file, or an empty text: another check reports files that cannot be read. */
function contentOf(file: string, readFile: (path: string) => string): string {
  try {
    return readFile(file)
  } catch {
    return ''
  }
}
