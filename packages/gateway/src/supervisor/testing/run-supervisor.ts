import { StartError } from '../start-error.js'
import { startSupervisor } from '../start-supervisor.js'

/** The gateway of the tests: configuration file and data directory from the command line, echoing workers. */
const [, , configFile = '', dataDir = '', workers = ''] = process.argv

try {
  const supervisor = await startSupervisor({
    configFile,
    dataDir,
    ...(workers === '' ? {} : { workers: Number(workers) }),
    catalog: new Map(),
    workerEntry: new URL('./echo-worker.js', import.meta.url),
  })
  process.send?.({ addresses: supervisor.addresses })
  process.exit(await supervisor.finished)
} catch (error) {
  const exitCode = error instanceof StartError && error.isStopped ? 0 : 1
  process.send?.({ error: error instanceof Error ? error.message : String(error) }, () =>
    process.exit(exitCode),
  )
}
