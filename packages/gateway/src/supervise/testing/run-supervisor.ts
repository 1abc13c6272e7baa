import { startSupervisor } from '../../start-supervisor.js'
import { fakeCatalog } from '../../testing/fake-policy.js'
import type { ControlSettings } from '../control/control-settings.js'
import { StartError } from '../start-error.js'

/**
 * Gateway for tests. Configuration file, data directory and controller come from the command line. Its workers echo, or
 * run a real data plane whose policy `p` keeps them busy.
 */
const [, , configFile = '', dataDir = '', workers = '', kind = 'echo', control = ''] = process.argv

try {
  const supervisor = await startSupervisor({
    ...(configFile === '' ? {} : { configFile }),
    ...(control === '' ? {} : { control: JSON.parse(control) as ControlSettings }),
    dataDir,
    ...(workers === '' ? {} : { workers: Number(workers) }),
    catalog: fakeCatalog({}),
    documentsEntry: new URL('./fake-documents.js', import.meta.url),
    workerEntry: new URL(`./${kind}-worker.js`, import.meta.url),
  })
  process.send?.({ addresses: supervisor.addresses })
  process.exit(await supervisor.finished)
} catch (error) {
  const exitCode = error instanceof StartError && error.isStopped ? 0 : 1
  process.send?.({ error: error instanceof Error ? error.message : String(error) }, () =>
    process.exit(exitCode),
  )
}
