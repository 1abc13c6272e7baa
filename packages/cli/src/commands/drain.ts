import { AdminClient } from '../admin/admin-client.js'
import { EXIT, Failure } from '../failure.js'
import { confirm } from '../input/confirm.js'
import { print } from '../output/output.js'
import type { ServerOptions } from '../program/building.js'

interface DrainOptions extends ServerOptions {
  readonly yes?: boolean
}

/** Ends a gateway gently. It asks first, because nothing starts the gateway again. */
export async function drain(options: DrainOptions): Promise<number> {
  const client = new AdminClient(options)
  const question = `drain and end the gateway at ${client.origin}?`
  if (options.yes !== true && !(await confirm(question))) throw new Failure(EXIT.failed, 'nothing was done')
  const answer = await client.send({ method: 'POST', path: '/v1/drain' })
  if (answer.status !== 202 && answer.status !== 200) throw client.refused(answer)
  print('draining: not ready from now on; it ends when its requests have ended')
  return EXIT.ok
}
