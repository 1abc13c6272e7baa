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
  process.stdout.write(`${JSON.stringify(supervisor.addresses)}\n`)
  process.exit(await supervisor.finished)
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`,
  )
  process.exit(1)
}
