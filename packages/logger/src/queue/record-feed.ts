import type { MessagePort } from 'node:worker_threads'
import { RecordLines } from '../record/record-lines.js'
import type { FromThread, LogChange, ThreadData, ToThread } from './messages.js'
import { RingReader } from './ring.js'
import { CountsWriter } from './shared-counts.js'

/** Size of lines in bytes from which they are written before more are read. */
const CHUNK_BYTES = 128 * 1024
/** Number of looks without a record after which the thread goes to sleep. */
const IDLE_LOOKS = 5

/** Work of a log thread. */
export interface FeedEvents {
  /**
   * Writes lines of JSON that each end with a newline, and reports them as `taken`. The lines are valid during the
   * call. Must not throw.
   */
  onLines(lines: Buffer, records: number): void
  /** Called after the last lines when the log is closed. */
  onClose(deadlineMs: number): void
}

/** The log thread's end of the queue: reads records, and reports what became of them. */
export class RecordFeed {
  readonly #port: MessagePort
  readonly #reports: MessagePort
  readonly #ring: RingReader
  readonly #counts: CountsWriter
  readonly #lookEveryMs: number
  readonly #lines: RecordLines
  #events!: FeedEvents
  #timer: NodeJS.Timeout | undefined
  #idleLooks = 0
  #isClosed = false

  constructor(port: MessagePort, { memory, reports, lookEveryMs }: ThreadData<unknown>) {
    this.#port = port
    this.#reports = reports
    this.#ring = new RingReader(memory.ring)
    this.#counts = new CountsWriter(memory.counts)
    this.#lines = new RecordLines(memory.texts)
    this.#lookEveryMs = lookEveryMs
  }

  /**
   * Sends a message, then changes the shared counts. A reader that reads the counts first and the messages afterwards has
   * every message that the counts depend on.
   */
  readonly report = ({ owner, takeovers, problem = '', ...change }: LogChange): void => {
    if (owner !== undefined || takeovers !== undefined || problem !== '') {
      const message: FromThread = {
        problem,
        lost: change.dropped ?? 0,
        ...(owner === undefined ? {} : { owner }),
        ...(takeovers === undefined ? {} : { takeovers }),
      }
      this.#reports.postMessage(message)
    }
    this.#counts.add(change)
    // At once: a thread that ended in between would have written records that its successor writes again.
    if (change.taken !== undefined) this.#ring.release()
  }

  /** Starts reading records. */
  start(events: FeedEvents): void {
    this.#events = events
    this.#port.on('message', (message: ToThread) => {
      if (message.kind === 'wake') this.#lookLater()
      else this.#close(message.deadlineMs)
    })
    this.#look()
  }

  #look(): void {
    if (this.#isClosed) return
    if (this.#takeChunk()) {
      setImmediate(() => this.#look())
      return
    }
    if (this.#idleLooks >= IDLE_LOOKS && this.#ring.sleep()) return
    this.#lookLater()
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#lookEveryMs)
    this.#timer.refresh()
  }

  /** Writes waiting records. Returns true if there may be more. */
  #takeChunk(): boolean {
    const lines = this.#lines
    lines.clear()
    const records = this.#ring.read((words, from, to) => {
      lines.append(words, from, to)
      return lines.length < CHUNK_BYTES
    })
    this.#idleLooks = records === 0 ? this.#idleLooks + 1 : 0
    if (records === 0) return false
    this.#events.onLines(lines.lines, records)
    return lines.length >= CHUNK_BYTES
  }

  #close(deadlineMs: number): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    while (this.#takeChunk());
    this.#events.onClose(deadlineMs)
  }
}
