import { closedRecord } from './closed-record.js'
import type { PrivacyOptions } from './privacy-options.js'
import { RecordPrivacy } from './record-privacy.js'

/** Lines whose records may be kept. */
export interface RedactedBatch {
  readonly lines: Buffer
  /** What an operator should know, or empty. */
  readonly problem: string
}

const NEWLINE = 10

/** Applies the privacy rules to batches of lines, on the thread that writes them: nothing else ever sees the disk. */
export class BatchPrivacy {
  readonly #records: RecordPrivacy

  /** @throws Error when the rules cannot be applied. */
  constructor(options: PrivacyOptions) {
    this.#records = new RecordPrivacy(options)
  }

  /** As many lines as there were. Never throws: a record that a rule fails on loses what the rule was to protect. */
  redacted(lines: Buffer): RedactedBatch {
    const kept: Buffer[] = []
    let failures = 0
    for (let from = 0; from < lines.length; ) {
      const newline = lines.indexOf(NEWLINE, from)
      const end = newline === -1 ? lines.length : newline
      const line = lines.toString('latin1', from, end)
      const redacted = this.#redacted(line)
      if (redacted === null) failures++
      if (redacted === line) kept.push(lines.subarray(from, end + 1))
      else kept.push(Buffer.from(`${redacted ?? closedRecord(line)}\n`, 'latin1'))
      from = end + 1
    }
    const problem =
      failures === 0 ? '' : `privacy rules failed on ${failures} records; their contents were left out`
    return { lines: kept.length === 1 ? kept[0]! : Buffer.concat(kept), problem }
  }

  #redacted(line: string): string | null {
    try {
      return this.#records.redacted(line)
    } catch {
      // The error's text is not reported: it may repeat what the rule was to hide.
      return null
    }
  }
}
