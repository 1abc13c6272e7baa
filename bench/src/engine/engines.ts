import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Engine, EngineName, LoadResult } from '../model/engine.js'
import { GRACE_SECONDS, runToSuccess } from '../process/run-command.js'
import { oha } from './oha.js'
import { wrk } from './wrk.js'

const PROGRAM = fileURLToPath(new URL('./autocannon-program.js', import.meta.url))

/** autocannon in a separate process. Always available. Supports closed loops and fixed rates. Keeps all latencies. */
export const autocannon: Engine = {
  name: 'autocannon',
  hasOpenLoop: true,
  hasLeadIn: true,
  remedy: 'run `npm install` in the folder of the project',
  version: () =>
    (createRequire(import.meta.url)('autocannon/package.json') as { readonly version: string }).version,
  run: async (options) => {
    const { stdout } = await runToSuccess([process.execPath, PROGRAM], {
      input: `${JSON.stringify(options)}\n`,
      cpu: options.cpu,
      limitSeconds: options.warmUpSeconds + options.seconds + GRACE_SECONDS,
    })
    return JSON.parse(stdout) as LoadResult
  },
}

const BY_NAME: Readonly<Record<EngineName, Engine>> = { autocannon, wrk, oha }

/** Load generators, the built-in one first. */
export const engines: readonly Engine[] = Object.values(BY_NAME)

/** Returns an engine by name. */
export function engineOf(name: EngineName): Engine {
  return BY_NAME[name]
}

/** Returns the version of an engine. @throws Error with the remedy if it is not installed */
export function installedVersion({ name, remedy, version }: Engine): string {
  const found = version()
  if (found === null) throw new Error(`the load generator ${name} is not installed: ${remedy}`)
  return found
}
