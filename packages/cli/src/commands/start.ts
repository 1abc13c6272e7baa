import type { LogSinkName, Overrides } from '@sluice/config'
import {
  LOG_FORMAT_ENV,
  StartError,
  type Supervisor,
  startSupervisor,
  type Tier,
  workerEntry,
} from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { readDocument } from '../document.js'
import { EXIT, Failure } from '../failure.js'
import { outliveReader, print } from '../output/output.js'
import { countText } from '../output/text.js'
import type { DocumentOptions } from '../program/building.js'

/** The options of `gw start`. */
export interface StartOptions extends DocumentOptions {
  readonly tier?: Tier
  readonly workers?: number
  readonly listen?: string
  readonly logSink?: LogSinkName
  readonly dataDir: string
  readonly logFormat?: 'console' | 'json'
}

/** Runs the gateway until it is asked to stop; resolves with the exit code. */
export async function start(options: StartOptions): Promise<number> {
  if (options.config === '-') {
    const why = 'a gateway follows its document and cannot take it from stdin; write it to a file'
    throw new Failure(EXIT.usage, why)
  }
  await readDocument(options.config)
  outliveReader()
  chooseLogFormat(options.logFormat)
  const supervisor = await started(options)
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

/** The workers inherit the environment. */
function chooseLogFormat(flag: string | undefined): void {
  const format = flag ?? process.env[LOG_FORMAT_ENV] ?? ''
  if (flag !== undefined) process.env[LOG_FORMAT_ENV] = flag
  if (!['', 'console', 'json'].includes(format))
    throw new Failure(EXIT.usage, `${LOG_FORMAT_ENV}='${format}' is not a format; write console or json`)
}

/** The gateway once it serves; null when it was asked to end before that. */
function started(options: StartOptions): Promise<Supervisor | null> {
  return startSupervisor({
    configFile: options.config,
    catalog,
    workerEntry,
    dataDir: options.dataDir,
    overrides: overridesOf(options),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.tier === undefined ? {} : { tier: options.tier }),
  }).catch((error: unknown) => {
    if (error instanceof StartError && error.isStopped) return null
    throw error instanceof StartError ? startFailure(error) : error
  })
}

function overridesOf({ listen, logSink }: StartOptions): Overrides {
  return {
    ...(listen === undefined ? {} : { listen }),
    ...(logSink === undefined ? {} : { logSink }),
  }
}

function startFailure({ diagnostics, message }: StartError): Failure {
  return new Failure(diagnostics.length > 0 ? EXIT.invalid : EXIT.failed, message)
}
