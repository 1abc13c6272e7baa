import { formatPath } from '../../diagnostic/document-path.js'
import { certificateFindings } from '../../semantics/certificate-check.js'
import type { LintRule } from './rule.js'

const SOON_MS = 30 * 86_400_000

/** Reports certificates that expire within a month. Validation reports those that expire sooner. */
export const certificateExpiry: LintRule = {
  id: 'certificate-expiry',
  severity: 'warning',
  title: 'A certificate has expired, or expires within 30 days.',
  why: 'Clients reject a listener with an expired certificate, and the gateway rejects such targets. The rule reads every certificate in the document and in the files that it names. `gw validate` warns 14 days before expiry.',
  bad: `listeners:
  - { address: 127.0.0.1:8443, engine: node, tls: { certFile: expired.pem, keyFile: key.pem } }
`,
  good: `listeners:
  - { address: 127.0.0.1:8443, engine: node, tls: { certFile: valid.pem, keyFile: key.pem } }
`,
  check(subject) {
    const reported = subject.report.warnings.filter(({ rule }) => rule === 'certificate-expiry')
    const paths = new Set(reported.map(({ path }) => formatPath(path)))
    return certificateFindings(subject, SOON_MS).filter(({ path }) => !paths.has(formatPath(path)))
  },
}
