import type { Receipt } from '../writer/messages.js'
import type { Inheritance } from './adoption.js'

/** Reports what has changed in the log's account. */
export type ReportChange = (change: Partial<Receipt>) => void

/** Records of a batch, or the log's own. */
export type Incoming = { readonly length: number; readonly records: number } | { readonly adopted: number }

export function recordsOf(account: Incoming): number {
  return 'adopted' in account ? account.adopted : account.records
}

/** What taking over the spools of others changes; nothing when there was nothing. */
export function changesOf(inheritance: Inheritance): Partial<Receipt>[] {
  const { segments, damaged, lost, takeovers, problem } = inheritance
  const changes: Partial<Receipt>[] = []
  let records = 0
  for (const segment of segments) records += segment.records
  if (takeovers.length > 0 || problem !== '')
    changes.push({ adopted: records, onDisk: records, takeovers, problem })
  if (lost > 0) {
    const reported = `${lost} records ended with the process that held them`
    changes.push({ adopted: lost, dropped: lost, reason: 'process_lost', problem: reported })
  }
  if (damaged > 0) {
    const reported = `${damaged} records of a spool were damaged`
    changes.push({ adopted: damaged, dropped: damaged, reason: 'corrupt', problem: reported })
  }
  return changes
}

export function memoryText(error: unknown): string {
  return `the spool's disk takes nothing, records wait in memory: ${(error as Error).message}`
}
