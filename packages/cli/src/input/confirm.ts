import { createInterface } from 'node:readline/promises'
import { Failure, usageError } from '../output/failure.js'

/** Option of commands that ask for confirmation. */
export interface Confirmable {
  readonly yes?: boolean
}

/**
 * Asks for confirmation on a terminal, unless `--yes` is given. Only yes confirms.
 * @throws Failure if it is denied, or there is no terminal
 */
export async function confirm(question: string, { yes = false }: Confirmable): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageError(`${question} there is no terminal for this question; add --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    if (/^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())) return
  } finally {
    terminal.close()
  }
  throw new Failure('cancelled')
}
