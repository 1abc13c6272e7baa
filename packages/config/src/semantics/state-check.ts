import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

/** The authority of the store's server is there. */
export function checkState(inspection: Inspection): void {
  const caFile = inspection.document.state?.tls?.caFile
  if (caFile !== undefined) checkPemFile(inspection, caFile, ['state', 'tls', 'caFile'])
}
