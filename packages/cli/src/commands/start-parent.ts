import type { Overrides } from '@sluice/config'
import {
  hasParent,
  LOG_FORMAT_ENV,
  runParent,
  startDocumentThread,
  startEarlyWorkers,
} from '@sluice/gateway/parent'
import { outliveReader } from '../output/output.js'
import type { StartOptions } from './start.js'

/**
 * Runs `gw start`. This process only restarts the supervisor if it is killed; the supervisor is the same
 * command in a child process. Resolves with the exit code.
 */
export async function start(options: StartOptions): Promise<number> {
  if (hasParent()) {
    // They load their modules in parallel with the supervisor.
    if (options.logFormat !== undefined) process.env[LOG_FORMAT_ENV] = options.logFormat
    const { config: configFile, dataDir, workers, tier } = options
    const early = startEarlyWorkers({ configFile, dataDir, workers, tier })
    const documentThread = startDocumentThread({ overrides: overridesOf(options) })
    try {
      return await (await import('./start.js')).start(options, { documentThread, early })
    } finally {
      early.close()
      documentThread.close()
    }
  }
  outliveReader()
  if (options.logFormat !== undefined) process.env[LOG_FORMAT_ENV] = options.logFormat
  return runParent()
}

function overridesOf({ listen, logSink }: StartOptions): Overrides {
  return { ...(listen === undefined ? {} : { listen }), ...(logSink === undefined ? {} : { logSink }) }
}
