import { CommanderError } from 'commander'
import { EXIT, Failure } from './failure.js'
import { complain } from './output/output.js'
import { createProgram } from './program.js'

/** Runs `gw` with the arguments of a process and sets its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitOf(error)
  }
}

function exitOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  complain(error instanceof Error ? error.message : String(error))
  return error instanceof Failure ? error.exit : EXIT.failed
}
