import { fakeCatalog } from '../../testing/fake-policy.js'
import { StartError } from '../start-error.js'
import { startSupervisor } from '../start-supervisor.js'

/**
 * The gateway of the tests: configuration file and data directory from the command line. Its workers echo, or have a real
 * data plane with the policy `p`, which keeps them busy.
 */
const [, , configFile = '', dataDir = '', workers = '', kind = 'echo'] = process.argv

try {
  const supervisor = await startSupervisor({
    configFile,
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
