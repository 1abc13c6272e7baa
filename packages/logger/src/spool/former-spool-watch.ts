import { setTimeout as sleep } from 'node:timers/promises'
import { type FormerSpool, formerSpools, type SpoolLocations } from './former-spools.js'

/** A spool whose owner may still live is looked at again after this time, and so often: on another host it takes 30 s to know. */
const LOOK_EVERY_MS = 5000
const MAX_LOOKS = 10

/** Reports records that wait for an output which the log does not have any more, of each spool once for each log. */
export class FormerSpoolWatch {
  readonly #lookEveryMs: number
  #looking = new AbortController()
  #isClosed = false

  constructor(lookEveryMs = LOOK_EVERY_MS) {
    this.#lookEveryMs = lookEveryMs
  }

  /** Looks beside the spools of a log; takes the place of the look before. */
  look(locations: SpoolLocations, report: (message: string) => void): void {
    this.#looking.abort()
    this.#looking = new AbortController()
    if (!this.#isClosed) void this.#lookUntilGone(locations, report, this.#looking.signal)
  }

  close(): void {
    this.#isClosed = true
    this.#looking.abort()
  }

  async #lookUntilGone(
    locations: SpoolLocations,
    report: (message: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const reported = new Set<string>()
    for (let looks = 1; looks <= MAX_LOOKS; looks++) {
      const spools = await formerSpools(locations)
      if (signal.aborted) return
      for (const spool of spools) {
        if (spool.isOwned || reported.has(spool.dir)) continue
        reported.add(spool.dir)
        report(textOf(spool))
      }
      if (!spools.some(({ isOwned }) => isOwned)) return
      await sleep(this.#lookEveryMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}

function textOf({ dir, records, openBytes, isMore }: FormerSpool): string {
  const parts = records > 0 ? [`${records} records`] : []
  if (openBytes > 0) parts.push(`${openBytes} bytes of records`)
  const amount = `${isMore ? 'more than ' : ''}${parts.join(' and ')}`
  return `${amount} wait in ${dir}, which is the spool of no target of this log; name it in the spool.dir of a target, or delete it`
}
