import { createInterface } from 'node:readline/promises'
import { EXIT, Failure } from '../failure.js'

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
