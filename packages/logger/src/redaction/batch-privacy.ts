import { fallbackRecord } from './fallback-record.js'
import type { PrivacyOptions } from './privacy-options.js'
import { RecordPrivacy } from './record-privacy.js'

/** Redacted lines that may be written. */
export interface RedactedBatch {
  readonly lines: Buffer
  /** Problem for the operator, or empty. */
  readonly problem: string
}

const NEWLINE = 10

/**
 * Applies the privacy rules to batches of lines on the thread that writes them, so that unredacted data never
 * reaches the disk.
 */
export class BatchPrivacy {
  readonly #records: RecordPrivacy

  /** @throws Error if the rules are invalid. */
  constructor(options: PrivacyOptions) {
    this.#records = new RecordPrivacy(options)
  }

  /**
   * Returns the same number of lines, redacted. Never throws. If a rule fails on a record, the record loses
   * all protected content.
   */
  redacted(lines: Buffer): RedactedBatch {
    const parts: Buffer[] = []
    let failures = 0
    let unchanged = 0
    for (let from = 0; from < lines.length; ) {
      const newline = lines.indexOf(NEWLINE, from)
      const end = newline === -1 ? lines.length : newline
      const line = lines.toString('latin1', from, end)
      const redacted = this.#redacted(line)
      if (redacted === null) failures++
      if (redacted !== line) {
        const text = `${redacted ?? fallbackRecord(line)}\n`
        parts.push(lines.subarray(unchanged, from), Buffer.from(text, 'latin1'))
        unchanged = end + 1
      }
      from = end + 1
    }
    const problem =
      failures === 0 ? '' : `privacy rules failed on ${failures} records; their contents were removed`
    if (parts.length === 0) return { lines, problem }
    return { lines: Buffer.concat([...parts, lines.subarray(unchanged)]), problem }
  }

  #redacted(line: string): string | null {
    try {
      return this.#records.redacted(line)
    } catch {
      // The error text is not reported, because it may contain what the rule should hide.
      return null
    }
  }
}
