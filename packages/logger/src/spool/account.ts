import type { Receipt } from '../queue/messages.js'
import type { AdoptionResult } from './adoption.js'

/** Reports changes of the record counts. */
export type ReportChange = (change: Partial<Receipt>) => void

/** Origin of appended records: a batch, or the log itself. */
export type Incoming = { readonly length: number; readonly records: number } | { readonly adopted: number }

/** Returns the number of appended records. */
export function recordsOf(account: Incoming): number {
  return 'adopted' in account ? account.adopted : account.records
}

/**
 * Returns the changes of the counts after taking over the spools of others. Empty if nothing was taken over.
 */
export function changesOf(result: AdoptionResult): Partial<Receipt>[] {
  const { segments, damaged, lost, takeovers, problem } = result
  const changes: Partial<Receipt>[] = []
  let records = 0
  for (const segment of segments) records += segment.records
  if (takeovers.length > 0 || problem !== '')
    changes.push({ adopted: records, onDisk: records, takeovers, problem })
  if (lost > 0) {
    const reported = `${lost} records were lost when their process ended`
    changes.push({ adopted: lost, dropped: lost, reason: 'process_lost', problem: reported })
  }
  if (damaged > 0) {
    const reported = `${damaged} records of a spool were damaged`
    changes.push({ adopted: damaged, dropped: damaged, reason: 'corrupt', problem: reported })
  }
  return changes
}

/** Returns the problem report for a failed write. */
export function memoryText(error: unknown): string {
  return `cannot write to the spool, records wait in memory: ${(error as Error).message}`
}
