import { parentPort, workerData } from 'node:worker_threads'
import { batchPrivacy } from '../privacy/batch-privacy.js'
import type { PrivacyOptions } from '../privacy/privacy-options.js'
import { sendReceipt, type ToWriter } from './messages.js'
import { TOUCH_EVERY_MS } from './segment-cap.js'
import { type SegmentOptions, SegmentWriter } from './segment-writer.js'

/** What the thread of a writer is started with. */
export interface WriterThreadOptions extends SegmentOptions {
  /** Applied to every record before it is written; null: records are written as they come. */
  readonly privacy: PrivacyOptions | null
}

/** Entry of the thread that writes a worker's segments. Synchronous writes: it has nothing else to do. */
function serve(port: NonNullable<typeof parentPort>): void {
  const { privacy: rules, ...segments } = workerData as WriterThreadOptions
  const privacy = batchPrivacy(rules)
  const writer = new SegmentWriter(segments, Date.now())
  const touching = setInterval(() => writer.touch(Date.now()), TOUCH_EVERY_MS)
  port.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const { buffer, length, records } = message
      const received = Buffer.from(buffer, 0, length)
      const batch = privacy?.redacted(received) ?? { lines: received, problem: '' }
      const { written, reason, problem: trouble } = writer.append(batch.lines, records)
      const problem = trouble === '' ? batch.problem : trouble
      const account = { length, records, indexed: written, dropped: records - written, reason, problem }
      sendReceipt(port, { ...account, buffer })
      return
    }
    // What was lost stands in the account; files have no gap records.
    if (message.kind === 'lost') return
    clearInterval(touching)
    writer.finish()
    port.close()
  })
}

if (parentPort !== null) serve(parentPort)
