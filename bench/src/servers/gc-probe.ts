import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, PerformanceObserver, type performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import type { WorkerDiagnostics } from '../model/summary.js'

/** Environment variable with the folder of the reports. Without it the module does nothing. */
export const PROBE_DIR_ENV = 'SLUICE_BENCH_GC_DIR'

const dir = process.env[PROBE_DIR_ENV]
if (dir !== undefined && isMainThread) watch(dir)

/** On SIGUSR2 collects all garbage and writes the figures since the last SIGUSR2 to `PID.json`. */
function watch(folder: string): void {
  let [longestMs, full] = [0, 0]
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as ReturnType<typeof performance.mark>[]) {
      longestMs = Math.max(longestMs, entry.duration)
      if ((entry.detail as { readonly kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR) full++
    }
  }).observe({ entryTypes: ['gc'] })
  process.on('SIGUSR2', () => {
    const pauses = { gcLongestMicros: Math.round(longestMs * 1000), fullGcCount: full }
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    const { heapUsed, rss } = process.memoryUsage()
    const figures: Partial<WorkerDiagnostics> = {
      ...pauses,
      heapAfterGcBytes: heapUsed,
      rssAfterGcBytes: rss,
    }
    const file = join(folder, `${process.pid}.json`)
    writeFileSync(`${file}.new`, JSON.stringify(figures))
    renameSync(`${file}.new`, file)
    // Observers are called later, so that this collection would count for the next time.
    setTimeout(() => {
      ;[longestMs, full] = [0, 0]
    }, 100).unref()
  })
  writeFileSync(join(folder, `${process.pid}.ready`), '')
}
