import { parentPort, workerData } from 'node:worker_threads'
import { openPreparation, type PreparationOptions } from '../preparation/preparation.js'
import type { ThreadData } from '../queue/messages.js'
import { RecordFeed } from '../queue/record-feed.js'
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
  const data = workerData as ThreadData<WriterThreadOptions>
  const { preparation: rules, ...segments } = data.options
  const feed = new RecordFeed(port, data)
  const preparation = openPreparation(rules, (problem) => feed.report({ problem }))
  const writer = new SegmentWriter(segments, Date.now())
  const touching = setInterval(() => writer.touch(Date.now()), TOUCH_EVERY_MS)
  feed.start({
    onLines(received, records) {
      const { lines, problem } = preparation.prepared(received)
      const { written, reason, problem: trouble } = writer.append(lines, records)
      const counts = { taken: records, indexed: written, dropped: records - written, reason }
      feed.report({ ...counts, problem: trouble === '' ? problem : trouble })
    },
    onClose() {
      clearInterval(touching)
      preparation.close()
      writer.finish()
      port.close()
    },
  })
}

if (parentPort !== null) serve(parentPort)
