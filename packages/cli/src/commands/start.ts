import type { LogSinkName } from '@sluice/config'
import { readDocumentFile } from '@sluice/config/serving'
import type { SupervisorOptions, Tier } from '@sluice/gateway'
import { LOG_FORMAT_ENV } from '@sluice/gateway/parent'
import { StartError, type Supervisor, startSupervisor, workerEntry } from '@sluice/gateway/start'
import { lazyCatalog } from '@sluice/policies/catalog'
import { controlSettings } from '../input/control-options.js'
import type { ControlOptions, DocumentOptions } from '../input/options.js'
import { EXIT, Failure, messageOf, usageError } from '../output/failure.js'
import { outliveReader, print } from '../output/output.js'
import { countText } from '../output/text.js'

/** The options of `gw start`. */
export interface StartOptions extends Partial<DocumentOptions>, ControlOptions {
  readonly tier?: Tier
  readonly workers?: number
  readonly listen?: string
  readonly logSink?: LogSinkName
  readonly dataDir: string
  readonly logFormat?: 'console' | 'json'
}

/** Parts of the gateway that are already starting. */
type StartedParts = Pick<SupervisorOptions, 'documentThread' | 'early'>

/** Runs the gateway until it is stopped. Resolves with the exit code. */
export async function start(options: StartOptions, parts: StartedParts): Promise<number> {
  if (options.config === '-') {
    const why = 'a gateway watches its document file and cannot read it from stdin; write it to a file'
    throw usageError(why)
  }
  if (options.config !== undefined) checkReadable(options.config)
  outliveReader()
  chooseLogFormat(options.logFormat)
  const supervisor = await started(options, parts)
  if (supervisor === null) return EXIT.ok
  const { workers, listeners, admin } = supervisor.status()
  const { metrics } = supervisor.addresses
  print(
    ...listeners.map(({ url }) => `listening on ${url} (${countText(workers.length, 'worker')})`),
    ...(admin === null ? [] : [`admin API on ${admin.url}`]),
    ...(metrics === null ? [] : [`metrics on ${metrics}`]),
  )
  return supervisor.finished
}

function checkReadable(file: string): void {
  try {
    readDocumentFile(file)
  } catch (error) {
    throw new Failure(messageOf(error), EXIT.invalid)
  }
}

/** Sets the log format in the environment, which the workers inherit. */
function chooseLogFormat(flag: string | undefined): void {
  const format = flag ?? process.env[LOG_FORMAT_ENV] ?? ''
  if (flag !== undefined) process.env[LOG_FORMAT_ENV] = flag
  if (!['', 'console', 'json'].includes(format))
    throw usageError(`${LOG_FORMAT_ENV}='${format}' is not a log format; use console or json`)
}

/** Resolves with the supervisor when the gateway is ready, or with null if it is stopped before. */
function started(options: StartOptions, parts: StartedParts): Promise<Supervisor | null> {
  const control = controlSettings(options)
  return startSupervisor({
    ...(options.config === undefined ? {} : { configFile: options.config }),
    ...(control === null ? {} : { control }),
    catalog: lazyCatalog(),
    workerEntry,
    dataDir: options.dataDir,
    ...parts,
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.tier === undefined ? {} : { tier: options.tier }),
  }).catch((error: unknown) => {
    if (error instanceof StartError && error.isStopped) return null
    throw error instanceof StartError
      ? new Failure(error.message, error.diagnostics.length > 0 ? EXIT.invalid : EXIT.failed)
      : error
  })
}
