import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { untilSignal } from '../input/until-signal.js'
import { say } from '../output/output.js'

/** Time in milliseconds after a change in which further changes join the same run. */
const SETTLE_MS = 50
/** Files that runs write: snapshots and reports. */
const WRITTEN = /^__snapshots__$|\.(?:xml|tap)$/

/**
 * Runs this command again, without `--watch`, whenever a file changes beside the given ones. Each run is a new process,
 * so that changed modules are loaded again. Ends at a signal.
 */
export async function watchAndRun(files: readonly string[]): Promise<number> {
  const { signal } = untilSignal()
  let changed = new AbortController()
  const watchers = [...new Set(files.map(dirname))].map((folder) =>
    watch(folder, (_, name) => {
      if (!WRITTEN.test(name ?? '')) changed.abort()
    }),
  )
  try {
    while (!signal.aborted) {
      const args = process.argv.slice(1).filter((word) => word !== '--watch')
      const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: 'inherit' })
      await once(child, 'exit')
      if (signal.aborted) break
      say('\nwaiting for changes; Ctrl-C to stop')
      const either = AbortSignal.any([signal, changed.signal])
      if (!either.aborted) await once(either, 'abort')
      await delay(SETTLE_MS)
      changed = new AbortController()
    }
  } finally {
    for (const watcher of watchers) watcher.close()
  }
  return 0
}
