import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { untilSignal } from '../input/until-signal.js'
import { say } from '../output/output.js'

/** Time in milliseconds after a change in which further changes join the same run. */
const SETTLE_MS = 50

/**
 * Runs this command again, without `--watch`, whenever a file changes beside the given ones. Each run is a new process,
 * so that changed modules are loaded again. Ends at a signal.
 */
export async function watchAndRun(files: readonly string[]): Promise<number> {
  const { signal } = untilSignal()
  const changes = new Changes(files)
  try {
    while (!signal.aborted) {
      const args = process.argv.slice(1).filter((word) => word !== '--watch')
      const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: 'inherit' })
      await once(child, 'exit')
      if (signal.aborted) break
      say('\nwaiting for changes; Ctrl-C to stop')
      await changes.next(signal)
    }
  } finally {
    changes.close()
  }
  return 0
}

/** Changes in the folders of files. */
class Changes {
  readonly #watchers: readonly FSWatcher[]
  #onChange: () => void = () => {}
  #hasChanged = false

  constructor(files: readonly string[]) {
    const folders = new Set(files.map((file) => dirname(file)))
    this.#watchers = [...folders].map((folder) =>
      // Runs write snapshots in a folder of their own, and reports are no input.
      watch(folder, (_, name) => {
        if (!/^__snapshots__$|\.(?:xml|tap)$/.test(name ?? '')) this.#note()
      }),
    )
  }

  /** Resolves after the next change, or one since the last call. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged)
      await new Promise<void>((resolve) => {
        this.#onChange = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    this.#hasChanged = false
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close()
  }

  #note(): void {
    this.#hasChanged = true
    this.#onChange()
  }
}
