import { parentPort, workerData } from 'node:worker_threads'
import { NO_CHANGE, type Receipt, type ToWriter } from './messages.js'
import { TOUCH_EVERY_MS } from './segment-cap.js'
import { type SegmentOptions, SegmentWriter } from './segment-writer.js'

/** Entry of the thread that writes a worker's segments. Synchronous writes: it has nothing else to do. */
function serve(port: NonNullable<typeof parentPort>): void {
  const writer = new SegmentWriter(workerData as SegmentOptions, Date.now())
  const touching = setInterval(() => writer.touch(Date.now()), TOUCH_EVERY_MS)
  port.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const { buffer, length, records } = message
      const { written, reason, problem } = writer.append(Buffer.from(buffer, 0, length), records)
      const account = { length, records, indexed: written, dropped: records - written, reason, problem }
      port.postMessage({ ...NO_CHANGE, ...account } satisfies Receipt)
      return
    }
    clearInterval(touching)
    writer.finish()
    port.close()
  })
}

if (parentPort !== null) serve(parentPort)
