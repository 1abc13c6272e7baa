import { createInterface } from 'node:readline/promises'
import { AdminClient } from '../admin/admin-client.js'
import { EXIT, Failure } from '../failure.js'
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

/** Asks a person on a terminal; anything but yes is no. @throws Failure without a terminal. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Failure(EXIT.usage, `${question} there is no terminal to ask on; add --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
