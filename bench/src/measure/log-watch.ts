import type { LogCounts } from '@sluice/core'
import type { WorkerLog } from '../model/summary.js'

const ANSWER_MS = 10_000
/** As often as workers report their counts. */
const LOOK_MS = 500

/** What `GET /v1/log` says of one worker. */
export type WorkerCounts = LogCounts & { readonly id: number; readonly pid: number | null }

/** Looks at the traffic log of a gateway's workers until it is ended. */
export class LogWatch {
  readonly #admin: string
  readonly #queues = new Map<number, LogQueue>()
  readonly #timer: NodeJS.Timeout
  #underWay: Promise<void> | null = null

  private constructor(admin: string) {
    this.#admin = admin
    this.#timer = setInterval(() => {
      // A look that fails is made up for by the next; the last one must not.
      this.#underWay ??= this.#look()
        .catch(() => undefined)
        .finally(() => {
          this.#underWay = null
        })
    }, LOOK_MS)
  }

  static async begin(admin: string): Promise<LogWatch> {
    const watch = new LogWatch(admin)
    await watch.#look().catch((error: unknown) => {
      clearInterval(watch.#timer)
      throw error
    })
    return watch
  }

  /** What was seen of each worker, by its id. */
  async end(): Promise<ReadonlyMap<number, WorkerLog>> {
    clearInterval(this.#timer)
    await this.#underWay
    await this.#look()
    return new Map([...this.#queues].map(([id, queue]) => [id, queue.seen]))
  }

  async #look(): Promise<void> {
    const answer = await fetch(`${this.#admin}/v1/log`, { signal: AbortSignal.timeout(ANSWER_MS) })
    const { workers } = (await answer.json()) as { readonly workers: readonly WorkerCounts[] }
    const nowMono = performance.now()
    for (const counts of workers) {
      const known = this.#queues.get(counts.id)
      if (known === undefined) this.#queues.set(counts.id, new LogQueue(counts, nowMono))
      else known.look(counts, nowMono)
    }
  }
}

/** A moment, and how many records there had been until then. */
interface Mark {
  readonly atMono: number
  readonly received: number
}

/** The records of one worker that wait to be delivered, as looks at its counts tell of them. */
export class LogQueue {
  readonly #dropped: number
  /** Looks that are not older than the oldest record that waits, but for the first. */
  #marks: Mark[]
  #last: WorkerCounts
  #queuedRecords = 0
  #lagMs = 0
  #droppedRecords = 0

  constructor(counts: WorkerCounts, atMono: number) {
    this.#dropped = counts.dropped
    this.#last = counts
    this.#marks = [{ atMono, received: counts.received }]
  }

  get seen(): WorkerLog {
    return {
      queuedRecords: this.#queuedRecords,
      lagMicros: Math.round(this.#lagMs * 1000),
      droppedRecords: this.#droppedRecords,
    }
  }

  look(counts: WorkerCounts, nowMono: number): void {
    // Another process in the place of the worker counts from 0: its records are no older than it is.
    if (counts.pid !== this.#last.pid) this.#marks = []
    this.#last = counts
    this.#marks.push({ atMono: nowMono, received: counts.received })
    this.#queuedRecords = Math.max(this.#queuedRecords, counts.inMemory + counts.onDisk)
    this.#droppedRecords = Math.max(this.#droppedRecords, counts.dropped - this.#dropped)
    this.#lagMs = Math.max(this.#lagMs, nowMono - this.#oldestMono(counts, nowMono))
  }

  /** When the oldest record that still waits was received, on a line between two looks; now when none waits. */
  #oldestMono({ indexed, dead, dropped }: WorkerCounts, nowMono: number): number {
    const done = indexed + dead + dropped
    const next = this.#marks.findIndex(({ received }) => received > done)
    if (next === -1) {
      this.#marks = this.#marks.slice(-1)
      return nowMono
    }
    // Those before it are done with: what is kept is as long as the lag, not as the load.
    this.#marks = this.#marks.slice(Math.max(0, next - 1))
    const [before, after] = this.#marks
    if (next === 0 || after === undefined) return before!.atMono
    const share = (done - before!.received) / (after.received - before!.received)
    return before!.atMono + share * (after.atMono - before!.atMono)
  }
}
