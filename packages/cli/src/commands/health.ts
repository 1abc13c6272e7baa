import { AdminClient } from '../admin/admin-client.js'
import { EXIT } from '../failure.js'
import { print } from '../output/output.js'
import type { ServerOptions } from '../program/building.js'

interface HealthOptions extends ServerOptions {
  readonly alive?: boolean
}

/** Runtimes of containers count a check that has not ended after their own time as failed; so does this one. */
const TIMEOUT_MS = 3000

/** Asks the open health endpoints of the admin API, which take no token. @throws Failure when the answer is not 200. */
export async function health({ alive = false, server }: HealthOptions): Promise<number> {
  const client = new AdminClient({ ...(server === undefined ? {} : { server }) })
  const path = alive ? '/healthz' : '/readyz'
  const answer = await client.send({ method: 'GET', path, timeoutMs: TIMEOUT_MS })
  if (answer.status !== 200) throw client.refused(answer)
  print(alive ? 'alive' : 'ready')
  return EXIT.ok
}
