import { CommanderError } from 'commander'
import { EXIT, type ExitCode, Failure } from './failure.js'
import { complain } from './output/output.js'
import { createProgram } from './program.js'

/** Runs `gw` with the arguments of a process, the first two left out of account, and sets its exit code. */
export async function main(argv: readonly string[], program = createProgram()): Promise<void> {
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitOf(error)
  }
}

function exitOf(error: unknown): ExitCode {
  // Commander has said what is wrong already; help and version end in an error with the code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Failure) {
    complain(error.message)
    return error.exit
  }
  complain(`gw met an error that it does not know: ${error instanceof Error ? error.stack : String(error)}`)
  return EXIT.failed
}
