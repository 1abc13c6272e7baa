import { CommanderError } from 'commander'
import { EXIT, type ExitCode, Failure } from './output/failure.js'
import { complain } from './output/output.js'
import { createProgram } from './program.js'

/** Runs `gw` and sets the exit code. @param argv arguments of the process, including the first two */
export async function main(argv: readonly string[], program = createProgram()): Promise<void> {
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitOf(error)
  }
}

function exitOf(error: unknown): ExitCode {
  // Commander has already printed the error. Help and version throw an error with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Failure) {
    complain(error.message)
    return error.exit
  }
  complain(`unexpected error in gw: ${error instanceof Error ? error.stack : String(error)}`)
  return EXIT.failed
}
