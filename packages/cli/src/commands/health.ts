import { AdminClient } from '../admin/admin-client.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { print, printResult } from '../output/output.js'

interface HealthOptions extends OutputOptions, ServerOptions {
  readonly alive?: boolean
}

/** Timeout in milliseconds. Container runtimes also have one for health checks. */
const TIMEOUT_MS = 3000

/**
 * Calls the health endpoints of the admin API, which need no token.
 * @throws Failure if the response is not 200
 */
export async function health({ alive = false, server, output }: HealthOptions): Promise<void> {
  const client = new AdminClient({ ...(server === undefined ? {} : { server }) })
  const path = alive ? '/healthz' : '/readyz'
  const answer = await client.send({ method: 'GET', path, timeoutMs: TIMEOUT_MS })
  if (answer.status !== 200) throw client.refused(answer)
  const status = alive ? 'alive' : 'ready'
  await printResult({ status }, output, () => print(status))
}
