import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Engine, LoadResult } from '../model/engine.js'
import { GRACE_SECONDS, runToSuccess } from './program.js'

const PROGRAM = fileURLToPath(new URL('./autocannon-program.js', import.meta.url))

/** autocannon, in a process of its own: always there, a closed loop and a plan, all values of all latencies. */
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
