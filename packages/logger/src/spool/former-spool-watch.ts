import { setTimeout as sleep } from 'node:timers/promises'
import { type FormerSpool, formerSpools, type SpoolLocations } from './former-spools.js'

/**
 * Interval and number of checks of a spool whose owner may still be alive. For an owner on another host, this
 * takes 30 s to find out.
 */
const LOOK_EVERY_MS = 5000
const MAX_LOOKS = 10

/**
 * Reports records waiting for a target that was removed from the configuration. Reports each spool once per
 * log.
 */
export class FormerSpoolWatch {
  readonly #lookEveryMs: number
  #looking = new AbortController()
  #isClosed = false

  constructor(lookEveryMs = LOOK_EVERY_MS) {
    this.#lookEveryMs = lookEveryMs
  }

  /** Starts checking for unused spools of a log. Ends earlier checks. */
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
  return `${amount} wait in ${dir}, but no target of this log uses this spool; set it as the spool.dir of a target, or delete it`
}
