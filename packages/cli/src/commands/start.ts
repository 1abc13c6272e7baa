import { type Overrides, readDocumentFile } from '@sluice/config'
import { StartError, startSupervisor, type Tier, workerEntry } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'
import { print } from '../output/output.js'

export interface StartOptions {
  readonly config: string
  readonly tier?: Tier
  readonly workers?: number
  readonly listen?: string
  readonly logSink?: 'file' | 'elasticsearch' | 'none'
  readonly dataDir: string
}

/** Runs the gateway until it is told to stop; resolves with the exit code. */
export async function start(options: StartOptions): Promise<number> {
  readable(options.config)
  const supervisor = await startSupervisor({
    configFile: options.config,
    catalog,
    workerEntry,
    dataDir: options.dataDir,
    overrides: overridesOf(options),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.tier === undefined ? {} : { tier: options.tier }),
  }).catch((error: unknown) => {
    throw error instanceof StartError ? new Failure(EXIT.failed, error.message) : error
  })
  const status = supervisor.status()
  const workers = `${status.workers.length} worker${status.workers.length === 1 ? '' : 's'}`
  for (const listener of status.listeners) print(`listening on ${listener.url} (${workers})`)
  if (status.admin !== null) print(`admin API on ${status.admin.url}`)
  return supervisor.finished
}

function readable(file: string): void {
  try {
    readDocumentFile(file)
  } catch (error) {
    throw new Failure(EXIT.invalid, (error as Error).message)
  }
}

function overridesOf(options: StartOptions): Overrides {
  return {
    ...(options.listen === undefined ? {} : { listen: options.listen }),
    ...(options.logSink === undefined ? {} : { logSink: options.logSink }),
  }
}
