import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

/** The authorities of the servers of values are there. */
export function checkState(inspection: Inspection): void {
  for (const part of ['state', 'cache'] as const) {
    const caFile = inspection.document[part]?.tls?.caFile
    if (caFile !== undefined) checkPemFile(inspection, caFile, [part, 'tls', 'caFile'])
  }
}
