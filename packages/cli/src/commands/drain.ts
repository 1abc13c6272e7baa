import { AdminClient } from '../admin/admin-client.js'
import { type Confirmable, confirm } from '../input/confirm.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { print, printResult } from '../output/output.js'

/** Shuts a gateway down gracefully. Asks for confirmation, because nothing restarts it. */
export async function drain(options: OutputOptions & ServerOptions & Confirmable): Promise<void> {
  const client = new AdminClient(options)
  await confirm(`drain and stop the gateway at ${client.origin}?`, options)
  const answer = await client.send({ method: 'POST', path: '/v1/drain' })
  if (answer.status !== 202 && answer.status !== 200) throw client.refused(answer)
  await printResult({ draining: true }, options.output, () =>
    print('draining: the gateway is no longer ready, and exits when its requests have finished'),
  )
}
