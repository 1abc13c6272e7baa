import { hostname } from 'node:os'
import type { Instant } from '../lib/steady-clock.js'
import type { Gap, LogChange } from '../queue/messages.js'
import { ownDirectory, removeEmpty } from '../spool/adoption.js'
import { saveGap, takeGap } from '../spool/gap-file.js'

/**
 * Time without losses before a gap is reported, and minimum interval between two reports, in milliseconds.
 */
const QUIET_MS = 2000
const EVERY_MS = 10_000

/**
 * Collects lost records. When the log works again, one record reports the gap:
 * `{"@timestamp","id","event":{"kind":"gap"},"gw","route":"-","result":"error","log":{"dropped","reasons","since"}}`.
 * Until then the gap is in a file. If the thread ends, the next owner of its spool reports the gap.
 */
export class Gaps {
  readonly #owner: string
  readonly #worker: number
  readonly #dir: string
  #gap: Gap = { reasons: {}, sinceMs: 0 }
  #lastLostMono = 0
  #reportedMono = Number.NEGATIVE_INFINITY
  #count = 0

  /** @param root Spool directory. */
  constructor(root: string, owner: string, worker: number) {
    this.#owner = owner
    this.#worker = worker
    this.#dir = ownDirectory(root, owner)
  }

  /** Saves the gap. Called at the start, too, to reserve the disk space. */
  save(): void {
    saveGap(this.#dir, this.#gap)
  }

  /** Adds the losses in a change of the counts, and those of former owners. */
  note({ dropped = 0, reason = '', gaps = [] }: LogChange, { wallMs, mono }: Instant): void {
    if (dropped > 0) this.#add({ reasons: { [reason]: dropped }, sinceMs: wallMs }, mono)
    for (const gap of gaps) this.#add(gap, mono)
  }

  /**
   * Passes the record of a gap that has ended to `append`, which returns false if there is no room for it.
   * `isLast` does not wait for the end.
   */
  report({ wallMs, mono }: Instant, append: (json: string) => boolean, isLast = false): void {
    const gap = this.#gap
    const isDue = mono - this.#lastLostMono >= QUIET_MS && mono - this.#reportedMono >= EVERY_MS
    if (this.#isEmpty || !(isDue || isLast)) return
    // Appending may lose older records.
    this.#gap = { reasons: {}, sinceMs: 0 }
    if (!append(this.#record(gap, wallMs))) this.#add(gap, this.#lastLostMono)
    else this.save()
    this.#reportedMono = mono
  }

  /** Leaves losses that are not reported to the next owner. Call it after the spool was closed. */
  close(): void {
    if (this.#isEmpty) takeGap(this.#dir)
    removeEmpty(this.#dir)
  }

  get #isEmpty(): boolean {
    return Object.keys(this.#gap.reasons).length === 0
  }

  #add({ reasons, sinceMs }: Gap, mono: number): void {
    const sum: Record<string, number> = { ...this.#gap.reasons }
    for (const [reason, records] of Object.entries(reasons)) sum[reason] = (sum[reason] ?? 0) + records
    this.#gap = { reasons: sum, sinceMs: this.#isEmpty ? sinceMs : Math.min(sinceMs, this.#gap.sinceMs) }
    this.#lastLostMono = mono
    this.save()
  }

  #record({ reasons, sinceMs }: Gap, wallMs: number): string {
    return JSON.stringify({
      '@timestamp': new Date(wallMs).toISOString(),
      id: `${this.#owner}-gap-${++this.#count}`,
      event: { kind: 'gap' },
      gw: { pod: hostname(), worker: this.#worker },
      route: '-',
      result: 'error',
      log: {
        dropped: Object.values(reasons).reduce((sum, records) => sum + records, 0),
        reasons,
        since: new Date(sinceMs).toISOString(),
      },
    })
  }
}
