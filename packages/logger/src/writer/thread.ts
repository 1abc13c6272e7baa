import { parentPort, workerData } from 'node:worker_threads'
import { openPreparation, type PreparationOptions } from '../preparation/preparation.js'
import { sendReceipt, type ToWriter } from '../queue/messages.js'
import { TOUCH_EVERY_MS } from './segment-cap.js'
import { type SegmentOptions, SegmentWriter } from './segment-writer.js'

/** Options for the writer thread. */
export interface WriterThreadOptions extends SegmentOptions {
  /** Processing of every record before it is written. */
  readonly preparation: PreparationOptions
}

/**
 * Entry point of the thread that writes the segments of a worker. Writes are synchronous, because the thread
 * does nothing else.
 */
function serve(port: NonNullable<typeof parentPort>): void {
  const { preparation: rules, ...segments } = workerData as WriterThreadOptions
  const preparation = openPreparation(rules, (problem) => sendReceipt(port, { problem }))
  const writer = new SegmentWriter(segments, Date.now())
  const touching = setInterval(() => writer.touch(Date.now()), TOUCH_EVERY_MS)
  port.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const { buffer, length, records } = message
      const received = Buffer.from(buffer, 0, length)
      const batch = preparation.prepared(received)
      const { written, reason, problem: trouble } = writer.append(batch.lines, records)
      const problem = trouble === '' ? batch.problem : trouble
      const account = { length, records, indexed: written, dropped: records - written, reason, problem }
      sendReceipt(port, { ...account, buffer })
      return
    }
    // Losses are in the counts. Log files have no gap records.
    if (message.kind === 'lost') return
    clearInterval(touching)
    preparation.close()
    writer.finish()
    port.close()
  })
}

if (parentPort !== null) serve(parentPort)
