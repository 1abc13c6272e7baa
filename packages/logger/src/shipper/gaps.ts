import { hostname } from 'node:os'
import type { Instant } from '../lib/steady-clock.js'
import type { LogChange } from '../queue/messages.js'

/**
 * Time without losses before a gap is reported, and minimum interval between two reports, in milliseconds.
 */
const QUIET_MS = 2000
const EVERY_MS = 10_000

/**
 * Collects lost records. When the log works again, one record reports the gap:
 * `{"@timestamp","id","event":{"kind":"gap"},"gw","route":"-","result":"error","log":{"dropped","reasons","since"}}`.
 */
export class Gaps {
  readonly #owner: string
  readonly #worker: number
  readonly #reasons = new Map<string, number>()
  #since = 0
  #lastLostMono = 0
  #reportedMono = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(owner: string, worker: number) {
    this.#owner = owner
    this.#worker = worker
  }

  /** Adds the losses in a change of the counts. */
  note({ dropped = 0, reason = '' }: LogChange, now: Instant): void {
    if (dropped === 0) return
    if (this.#reasons.size === 0) this.#since = now.wallMs
    this.#lastLostMono = now.mono
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + dropped)
  }

  /** Returns the record of a gap that has ended, or null. */
  take({ wallMs, mono }: Instant): string | null {
    if (
      this.#reasons.size === 0 ||
      mono - this.#lastLostMono < QUIET_MS ||
      mono - this.#reportedMono < EVERY_MS
    ) {
      return null
    }
    const reasons = Object.fromEntries(this.#reasons)
    const dropped = [...this.#reasons.values()].reduce((sum, count) => sum + count, 0)
    this.#reasons.clear()
    this.#reportedMono = mono
    return JSON.stringify({
      '@timestamp': new Date(wallMs).toISOString(),
      id: `${this.#owner}-gap-${++this.#count}`,
      event: { kind: 'gap' },
      gw: { pod: hostname(), worker: this.#worker },
      route: '-',
      result: 'error',
      log: { dropped, reasons, since: new Date(this.#since).toISOString() },
    })
  }
}
