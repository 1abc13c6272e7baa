import { createInterface } from 'node:readline/promises'
import { AdminClient } from '../admin/admin-client.js'
import type { ServerOptions } from '../input/options.js'
import { EXIT, Failure } from '../output/failure.js'
import { print } from '../output/output.js'

interface DrainOptions extends ServerOptions {
  readonly yes?: boolean
}

/** Shuts a gateway down gracefully. Asks for confirmation, because nothing restarts it. */
export async function drain(options: DrainOptions): Promise<number> {
  const client = new AdminClient(options)
  const question = `drain and stop the gateway at ${client.origin}?`
  if (options.yes !== true && !(await confirm(question))) throw new Failure(EXIT.failed, 'cancelled')
  const answer = await client.send({ method: 'POST', path: '/v1/drain' })
  if (answer.status !== 202 && answer.status !== 200) throw client.refused(answer)
  print('draining: the gateway is no longer ready, and exits when its requests have finished')
  return EXIT.ok
}

/**
 * Asks for confirmation on a terminal; only yes confirms.
 * @throws Failure if there is no terminal
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Failure(EXIT.usage, `${question} there is no terminal for this question; add --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
