import type { LogPlan } from '@sluice/config'
import type { RecordQuery, RecordsAnswer } from './record-query.js'

/** Maximum number of searches at a time, so that dashboards cannot slow down the supervisor. */
const MAX_SEARCHES = 2

/** Searches the first target of the traffic log that can be read, as `gw logs search -c` does. */
export class RecordSearch {
  readonly #log: () => LogPlan | null
  #count = 0

  /** @param log returns the settings of the active log, with resolved references. */
  constructor(log: () => LogPlan | null) {
    this.#log = log
  }

  /** Returns the matching records that are the newest. Never rejects because of the log. */
  async search(query: RecordQuery): Promise<RecordsAnswer> {
    if (this.#count >= MAX_SEARCHES)
      return { ok: false, fault: 'busy', problem: 'too many searches at the same time; try again' }
    this.#count++
    try {
      // Only for this, because it loads the log reader.
      const { searchLog } = await import('./log-reader.js')
      return await searchLog(this.#log(), query)
    } finally {
      this.#count--
    }
  }
}
