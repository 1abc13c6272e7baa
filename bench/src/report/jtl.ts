import type { RequestSample } from '../model/engine.js'
import type { SampledLoad } from '../model/run.js'
import { csvCell } from './points-csv.js'

/** Maximum number of rows, about 20 MB. Requests of later loads are left out. */
export const MOST_JTL_ROWS = 100_000

/** Columns of a JTL file (Apache JMeter, "CSV Log format"), as its report generator reads them. */
const COLUMNS = [
  ...['timeStamp', 'elapsed', 'label', 'responseCode', 'responseMessage', 'threadName', 'dataType'],
  ...['success', 'failureMessage', 'bytes', 'sentBytes', 'grpThreads', 'allThreads', 'URL'],
  ...['Latency', 'IdleTime', 'Connect'],
]

/** Collects sampled requests as rows of a JTL file. Times are milliseconds. */
export class JtlRows {
  readonly #rows: string[] = []

  add({ label, url, connections }: SampledLoad, samples: readonly RequestSample[]): void {
    for (const sample of samples.toSorted((a, b) => a.atMs - b.atMs)) {
      if (this.#rows.length >= MOST_JTL_ROWS) return
      const { atMs, elapsedMs, latencyMs, outcome, bytes, sentBytes } = sample
      const code = typeof outcome === 'number' ? outcome : `Non HTTP response code: ${outcome}`
      const isSuccess = typeof outcome === 'number' && outcome >= 200 && outcome <= 299
      const cells = [
        ...[Math.round(atMs), Math.round(elapsedMs), label, code, isSuccess ? 'OK' : outcome, label],
        ...['text', isSuccess, isSuccess ? '' : `failed: ${outcome}`, bytes, sentBytes],
        ...[connections, connections, url, Math.round(latencyMs), 0, 0],
      ]
      this.#rows.push(cells.map(csvCell).join(','))
    }
  }

  /** Returns the content of the file. */
  text(): string {
    return [COLUMNS.join(','), ...this.#rows, ''].join('\n')
  }
}
